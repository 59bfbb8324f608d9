"""The memory store: the port in plain Python, for tests and trials.

It is lost with the process. Works run on the caller's event loop, one at a time
by construction; an undo log takes back a work that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from antiphon_client.errors import ShuttingDownError
from history_service.storage.memory_forking import MemoryTransaction
from history_service.storage.memory_rows import StoredBranches
from history_service.storage.port import ReadTransaction, WriteTransaction

T = TypeVar("T")


class MemoryStore(StoredBranches):
    """Branches in this process's memory; implements ``HistoryStore``.

    Attributes:
        shared: See ``HistoryStore``.
    """

    shared = False

    def __init__(self) -> None:
        super().__init__()
        self._closed = False

    async def start(self) -> None:
        """Do nothing: there is nothing to open."""

    async def close(self) -> None:
        """Refuse further work."""
        self._closed = True

    async def write(self, work: Callable[[WriteTransaction], T], *, starts_commit: bool = False) -> T:
        """Run a work; see the port."""
        transaction = self._begin()
        try:
            return work(transaction)
        except BaseException:
            transaction.roll_back()
            raise

    async def read(self, work: Callable[[ReadTransaction], T]) -> T:
        """Run a work; see the port."""
        return work(self._begin())

    def _begin(self) -> MemoryTransaction:
        if self._closed:
            raise ShuttingDownError("the store is closing")
        return MemoryTransaction(self)
