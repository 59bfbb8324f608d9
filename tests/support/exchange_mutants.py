"""Faults of an exchange's store, which the lease harness must catch."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from history_service.storage.exchange_port import ExchangeKey, ExchangeRow, InboxEntry
from history_service.storage.sqlite.exchange import SqliteExchange


def _hand_out_twice() -> None:
    """What is under a lease is handed out again."""

    def available(self: SqliteExchange, key: ExchangeKey, owner_id: str, **options: Any) -> list[InboxEntry]:
        return self.inbox(key, owner_id, options["after"], options["limit"])

    SqliteExchange.available = available  # type: ignore[method-assign]


def _stick() -> None:
    """What a lease held stays hidden when the lease has expired."""

    def end_expired(self: SqliteExchange, key: ExchangeKey, owner_id: str, at: int) -> None:
        return None

    SqliteExchange.end_expired = end_expired  # type: ignore[method-assign]


def _die_late() -> None:
    """Messages are leased more often than the exchange allows."""
    exchange = SqliteExchange.exchange

    def generous(self: SqliteExchange, key: ExchangeKey) -> ExchangeRow | None:
        row = exchange(self, key)
        return None if row is None else replace(row, max_deliveries=row.max_deliveries + 1)

    SqliteExchange.exchange = generous  # type: ignore[method-assign, assignment]


def _lose() -> None:
    """Now and then a delivery does not arrive."""
    put_in_inboxes = SqliteExchange.put_in_inboxes
    delivered = itertools.count(1)

    def lossy(self: SqliteExchange, key: ExchangeKey, entries: Iterable[tuple[str, InboxEntry]]) -> None:
        put_in_inboxes(self, key, [entry for entry in entries if next(delivered) % 100])

    SqliteExchange.put_in_inboxes = lossy  # type: ignore[method-assign]


EXCHANGE_MUTANTS: dict[str, Callable[[], None]] = {
    "twice": _hand_out_twice,
    "stuck": _stick,
    "late": _die_late,
    "lossy": _lose,
}
"""By the name a harness's ``--mutant`` takes."""
