"""What holds for every projected request, of broken histories above all.

ANTIPHON_TEST_EXAMPLES sets how many histories each property is tried on.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.compiler.v1.target_pb2 import TargetOptions
from antiphon.message.v1.content_block_pb2 import ContentBlock
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import FieldInvalidError, OpenCallsError
from compiler_service.compilation import Compilation, CompileSource, compile_turn
from compiler_service.native.turns import (
    CallPart,
    ImagePart,
    JsonPart,
    NativeTurn,
    OpaquePart,
    ResultPart,
    TextPart,
    ThinkingPart,
)
from compiler_service.projection import TABLE
from tests.support.compiler import compile_inline
from tests.support.native import block, mark, native_request
from tests.support.native_strategies import broken_histories
from tests.support.projection import (
    TARGETS,
    assistant,
    call,
    conversation,
    project_for,
    result,
    results,
    user,
)
from tests.support.projection_rules import check_rules
from tests.support.provider_types import check_request

EXAMPLES = int(os.environ.get("ANTIPHON_TEST_EXAMPLES", "150"))
MANY = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

IDS = ["a.b:c", "x" * 70, "call_0", "é", "c0", "c1"]
NAMES = ["f", "fs.read", "2nd", "wetter für", "n" * 70, "look-up"]
ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"arguments_json": '{"n": 9007199254740993,"f":1.50}'},
    {"arguments_text": ""},
    {"arguments_text": "[1]"},
    {"arguments_text": '{"a":'},
    {"arguments_text": '{"a":1,}', "arguments_json": '{"a":1}'},
]
BLOCKS = [
    *[
        block(thinking={"thinking": said, "signature": "c2lnbmVk", "provider": provider, "model": model})
        for provider in ("anthropic", "gemini", "openai")
        for said in ("thought", "")
        for model in (None, "m", "other")
    ],
    block(
        opaque={
            "provider": "anthropic",
            "kind": "redacted_thinking",
            "data_json": '{"type":"redacted_thinking","data":"zz"}',
        }
    ),
    block(
        opaque={
            "provider": "openai",
            "kind": "reasoning",
            "data_json": '{"type":"reasoning","id":"r","summary":[]}',
        }
    ),
    block(
        opaque={
            "provider": "gemini",
            "kind": "executableCode",
            "data_json": '{"executableCode":{"code":"1","language":"PYTHON"}}',
        }
    ),
    block(opaque={"provider": "openai", "kind": "refusal", "data_json": '{"type":"refusal","refusal":"no"}'}),
    block(text={"text": "marked", "cache_control": {"type": "ephemeral", "ttl": "1h"}}),
    block(text={"text": "marked", "cache_control": {"type": "ephemeral"}}),
    block(image={"mime_type": "image/tiff", "data": b"II*"}),
    block(image={"url": "http://example.com/i.png"}),
]


def _varied(draw: st.DrawFn, record: Message) -> Message:
    """Give a record the ids, names, arguments and blocks that projections stumble over."""
    number = int(record.id[:8], 16)
    kind = record.WhichOneof("content")
    if kind == "action_request":
        request = record.action_request
        request.provider_call_id = draw(st.sampled_from(IDS))
        request.function = draw(st.sampled_from(NAMES))
        for name, value in draw(st.sampled_from(ARGUMENTS)).items():
            setattr(request, name, value)
        if draw(st.booleans()):
            request.thought_signature = draw(st.sampled_from(["c2lnbmVk", "no base64!"]))
    elif kind == "action_response":
        record.action_response.ClearField("provider_call_id")
        if draw(st.integers(0, 3)) == 0:
            record.action_response.error = draw(st.sampled_from(["", " \n", "no"]))
    elif kind == "assistant_response":
        record.assistant_response.blocks.extend(draw(_BLOCK_LISTS))
        for each in record.assistant_response.blocks:
            _make_unique(each, number)
    elif kind == "instruction":
        record.instruction.blocks.extend(draw(_BLOCK_LISTS))
        for each in record.instruction.blocks:
            _make_unique(each, number)
    return record


_BLOCK_LISTS: st.SearchStrategy[list[ContentBlock]] = st.just([]) | st.lists(
    st.sampled_from([*BLOCKS, mark("c0")]), max_size=4
)


def _make_unique(each: ContentBlock, number: int) -> None:
    """Say which record a text is of, so that its loss is seen."""
    if each.HasField("text") and each.text.text.strip():
        each.text.text += f" #{number}"
    elif each.HasField("thinking") and each.thinking.thinking:
        each.thinking.thinking += f" #{number}"


@st.composite
def requests(draw: st.DrawFn) -> CompileRequest:
    """Draw a NATIVE request of a broken history to any target."""
    history = [_varied(draw, record) for record in draw(broken_histories())]
    target = draw(st.sampled_from(TARGETS))
    options = TargetOptions(
        model="m",
        strip_signatures=draw(st.integers(0, 4)) == 0,
        # The fields that the other switches add are no part of the providers' own types.
        flags=draw(st.lists(st.sampled_from(sorted({*TABLE.targets[target].flags} - {"reasoning_echo"})))),
    )
    return native_request(
        history,
        draw(st.sampled_from(["go", "go", None])),
        system=draw(st.sampled_from([None, "", "sys"])),
        target=target,
        target_options=options,
        tool_schemas_json=draw(st.sampled_from([[], ['{"name":"fs.read"}', '{"name":"f"}']])),
    )


def compiled(request: CompileRequest) -> Compilation | None:
    """Compile in process; None where a continuation is refused as it must be."""
    snapshot = request.snapshot
    system = snapshot.system if snapshot.HasField("system") else None
    try:
        return compile_turn(request, CompileSource(system, snapshot.messages))
    except (FieldInvalidError, OpenCallsError):
        assert not request.HasField("instruction")
        return None


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


@MANY
@given(requests())
def test_the_provider_takes_it_and_every_rule_of_order_holds(request: CompileRequest) -> None:
    outcome = compiled(request)
    if outcome is None:
        return
    assert outcome.provider_request is not None
    body = check_request(request.target, outcome.provider_request.request_json)
    steps = check_rules(request.target, body)
    calls = [step for step in steps if step[0] == "call"]
    expected = sum(
        isinstance(part, CallPart)
        for turn in outcome.turns
        if isinstance(turn, NativeTurn)
        for part in turn.parts
    )
    assert len(calls) == expected
    if "unique_call_ids" in request.target_options.flags:
        assert len({call_id for _, call_id, _ in calls}) == len(calls)


@MANY
@given(requests())
def test_it_is_the_same_again_and_its_input_is_unchanged(request: CompileRequest) -> None:
    before = request.SerializeToString(deterministic=True)
    first = compiled(request)
    assert request.SerializeToString(deterministic=True) == before
    again = compiled(CompileRequest.FromString(before))
    if first is None:
        assert again is None
        return
    assert again is not None
    assert again.provider_request == first.provider_request
    response = compile_inline(request)
    assert first.provider_request is not None
    assert response.provider_request_json == first.provider_request.request_json
    assert response.request_digest == first.provider_request.digest()
    # The neutral digest knows no target.
    request.ClearField("target")
    request.ClearField("target_options")
    assert compile_inline(request).messages_digest == response.messages_digest


@MANY
@given(requests())
def test_nothing_disappears_without_a_note(request: CompileRequest) -> None:
    outcome = compiled(request)
    if outcome is None:
        return
    assert outcome.provider_request is not None
    texts = list(texts_in(json.loads(outcome.provider_request.request_json)))
    noted = {message_id for note in outcome.provider_request.notes for message_id in note.message_ids}
    own = any(not note.message_ids for note in outcome.provider_request.notes)

    def is_there(wanted: str, message_id: str) -> bool:
        return message_id in noted or (not message_id and own) or any(wanted in text for text in texts)

    for turn in outcome.turns:
        assert isinstance(turn, NativeTurn)
        for part in turn.parts:
            pieces = part.content if isinstance(part, ResultPart) else (part,)
            for piece in pieces:
                assert is_there(_wanted(piece), piece.message_id), piece


def _wanted(part: Any) -> str:
    """Return a text by which a part is known in a request."""
    if isinstance(part, TextPart):
        return part.text.rstrip()
    if isinstance(part, ThinkingPart):
        return part.thinking or part.signature or ""
    if isinstance(part, ImagePart):
        return part.url or base64.b64encode(part.data or b"").decode()
    if isinstance(part, CallPart):
        return part.name
    if isinstance(part, JsonPart):
        # A lone object is a value of the request, known by its keys.
        value = json.loads(part.value_json)
        return next(iter(value), "") if isinstance(value, dict) else part.value_json
    assert isinstance(part, OpaquePart)
    return part.kind


@st.composite
def rounds(draw: st.DrawFn) -> list[NativeTurn]:
    """Draw turns in good order: a user's, then perhaps a model's with calls and their results."""
    turns = [user(draw(st.sampled_from(["a", "b"])))]
    if draw(st.booleans()):
        calls = [
            call(made, draw(st.sampled_from(NAMES)))
            for made in draw(st.lists(st.sampled_from(IDS), max_size=3))
        ]
        turns.append(assistant("yes", *calls))
        turns += results(*[result(made.id, "r", name=made.name) for made in calls])
    return turns


@MANY
@given(st.lists(rounds(), min_size=1, max_size=4), rounds(), st.sampled_from(TARGETS), st.booleans())
def test_turns_that_follow_change_none_before(
    former: list[list[NativeTurn]], more: list[NativeTurn], target: str, unique: bool
) -> None:
    flags = ["unique_call_ids"] if unique and target != "ollama.chat" else []
    end = user("go", id="")
    earlier = project_for(target, conversation(*former, end), options={"flags": flags})
    later = project_for(target, conversation(*former, *more, end), options={"flags": flags})
    # The last turn may still grow where user turns that follow each other are one.
    assert later.turns[: len(earlier.turns) - 1] == earlier.turns[:-1]
