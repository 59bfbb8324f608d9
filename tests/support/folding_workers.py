"""Worker processes of a compiler in this process, and what is done to them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from compiler_service import server
from compiler_service.cache import ahead
from compiler_service.workers import worker
from compiler_service.workers.pool import FoldingWorkers

DEADLINE_SECONDS = 60.0


class Watched:
    """The pools of the compilers built since, and what their workers answered."""

    def __init__(self) -> None:
        """See nothing yet."""
        self.pools: list[FoldingWorkers] = []
        self.answers: list[Future[Any]] = []

    @property
    def pool(self) -> FoldingWorkers:
        """The newest compiler's pool."""
        return self.pools[-1]

    async def ready(self, count: int) -> list[int]:
        """Wait until so many workers are free, and return the processes' ids."""
        await until(lambda: self.pool.free == count)
        return self.pool.process_ids

    def used(self) -> list[int | None]:
        """Return how many stretches each answer had; None where the worker failed."""
        held = [answer.result(DEADLINE_SECONDS) for answer in self.answers]
        return [None if each is None else len(each) for each in held]


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that another process or thread does."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.005)


def watch_workers(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Watch the pools that servers make from now on; nothing is too small for a worker, and none is late."""
    watched = Watched()
    finish = worker.Lease.finish

    def make(count: int) -> FoldingWorkers:
        watched.pools.append(FoldingWorkers(count))
        return watched.pool

    def spy(lease: worker.Lease) -> Future[Any]:
        watched.answers.append(finish(lease))
        return watched.answers[-1]

    monkeypatch.setattr(server, "FoldingWorkers", make)
    monkeypatch.setattr(worker.Lease, "finish", spy)
    monkeypatch.setattr(ahead, "INLINE_BYTES", 0)
    monkeypatch.setattr(ahead, "WORKER_BYTES", 0)
    monkeypatch.setattr(ahead, "LEAST_PATIENCE_SECONDS", DEADLINE_SECONDS)
    return watched


def is_running(process_id: int) -> bool:
    """Tell whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(process_id: int) -> list[int]:
    """Return the ids of a process's children."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == process_id and is_running(int(entry.name)):
                found.append(int(entry.name))
    return found


def open_files(process_id: int) -> set[str]:
    """Return what a process has open, but for the null device and its standard error."""
    folder = Path(f"/proc/{process_id}/fd")
    names = {number.name: os.readlink(number) for number in folder.iterdir() if number.name != "2"}
    return {name for name in names.values() if name != "/dev/null"}
