"""The exchange's primitives over a SQLite connection, each a prepared statement or a few."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from antiphon_client.errors import StoreCorruptError
from history_service.storage.codec import id_blob, id_text, optional_id_blob, optional_id_text
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
from history_service.storage.exchange_rows import (
    dead_letter_columns,
    dead_letter_row,
    exchange_columns,
    inbox_columns,
    inbox_entry,
    owner_columns,
    owner_row,
)
from history_service.storage.sqlite import exchange_sql as sql
from history_service.storage.sqlite.codec import maybe_id, of_exchange, of_owner
from history_service.storage.sqlite.pending import write_rows
from history_service.storage.sqlite.writing_sql import ManyRows

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys

Row = TypeVar("Row")

_ALL = -1
"""SQLite's LIMIT for no limit."""
_ROW_BYTES = 1024
"""What a row inserted into a queue counts for in a group's bytes: about what it dirties, indexes included."""


class SqliteExchangeReads:
    """The primitives of ``ExchangeReads``."""

    def __init__(self, connection: apsw.Connection, store_keys: StoreKeys | None = None) -> None:
        """Read through a connection; who made it begins and ends its transactions.

        Args:
            connection: The connection.
            store_keys: The keys of an encrypted store.
        """
        self._connection = connection
        self._keys = store_keys

    def exchange(self, key: ExchangeKey) -> ExchangeRow | None:
        """See ``ExchangeReads.exchange``."""
        found: Any = self._connection.execute(sql.EXCHANGE, of_exchange(key)).fetchone()
        return None if found is None else ExchangeRow(bool(found[0]), *found[1:])

    def owner(self, key: ExchangeKey, owner_id: str) -> OwnerRow | None:
        """See ``ExchangeReads.owner``."""
        found: Any = self._connection.execute(sql.OWNER, of_owner(key, owner_id)).fetchone()
        return None if found is None else owner_row(found)

    def last_sequences(
        self, inboxes: Collection[tuple[ExchangeKey, str]]
    ) -> dict[tuple[ExchangeKey, str], int]:
        """See ``ExchangeReads.last_sequences``."""
        found = {inbox: self.owner(*inbox) for inbox in inboxes}
        return {inbox: row.last_sequence for inbox, row in found.items() if row is not None}

    def owners(self, key: ExchangeKey, after_rank: int, limit: int | None) -> list[OwnerRow]:
        """See ``ExchangeReads.owners``."""
        values = (*of_exchange(key), after_rank, _ALL if limit is None else limit)
        return [owner_row(columns) for columns in self._connection.execute(sql.OWNERS, values)]

    def next_with_mail(self, key: ExchangeKey, after_rank: int, last_rank: int) -> OwnerRow | None:
        """See ``ExchangeReads.next_with_mail``."""
        values = (*of_exchange(key), after_rank, last_rank)
        found: Any = self._connection.execute(sql.NEXT_WITH_MAIL, values).fetchone()
        return None if found is None else owner_row(found)

    def body(self, key: ExchangeKey, number: int) -> bytes:
        """See ``ExchangeReads.body``."""
        found: Any = self._connection.execute(sql.BODY, (number,)).fetchone()
        if found is None:
            raise StoreCorruptError("a queued message is missing")
        return self._opened(key, found[0])

    def _opened(self, key: ExchangeKey, stored: bytes) -> bytes:
        return stored if self._keys is None else self._keys.store.open_mail(*of_exchange(key), stored)

    def _page(
        self, key: ExchangeKey, rows: Any, decode: Callable[[Any], Row], limit: int, max_bytes: int
    ) -> tuple[list[tuple[Row, bytes]], bool]:
        """Take a page off rows whose last column is a body; tell whether they end with it."""
        page: list[tuple[Row, bytes]] = []
        for *columns, stored in rows:
            if stored is None:
                raise StoreCorruptError("a queued message is missing")
            body = self._opened(key, stored)
            max_bytes -= len(body)
            if len(page) == limit or (page and max_bytes < 0):
                return page, False
            page.append((decode(columns), body))
        return page, True

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
        statement = sql.INBOX_PAGE if sender_id is None else sql.INBOX_PAGE_OF_SENDER
        values = (*of_owner(key, owner_id), *maybe_id(sender_id), after, limit + 1)
        rows = self._connection.execute(statement, values)
        return InboxPage(*self._page(key, rows, inbox_entry, limit, max_bytes))

    def dead_letter(self, key: ExchangeKey, dead_letter_id: str) -> DeadLetterRow | None:
        """See ``ExchangeReads.dead_letter``."""
        values = (*of_exchange(key), id_blob(dead_letter_id))
        found: Any = self._connection.execute(sql.DEAD_LETTER, values).fetchone()
        return None if found is None else dead_letter_row(found)

    def dead_letter_page(
        self, key: ExchangeKey, *, owner_id: str | None, after: int, limit: int, max_bytes: int
    ) -> DeadLetterPage:
        """See ``ExchangeReads.dead_letter_page``."""
        statement = sql.DEAD_PAGE if owner_id is None else sql.DEAD_PAGE_OF_OWNER
        values = (*of_exchange(key), *maybe_id(owner_id), after, limit + 1)
        rows = self._connection.execute(statement, values)
        return DeadLetterPage(*self._page(key, rows, dead_letter_row, limit, max_bytes))


