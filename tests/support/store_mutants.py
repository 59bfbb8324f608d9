"""Faults of the SQLite store that random programs must show."""

from __future__ import annotations

from collections.abc import Callable

from history_service.storage.port import BranchKey
from history_service.storage.sqlite.writing import SqliteWriteTransaction


def keep_members(self: SqliteWriteTransaction, key: BranchKey, revision: int, keep: str | None) -> None:
    """Clear nothing of what a cleared branch has."""


def _clear_in_part() -> None:
    SqliteWriteTransaction.remove_all_members = keep_members  # type: ignore[method-assign]


STORE_MUTANTS: dict[str, Callable[[], None]] = {"partial": _clear_in_part}
"""By the name a harness's ``--mutant`` takes."""
