"""The exchange's primitives over a connection to PostgreSQL, each a statement or two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

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
from history_service.storage.postgres import exchange_sql as sql
from history_service.storage.postgres.columns import of_exchange, of_owner
from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.statements import ManyRows
from history_service.storage.sealed import require_clear

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys

Entry = TypeVar("Entry")

_ROW_BYTES = 1024
"""What a row inserted into a queue counts for in a group's bytes: about what it dirties, indexes included."""


class PostgresExchangeReads:
    """The primitives of ``ExchangeReads``."""

    def __init__(self, session: Session, store_keys: StoreKeys | None = None) -> None:
        """Read through a session; who made it begins and ends its transactions.

        Args:
            session: The session.
            store_keys: The keys of an encrypted store.
        """
        self._session = session
        self._keys = store_keys

    def exchange(self, key: ExchangeKey) -> ExchangeRow | None:
        """See ``ExchangeReads.exchange``."""
        found = self._session.row(sql.EXCHANGE, of_exchange(key))
        return None if found is None else ExchangeRow(*found)

    def owner(self, key: ExchangeKey, owner_id: str) -> OwnerRow | None:
        """See ``ExchangeReads.owner``."""
        found = self._session.row(sql.OWNER, of_owner(key, owner_id))
        return None if found is None else owner_row(found)

    def last_sequences(
        self, inboxes: Collection[tuple[ExchangeKey, str]]
    ) -> dict[tuple[ExchangeKey, str], int]:
        """See ``ExchangeReads.last_sequences``."""
        values = {
            "tenants": [key.tenant_id.encode() for key, _ in inboxes],
            "exchanges": [key.exchange_id.encode() for key, _ in inboxes],
            "owners": [id_blob(owner_id) for _, owner_id in inboxes],
        }
        return {
            (ExchangeKey(tenant.decode(), exchange.decode()), id_text(owner)): last_sequence
            for tenant, exchange, owner, last_sequence in self._session.rows(sql.LAST_SEQUENCES, values)
        }

    def owners(self, key: ExchangeKey, after_rank: int, limit: int | None) -> list[OwnerRow]:
        """See ``ExchangeReads.owners``."""
        values = of_exchange(key, after=after_rank, limit=limit)
        return [owner_row(columns) for columns in self._session.rows(sql.OWNERS, values)]

    def next_with_mail(self, key: ExchangeKey, after_rank: int, last_rank: int) -> OwnerRow | None:
        """See ``ExchangeReads.next_with_mail``."""
        found = self._session.row(sql.NEXT_WITH_MAIL, of_exchange(key, after=after_rank, last=last_rank))
        return None if found is None else owner_row(found)

    def body(self, key: ExchangeKey, number: int) -> bytes:
        """See ``ExchangeReads.body``."""
        body: bytes | None = self._session.value(sql.BODY, of_exchange(key, number=number))
        if body is None:
            raise StoreCorruptError("a queued message is missing")
        return self._opened(key, body)

    def _opened(self, key: ExchangeKey, stored: bytes) -> bytes:
        if self._keys is None:
            return require_clear(stored)
        return self._keys.store.open_mail(key.tenant_id, key.exchange_id.encode(), stored)

    def _page(
        self, key: ExchangeKey, rows: Iterable[Any], decode: Callable[[Any], Entry], limit: int
    ) -> tuple[list[tuple[Entry, bytes]], bool]:
        """Take a page off the rows of one of the statements of pages; tell whether they end with it."""
        page: list[tuple[Entry, bytes]] = []
        for *columns, fits, body, is_there in rows:
            if not is_there:
                raise StoreCorruptError("a queued message is missing")
            if not fits or len(page) == limit:
                return page, False
            page.append((decode(columns), self._opened(key, body)))
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
        sender = optional_id_blob(sender_id)
        values = of_owner(key, owner_id, after=after, sender=sender, limit=limit + 1, max_bytes=max_bytes)
        return InboxPage(*self._page(key, self._session.rows(statement, values), inbox_entry, limit))

    def dead_letter(self, key: ExchangeKey, dead_letter_id: str) -> DeadLetterRow | None:
        """See ``ExchangeReads.dead_letter``."""
        values = of_exchange(key, dead_letter=id_blob(dead_letter_id))
        found = self._session.row(sql.DEAD_LETTER, values)
        return None if found is None else dead_letter_row(found)

    def dead_letter_page(
        self, key: ExchangeKey, *, owner_id: str | None, after: int, limit: int, max_bytes: int
    ) -> DeadLetterPage:
        """See ``ExchangeReads.dead_letter_page``."""
        statement = sql.DEAD_PAGE if owner_id is None else sql.DEAD_PAGE_OF_OWNER
        owner = optional_id_blob(owner_id)
        values = of_exchange(key, owner=owner, after=after, limit=limit + 1, max_bytes=max_bytes)
        return DeadLetterPage(*self._page(key, self._session.rows(statement, values), dead_letter_row, limit))


