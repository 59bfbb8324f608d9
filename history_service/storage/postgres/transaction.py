"""The writing transaction with all its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.exchange import PostgresExchange
from history_service.storage.postgres.forking import ForkingTransaction
from history_service.storage.postgres.places import WriterPlace
from history_service.storage.postgres.sweeping import SweepingTransaction

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys


class PostgresTransaction(ForkingTransaction, SweepingTransaction):
    """Every primitive of ``WriteTransaction``."""

    def __init__(
        self, session: Session, place: WriterPlace, *, careful: bool, store_keys: StoreKeys | None = None
    ) -> None:
        """See ``PostgresWriteTransaction``."""
        super().__init__(session, place, careful=careful, store_keys=store_keys)
        self._exchange_writes = PostgresExchange(session, self, store_keys)

    @property
    def exchange(self) -> PostgresExchange:
        """See ``WriteTransaction.exchange``."""
        return self._exchange_writes
