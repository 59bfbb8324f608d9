"""Not beginning what nobody waits for any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from antiphon_client.edge.call import DeadlinePassedError, current_call
from history_service.storage.port import HistoryStore, ReadTransaction, WriteTransaction

T = TypeVar("T")
TxT = TypeVar("TxT", ReadTransaction, WriteTransaction)


class TimelyStore:
    """A store that drops a call's work when the call's deadline has passed before the work began.

    Work may wait behind that of others. What begins too late would only hold up
    those that still wait: it is not done, and the write is as if it had never come.
    """

    def __init__(self, store: HistoryStore) -> None:
        """Stand before ``store``, which is started and closed by whoever owns it."""
        self._store = store

    @property
    def shared(self) -> bool:
        """See ``HistoryStore.shared``."""
        return self._store.shared

    async def start(self) -> None:
        """Start the store."""
        await self._store.start()

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()

    async def write(self, work: Callable[[WriteTransaction], T], *, starts_commit: bool = False) -> T:
        """See ``HistoryStore.write``.

        Raises:
            DeadlinePassedError: The current call's deadline had passed; nothing was written.
        """
        return await self._store.write(_timely(work), starts_commit=starts_commit)

    async def read(self, work: Callable[[ReadTransaction], T]) -> T:
        """See ``HistoryStore.read``.

        Raises:
            DeadlinePassedError: The current call's deadline had passed.
        """
        return await self._store.read(_timely(work))


def _timely(work: Callable[[TxT], T]) -> Callable[[TxT], T]:
    """Return the work of the current call, as far as it begins in time."""
    deadline = current_call().deadline
    if deadline is None:
        return work

    def begin(tx: TxT) -> T:
        if time.monotonic() >= deadline:
            raise DeadlinePassedError
        return work(tx)

    return begin