class Accounts(Protocol):
    """What the exchange's writes tell and ask the transaction they belong to."""

    def writes(self, size: int = 0) -> None:
        """Note, before it, a write of so many bytes."""

    def new_body(self) -> int:
        """Return a number no body has."""


class PostgresExchange(PostgresExchangeReads):
    """The primitives of ``ExchangeWrites``."""

    def __init__(self, session: Session, accounts: Accounts, store_keys: StoreKeys | None = None) -> None:
        """Write through a session, for a transaction.

        Args:
            session: The session.
            accounts: The transaction.
            store_keys: The keys of an encrypted store.
        """
        super().__init__(session, store_keys)
        self._accounts = accounts

    def save_exchange(self, key: ExchangeKey, row: ExchangeRow) -> None:
        """See ``ExchangeWrites.save_exchange``."""
        self._insert(sql.SAVE_EXCHANGES, key, [exchange_columns(row)])

    def save_owners(self, key: ExchangeKey, rows: Iterable[OwnerRow]) -> None:
        """See ``ExchangeWrites.save_owners``."""
        self._insert(sql.SAVE_OWNERS, key, [owner_columns(row) for row in rows])

    def put_body(self, key: ExchangeKey, body: bytes) -> int:
        """See ``ExchangeWrites.put_body``."""
        number = self._accounts.new_body()
        stored = body
        if self._keys is not None:
            stored = self._keys.store.seal_mail(key.tenant_id, key.exchange_id.encode(), body)
        self._insert(sql.INSERT_BODIES, key, [(number, stored)], size=len(body))
        return number

    def share_body(self, key: ExchangeKey, number: int, holders: int) -> None:
        """See ``ExchangeWrites.share_body``."""
        self._insert(sql.INSERT_SHARED, key, [(number, holders)])

    def release_bodies(self, key: ExchangeKey, letters: Iterable[Letter]) -> None:
        """See ``ExchangeWrites.release_bodies``."""
        gone = []
        released: Counter[int] = Counter()
        for letter in letters:
            if letter.shared:
                released[letter.body] += 1
            else:
                gone.append(letter.body)
        if released:
            gone += self._release_shared(key, released)
        if gone:
            self._run(sql.DELETE_BODIES, of_exchange(key, numbers=gone))

    def _release_shared(self, key: ExchangeKey, released: Counter[int]) -> list[int]:
        """Take holders from shared bodies; return those that have none left."""
        self._accounts.writes()
        statement = sql.RELEASE_SHARED
        values = of_exchange(key) | statement.values(list(released.items()))
        left = self._session.rows(statement.text, values)
        if len(left) != len(released):
            raise StoreCorruptError("a shared message has no count of its holders")
        gone = [number for number, holders in left if holders == 0]
        if gone:
            self._run(sql.DELETE_SHARED, of_exchange(key, numbers=gone))
        return gone

    # Outboxes

    def put_in_outbox(self, key: ExchangeKey, owner_id: str, entry: OutboxEntry) -> None:
        """See ``ExchangeWrites.put_in_outbox``."""
        position, message_id, route, recipient_id, (_, body, size, shared) = entry
        columns = (position, id_blob(message_id), route, optional_id_blob(recipient_id), body, size, shared)
        self._insert(sql.INSERT_IN_OUTBOX, key, [(id_blob(owner_id), *columns)])

    def outbox(self, key: ExchangeKey, owner_id: str, after: int, limit: int) -> list[OutboxEntry]:
        """See ``ExchangeWrites.outbox``."""
        rows = self._session.rows(sql.OUTBOX, of_owner(key, owner_id, after=after, limit=limit))
        return [
            OutboxEntry(
                position,
                id_text(message_id),
                route,
                optional_id_text(recipient_id),
                Letter(owner_id, body, size, shared),
            )
            for position, message_id, route, recipient_id, body, size, shared in rows
        ]

    def drop_from_outbox(self, key: ExchangeKey, owner_id: str, up_to: int) -> None:
        """See ``ExchangeWrites.drop_from_outbox``."""
        self._run(sql.DELETE_FROM_OUTBOX, of_owner(key, owner_id, up_to=up_to))

    # Inboxes

    def put_in_inboxes(self, key: ExchangeKey, entries: Iterable[tuple[str, InboxEntry]]) -> None:
        """See ``ExchangeWrites.put_in_inboxes``."""
        rows = [(id_blob(owner_id), *inbox_columns(entry)) for owner_id, entry in entries]
        self._insert(sql.INSERT_IN_INBOXES, key, rows, size=_ROW_BYTES * len(rows))

    def inbox(self, key: ExchangeKey, owner_id: str, after: int, limit: int) -> list[InboxEntry]:
        """See ``ExchangeWrites.inbox``."""
        return self._entries(sql.INBOX, of_owner(key, owner_id, after=after, limit=limit))

    def available(
        self, key: ExchangeKey, owner_id: str, *, after: int, sender_id: str | None, limit: int
    ) -> list[InboxEntry]:
        """See ``ExchangeWrites.available``."""
        statement = sql.AVAILABLE if sender_id is None else sql.AVAILABLE_OF_SENDER
        sender = optional_id_blob(sender_id)
        return self._entries(statement, of_owner(key, owner_id, after=after, sender=sender, limit=limit))

    def leased(self, key: ExchangeKey, owner_id: str, lease_ids: Collection[str]) -> dict[str, InboxEntry]:
        """See ``ExchangeWrites.leased``."""
        entries = self._entries(sql.LEASED_ENTRIES, of_owner(key, owner_id, leases=_blobs(lease_ids)))
        return {entry.lease_id: entry for entry in entries if entry.lease_id is not None}

    def expired(self, key: ExchangeKey, owner_id: str, *, at: int, min_deliveries: int) -> list[InboxEntry]:
        """See ``ExchangeWrites.expired``."""
        return self._entries(sql.EXPIRED, of_owner(key, owner_id, at=at, deliveries=min_deliveries))

    def nth_expiry(self, key: ExchangeKey, owner_id: str, at: int, number: int) -> int | None:
        """See ``ExchangeWrites.nth_expiry``."""
        values = of_owner(key, owner_id, at=at, before=number - 1)
        found: int | None = self._session.value(sql.NTH_EXPIRY, values)
        return found

    def lease(self, key: ExchangeKey, owner_id: str, entries: Sequence[InboxEntry]) -> None:
        """See ``ExchangeWrites.lease``."""
        rows = [
            (entry.sequence, entry.delivery_count, optional_id_blob(entry.lease_id), entry.expires_at)
            for entry in entries
        ]
        if rows:
            self._run(sql.LEASE.text, of_owner(key, owner_id) | sql.LEASE.values(rows))

    def end_leases(self, key: ExchangeKey, owner_id: str, lease_ids: Iterable[str]) -> None:
        """See ``ExchangeWrites.end_leases``."""
        self._run(sql.END_LEASES, of_owner(key, owner_id, leases=_blobs(lease_ids)))

    def end_expired(self, key: ExchangeKey, owner_id: str, at: int) -> None:
        """See ``ExchangeWrites.end_expired``."""
        self._run(sql.END_EXPIRED, of_owner(key, owner_id, at=at))

    def drop_from_inbox(self, key: ExchangeKey, owner_id: str, sequences: Iterable[int]) -> None:
        """See ``ExchangeWrites.drop_from_inbox``."""
        self._run(sql.DELETE_FROM_INBOX, of_owner(key, owner_id, sequences=list(sequences)))

    def empty_inbox(self, key: ExchangeKey, owner_id: str, up_to: int) -> None:
        """See ``ExchangeWrites.empty_inbox``."""
        self._run(sql.EMPTY_INBOX, of_owner(key, owner_id, up_to=up_to))

    # Dead letters

    def put_dead_letters(self, key: ExchangeKey, rows: Iterable[DeadLetterRow]) -> None:
        """See ``ExchangeWrites.put_dead_letters``."""
        columns = [dead_letter_columns(row) for row in rows]
        self._insert(sql.INSERT_DEAD, key, columns, size=_ROW_BYTES * len(columns))

    def drop_dead_letter(self, key: ExchangeKey, row: DeadLetterRow) -> None:
        """See ``ExchangeWrites.drop_dead_letter``."""
        self._run(sql.DELETE_DEAD, of_exchange(key, position=row.position))

    def _entries(self, statement: str, values: dict[str, Any]) -> list[InboxEntry]:
        return [inbox_entry(columns) for columns in self._session.rows(statement, values)]

    def _run(self, statement: str, values: dict[str, Any]) -> None:
        self._accounts.writes()
        self._session.run(statement, values)

    def _insert(
        self, statement: ManyRows, key: ExchangeKey, rows: Sequence[tuple[Any, ...]], *, size: int = 0
    ) -> None:
        """Insert rows, given without the columns of the exchange's key."""
        if rows:
            self._accounts.writes(size)
            leading = tuple(of_exchange(key).values())
            self._session.run(statement.text, statement.values([(*leading, *row) for row in rows]))


def _blobs(ids: Iterable[str]) -> list[bytes]:
    return [id_blob(text) for text in ids]
