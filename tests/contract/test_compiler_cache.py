"""What a compiler that keeps branches asks of the history service, over the wire."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import BranchNotFoundError
from antiphon_client.status import HISTORY_DOMAIN, to_status, trailers
from compiler_service.cache.branches import DEFAULT_CACHE_BYTES
from compiler_service.settings import CompilerSettings
from tests.support.compiler import history_messages
from tests.support.compiler_servers import (
    BRANCH_ID,
    INCARNATION,
    Frames,
    real_pair,
    reason_of,
    scripted_pair,
    snapshot_frames,
)

pytestmark = pytest.mark.anyio

MESSAGES = history_messages(
    [
        {"type": "instruction", "content": {"instruction": "ask"}},
        {"type": "assistant_response", "content": {"assistant_response": "answer"}},
        {"type": "instruction", "content": {"instruction": "ask more"}},
    ]
)


def branch_request() -> CompileRequest:
    request = CompileRequest()
    request.branch.branch_id = BRANCH_ID
    request.instruction.instruction.instruction = "next"
    return request


def telling(runs: list[history_pb.SnapshotRun], sent: list[Message], revision: int = 8) -> Frames:
    """A history of two messages at revision 7, whose third one it tells by these runs."""
    whole = snapshot_frames(MESSAGES[:2])
    bodies = [message.SerializeToString(deterministic=True) for message in sent]
    header = history_pb.ReadSnapshotResponse()
    header.CopyFrom(whole[0])
    header.header.revision, header.header.message_count, header.header.is_delta = revision, 3, True
    footer = history_pb.SnapshotFooter(
        message_count=len(sent), sha256=hashlib.sha256(b"".join(bodies)).digest()
    )
    delta = [
        header,
        history_pb.ReadSnapshotResponse(delta=history_pb.SnapshotDelta(runs=runs)),
        history_pb.ReadSnapshotResponse(batch=history_pb.SnapshotBatch(messages=bodies)),
        history_pb.ReadSnapshotResponse(footer=footer),
    ]

    async def script(
        request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        for frame in delta if request.HasField("since_revision") else whole:
            yield frame

    return script


def kept(start: int, count: int) -> history_pb.SnapshotRun:
    return history_pb.SnapshotRun(kept=history_pb.KeptRun(start=start, count=count))


ONE_SENT = history_pb.SnapshotRun(sent=1)


async def test_a_branch_compiled_again_is_asked_for_under_the_callers_own_credentials(tmp_path: Path) -> None:
    script = telling([kept(0, 2), ONE_SENT], MESSAGES[2:])
    async with scripted_pair(tmp_path, script) as (history, compiler):
        await compiler.Compile(branch_request(), metadata=(("authorization", "Bearer one"),))
        again = await compiler.Compile(
            branch_request(), metadata=(("authorization", "Bearer two"),), timeout=20
        )
    assert [dict(metadata)["authorization"] for metadata in history.metadata] == ["Bearer one", "Bearer two"]
    assert history.time_remaining[1] is not None
    first, second = history.requests
    assert first == history_pb.ReadSnapshotRequest(branch_id=BRANCH_ID, takes_joined=True)
    assert second == history_pb.ReadSnapshotRequest(
        branch_id=BRANCH_ID, since_revision=7, since_incarnation=INCARNATION, takes_joined=True
    )
    assert [message.text for message in again.messages] == [
        "Instruction: ask",
        "answer",
        "Instruction: ask more",
        "Instruction: next",
    ]
    assert again.history_revision == 8


@pytest.mark.parametrize(
    "runs",
    [[kept(0, 3)], [kept(0, 2)], [kept(0, 2), ONE_SENT, ONE_SENT], [history_pb.SnapshotRun(), ONE_SENT]],
    ids=["too much kept", "none sent", "too much sent", "no source"],
)
async def test_a_delta_that_does_not_fit_is_an_error_and_is_not_kept(
    tmp_path: Path, runs: list[history_pb.SnapshotRun]
) -> None:
    async with scripted_pair(tmp_path, telling(runs, MESSAGES[2:])) as (history, compiler):
        await compiler.Compile(branch_request())
        for _ in range(2):
            error = await reason_of(compiler.Compile(branch_request()))
            assert (error.reason, error.code) == ("SNAPSHOT_TRUNCATED", "DATA_LOSS")
    assert [request.since_revision for request in history.requests] == [0, 7, 7]


async def test_a_caller_who_may_not_read_gets_nothing_that_is_kept(tmp_path: Path) -> None:
    status = to_status(BranchNotFoundError("no such branch"), HISTORY_DOMAIN)
    whole = snapshot_frames(MESSAGES[:2])

    async def script(
        request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        if dict(context.invocation_metadata()).get("authorization") != "owner":
            await context.abort(grpc.StatusCode.NOT_FOUND, status.message, trailers(status))
        for frame in whole:
            yield frame

    async with scripted_pair(tmp_path, script) as (_, compiler):
        await compiler.Compile(branch_request(), metadata=(("authorization", "owner"),))
        error = await reason_of(compiler.Compile(branch_request(), metadata=(("authorization", "other"),)))
        after = await compiler.Compile(branch_request(), metadata=(("authorization", "owner"),))
    assert error.reason == "BRANCH_NOT_FOUND"
    assert len(after.messages) == 3


async def test_a_history_put_back_to_an_older_copy_is_followed(tmp_path: Path) -> None:
    answers = [snapshot_frames(MESSAGES[:2], revision=7), *[snapshot_frames(MESSAGES[:1], revision=5)] * 2]

    async def script(
        request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        for frame in answers.pop(0):
            yield frame

    async with scripted_pair(tmp_path, script) as (history, compiler):
        replies = [await compiler.Compile(branch_request()) for _ in range(3)]
    assert [request.since_revision for request in history.requests] == [0, 7, 5]
    assert [reply.history_revision for reply in replies] == [7, 5, 5]
    assert replies[1].messages_digest == replies[2].messages_digest


async def test_a_growing_branch_compiled_by_many_callers_at_once(tmp_path: Path) -> None:
    async with real_pair(tmp_path) as pair:
        await pair.history.CreateBranch(history_pb.CreateBranchRequest(branch_id=BRANCH_ID))
        replies: dict[int, set[bytes]] = {}

        async def compile_some() -> None:
            for _ in range(15):
                reply = await pair.compiler.Compile(branch_request())
                replies.setdefault(reply.history_revision, set()).add(reply.SerializeToString())

        async def grow() -> None:
            for n in range(15):
                turns = [Message(), Message()]
                turns[0].instruction.instruction = f"ask {n}"
                turns[1].assistant_response.assistant_response = f"answer {n}"
                await pair.history.AddMessages(
                    history_pb.AddMessagesRequest(branch_id=BRANCH_ID, messages=turns)
                )

        await asyncio.gather(grow(), *[compile_some() for _ in range(4)])
        for revision, found in replies.items():
            request = branch_request()
            request.branch.at_revision = revision
            found.add((await pair.compiler.Compile(request)).SerializeToString())
    assert len(replies) > 3
    assert {len(found) for found in replies.values()} == {1}


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CompilerSettings(listen="unix:/c", history="unix:/h").cache_bytes == DEFAULT_CACHE_BYTES
    monkeypatch.setenv("ANTIPHON_COMPILER_CACHE_BYTES", "0")
    assert CompilerSettings(listen="unix:/c", history="unix:/h").cache_bytes == 0
    with pytest.raises(ValueError, match="cache_bytes"):
        CompilerSettings(listen="unix:/c", history="unix:/h", cache_bytes=-1)
