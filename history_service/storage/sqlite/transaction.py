"""The writing transaction with all its parts."""

from __future__ import annotations

import apsw

from history_service.storage.sqlite.exchange import SqliteExchange
from history_service.storage.sqlite.forking import ForkingTransaction
from history_service.storage.sqlite.sweeping import SweepingTransaction


class SqliteTransaction(ForkingTransaction, SweepingTransaction):
    """Every primitive of ``WriteTransaction``."""

    def __init__(self, connection: apsw.Connection) -> None:
        """See ``SqliteWriteTransaction``."""
        super().__init__(connection)
        self._exchange_writes = SqliteExchange(connection, self._note_exchange_write)

    @property
    def exchange(self) -> SqliteExchange:
        """See ``WriteTransaction.exchange``."""
        return self._exchange_writes

    def _note_exchange_write(self, size: int) -> None:
        self._writes()
        self.group_bytes += size
