"""The writing transaction with all its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from history_service.storage.sqlite.exchange import SqliteExchange
from history_service.storage.sqlite.forking import ForkingTransaction
from history_service.storage.sqlite.sweeping import SweepingTransaction

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys


class SqliteTransaction(ForkingTransaction, SweepingTransaction):
    """Every primitive of ``WriteTransaction``."""

    def __init__(self, connection: apsw.Connection, store_keys: StoreKeys | None = None) -> None:
        """See ``SqliteWriteTransaction``."""
        super().__init__(connection, store_keys)
        self._exchange_writes = SqliteExchange(connection, self._note_exchange_write, store_keys)

    @property
    def exchange(self) -> SqliteExchange:
        """See ``WriteTransaction.exchange``."""
        return self._exchange_writes

    def _note_exchange_write(self, size: int) -> None:
        self._writes()
        self.group_bytes += size
