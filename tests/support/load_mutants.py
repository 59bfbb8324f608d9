"""Faults that the load harnesses and the chaos must catch."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from antiphon_client.edge.admission import Admission
from antiphon_client.edge.replies import ReadTurns
from history_service.storage.sqlite.reading import SqliteReadTransaction
from history_service.storage.sqlite.writer import GroupWriter
from history_service.storage.sqlite.writing import SqliteWriteTransaction
from history_service.write_calls import WriteCalls

LEAKED_BYTES = 256 * 1024
SLOW_COMMIT_SECONDS = 0.3
SLOW_READ_SECONDS = 0.03

_kept: list[bytes] = []


def _leak() -> None:
    """Something is kept of every write."""
    make = WriteCalls.make

    def leaky(self: WriteCalls, *arguments: Any, **options: Any) -> Any:
        _kept.append(b"x" * LEAKED_BYTES)
        return make(self, *arguments, **options)

    WriteCalls.make = leaky  # type: ignore[method-assign]


def _admit_everything() -> None:
    """Nothing bounds what is in flight."""

    def unbounded(self: Admission, **options: Any) -> None:
        init(self, **options | {"max_calls": 2**40, "max_bytes": 2**50})

    init = Admission.__init__
    Admission.__init__ = unbounded  # type: ignore[method-assign]
    ReadTurns.__init__.__defaults__ = (2**20,)


def _forget() -> None:
    """A repeated request is done again."""

    def recorded_response(self: SqliteWriteTransaction, tenant_id: str, request_id: str) -> None:
        return None

    SqliteWriteTransaction.recorded_response = recorded_response  # type: ignore[method-assign]


def _slow_down() -> None:
    """The disk is slow, so that the store and not the machine decides what the service can do."""

    def commit(self: GroupWriter, group: list[Any]) -> None:
        time.sleep(SLOW_COMMIT_SECONDS)
        fast_commit(self, group)

    def branch(self: SqliteReadTransaction, *arguments: Any, **options: Any) -> Any:
        time.sleep(SLOW_READ_SECONDS)
        return fast_branch(self, *arguments, **options)

    fast_commit, fast_branch = GroupWriter._commit, SqliteReadTransaction.branch
    GroupWriter._commit = commit  # type: ignore[method-assign]
    SqliteReadTransaction.branch = branch  # type: ignore[method-assign]


LOAD_MUTANTS: dict[str, Callable[[], None]] = {
    "leaky": _leak,
    "boundless": _admit_everything,
    "forgetful": _forget,
    "slow": _slow_down,
}
"""By the name a harness's ``--mutant`` takes."""
