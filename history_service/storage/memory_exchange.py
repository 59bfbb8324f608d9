"""The exchange's part of the memory store: the port in plain Python.

Queues are dictionaries in key order. Steps may walk over what is under a lease:
the store is for tests and trials.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

from antiphon_client.errors import StoreCorruptError
from history_service.storage.exchange_port import (
    DeadLetterPage,
    DeadLetterRow,
    ExchangeKey,
    ExchangeRow,
    InboxEntry,
    InboxPage,
    Letter,
    OutboxEntry,
    OwnerRow,
)

K = TypeVar("K")
V = TypeVar("V")
Undo = Callable[[], object]

_ABSENT: Any = object()


@dataclass(slots=True)
class ExchangeRecord:
    """One exchange's rows."""

    row: dict[str, ExchangeRow] = field(default_factory=dict)
    """Under the empty key, once there is one."""
    owners: dict[str, OwnerRow] = field(default_factory=dict)
    outboxes: dict[str, dict[int, OutboxEntry]] = field(default_factory=dict)
    inboxes: dict[str, dict[int, InboxEntry]] = field(default_factory=dict)
    dead_letters: dict[int, DeadLetterRow] = field(default_factory=dict)
    bodies: dict[int, bytes] = field(default_factory=dict)
    holders: dict[int, int] = field(default_factory=dict)
    """Of shared bodies."""


class MemoryExchanges:
    """All exchanges of a memory store."""

    def __init__(self) -> None:
        self._records: dict[ExchangeKey, ExchangeRecord] = {}
        self._numbers = itertools.count(1)

    def record(self, key: ExchangeKey) -> ExchangeRecord:
        """Return an exchange's rows; an unknown one has none."""
        return self._records.setdefault(key, ExchangeRecord())

    def next_number(self) -> int:
        """Return a number for a body; never the same twice."""
        return next(self._numbers)


