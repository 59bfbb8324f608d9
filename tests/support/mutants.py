"""Writers with a known fault, which the crash harnesses must catch."""

from __future__ import annotations

import threading
from typing import Any

import apsw

from history_service.storage.sqlite import SqliteStore, WriterLimits
from history_service.storage.sqlite.writer import GroupWriter

PATIENCE_SECONDS = 30.0


class NormalWriter(GroupWriter):
    """Answers when the operating system has the commit, not when the disk has it."""

    def __init__(self, connection: apsw.Connection, limits: WriterLimits, *keys: Any) -> None:
        connection.pragma("synchronous", "NORMAL")
        super().__init__(connection, limits, *keys)


class HastyWriter(GroupWriter):
    """Answers before it commits."""

    _answered: Any = None

    def _commit(self, group: list[Any]) -> None:
        self._answered = group
        super()._deliver(group)
        self._let_callers_run()
        super()._commit(group)

    def _deliver(self, group: list[Any]) -> None:
        if group is not self._answered:
            super()._deliver(group)

    def _let_callers_run(self) -> None:
        """Wait until the callers have seen their answers, which takes their tasks some turns of the loop."""
        turned = threading.Event()

        def turn(left: int) -> None:
            if left:
                self._loop.call_soon(turn, left - 1)
            else:
                turned.set()

        self._loop.call_soon_threadsafe(turn, 10)
        turned.wait(PATIENCE_SECONDS)


class DeafWriter(GroupWriter):
    """Does not hear that a commit failed."""

    def _fail_group(self, group: list[Any], error: BaseException) -> None:
        answers = [(job.result, job.failure) for job in group]
        super()._fail_group(group, error)
        for job, answer in zip(group, answers, strict=True):
            job.result, job.failure = answer


WRITERS: dict[str, type[GroupWriter]] = {
    "none": GroupWriter,
    "normal": NormalWriter,
    "hasty": HastyWriter,
    "deaf": DeafWriter,
}
"""By the name a harness's ``--mutant`` takes."""


def store_with(
    writer: type[GroupWriter], path: str, *, limits: WriterLimits | None = None, vfs: str | None = None
) -> SqliteStore:
    """Return a store that makes this kind of writer."""
    store = SqliteStore(path, limits=limits, vfs=vfs)
    store.writer_type = writer
    return store
