"""The writing transaction with all its parts."""

from __future__ import annotations

from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.exchange import PostgresExchange
from history_service.storage.postgres.forking import ForkingTransaction
from history_service.storage.postgres.places import WriterPlace
from history_service.storage.postgres.sweeping import SweepingTransaction


class PostgresTransaction(ForkingTransaction, SweepingTransaction):
    """Every primitive of ``WriteTransaction``."""

    def __init__(self, session: Session, place: WriterPlace, *, careful: bool) -> None:
        """See ``PostgresWriteTransaction``."""
        super().__init__(session, place, careful=careful)
        self._exchange_writes = PostgresExchange(session, self)

    @property
    def exchange(self) -> PostgresExchange:
        """See ``WriteTransaction.exchange``."""
        return self._exchange_writes