class MemoryExchange:
    """Both kinds of primitives; implements ``ExchangeWrites``."""

    def __init__(self, exchanges: MemoryExchanges, undo: list[Undo]) -> None:
        """Work on the rows; what takes each change back is put at the end of ``undo``."""
        self._exchanges = exchanges
        self._undo = undo

    def _of(self, key: ExchangeKey) -> ExchangeRecord:
        return self._exchanges.record(key)

    def _put(self, rows: dict[K, V], key: K, value: V) -> None:
        former = rows.get(key, _ABSENT)
        rows[key] = value
        self._undo.append(lambda: _restore(rows, key, former))

    def _drop(self, rows: dict[K, V], key: K) -> None:
        former = rows.pop(key, _ABSENT)
        self._undo.append(lambda: _restore(rows, key, former))

    # Reading

    def exchange(self, key: ExchangeKey) -> ExchangeRow | None:
        """See ``ExchangeReads.exchange``."""
        found = self._of(key).row.get("")
        return None if found is None else replace(found)

    def owner(self, key: ExchangeKey, owner_id: str) -> OwnerRow | None:
        """See ``ExchangeReads.owner``."""
        found = self._of(key).owners.get(owner_id)
        return None if found is None else replace(found)

    def last_sequences(
        self, inboxes: Collection[tuple[ExchangeKey, str]]
    ) -> dict[tuple[ExchangeKey, str], int]:
        """See ``ExchangeReads.last_sequences``."""
        found = {inbox: self.owner(*inbox) for inbox in inboxes}
        return {inbox: row.last_sequence for inbox, row in found.items() if row is not None}

    def _ranked(self, key: ExchangeKey, after_rank: int) -> Iterator[OwnerRow]:
        ranked = ((row.rank, row) for row in self._of(key).owners.values() if row.rank is not None)
        return (row for rank, row in sorted(ranked, key=lambda pair: pair[0]) if rank > after_rank)

    def owners(self, key: ExchangeKey, after_rank: int, limit: int | None) -> list[OwnerRow]:
        """See ``ExchangeReads.owners``."""
        return [replace(row) for row in islice(self._ranked(key, after_rank), limit)]

    def next_with_mail(self, key: ExchangeKey, after_rank: int, last_rank: int) -> OwnerRow | None:
        """See ``ExchangeReads.next_with_mail``."""
        for row in self._ranked(key, after_rank):
            if row.outbox_count and row.rank is not None and row.rank <= last_rank:
                return replace(row)
        return None

    def body(self, key: ExchangeKey, number: int) -> bytes:
        """See ``ExchangeReads.body``."""
        try:
            return self._of(key).bodies[number]
        except KeyError:
            raise StoreCorruptError("a queued message is missing") from None

    def inbox_page(
        self,
        key: ExchangeKey,
        owner_id: str,
        *,
        after: int,
        sender_id: str | None,
        limit: int,
        max_bytes: int,
    ) -> InboxPage:
        """See ``ExchangeReads.inbox_page``."""
        found = _of_sender(self._inbox(key, owner_id), after, sender_id)
        return InboxPage(*self._page(key, found, limit, max_bytes))

    def dead_letter(self, key: ExchangeKey, dead_letter_id: str) -> DeadLetterRow | None:
        """See ``ExchangeReads.dead_letter``."""
        for row in self._of(key).dead_letters.values():
            if row.dead_letter_id == dead_letter_id:
                return row
        return None

    def dead_letter_page(
        self, key: ExchangeKey, *, owner_id: str | None, after: int, limit: int, max_bytes: int
    ) -> DeadLetterPage:
        """See ``ExchangeReads.dead_letter_page``."""
        rows = (
            row
            for row in self._of(key).dead_letters.values()
            if row.position > after and (owner_id is None or row.owner_id == owner_id)
        )
        return DeadLetterPage(*self._page(key, rows, limit, max_bytes))

    def _page(
        self, key: ExchangeKey, rows: Iterable[Any], limit: int, max_bytes: int
    ) -> tuple[list[tuple[Any, bytes]], bool]:
        page: list[tuple[Any, bytes]] = []
        for row in rows:
            body = self.body(key, row.letter.body)
            max_bytes -= len(body)
            if len(page) == limit or (page and max_bytes < 0):
                return page, False
            page.append((row, body))
        return page, True

    # Writing

    def save_exchange(self, key: ExchangeKey, row: ExchangeRow) -> None:
        """See ``ExchangeWrites.save_exchange``."""
        self._put(self._of(key).row, "", replace(row))

    def save_owners(self, key: ExchangeKey, rows: Iterable[OwnerRow]) -> None:
        """See ``ExchangeWrites.save_owners``."""
        for row in rows:
            self._put(self._of(key).owners, row.owner_id, replace(row))

    def put_body(self, key: ExchangeKey, body: bytes) -> int:
        """See ``ExchangeWrites.put_body``."""
        number = self._exchanges.next_number()
        self._put(self._of(key).bodies, number, body)
        return number

    def share_body(self, key: ExchangeKey, number: int, holders: int) -> None:
        """See ``ExchangeWrites.share_body``."""
        self._put(self._of(key).holders, number, holders)

    def release_bodies(self, key: ExchangeKey, letters: Iterable[Letter]) -> None:
        """See ``ExchangeWrites.release_bodies``."""
        record = self._of(key)
        for letter in letters:
            left = record.holders[letter.body] - 1 if letter.shared else 0
            if left:
                self._put(record.holders, letter.body, left)
            else:
                self._drop(record.bodies, letter.body)
                if letter.shared:
                    self._drop(record.holders, letter.body)

    def _outbox(self, key: ExchangeKey, owner_id: str) -> dict[int, OutboxEntry]:
        return self._of(key).outboxes.setdefault(owner_id, {})

    def put_in_outbox(self, key: ExchangeKey, owner_id: str, entry: OutboxEntry) -> None:
        """See ``ExchangeWrites.put_in_outbox``."""
        self._put(self._outbox(key, owner_id), entry.position, entry)

    def outbox(self, key: ExchangeKey, owner_id: str, after: int, limit: int) -> list[OutboxEntry]:
        """See ``ExchangeWrites.outbox``."""
        entries = self._outbox(key, owner_id).values()
        return list(islice((entry for entry in entries if entry.position > after), limit))

    def drop_from_outbox(self, key: ExchangeKey, owner_id: str, up_to: int) -> None:
        """See ``ExchangeWrites.drop_from_outbox``."""
        outbox = self._outbox(key, owner_id)
        for position in [position for position in outbox if position <= up_to]:
            self._drop(outbox, position)

    def _inbox(self, key: ExchangeKey, owner_id: str) -> dict[int, InboxEntry]:
        return self._of(key).inboxes.setdefault(owner_id, {})

    def put_in_inboxes(self, key: ExchangeKey, entries: Iterable[tuple[str, InboxEntry]]) -> None:
        """See ``ExchangeWrites.put_in_inboxes``."""
        for owner_id, entry in entries:
            self._put(self._inbox(key, owner_id), entry.sequence, entry)

    def inbox(self, key: ExchangeKey, owner_id: str, after: int, limit: int) -> list[InboxEntry]:
        """See ``ExchangeWrites.inbox``."""
        return list(islice(_of_sender(self._inbox(key, owner_id), after, None), limit))

    def available(
        self, key: ExchangeKey, owner_id: str, *, after: int, sender_id: str | None, limit: int
    ) -> list[InboxEntry]:
        """See ``ExchangeWrites.available``."""
        found = _of_sender(self._inbox(key, owner_id), after, sender_id)
        return list(islice((entry for entry in found if entry.lease_id is None), limit))

    def leased(self, key: ExchangeKey, owner_id: str, lease_ids: Collection[str]) -> dict[str, InboxEntry]:
        """See ``ExchangeWrites.leased``."""
        wanted = set(lease_ids)
        entries = self._inbox(key, owner_id).values()
        return {entry.lease_id: entry for entry in entries if entry.lease_id in wanted and entry.lease_id}

    def _ending(self, key: ExchangeKey, owner_id: str, at: int) -> list[InboxEntry]:
        entries = self._inbox(key, owner_id).values()
        return [entry for entry in entries if entry.lease_id is not None and entry.expires_at <= at]

    def expired(self, key: ExchangeKey, owner_id: str, *, at: int, min_deliveries: int) -> list[InboxEntry]:
        """See ``ExchangeWrites.expired``."""
        return [entry for entry in self._ending(key, owner_id, at) if entry.delivery_count >= min_deliveries]

    def nth_expiry(self, key: ExchangeKey, owner_id: str, at: int, number: int) -> int | None:
        """See ``ExchangeWrites.nth_expiry``."""
        expiries = sorted(entry.expires_at for entry in self._ending(key, owner_id, at))
        return expiries[number - 1] if len(expiries) >= number else None

    def lease(self, key: ExchangeKey, owner_id: str, entries: Sequence[InboxEntry]) -> None:
        """See ``ExchangeWrites.lease``."""
        self.put_in_inboxes(key, ((owner_id, entry) for entry in entries))

    def end_leases(self, key: ExchangeKey, owner_id: str, lease_ids: Iterable[str]) -> None:
        """See ``ExchangeWrites.end_leases``."""
        self._free(key, owner_id, self.leased(key, owner_id, set(lease_ids)).values())

    def end_expired(self, key: ExchangeKey, owner_id: str, at: int) -> None:
        """See ``ExchangeWrites.end_expired``."""
        self._free(key, owner_id, self._ending(key, owner_id, at))

    def _free(self, key: ExchangeKey, owner_id: str, entries: Iterable[InboxEntry]) -> None:
        freed = [(owner_id, entry._replace(lease_id=None, expires_at=0)) for entry in entries]
        self.put_in_inboxes(key, freed)

    def drop_from_inbox(self, key: ExchangeKey, owner_id: str, sequences: Iterable[int]) -> None:
        """See ``ExchangeWrites.drop_from_inbox``."""
        for sequence in sequences:
            self._drop(self._inbox(key, owner_id), sequence)

    def empty_inbox(self, key: ExchangeKey, owner_id: str, up_to: int) -> None:
        """See ``ExchangeWrites.empty_inbox``."""
        sequences = [sequence for sequence in self._inbox(key, owner_id) if sequence <= up_to]
        self.drop_from_inbox(key, owner_id, sequences)

    def put_dead_letters(self, key: ExchangeKey, rows: Iterable[DeadLetterRow]) -> None:
        """See ``ExchangeWrites.put_dead_letters``."""
        for row in rows:
            self._put(self._of(key).dead_letters, row.position, row)

    def drop_dead_letter(self, key: ExchangeKey, row: DeadLetterRow) -> None:
        """See ``ExchangeWrites.drop_dead_letter``."""
        self._drop(self._of(key).dead_letters, row.position)


def _of_sender(inbox: dict[int, InboxEntry], after: int, sender_id: str | None) -> Iterator[InboxEntry]:
    """Yield an inbox's entries after a sequence, of one sender if given."""
    return (
        entry
        for entry in inbox.values()
        if entry.sequence > after and (sender_id is None or entry.letter.sender_id == sender_id)
    )


def _restore(rows: dict[Any, Any], key: Any, former: Any) -> None:
    """Put a row back as it was; one that was dropped goes back to its place."""
    if former is _ABSENT:
        rows.pop(key, None)
        return
    dropped = key not in rows
    rows[key] = former
    if dropped:
        in_order = sorted(rows.items())
        rows.clear()
        rows.update(in_order)
