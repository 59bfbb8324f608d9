"""What a request may ask of NATIVE and of a target, and how the reply carries it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon_client.errors import (
    FieldInvalidError,
    OpenCallsError,
    StreamIncompleteError,
    TargetUnknownError,
)
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.stream_compile import CompiledStream
from tests.support.compiler import compile_inline, mid, reassemble, request_of, stream_inline
from tests.support.native import assistant, call, mark, native_request, result, signed, user
from tests.support.native_strategies import CACHED, IMAGE, JSON, OPAQUE

TARGET = "openai.chat"
HISTORY = [
    user(1, "question", blocks=[CACHED, IMAGE]),
    assistant(2, "", signed("s"), OPAQUE, mark("c")),
    call(3, "c"),
    result(4, 3, '"' + "long " * 400 + '"', blocks=[IMAGE, JSON]),
    assistant(5, "東京" * 300),
]
SMALL = replace(DEFAULT_LIMITS, frame_bytes=256)


def targeted() -> CompileRequest:
    return native_request(HISTORY, "go", system="policy", target=TARGET)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda request: request.target_options.SetInParent(), "target_options"),
        (lambda request: setattr(request, "token_counter", "guess"), "token_counter"),
    ],
)
def test_fields_at_fault(change: Callable[[CompileRequest], object], path: str) -> None:
    request = native_request(HISTORY, "go")
    change(request)
    for compiling, prefix in ((compile_inline, ""), (stream_inline, "request.")):
        with pytest.raises(FieldInvalidError) as caught:
            compiling(request)
        assert [violation.field for violation in caught.value.violations] == [prefix + path]


def test_an_unknown_target() -> None:
    with pytest.raises(TargetUnknownError) as caught:
        compile_inline(native_request(HISTORY, "go", target="nobody.chat"))
    assert caught.value.metadata == {"target": "nobody.chat"}
    assert isinstance(caught.value, ValueError)


def test_open_calls_travel_with_their_paths_through_a_stream() -> None:
    with pytest.raises(OpenCallsError):
        stream_inline(native_request([user(1, "a"), call(2, "c")]))
    with pytest.raises(FieldInvalidError) as caught:
        stream_inline(native_request([], None))
    assert [violation.field for violation in caught.value.violations] == ["request.instruction"]


def test_a_target_adds_its_request_and_changes_no_message() -> None:
    neutral = compile_inline(native_request(HISTORY, "go", system="policy"))
    response = compile_inline(targeted())
    assert response.messages == neutral.messages
    assert response.messages_digest == neutral.messages_digest
    assert list(response.report)[: len(neutral.report)] == list(neutral.report)
    text = response.provider_request_json
    assert json.loads(text)["messages"][-1]["role"] == "user"
    assert response.request_digest == hashlib.sha256(text.encode()).hexdigest()
    assert response.capability_version
    for name in ("provider_request_json", "request_digest", "capability_version"):
        assert not neutral.HasField(name)


def test_folded_turns_have_a_target_too() -> None:
    given = {
        "history": [
            {"type": "instruction", "content": {"instruction": "a"}},
            {"type": "assistant_response", "content": {"assistant_response": "b"}},
        ],
        "instruction": {"instruction": "c"},
    }
    request = request_of(given)
    neutral = compile_inline(request)
    request.target = TARGET
    response = compile_inline(request)
    assert response.messages == neutral.messages
    assert [each["content"] for each in json.loads(response.provider_request_json)["messages"]] == [
        each.text for each in neutral.messages
    ]


@pytest.mark.parametrize("limits", [DEFAULT_LIMITS, SMALL])
def test_a_stream_is_the_reply_in_frames(limits: object) -> None:
    assert limits in (DEFAULT_LIMITS, SMALL)
    expected = compile_inline(targeted())
    frames = stream_inline(targeted(), DEFAULT_LIMITS if limits is DEFAULT_LIMITS else SMALL)
    assert reassemble(frames) == expected
    stream = CompiledStream()
    assert [stream.feed(frame) for frame in frames][-1]
    assert stream.result() == expected


def test_frames_are_small_but_for_what_comes_whole() -> None:
    request = native_request(HISTORY[:1], "go", system="policy " * 100, target=TARGET)
    frames = stream_inline(request, SMALL)
    whole = [frame for frame in frames if frame.ByteSize() > SMALL.frame_bytes]
    assert all(frame.result.system_text or frame.result.last for frame in whole)
    alone = [frame.result for frame in frames if frame.result.HasField("system_text")]
    assert len(alone) == 1
    assert not alone[0].last
    assert len([frame for frame in frames if frame.HasField("request_chunk")]) > 1


def test_a_continuation_streams_no_instruction() -> None:
    frames = stream_inline(native_request([user(1, "a")]))
    assert not frames[-1].result.HasField("instruction")
    stream = CompiledStream()
    for frame in frames:
        stream.feed(frame)
    assert not stream.result().HasField("instruction")


def test_a_whole_part_that_comes_twice_is_refused() -> None:
    frames = stream_inline(native_request(HISTORY, "go"))
    whole = next(at for at, frame in enumerate(frames) if frame.part_chunk.HasField("whole"))
    end = next(at for at in range(whole, len(frames)) if frames[at].HasField("message_end"))
    stream = CompiledStream()
    for frame in [*frames[: whole + 1], *frames[whole:end]]:
        stream.feed(frame)
    with pytest.raises(StreamIncompleteError):
        stream.feed(frames[end])


def test_the_instruction_to_record_is_the_given_one() -> None:
    response = compile_inline(native_request([user(1, "a")], user(2, "b", sender={"name": "n"})))
    assert response.instruction.id == mid(2)
    assert response.instruction.sender.name == "n"
    assert response.instruction.role
