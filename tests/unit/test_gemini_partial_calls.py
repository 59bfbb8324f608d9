"""Gemini's calls in pieces: put together, or a fault, and never called with less than was written."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.provider_streams import assemble, decode
from compiler_service.responses import parse_response
from tests.support.provider_responses import compact, event, raw

with warnings.catch_warnings():
    # It imports what newer versions of others deprecate.
    warnings.simplefilter("ignore")
    from google.genai.types import FunctionCall

GEMINI = "gemini.generate_content"


def chunk(*parts: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}


def piece(*arguments: dict[str, Any], goes_on: bool = True, **fields: Any) -> dict[str, Any]:
    given = {"partialArgs": arguments} if arguments else {}
    return {"functionCall": fields | given | ({"willContinue": True} if goes_on else {})}


def arg(path: str, goes_on: bool = False, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value, **({"willContinue": True} if goes_on else {})}


def body(*parts: dict[str, Any], finish: str = "STOP") -> bytes:
    return b"".join(event(compact(each)) for each in (*map(chunk, parts), chunk(finish=finish)))


def assembled(stream: bytes) -> pb.AssembleResponseResponse:
    return assemble(pb.AssembleOptions(target=GEMINI), decode(GEMINI, [stream]))


def calls_of(reply: Any) -> list[tuple[str, str]]:
    requests = [each.action_request for each in reply.messages[1:]]
    return [(each.function, each.arguments_json) for each in requests]


BEGUN = piece(name="send", id="c1")
END = piece(goes_on=False)
PIECES = [
    BEGUN,
    piece(arg("$.text", True, stringValue='Gr"ü'), arg("$.n", numberValue=1)),
    piece(arg("$.text", True, stringValue="ße🏔\n")),
    piece(arg("$.text", stringValue="")),
    piece(arg("$.to[0].name", stringValue="a"), arg("$.to[0].ok", boolValue=True)),
    piece(arg("$.to[1]['b.\\'\"c'][\"d\"]", nullValue="NULL_VALUE"), arg("$.none", nullValue=None)),
    END,
]
WRITTEN = {
    "text": 'Gr"üße🏔\n',
    "n": 1,
    "to": [{"name": "a", "ok": True}, {"b.'\"c": {"d": None}}],
    "none": None,
}


def test_the_pieces_are_of_the_providers_type() -> None:
    read = [FunctionCall.model_validate(part["functionCall"]) for part in PIECES]
    paths = [each.json_path for call in read for each in call.partial_args or ()]
    assert len(paths) == 8
    assert read[0].will_continue


def test_a_call_is_put_together_from_its_pieces() -> None:
    reply = assembled(body(*PIECES))
    ((function, arguments),) = calls_of(reply)
    assert (function, json.loads(arguments)) == ("send", WRITTEN)
    assert list(json.loads(arguments)) == list(WRITTEN)
    assert reply.messages[1].action_request.provider_call_id == "c1"
    assert not reply.HasField("fault")


def test_numbers_are_as_the_provider_wrote_them() -> None:
    given = raw(chunk(piece(arg("$.n", numberValue="@n"), goes_on=False, name="f"), finish="STOP"), n="1.50")
    assert calls_of(assembled(event(given))) == [("f", '{"n":1.50}')]


def test_wherever_the_stream_is_cut_the_call_is_whole_or_none() -> None:
    stream = body(*PIECES)
    whole = calls_of(assembled(stream))
    for end in range(len(stream)):
        assert calls_of(assembled(stream[:end])) in ([], whole), end
        split = assemble(pb.AssembleOptions(target=GEMINI), decode(GEMINI, [stream[:end], stream[end:]]))
        assert calls_of(split) == whole


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([BEGUN], id="begun"),
        pytest.param([piece(arg("$.a", stringValue="x"), name="f")], id="more to come"),
        pytest.param([BEGUN, piece(arg("$.a", True, stringValue="x")), END], id="a text not ended"),
        pytest.param([BEGUN, piece(arg("$.a", True, numberValue=1)), END], id="a number not ended"),
        pytest.param([BEGUN, piece(arg("$.a")), END], id="no value"),
        pytest.param([BEGUN, piece(arg("$.a[1]", numberValue=1)), END], id="a gap"),
        pytest.param([BEGUN, piece(arg("$.a[999999999]", numberValue=1)), END], id="a wide gap"),
        pytest.param([BEGUN, piece(arg("$[0]", numberValue=1)), END], id="no object"),
        pytest.param([BEGUN, piece(arg("$", numberValue=1)), END], id="no path"),
        pytest.param([BEGUN, piece(arg("a", numberValue=1)), END], id="a path without its root"),
        pytest.param([BEGUN, piece(arg("$.a..b", numberValue=1)), END], id="a path that is none"),
        pytest.param([BEGUN, piece(arg("$['\\x']", numberValue=1)), END], id="a name that is none"),
        pytest.param([BEGUN, piece(arg("$" + ".a" * 50_000, numberValue=1)), END], id="a deep path"),
        pytest.param(
            [BEGUN, piece(arg("$.a", numberValue=1), arg("$.a", numberValue=2)), END], id="a value twice"
        ),
        pytest.param(
            [BEGUN, piece(arg("$.a", stringValue="x"), arg("$.a", stringValue="y")), END], id="a text twice"
        ),
        pytest.param(
            [BEGUN, piece(arg("$.a", True, stringValue="x"), arg("$.a", numberValue=2)), END], id="two kinds"
        ),
        pytest.param(
            [BEGUN, piece(arg("$.a", numberValue=1), arg("$.a.b", numberValue=2)), END], id="within a value"
        ),
        pytest.param(
            [BEGUN, piece(arg("$.a.b", numberValue=1), arg("$.a[0]", numberValue=2)), END], id="two shapes"
        ),
        pytest.param([piece(arg("$.a", numberValue=1)), END], id="no name"),
    ],
)
def test_a_call_whose_pieces_are_no_whole_is_cut(parts: list[dict[str, Any]]) -> None:
    reply = assembled(body({"text": "so"}, *parts))
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL
    assert calls_of(reply) == []
    assert reply.messages[0].assistant_response.assistant_response == "so"


def test_an_answer_at_its_limit_within_a_call_is_cut() -> None:
    reply = assembled(body(BEGUN, piece(arg("$.a", stringValue="x")), finish="MAX_TOKENS"))
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL
    assert calls_of(reply) == []


def test_a_call_that_ended_without_arguments_has_none() -> None:
    assert calls_of(assembled(body(BEGUN, END))) == [("send", "{}")]


def test_one_call_after_another() -> None:
    one = [piece(name="f"), piece(arg("$.a", numberValue=1), name="f"), END]
    two = [piece(arg("$.a", numberValue=2), name="f", goes_on=False)]
    whole = {"functionCall": {"name": "g", "args": {"b": 1}}}
    assert calls_of(assembled(body(*one, *two, whole))) == [
        ("f", '{"a":1}'),
        ("f", '{"a":2}'),
        ("g", '{"b":1}'),
    ]
    for other in ([piece(name="g", goes_on=False)], [whole], [piece(name="f", id="x", goes_on=False)]):
        reply = assembled(body(piece(name="f", id="y"), *other))
        assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL
        assert len(calls_of(reply)) == 1


def test_arguments_may_come_whole_with_the_last_piece() -> None:
    last = {"functionCall": {"args": {"a": [1.50, {}]}}}
    assert calls_of(assembled(body(piece(arg("$.a", True, stringValue="x"), name="f"), last))) == [
        ("f", '{"a":[1.5,{}]}')
    ]


def test_the_first_signature_is_the_calls() -> None:
    signed = [piece(name="f"), END | {"thoughtSignature": "c2ln"}]
    assert assembled(body(*signed)).messages[1].action_request.thought_signature == "c2ln"


def test_a_whole_answer_in_pieces_says_the_same() -> None:
    payload = compact(chunk(*PIECES, finish="STOP"))
    request = pb.ParseResponseRequest(target=GEMINI, payload_json=payload)
    reply = parse_response(request, DEFAULT_LIMITS)
    assert list(reply.messages) == list(assembled(body(*PIECES)).messages)
