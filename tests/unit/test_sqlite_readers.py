"""The threads that read a SQLite store."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import Any

import apsw
import pytest

from antiphon_client.errors import ShuttingDownError
from history_service.storage.sqlite.readers import ReaderPool

SECONDS = 30


def pool_of(folder: Path, threads: int) -> ReaderPool:
    return ReaderPool(lambda: apsw.Connection(str(folder / "h.db")), threads)


def thread_of(_: Any) -> str:
    return threading.current_thread().name


def in_a_loop(scene: Callable[[Path], Coroutine[Any, Any, None]]) -> Callable[[Path], None]:
    """Make a test of a scene that needs an event loop."""

    @wraps(scene)
    def test(tmp_path: Path) -> None:
        asyncio.run(asyncio.wait_for(scene(tmp_path), SECONDS))

    return test


class Gate:
    """A read that waits to be let through, and tells that it has begun."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self._open = threading.Event()

    def let_through(self) -> None:
        self._open.set()

    def __call__(self, transaction: Any) -> str:
        self.begun.set()
        assert self._open.wait(SECONDS)
        return thread_of(transaction)


@in_a_loop
async def test_reads_one_after_the_other_are_all_one_threads(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, 4)
    try:
        assert len({await pool.run(thread_of) for _ in range(200)}) == 1
    finally:
        await pool.close()


@in_a_loop
async def test_as_many_reads_run_at_once_as_there_are_threads_and_more_wait_their_turn(
    tmp_path: Path,
) -> None:
    pool = pool_of(tmp_path, 3)
    gates = [Gate() for _ in range(5)]
    reads = [asyncio.ensure_future(pool.run(gate)) for gate in gates]
    try:
        for gate in gates[:3]:
            assert await asyncio.to_thread(gate.begun.wait, SECONDS)
        assert not gates[3].begun.is_set()
        gates[1].let_through()
        freed = await reads[1]
        assert await asyncio.to_thread(gates[3].begun.wait, SECONDS)
        assert not gates[4].begun.is_set()
        for gate in gates:
            gate.let_through()
        names = await asyncio.gather(*reads)
        assert names[3] == freed
        assert len(set(names[:3])) == 3
    finally:
        await pool.close()


@in_a_loop
async def test_what_waits_when_the_pool_closes_is_done_and_nothing_after(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, 2)
    gates = [Gate() for _ in range(4)]
    reads = [asyncio.ensure_future(pool.run(gate)) for gate in gates]
    for gate in gates[:2]:
        assert await asyncio.to_thread(gate.begun.wait, SECONDS)
    closing = asyncio.ensure_future(pool.close())
    await asyncio.sleep(0)
    with pytest.raises(ShuttingDownError):
        await pool.run(thread_of)
    assert not closing.done()
    for gate in gates:
        gate.let_through()
    assert len(await asyncio.gather(*reads)) == 4
    await closing
    await pool.close()


@in_a_loop
async def test_a_read_that_fails_leaves_its_thread_to_the_next(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, 1)

    def fail(_: Any) -> None:
        raise LookupError("nothing there")

    try:
        for _ in range(3):
            with pytest.raises(LookupError, match="nothing there"):
                await pool.run(fail)
        assert await pool.run(thread_of) == "history-reader-0"
    finally:
        await pool.close()
