"""OpenAI Responses streams that leave events out: what others carry is taken, the rest is a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.provider_streams import assemble, decode
from compiler_service.responses import parse_response
from tests.support.provider_responses import SHORT, compact, event

TARGET = "openai.responses"
SAMPLE = SHORT[TARGET]
FRAMES = SAMPLE.frames
KINDS = sorted({json.loads(frame.split(b"data: ")[1])["type"] for frame in FRAMES})
WHOLE = parse_response(
    pb.ParseResponseRequest(target=TARGET, payload_json=SAMPLE.whole), DEFAULT_LIMITS
).messages


def assembled(*frames: bytes) -> pb.AssembleResponseResponse:
    return assemble(pb.AssembleOptions(target=TARGET), decode(TARGET, frames))


def of(*events: dict[str, Any]) -> pb.AssembleResponseResponse:
    return assembled(*(event(compact(each)) for each in events))


def said(messages: Any) -> tuple[str, str, list[tuple[str, str, str]]]:
    """Return a reply's text, its reasoning in words, and its calls."""
    turn = messages[0].assistant_response
    thinking = "".join(block.thinking.thinking for block in turn.blocks)
    calls = [each.action_request for each in messages[1:]]
    return (
        turn.assistant_response,
        thinking,
        sorted((call.provider_call_id, call.function, call.arguments_json) for call in calls),
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "response.completed"])
def test_events_of_a_kind_may_be_missing_where_others_carry_the_same(kind: str) -> None:
    kept = [frame for frame in FRAMES if f'"type":"{kind}"'.encode() not in frame]
    assert len(kept) < len(FRAMES)
    reply = assembled(*kept)
    assert said(reply.messages) == said(WHOLE)
    assert not reply.HasField("fault")


def test_the_last_event_alone_is_the_whole_answer() -> None:
    reply = assembled(FRAMES[-1])
    assert list(reply.messages) == list(WHOLE)
    assert not reply.HasField("fault")


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, len(FRAMES) - 1), max_size=12))
def test_nothing_is_lost_unsaid_whichever_events_are(missing: set[int]) -> None:
    reply = assembled(*(frame for number, frame in enumerate(FRAMES) if number not in missing))
    text, _, calls = said(reply.messages) if reply.messages else ("", "", [])
    assert set(calls) <= set(said(WHOLE)[2])
    if not reply.HasField("fault"):
        assert (text, calls) == (said(WHOLE)[0], said(WHOLE)[2])


CALL = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f"}
FULL = '{"path":"/etc"}'


def added(**fields: Any) -> dict[str, Any]:
    item = CALL | {"arguments": "", "status": "in_progress"} | fields
    return {"type": "response.output_item.added", "output_index": 0, "item": item}


def finalized(text: str, key: str = "arguments", kind: str = "function_call_arguments") -> dict[str, Any]:
    return {"type": f"response.{kind}.done", "output_index": 0, "item_id": "fc_1", key: text}


def piece(text: str) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text}


def completed(*output: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": output}}


INCOMPLETE = {
    "type": "response.incomplete",
    "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([added(), completed(CALL | {"arguments": FULL})], id="at the end"),
        pytest.param([added(), finalized(FULL), completed()], id="when they are all"),
        pytest.param([added(), piece('{"pa'), finalized(FULL), completed()], id="their rest"),
        pytest.param([added(), piece("th"), finalized(FULL), completed()], id="without their beginning"),
        pytest.param([added(), finalized(FULL), completed(CALL | {"arguments": FULL})], id="twice"),
        pytest.param([piece('{"pa'), completed(CALL | {"arguments": FULL})], id="never begun"),
    ],
)
def test_a_call_takes_its_arguments_from_whatever_event_has_them(events: list[dict[str, Any]]) -> None:
    reply = of(*events)
    assert said(reply.messages)[2] == [("c", "f", FULL)]
    assert not reply.HasField("fault")


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([added(), completed()], id="none"),
        pytest.param([added(), piece('{"pa'), completed()], id="a part"),
        pytest.param([added(), finalized(FULL), INCOMPLETE], id="all, of an answer that was cut"),
        pytest.param([finalized(FULL), completed()], id="of a call that never began"),
        pytest.param([added(type="custom_tool_call", input=""), completed()], id="of free text"),
    ],
)
def test_a_call_whose_arguments_did_not_come_is_cut(events: list[dict[str, Any]]) -> None:
    reply = of(*events)
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL
    assert not reply.messages[1:]


def test_a_call_without_arguments_is_whole_once_that_is_said() -> None:
    assert said(of(added(), finalized(""), completed()).messages)[2] == [("c", "f", "")]
    custom = added(type="custom_tool_call", input="")
    reply = of(custom, finalized("1 + 1", "input", "custom_tool_call_input"), completed())
    assert reply.messages[1].action_request.arguments_text == "1 + 1"


def test_a_call_whose_arguments_are_all_is_whole_though_the_answer_was_cut_after_it() -> None:
    custom = added(type="custom_tool_call", input="")
    after = {"type": "response.output_text.delta", "output_index": 1, "delta": "an"}
    reply = of(custom, finalized("1 + 1", "input", "custom_tool_call_input"), after, INCOMPLETE)
    assert reply.messages[1].action_request.arguments_text == "1 + 1"
    assert not reply.HasField("fault")


def test_calls_of_one_id_are_each_themselves() -> None:
    items = [CALL | {"id": f"fc_{number}", "arguments": f'{{"n":{number}}}'} for number in range(2)]
    begun = [added(id=item["id"]) | {"output_index": number} for number, item in enumerate(items)]
    requests = [each.action_request for each in of(*begun, completed(*items)).messages[1:]]
    assert [each.arguments_json for each in requests] == ['{"n":0}', '{"n":1}']


def test_items_that_no_event_numbers_are_not_said_again_at_the_end() -> None:
    calls = [CALL | {"id": f"fc_{each}", "call_id": each, "arguments": FULL} for each in "ab"]
    events: list[dict[str, Any]] = [{"type": "response.output_text.delta", "delta": "hello"}]
    events += [{"type": "response.output_item.added", "item": item | {"arguments": ""}} for item in calls]
    for ends in ([], [{"type": "response.output_item.done", "item": item} for item in calls]):
        reply = of(*events, *ends, completed(*calls, WORDS))
        assert said(reply.messages) == ("hello", "", [("a", "f", FULL), ("b", "f", FULL)])
        assert not reply.HasField("fault")


WORDS = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "hello"}]}
TEXT = {"type": "response.output_text.delta", "output_index": 0}


def test_the_rest_of_words_comes_from_the_event_that_has_them_whole() -> None:
    ended = {"type": "response.output_item.done", "output_index": 0, "item": WORDS}
    for events in ([ended], [completed(WORDS)], [ended, ended, completed(WORDS)]):
        reply = of(TEXT | {"delta": "he"}, TEXT | {"delta": "l"}, *events, completed())
        assert reply.messages[0].assistant_response.assistant_response == "hello"
        assert not reply.HasField("fault")


def test_words_that_are_not_what_came_in_pieces_are_a_fault() -> None:
    reply = of(TEXT | {"delta": "he"}, TEXT | {"delta": "o"}, completed(WORDS))
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_ADVISORY
    assert reply.messages[0].assistant_response.assistant_response == "heo"
