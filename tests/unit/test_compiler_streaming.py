"""Streamed compilations: within the frame limit, cut between characters, equal to the unary reply."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest, StreamCompileRequest
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import FieldInvalidError, SizeLimitExceededError
from antiphon_client.limits import DEFAULT_LIMITS
from compiler_service.servicer import CompilerServicer
from compiler_service.streaming import split_text
from tests.support.compiler import compile_inline, mid, notes_of, reassemble, request_of, stream_inline
from tests.support.compiler_strategies import requests

SMALL = replace(DEFAULT_LIMITS, frame_bytes=200)


@settings(max_examples=150)
@given(requests())
def test_a_stream_reassembles_to_the_unary_reply(request: CompileRequest) -> None:
    whole = compile_inline(request)
    assert reassemble(stream_inline(request)) == whole
    assert reassemble(stream_inline(request, SMALL)) == whole


@given(st.text(max_size=60), st.integers(4, 20))
def test_text_is_cut_between_characters(text: str, limit: int) -> None:
    pieces = list(split_text(text, limit))
    assert "".join(pieces) == text
    assert all(piece and len(piece.encode()) <= limit for piece in pieces)
    # As few as that allows: no two neighbours would have fitted together by a character.
    assert all(len((former + latter[0]).encode()) > limit for former, latter in pairwise(pieces))


def test_frames_keep_to_the_limit() -> None:
    text = "naïve 東京 🙂 " * 2000
    images = ["data:image/png;base64," + "iVBORw0KGgo=" * 1, "https://example.com/" + "a" * 3000]
    request = request_of(
        {
            "history": [
                {"type": "instruction", "content": {"plain_content": text, "images": images}},
                *({"type": "assistant_response", "content": {"assistant_response": text}} for _ in range(3)),
                *({"type": "generic", "content": {"value": number}} for number in range(3000)),
            ],
            "instruction": {"instruction": "go"},
        }
    )
    limits = replace(DEFAULT_LIMITS, frame_bytes=64 * 1024)
    frames = stream_inline(request, limits)
    assert max(frame.ByteSize() for frame in frames) <= limits.frame_bytes
    assert max(frame.ByteSize() for frame in frames) > limits.frame_bytes // 2
    results = [frame.result for frame in frames if frame.WhichOneof("frame") == "result"]
    assert len(results) > 1
    assert [result.last for result in results] == [False] * (len(results) - 1) + [True]
    assert all(not result.HasField("instruction") for result in results[:-1])
    whole = reassemble(frames)
    assert whole == compile_inline(request)
    dropped = [ids for kind, ids in notes_of(whole) if kind == "GENERIC_DROPPED"]
    assert list(chain.from_iterable(dropped)) == [mid(number) for number in range(5, 3005)]


def test_a_large_instruction_stands_alone_in_its_frame() -> None:
    request = request_of(
        {
            "history": [{"type": "generic", "content": {"value": number}} for number in range(3)],
            "instruction": {"instruction": "x" * 1000},
        }
    )
    frames = stream_inline(request, SMALL)
    *others, last = frames
    assert all(frame.ByteSize() <= SMALL.frame_bytes for frame in others)
    assert last.result.last
    assert last.result.instruction.instruction.instruction == "x" * 1000
    assert not last.result.report
    assert reassemble(frames) == compile_inline(request)


def test_a_reply_over_the_unary_limit_names_the_stream() -> None:
    request = request_of({"instruction": {"instruction": "x" * 1000}})
    size = compile_inline(request).ByteSize()
    assert compile_inline(request, replace(DEFAULT_LIMITS, reply_bytes=size)).ByteSize() == size
    with pytest.raises(SizeLimitExceededError, match="StreamCompile") as caught:
        compile_inline(request, replace(DEFAULT_LIMITS, reply_bytes=size - 1))
    assert caught.value.metadata == {
        "limit_name": "reply_bytes",
        "limit": str(size - 1),
        "actual": str(size),
    }
    assert reassemble(stream_inline(request, replace(DEFAULT_LIMITS, reply_bytes=size - 1)))


@pytest.mark.anyio
async def test_a_stream_request_without_a_request_is_refused() -> None:
    stream = CompilerServicer(None, DEFAULT_LIMITS).StreamCompile(StreamCompileRequest(), None)
    with pytest.raises(FieldInvalidError) as caught:
        await anext(stream)
    assert [violation.field for violation in caught.value.violations] == ["request"]


def test_field_paths_of_a_stream_start_at_its_own_request() -> None:
    request = request_of({"history": [], "instruction": {"instruction": " "}})
    with pytest.raises(FieldInvalidError) as caught:
        stream_inline(request)
    assert caught.value.violations[0].field == "request.instruction.instruction.instruction"
    request.snapshot.messages.append(Message())
    with pytest.raises(FieldInvalidError) as caught:
        stream_inline(request)
    assert caught.value.violations[0].field == "request.snapshot.messages[0].id"
    request.ClearField("source")
    with pytest.raises(FieldInvalidError) as caught:
        stream_inline(request)
    assert caught.value.violations[0].field == "request.source"
