"""Whatever a worker folds of a selection, and wherever it is divided, gives the same bytes."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.message.v1.message_pb2 import AssistantResponseContent, InstructionContent, Message
from antiphon_client.edge.offload import INLINE_BYTES
from antiphon_client.snapshot import SnapshotAssembler
from antiphon_client.snapshot_delta import KeptRun
from compiler_service.cache import ahead, parts
from compiler_service.cache.ahead import FoldingAhead
from compiler_service.cache.parts import Part
from compiler_service.cache.reading import BranchReading
from compiler_service.compilation import CompileSource, compile_turn
from compiler_service.folded.ahead import PartsFolder
from compiler_service.folded.history import FoldedHistory
from compiler_service.workers import worker
from compiler_service.workers.pool import FoldingWorkers
from tests.support.compiler_servers import snapshot_frames
from tests.support.compiler_strategies import requests
from tests.support.folding import compiled
from tests.support.folding_workers import until
from tests.support.history import uuid_of


@pytest.fixture(scope="module", params=[1, 3])
def pool(request: pytest.FixtureRequest) -> Iterator[FoldingWorkers]:
    async def started() -> FoldingWorkers:
        workers = FoldingWorkers(request.param)
        await workers.start()
        await until(lambda: workers.free == request.param)
        return workers

    workers = asyncio.run(started())
    yield workers
    asyncio.run(workers.close())


async def folded(request: CompileRequest, batch: int, pool: FoldingWorkers) -> FoldedHistory | None:
    """Fold a request's messages as if they came from a history; the worker is free again after it."""
    free = pool.free
    assembler = SnapshotAssembler()
    with FoldingAhead(pool) as folding:
        for frame in snapshot_frames(request.snapshot.messages, batch=batch):
            assembler.feed(frame)
            folding.look(assembler)
            # Whether this process has folded what it was given decides whose turn it is.
            await folding.wait()
        history = await folding.history()
    await until(lambda: pool.free == free)
    return history


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests(), st.integers(1, 12), st.integers(0, 600), st.floats(0, 1))
def test_any_division_gives_the_same_bytes(
    pool: FoldingWorkers,
    monkeypatch: pytest.MonkeyPatch,
    request: CompileRequest,
    batch: int,
    lead: int,
    share: float,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(ahead, "INLINE_BYTES", 0)
        patched.setattr(ahead, "WORKER_BYTES", 0)
        patched.setattr(ahead, "LEAD_BYTES", lead)
        patched.setattr(ahead, "FAR_SHARE", share)
        history = asyncio.run(folded(request, batch, pool))
    assert compiled(request, history) == compiled(request, None)


@pytest.mark.parametrize(("text_bytes", "is_asked"), [(100, False), (600, True)])
def test_a_worker_is_asked_for_by_what_is_to_come(
    pool: FoldingWorkers, text_bytes: int, is_asked: bool
) -> None:
    async def leased_after_the_first_batch() -> bool:
        free, assembler = pool.free, SnapshotAssembler()
        with FoldingAhead(pool) as folding:
            frames = iter(snapshot_frames([*conversation_of(200, text_bytes)], batch=20))
            while not assembler.arrived(0).messages:
                assembler.feed(next(frames))
                folding.look(assembler)
            assert len(assembler.arrived(0).messages) == 20
            leased = pool.free < free
            for frame in frames:
                assembler.feed(frame)
                folding.look(assembler)
            await folding.history()
        await until(lambda: pool.free == free)
        return leased

    assert asyncio.run(leased_after_the_first_batch()) == is_asked


@pytest.mark.parametrize(("own_seconds", "waited"), [(0.25, 0.25), (0.001, ahead.LEAST_PATIENCE_SECONDS)])
def test_a_worker_is_waited_for_as_long_as_the_rest_took(
    monkeypatch: pytest.MonkeyPatch, own_seconds: float, waited: float
) -> None:
    never: Future[None] = Future()
    lease = SimpleNamespace(take=lambda *part: None, finish=lambda: never)
    workers: Any = SimpleNamespace(lease=lambda: lease)
    waits: list[float] = []

    async def in_vain(futures: list[Any], timeout: float) -> tuple[set[Any], set[Any]]:
        waits.append(timeout)
        return set(), set(futures)

    async def folded_without() -> FoldedHistory | None:
        assembler = SnapshotAssembler()
        with FoldingAhead(workers) as folding:
            for frame in snapshot_frames([*conversation_of(200, 600)], batch=20):
                assembler.feed(frame)
                folding.look(assembler)
            await folding.wait()
            times = SimpleNamespace(monotonic=iter([8.0, 8.0 + own_seconds]).__next__)
            monkeypatch.setattr(ahead, "time", times)
            waiting = SimpleNamespace(wrap_future=asyncio.wrap_future, wait=in_vain)
            monkeypatch.setattr(ahead, "asyncio", waiting)
            return await folding.history()

    assert asyncio.run(folded_without()) is not None
    assert waits == [pytest.approx(waited)]


@pytest.mark.parametrize(
    ("loop_bytes", "slice_bytes", "slices"),
    [(2**20, 2**20, 1), (2**20, 20_000, 4), (0, 2**20, 0), (2**20, 500, 0)],
)
def test_the_last_messages_are_folded_on_the_event_loop_in_slices_where_they_are_few(
    pool: FoldingWorkers, monkeypatch: pytest.MonkeyPatch, loop_bytes: int, slice_bytes: int, slices: int
) -> None:
    monkeypatch.setattr(parts, "LOOP_BYTES", loop_bytes)
    monkeypatch.setattr(parts, "SLICE_BYTES", slice_bytes)
    threads: list[int] = []
    take = PartsFolder.take

    def noted(folder: PartsFolder, start: int, messages: Any) -> None:
        threads.append(threading.get_ident())
        take(folder, start, messages)

    monkeypatch.setattr(PartsFolder, "take", noted)
    request = CompileRequest()
    request.snapshot.messages.extend(conversation_of(200, 600))
    request.instruction.instruction.instruction = "?"
    history = asyncio.run(folded(request, 200, pool))
    assert [thread == threading.get_ident() for thread in threads] == ([True] * slices or [False])
    assert compiled(request, history) == compiled(request, None)


@given(st.lists(st.integers(0, 60), max_size=12), st.integers(0, 100), st.integers(1, 4))
def test_slices_are_of_so_much_or_of_one_message(sizes: list[int], most: int, count: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts, "SLICE_BYTES", most)
        patched.setattr(parts, "SLICE_MESSAGES", count)
        _check_slices(sizes, most, count)


def _check_slices(sizes: list[int], most: int, count: int) -> None:
    part = Part(7, [f"{n}" for n in range(len(sizes))], [bytes(size) for size in sizes])
    slices = [*part.slices()]
    assert all(1 <= len(each.messages) <= count for each in slices)
    assert all(each.size <= most or len(each.messages) == 1 for each in slices)
    starts = [each.start for each in slices]
    assert starts == [*([7] if sizes else []), *[each.end for each in slices[:-1]]]
    assert [size for each in slices for size in each.messages] == [*part.messages]
    assert [name for each in slices for name in each.message_ids] == [*part.message_ids]


@pytest.mark.anyio
async def test_others_have_a_turn_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SLICE_MESSAGES", 1)
    folder, turns = parts.NearFolder(), 0
    messages = [message.SerializeToString() for message in conversation_of(8, 10)]
    folder.leave(Part(0, [message.id for message in conversation_of(8, 10)], messages))

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.ensure_future(other())
    await folder.finish()
    others.cancel()
    assert turns >= 7


def test_what_is_folded_already_weighs_little_and_only_where_nothing_else_is_done(
    pool: FoldingWorkers,
) -> None:
    request = CompileRequest()
    request.snapshot.messages.extend(conversation_of(200, 600))
    history = asyncio.run(folded(request, 200, pool))
    assert history is not None
    assembler = SnapshotAssembler()
    for frame in snapshot_frames(request.snapshot.messages):
        assembler.feed(frame)
    snapshot = assembler.result()
    fresh = BranchReading(snapshot, None, None, None, None)
    for reading in (fresh._replace(former=history), fresh._replace(ahead=history)):
        assert reading.weight(only_folds=False) == snapshot.message_bytes
        assert reading.weight(only_folds=True) < snapshot.message_bytes // 4
    assert fresh.weight(only_folds=True) == snapshot.message_bytes


@pytest.mark.parametrize(("count", "is_inline"), [(12_000, True), (16_000, False)])
def test_many_short_messages_are_not_worked_on_by_the_event_loop(count: int, is_inline: bool) -> None:
    messages = list(conversation_of(count, 2))
    outcome = compile_turn(CompileRequest(), CompileSource(None, messages)).folded
    assert outcome is not None
    assembler = SnapshotAssembler()
    for frame in snapshot_frames(messages):
        assembler.feed(frame)
    reading = BranchReading(assembler.result(), outcome.history, None, None, None)
    assert (reading.weight(only_folds=True) <= INLINE_BYTES) is is_inline


@pytest.mark.parametrize("first", [True, False])
def test_what_is_not_folded_weighs_what_it_is(pool: FoldingWorkers, first: bool) -> None:
    request = CompileRequest()
    request.snapshot.messages.extend(conversation_of(200, 600))
    history = asyncio.run(folded(request, 200, pool))
    assert history is not None
    [large] = conversation_of(1, 2**20, first=200)
    messages = [large, *request.snapshot.messages] if first else [*request.snapshot.messages, large]
    assembler = SnapshotAssembler()
    for frame in snapshot_frames(messages):
        assembler.feed(frame)
    moved = history.moved([KeptRun(start=0, length=200, at=int(first))])
    reading = BranchReading(assembler.result(), moved, None, None, None)
    assert reading.weight(only_folds=True) > 2**20


def test_a_worker_that_gets_no_core_is_done_without(
    pool: FoldingWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else it would be replaced where this machine has other work for two seconds.
    monkeypatch.setattr(worker, "ANSWER_SECONDS", 60.0)
    messages = [*conversation_of(200, 600)]
    workers = pool.process_ids

    async def stopped() -> FoldedHistory | None:
        free, assembler = pool.free, SnapshotAssembler()
        with FoldingAhead(pool) as folding:
            for frame in snapshot_frames(messages, batch=20):
                assembler.feed(frame)
                folding.look(assembler)
            history = await folding.history()
        assert pool.free == free - 1
        for process_id in workers:
            os.kill(process_id, signal.SIGCONT)
        await until(lambda: pool.free == free)
        return history

    for process_id in workers:
        os.kill(process_id, signal.SIGSTOP)
    try:
        history = asyncio.run(stopped())
    finally:
        for process_id in workers:
            os.kill(process_id, signal.SIGCONT)
    # Nobody gave up on the process: it was late for one call.
    assert pool.process_ids == workers
    assert history is not None
    assert sum(held.stretch.length for held in history.held) < 2 / 3 * len(messages)
    request = CompileRequest()
    request.snapshot.messages.extend(messages)
    request.instruction.instruction.instruction = "?"
    assert compiled(request, history) == compiled(request, None)


def conversation_of(count: int, text_bytes: int, *, first: int = 0) -> Iterator[Message]:
    for number in range(first, first + count):
        text = f"{number} " + "x" * text_bytes
        if number % 2:
            yield Message(
                id=uuid_of(number),
                assistant_response=AssistantResponseContent(assistant_response=text),
            )
        else:
            yield Message(id=uuid_of(number), instruction=InstructionContent(instruction=text))
