"""Workers spare time, and nothing else depends on them: whatever becomes of one, the reply is the same."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest, CompileResponse
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1.message_pb2 import ACTION_RESPONSE_STATE_INTERIM, Message
from compiler_service.workers import child, worker
from tests.support.compiler_servers import BRANCH_ID, answering, scripted_pair, snapshot_frames
from tests.support.folding_workers import Watched, is_running, open_files, until, watch_workers
from tests.support.history import action_result, assistant, call_action, instruction, summary

pytestmark = pytest.mark.anyio

BATCH = 20
BROKEN = "tests.support.broken_worker"


PADDING = "well, " * 250
"""Enough for a snapshot that is compiled in a thread."""


def rounds(count: int) -> list[Message]:
    """Return rounds of a conversation; some have images, news of a result, or a summary."""
    messages: list[Message] = []
    for first in range(1, 7 * count, 7):
        news = action_result(first + 2, first + 1)
        news.action_response.state = ACTION_RESPONSE_STATE_INTERIM
        asked = instruction(first + 5, f"and then {first} \u00e9\u4e16? {PADDING}")
        if first % 4 == 1:
            asked.instruction.images.append("https://images.example/one.png")
        messages += [instruction(first), call_action(first + 1), news, assistant(first + 3)]
        if first % 3:
            # The final response stands where another stretch may be.
            messages += [asked, assistant(first + 6), action_result(first + 4, first + 1)]
        else:
            messages += [action_result(first + 4, first + 1), asked, assistant(first + 6)]
    messages[13:13] = [summary(9001, 1, 2, "what was said")]
    return messages


MESSAGES = rounds(50)
FRAMES = snapshot_frames(MESSAGES, batch=BATCH)
FIRST_BATCH = next(number for number, frame in enumerate(FRAMES) if frame.HasField("batch"))


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return watch_workers(monkeypatch)


def request() -> CompileRequest:
    asked = CompileRequest()
    asked.branch.branch_id = BRANCH_ID
    asked.instruction.instruction.instruction = "what now?"
    return asked


def inline() -> CompileRequest:
    """The same messages in the request: nothing is read, nothing folded ahead."""
    asked = CompileRequest()
    asked.snapshot.messages.extend(MESSAGES)
    asked.instruction.instruction.instruction = "what now?"
    return asked


def same(reply: CompileResponse, other: CompileResponse) -> bool:
    found = CompileResponse()
    found.CopyFrom(reply)
    found.history_revision, found.incarnation = other.history_revision, other.incarnation
    return found.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True)


class Steps:
    """A script that does something before some of the frames, and tells where it is."""

    def __init__(self, at: int, do: Any) -> None:
        self.at, self.do = at, do
        self.is_over = asyncio.Event()

    async def __call__(
        self, request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        for number, frame in enumerate(FRAMES):
            if number == self.at and self.do is not None:
                do, self.do = self.do, None
                await do()
            yield frame
        self.is_over.set()


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_the_reply_is_the_same_with_any_number_of_workers(
    tmp_path: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr("compiler_service.cache.ahead.LEAD_BYTES", 3000)
    async with scripted_pair(tmp_path, answering(FRAMES), workers=count) as (_, compiler):
        await watched.ready(count)
        expected = await compiler.Compile(inline())
        assert same(await compiler.Compile(request()), expected)
    used = watched.used()
    assert len(used) == min(count, 1)
    assert all(used)


async def test_calls_beyond_the_workers_are_served_the_same(tmp_path: Path, watched: Watched) -> None:
    both_read = asyncio.Barrier(4)

    async def script(
        request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        for number, frame in enumerate(FRAMES):
            if number == FIRST_BATCH + 2:
                await both_read.wait()
            yield frame

    async with scripted_pair(tmp_path, script, workers=1) as (_, compiler):
        await watched.ready(1)
        expected = await compiler.Compile(inline())
        replies = await asyncio.gather(*[compiler.Compile(request()) for _ in range(4)])
    assert all(same(reply, expected) for reply in replies)
    assert watched.pool.figures()[2].read() >= 3
    assert all(watched.used())


async def test_a_worker_killed_while_idle_is_replaced(tmp_path: Path, watched: Watched) -> None:
    async with scripted_pair(tmp_path, answering(FRAMES), workers=1) as (_, compiler):
        (former,) = await watched.ready(1)
        expected = await compiler.Compile(inline())
        os.kill(former, signal.SIGKILL)
        await until(lambda: not is_running(former))
        assert same(await compiler.Compile(request()), expected)
        (other,) = await watched.ready(1)
        assert other != former
    assert watched.used() == []


@pytest.mark.parametrize("at", [FIRST_BATCH + 1, FIRST_BATCH + 5, len(FRAMES) - 1])
async def test_a_worker_killed_at_work_is_replaced(tmp_path: Path, watched: Watched, at: int) -> None:
    async def kill() -> None:
        # It has taken something by now: the compiler has looked at the first batch.
        await until(lambda: watched.pool.free == 0)
        os.kill(watched.pool.process_ids[0], signal.SIGKILL)

    async with scripted_pair(tmp_path, Steps(at, kill), workers=1) as (_, compiler):
        (former,) = await watched.ready(1)
        expected = await compiler.Compile(inline())
        assert same(await compiler.Compile(request()), expected)
        (other,) = await watched.ready(1)
        assert other != former


async def test_a_worker_killed_before_it_answers_is_replaced(tmp_path: Path, watched: Watched) -> None:
    async def stop() -> None:
        os.kill(watched.pool.process_ids[0], signal.SIGSTOP)

    steps = Steps(FIRST_BATCH, stop)
    async with scripted_pair(tmp_path, steps, workers=1) as (_, compiler):
        (former,) = await watched.ready(1)
        expected = await compiler.Compile(inline())
        call = asyncio.ensure_future(compiler.Compile(request()))
        await until(lambda: bool(watched.answers))
        os.kill(former, signal.SIGKILL)
        assert same(await call, expected)
        (other,) = await watched.ready(1)
        assert other != former
    assert watched.used() == [None]


async def test_a_worker_that_takes_too_long_is_replaced(
    tmp_path: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "ANSWER_SECONDS", 0.2)

    async def stop() -> None:
        os.kill(watched.pool.process_ids[0], signal.SIGSTOP)

    async with scripted_pair(tmp_path, Steps(FIRST_BATCH, stop), workers=1) as (_, compiler):
        (former,) = await watched.ready(1)
        expected = await compiler.Compile(inline())
        assert same(await compiler.Compile(request()), expected)
        await until(lambda: not is_running(former))
        monkeypatch.setattr(worker, "ANSWER_SECONDS", 20.0)
        await watched.ready(1)
    assert watched.used() == [None]


async def test_a_cancelled_call_leaves_a_clean_worker(tmp_path: Path, watched: Watched) -> None:
    reached, never = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        reached.set()
        await never.wait()

    async with scripted_pair(tmp_path, Steps(FIRST_BATCH + 4, hang), workers=1) as (_, compiler):
        (former,) = await watched.ready(1)
        expected = await compiler.Compile(inline())
        call = compiler.Compile(request())
        await reached.wait()
        await until(lambda: watched.pool.free == 0)
        call.cancel()
        assert await watched.ready(1) == [former]
        assert watched.answers == []
        assert same(await compiler.Compile(request()), expected)
    assert all(watched.used())
    assert len(watched.used()) == 1


@pytest.mark.parametrize("fault", ["dies", "length", "garbage", "other_call", "no_tuple", "no_stretches"])
async def test_a_worker_that_answers_nonsense_is_replaced(
    tmp_path: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(child, "MODULE", BROKEN)
    monkeypatch.setenv("BROKEN_WORKER", fault)
    async with scripted_pair(tmp_path, answering(FRAMES), workers=1) as (_, compiler):
        (former,) = await watched.ready(1)
        expected = await compiler.Compile(inline())
        assert same(await compiler.Compile(request()), expected)
        await until(lambda: not is_running(former))
        monkeypatch.undo()
    assert watched.used() == [None]


async def test_a_worker_that_cannot_be_started_is_tried_again(
    tmp_path: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = 0

    def failing() -> child.Child:
        nonlocal starts
        starts += 1
        if starts < 3:
            raise OSError("no process")
        return child.Child()

    monkeypatch.setattr(worker, "Child", failing)
    monkeypatch.setattr(worker, "FIRST_PAUSE_SECONDS", 0.01)
    async with scripted_pair(tmp_path, answering(FRAMES), workers=1) as (_, compiler):
        expected = await compiler.Compile(inline())
        assert same(await compiler.Compile(request()), expected)
        await watched.ready(1)
    assert starts == 3


async def test_a_stopped_server_leaves_no_worker(tmp_path: Path, watched: Watched) -> None:
    async with scripted_pair(tmp_path, answering(FRAMES), workers=2):
        found = await watched.ready(2)
    assert len(found) == 2
    assert not any(map(is_running, found))


async def test_a_server_stopped_before_its_workers_are_ready_leaves_none(
    tmp_path: Path, watched: Watched
) -> None:
    async with scripted_pair(tmp_path, answering(FRAMES), workers=2):
        await until(lambda: len(watched.pool.process_ids) == 2)
        found = watched.pool.process_ids
    assert not any(map(is_running, found))


async def test_a_worker_has_nothing_of_the_service_s_open(tmp_path: Path, watched: Watched) -> None:
    async with scripted_pair(tmp_path, answering(FRAMES), workers=2):
        for process_id in await watched.ready(2):
            (name,) = open_files(process_id)
            assert name.startswith("socket:")


async def test_a_worker_ends_by_no_signal_of_a_terminal(tmp_path: Path, watched: Watched) -> None:
    async with scripted_pair(tmp_path, answering(FRAMES), workers=1) as (_, compiler):
        (former,) = await watched.ready(1)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(former, number)
        await compiler.Compile(request())
        assert await watched.ready(1) == [former]
    assert all(watched.used())
    assert len(watched.used()) == 1


async def test_its_figures(tmp_path: Path, watched: Watched) -> None:
    def figures() -> dict[str, float]:
        return {figure.name: figure.read() for figure in watched.pool.figures()}

    async with scripted_pair(tmp_path, answering(FRAMES), workers=1) as (_, compiler):
        await watched.ready(1)
        await compiler.Compile(request())
        await watched.ready(1)
        assert figures() == {
            "antiphon_folding_workers": 1,
            "antiphon_folding_leases": 1,
            "antiphon_folding_refusals": 0,
        }
        lease = watched.pool.lease()
        assert lease is not None
        assert watched.pool.lease() is None
        lease.abandon()
        await watched.ready(1)
        assert figures()["antiphon_folding_refusals"] == 1


async def test_an_unreadable_message_is_reported_as_without_workers(tmp_path: Path, watched: Watched) -> None:
    frames = snapshot_frames(MESSAGES, batch=BATCH)
    batch = frames[FIRST_BATCH + 3].batch
    batch.messages[2] = b"\xff\xff"
    replies = []
    for count in (0, 1):
        async with scripted_pair(tmp_path, answering(frames), workers=count) as (_, compiler):
            await watched.ready(count)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await compiler.Compile(request())
            replies.append((caught.value.code(), caught.value.details()))
            await watched.ready(count)
    assert replies[0] == replies[1]