class SqliteExchange(SqliteExchangeReads):
    """The primitives of ``ExchangeWrites``."""

    def __init__(
        self,
        connection: apsw.Connection,
        note_write: Callable[[int], None],
        store_keys: StoreKeys | None = None,
    ) -> None:
        """Write through a connection.

        Args:
            connection: The writing connection.
            note_write: Called with a count of bytes before each primitive that writes.
            store_keys: The keys of an encrypted store.
        """
        super().__init__(connection, store_keys)
        self._note_write = note_write

    def save_exchange(self, key: ExchangeKey, row: ExchangeRow) -> None:
        """See ``ExchangeWrites.save_exchange``."""
        self._run(sql.SAVE_EXCHANGE, (*of_exchange(key), *exchange_columns(row)))

    def save_owners(self, key: ExchangeKey, rows: Iterable[OwnerRow]) -> None:
        """See ``ExchangeWrites.save_owners``."""
        leading = of_exchange(key)
        self._run_all(sql.SAVE_OWNER, ((*leading, *owner_columns(row)) for row in rows))

    def put_body(self, key: ExchangeKey, body: bytes) -> int:
        """See ``ExchangeWrites.put_body``."""
        self._note_write(len(body))
        columns = of_exchange(key)
        stored = body if self._keys is None else self._keys.store.seal_mail(*columns, body)
        self._connection.execute(sql.INSERT_BODY, (*columns, stored))
        return self._connection.last_insert_rowid()

    def share_body(self, key: ExchangeKey, number: int, holders: int) -> None:
        """See ``ExchangeWrites.share_body``."""
        self._run(sql.INSERT_SHARED, (number, *of_exchange(key), holders))

    def release_bodies(self, key: ExchangeKey, letters: Iterable[Letter]) -> None:
        """See ``ExchangeWrites.release_bodies``."""
        self._note_write(0)
        erased = [letter.body for letter in letters if not letter.shared or self._was_last(letter.body)]
        self._run_all(sql.DELETE_BODY, ((number,) for number in erased))

    def _was_last(self, number: int) -> bool:
        """Take one holder from a shared body; tell whether none is left."""
        held: Any = self._connection.execute(sql.RELEASE_SHARED, (number,)).fetchone()
        if held is None:
            raise StoreCorruptError("a shared message has no count of its holders")
        if held[0] == 0:
            self._connection.execute(sql.DELETE_SHARED, (number,))
        return bool(held[0] == 0)

    # Outboxes

    def put_in_outbox(self, key: ExchangeKey, owner_id: str, entry: OutboxEntry) -> None:
        """See ``ExchangeWrites.put_in_outbox``."""
        position, message_id, route, recipient_id, (_, body, size, shared) = entry
        columns = (position, id_blob(message_id), route, optional_id_blob(recipient_id), body, size, shared)
        self._run(sql.INSERT_IN_OUTBOX, (*of_owner(key, owner_id), *columns))

    def outbox(self, key: ExchangeKey, owner_id: str, after: int, limit: int) -> list[OutboxEntry]:
        """See ``ExchangeWrites.outbox``."""
        rows: Any = self._connection.execute(sql.OUTBOX, (*of_owner(key, owner_id), after, limit))
        return [
            OutboxEntry(
                position,
                id_text(message_id),
                route,
                optional_id_text(recipient_id),
                Letter(owner_id, body, size, bool(shared)),
            )
            for position, message_id, route, recipient_id, body, size, shared in rows
        ]

    def drop_from_outbox(self, key: ExchangeKey, owner_id: str, up_to: int) -> None:
        """See ``ExchangeWrites.drop_from_outbox``."""
        self._run(sql.DELETE_FROM_OUTBOX, (*of_owner(key, owner_id), up_to))

    # Inboxes

    def put_in_inboxes(self, key: ExchangeKey, entries: Iterable[tuple[str, InboxEntry]]) -> None:
        """See ``ExchangeWrites.put_in_inboxes``."""
        leading = of_exchange(key)
        # By inbox: a row beside the one before costs a fraction of one somewhere else.
        rows = [
            (*leading, id_blob(owner_id), *inbox_columns(entry))
            for owner_id, entry in sorted(entries, key=itemgetter(0))
        ]
        self._insert(sql.INSERT_IN_INBOXES, rows)

    def inbox(self, key: ExchangeKey, owner_id: str, after: int, limit: int) -> list[InboxEntry]:
        """See ``ExchangeWrites.inbox``."""
        return self._entries(sql.INBOX, (*of_owner(key, owner_id), after, limit))

    def available(
        self, key: ExchangeKey, owner_id: str, *, after: int, sender_id: str | None, limit: int
    ) -> list[InboxEntry]:
        """See ``ExchangeWrites.available``."""
        statement = sql.AVAILABLE if sender_id is None else sql.AVAILABLE_OF_SENDER
        return self._entries(statement, (*of_owner(key, owner_id), *maybe_id(sender_id), after, limit))

    def leased(self, key: ExchangeKey, owner_id: str, lease_ids: Collection[str]) -> dict[str, InboxEntry]:
        """See ``ExchangeWrites.leased``."""
        leading = of_owner(key, owner_id)
        found = {}
        for lease_id in lease_ids:
            for entry in self._entries(sql.LEASED_ENTRY, (*leading, id_blob(lease_id))):
                found[lease_id] = entry
        return found

    def expired(self, key: ExchangeKey, owner_id: str, *, at: int, min_deliveries: int) -> list[InboxEntry]:
        """See ``ExchangeWrites.expired``."""
        found = self._entries(sql.EXPIRED, (*of_owner(key, owner_id), at, min_deliveries))
        return sorted(found, key=attrgetter("sequence"))

    def nth_expiry(self, key: ExchangeKey, owner_id: str, at: int, number: int) -> int | None:
        """See ``ExchangeWrites.nth_expiry``."""
        values = (*of_owner(key, owner_id), at, number - 1)
        found: Any = self._connection.execute(sql.NTH_EXPIRY, values).fetchone()
        return None if found is None else found[0]

    def lease(self, key: ExchangeKey, owner_id: str, entries: Sequence[InboxEntry]) -> None:
        """See ``ExchangeWrites.lease``."""
        leading = of_owner(key, owner_id)
        rows = (
            (
                entry.delivery_count,
                optional_id_blob(entry.lease_id),
                entry.expires_at,
                *leading,
                entry.sequence,
            )
            for entry in entries
        )
        self._run_all(sql.LEASE, rows)

    def end_leases(self, key: ExchangeKey, owner_id: str, lease_ids: Iterable[str]) -> None:
        """See ``ExchangeWrites.end_leases``."""
        leading = of_owner(key, owner_id)
        self._run_all(sql.END_LEASE, ((*leading, id_blob(lease_id)) for lease_id in lease_ids))

    def end_expired(self, key: ExchangeKey, owner_id: str, at: int) -> None:
        """See ``ExchangeWrites.end_expired``."""
        self._run(sql.END_EXPIRED, (*of_owner(key, owner_id), at))

    def drop_from_inbox(self, key: ExchangeKey, owner_id: str, sequences: Iterable[int]) -> None:
        """See ``ExchangeWrites.drop_from_inbox``."""
        leading = of_owner(key, owner_id)
        self._run_all(sql.DELETE_FROM_INBOX, ((*leading, sequence) for sequence in sequences))

    def empty_inbox(self, key: ExchangeKey, owner_id: str, up_to: int) -> None:
        """See ``ExchangeWrites.empty_inbox``."""
        self._run(sql.EMPTY_INBOX, (*of_owner(key, owner_id), up_to))

    # Dead letters

    def put_dead_letters(self, key: ExchangeKey, rows: Iterable[DeadLetterRow]) -> None:
        """See ``ExchangeWrites.put_dead_letters``."""
        leading = of_exchange(key)
        self._insert(sql.INSERT_DEAD, [(*leading, *dead_letter_columns(row)) for row in rows])

    def drop_dead_letter(self, key: ExchangeKey, row: DeadLetterRow) -> None:
        """See ``ExchangeWrites.drop_dead_letter``."""
        self._run(sql.DELETE_DEAD, (*of_exchange(key), row.position))

    def _entries(self, statement: str, values: tuple[Any, ...]) -> list[InboxEntry]:
        rows: Any = self._connection.execute(statement, values)
        return [inbox_entry(columns) for columns in rows]

    def _run(self, statement: str, values: tuple[Any, ...]) -> None:
        self._note_write(0)
        self._connection.execute(statement, values)

    def _insert(self, statement: ManyRows, rows: list[tuple[Any, ...]]) -> None:
        self._note_write(_ROW_BYTES * len(rows))
        write_rows(self._connection, statement, rows)

    def _run_all(self, statement: str, values: Iterable[tuple[Any, ...]]) -> None:
        self._note_write(0)
        self._connection.executemany(statement, values)
