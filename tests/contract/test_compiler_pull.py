"""A branch as the source: what the compiler asks of the history service and makes of its answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest, StreamCompileRequest
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client.errors import (
    BranchNotFoundError,
    ProgressionInvalidError,
    SizeLimitExceededError,
    StoreBusyError,
)
from antiphon_client.limits import Limits
from antiphon_client.status import HISTORY_DOMAIN, error_from_rpc, to_status, trailers
from tests.support.compiler import (
    SYSTEM_ID,
    history_messages,
    message,
    mid,
    notes_of,
    openai_form,
    reassemble,
)
from tests.support.compiler_servers import (
    BRANCH_ID,
    INCARNATION,
    Frames,
    answering,
    compiler_before,
    real_pair,
    reason_of,
    scripted_pair,
    snapshot_frames,
)

pytestmark = pytest.mark.anyio

HISTORY = [
    {"type": "instruction", "content": {"instruction": "ask", "images": ["/9j/4AAQSkZJRg=="]}},
    {
        "type": "assistant_response",
        "content": {
            "assistant_response": "",
            "blocks": [{"tool_call": {"id": "c", "name": "f", "arguments_json": "{}"}}],
        },
    },
    {"type": "action_request", "content": {"function": "f", "arguments": {"a": 1.0}}},
    {"type": "action_response", "content": {"function": "f", "arguments": {"a": 1.0}, "output": None}},
    {"type": "assistant_response", "content": {"assistant_response": "naïve 東京"}},
    {"type": "generic", "content": {"value": 1}},
    {"type": "action_request", "content": {"function": "g", "arguments": {}}},
]
MESSAGES = history_messages(HISTORY)
SYSTEM = message("system", {"system_message": "policy"}, 0, id=SYSTEM_ID)


def branch_request(**fields: Any) -> CompileRequest:
    request = CompileRequest(**fields)
    request.branch.branch_id = BRANCH_ID
    request.instruction.instruction.instruction = "next"
    return request


def inline_request(messages: list[Message], system: Message | None) -> CompileRequest:
    request = CompileRequest()
    request.snapshot.messages.extend(messages)
    if system is not None:
        request.snapshot.system.CopyFrom(system)
    request.instruction.instruction.instruction = "next"
    return request


async def store_branch(history: Any) -> int:
    await history.CreateBranch(history_pb.CreateBranchRequest(branch_id=BRANCH_ID))
    await history.SetSystem(
        history_pb.SetSystemRequest(branch_id=BRANCH_ID, message_id=SYSTEM_ID, system=SYSTEM.system)
    )
    added = await history.AddMessages(history_pb.AddMessagesRequest(branch_id=BRANCH_ID, messages=MESSAGES))
    return int(added.revision)


async def test_a_pulled_branch_and_its_inline_snapshot_compile_alike(tmp_path: Path) -> None:
    async with real_pair(tmp_path) as pair:
        revision = await store_branch(pair.history)
        pulled = await pair.compiler.Compile(branch_request())
        inline = await pair.compiler.Compile(inline_request(MESSAGES, SYSTEM))
        stored = await pair.history.ListMessages(history_pb.ListMessagesRequest(branch_id=BRANCH_ID))
        as_stored = await pair.compiler.Compile(inline_request(list(stored.messages), SYSTEM))
    assert openai_form(pulled)[0]["content"][0] == {
        "type": "text",
        "text": "Guidance: policy\nInstruction: ask",
    }
    assert pulled.history_revision == revision
    assert pulled.incarnation
    assert (inline.history_revision, inline.incarnation) == (0, "")
    for other in (inline, as_stored):
        assert other.messages == pulled.messages
        assert other.messages_digest == pulled.messages_digest
        assert other.report == pulled.report
        assert other.instruction == pulled.instruction


async def test_a_branch_larger_than_the_limit_is_refused_and_a_part_of_it_compiles(tmp_path: Path) -> None:
    async with real_pair(tmp_path, Limits(snapshot_bytes=20_000)) as pair:
        await store_branch(pair.history)
        large = [Message(instruction=InstructionContent(instruction="x" * 9_000)) for _ in range(3)]
        await pair.history.AddMessages(history_pb.AddMessagesRequest(branch_id=BRANCH_ID, messages=large))
        with pytest.raises(grpc.RpcError) as caught:
            await pair.compiler.Compile(branch_request())
        error = error_from_rpc(caught.value)
        assert isinstance(error, SizeLimitExceededError)
        assert (error.domain, error.metadata["limit_name"]) == ("antiphon.compiler", "snapshot_bytes")
        part = branch_request()
        part.progression.message_ids.append(MESSAGES[0].id)
        assert (await pair.compiler.Compile(part)).messages


async def test_a_branch_streams_what_it_compiles(tmp_path: Path) -> None:
    async with real_pair(tmp_path) as pair:
        await store_branch(pair.history)
        whole = await pair.compiler.Compile(branch_request())
        frames = [
            f async for f in pair.compiler.StreamCompile(StreamCompileRequest(request=branch_request()))
        ]
    assert reassemble(frames) == whole


async def test_an_old_revision_and_a_view_compile_as_they_stood(tmp_path: Path) -> None:
    async with real_pair(tmp_path) as pair:
        revision = await store_branch(pair.history)
        before = await pair.compiler.Compile(branch_request())
        await pair.history.SelectView(history_pb.SelectViewRequest(branch_id=BRANCH_ID, message_ids=[mid(1)]))
        view = await pair.compiler.Compile(branch_request())
        request = branch_request()
        request.branch.at_revision = revision
        again = await pair.compiler.Compile(request)
        request.branch.at_revision = 1000
        future = await reason_of(pair.compiler.Compile(request))
    assert len(view.messages) == 2
    assert view.history_revision == revision + 1
    assert again == before
    assert (future.reason, future.domain) == ("REVISION_IN_FUTURE", HISTORY_DOMAIN)


async def test_a_progression_selects_and_empty_selects_nothing(tmp_path: Path) -> None:
    async with real_pair(tmp_path) as pair:
        await store_branch(pair.history)
        request = branch_request()
        request.progression.message_ids.extend([mid(1), mid(5), mid(4)])
        some = await pair.compiler.Compile(request)
        del request.progression.message_ids[:]
        none = await pair.compiler.Compile(request)
        request.progression.message_ids.extend([mid(9), mid(1), mid(1)])
        error = await reason_of(pair.compiler.Compile(request))
    assert [turn["role"] for turn in openai_form(some)] == ["user", "assistant", "user"]
    assert (
        openai_form(some)[-1]["content"]
        == "Instruction: next\nContext:\n- function: f\n  arguments:\n    a: 1.0"
    )
    assert openai_form(none) == [{"role": "user", "content": "Guidance: policy\nInstruction: next"}]
    assert isinstance(error, ProgressionInvalidError)
    assert error.domain == HISTORY_DOMAIN
    assert (error.metadata["missing"], error.metadata["duplicate"]) == (mid(9), mid(1))


async def test_one_history_call_a_compilation_with_what_was_asked(tmp_path: Path) -> None:
    frames = snapshot_frames(MESSAGES, system=SYSTEM)
    async with scripted_pair(tmp_path, answering(frames)) as (history, compiler):
        request = branch_request()
        request.branch.at_revision = 7
        request.progression.message_ids.extend(message.id for message in MESSAGES)
        response = await compiler.Compile(request)
        await compiler.Compile(branch_request())
    asked = history_pb.ReadSnapshotRequest(
        branch_id=BRANCH_ID, at_revision=7, progression=request.progression, takes_joined=True
    )
    assert history.requests == [asked, history_pb.ReadSnapshotRequest(branch_id=BRANCH_ID, takes_joined=True)]
    assert (response.history_revision, response.incarnation) == (7, INCARNATION)
    assert ("GENERIC_DROPPED", [mid(6)]) in notes_of(response)


async def test_the_callers_metadata_and_deadline_go_on(tmp_path: Path) -> None:
    frames = snapshot_frames(MESSAGES)
    async with scripted_pair(tmp_path, answering(frames)) as (history, compiler):
        metadata = (("authorization", "Bearer t"), ("trace-bin", b"\x00\xff"), ("twice", "1"), ("twice", "2"))
        await compiler.Compile(branch_request(), metadata=metadata, timeout=20)
        await compiler.Compile(branch_request(), metadata=(("te", "trailers"),))
    first, second = history.metadata
    for pair in metadata:
        assert first.count(pair) == 1
    # Each hop has its own user agent: the caller's is not piled onto it.
    assert len([key for key, _ in first if key == "user-agent"]) <= 1
    assert "authorization" not in dict(second)
    remaining, without = history.time_remaining
    assert remaining is not None
    # gRPC rounds a timeout up on the wire.
    assert 10 < remaining < 22
    assert without is None


async def test_a_passed_deadline_stays_one(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def never(
        request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        asked.set()
        await asyncio.Event().wait()
        yield history_pb.ReadSnapshotResponse()

    async with scripted_pair(tmp_path, never) as (_, compiler):
        started = time.monotonic()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await compiler.Compile(branch_request(), timeout=0.3)
        assert asked.is_set()
        assert time.monotonic() - started < 10
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_history_deadline_is_passed_on_as_one(tmp_path: Path) -> None:
    """A history that gives up first must not look like one that is gone."""
    script = failing(grpc.StatusCode.DEADLINE_EXCEEDED)
    async with scripted_pair(tmp_path, script) as (_, compiler):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await compiler.Compile(branch_request())
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def failing(code: grpc.StatusCode, details: str = "secret", trailing: Any = (), after: Any = ()) -> Frames:
    async def script(
        request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        for frame in after:
            yield frame
        await context.abort(code, details, trailing)

    return script


@pytest.mark.parametrize(
    "error",
    [
        BranchNotFoundError("no such branch", metadata={"branch_id": BRANCH_ID}),
        ProgressionInvalidError.of([mid(1)], [mid(2), mid(3)]),
        StoreBusyError("busy", retry_after=2.5),
    ],
    ids=lambda error: error.reason,
)
async def test_history_errors_are_passed_on_unchanged(tmp_path: Path, error: Any) -> None:
    status = to_status(error, HISTORY_DOMAIN)
    script = failing(grpc.StatusCode[error.code], status.message, trailers(status))
    async with scripted_pair(tmp_path, script) as (_, compiler):
        got = await reason_of(compiler.Compile(branch_request()))
    assert type(got) is type(error)
    assert got.domain == HISTORY_DOMAIN
    assert (got.message, got.metadata, got.retry_after) == (error.message, error.metadata, error.retry_after)


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.CANCELLED]
)
async def test_a_history_without_a_reason_is_unavailable(tmp_path: Path, code: grpc.StatusCode) -> None:
    after = snapshot_frames(MESSAGES)[:2]
    async with scripted_pair(tmp_path, failing(code, after=after)) as (_, compiler):
        error = await reason_of(compiler.Compile(branch_request()))
    assert error.reason == "HISTORY_UNAVAILABLE"
    assert error.metadata["code"] == code.name
    assert error.retry_after
    assert "secret" not in error.message


async def test_an_unreachable_history_is_unavailable(tmp_path: Path) -> None:
    async with compiler_before(f"unix:{tmp_path}/nobody.sock", tmp_path) as compiler:
        error = await reason_of(compiler.Compile(branch_request()))
        stream = compiler.StreamCompile(StreamCompileRequest(request=branch_request()))
        streamed = await reason_of(stream.read())
    assert error.reason == streamed.reason == "HISTORY_UNAVAILABLE"


@pytest.mark.parametrize("kept", range(7))
async def test_a_cut_stream_is_an_error(tmp_path: Path, kept: int) -> None:
    frames = snapshot_frames(MESSAGES[:5])[:kept]
    async with scripted_pair(tmp_path, answering(frames)) as (_, compiler):
        error = await reason_of(compiler.Compile(branch_request()))
    assert (error.reason, error.code) == ("SNAPSHOT_TRUNCATED", "DATA_LOSS")


async def test_stored_messages_of_a_newer_kind_are_refused_where_selected(tmp_path: Path) -> None:
    # Field 16 with one byte of content: a variant that this version does not have.
    newer = Message.FromString(Message(id=mid(9)).SerializeToString() + b"\x82\x01\x00")
    async with scripted_pair(tmp_path, answering(snapshot_frames([newer]))) as (_, compiler):
        pulled = await reason_of(compiler.Compile(branch_request()))
        inline = await reason_of(compiler.Compile(inline_request([newer], None)))
        request = inline_request([newer], None)
        request.progression.SetInParent()
        unselected = await compiler.Compile(request)
    for error in (pulled, inline):
        assert (error.reason, error.code) == ("UNSUPPORTED_CONTENT", "FAILED_PRECONDITION")
        assert error.metadata["message_ids"] == mid(9)
        assert isinstance(error, TypeError)
    assert len(unselected.messages) == 1


async def test_an_instruction_is_not_rendered_from_blocks_of_a_newer_kind(tmp_path: Path) -> None:
    # An instruction of one block, which holds field 7: a variant that this version does not have.
    newer = Message.FromString(Message(id=mid(9)).SerializeToString() + b"\x52\x04\x42\x02\x3a\x00")
    assert [block.WhichOneof("block") for block in newer.instruction.blocks] == [None]
    beside_text = Message.FromString(newer.SerializeToString())
    beside_text.instruction.instruction = "ask"
    async with scripted_pair(tmp_path, answering(snapshot_frames([newer]))) as (_, compiler):
        error = await reason_of(compiler.Compile(branch_request()))
    (tmp_path / "other").mkdir()
    async with scripted_pair(tmp_path / "other", answering(snapshot_frames([beside_text]))) as (_, compiler):
        response = await compiler.Compile(branch_request())
    assert (error.reason, error.metadata["message_ids"]) == ("UNSUPPORTED_CONTENT", mid(9))
    assert notes_of(response) == [("BLOCKS_NOT_RENDERED", [mid(9)])]


async def test_a_message_beyond_every_unary_limit_is_streamed(tmp_path: Path) -> None:
    """One folded turn of 5 MB reaches a client with gRPC's default limit of 4 MiB."""
    outputs = [f"{number}" + "東京🙂" * 125_000 for number in range(4)]
    messages = history_messages(
        {"type": "action_response", "content": {"function": "f", "arguments": {}, "output": output}}
        for output in outputs
    )
    async with scripted_pair(tmp_path, answering(snapshot_frames(messages, batch=1))) as (_, compiler):
        error = await reason_of(compiler.Compile(branch_request()))
        frames = [f async for f in compiler.StreamCompile(StreamCompileRequest(request=branch_request()))]
    assert (error.reason, error.metadata["limit_name"]) == ("SIZE_LIMIT_EXCEEDED", "reply_bytes")
    assert "StreamCompile" in error.message
    assert max(frame.ByteSize() for frame in frames) <= 2**20
    context = "\n".join(f"- function: f\n  output: {output}" for output in outputs)
    (compiled,) = openai_form(reassemble(frames))
    # Not compared in the assertion, which would spell out 5 MB where it fails.
    is_equal = compiled["content"] == f"Instruction: next\nContext:\n{context}"
    assert is_equal
