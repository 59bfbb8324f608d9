"""The statements of the exchange; ``exchange`` runs them."""

from __future__ import annotations

from history_service.storage.sqlite.writing_sql import insert_many

OF_EXCHANGE = "tenant_id = ? AND exchange_id = ?"
OF_OWNER = f"{OF_EXCHANGE} AND owner_id = ?"
LEASED = "lease_id IS NOT NULL"
FREE = "lease_id IS NULL"


def insert(table: str, columns: str, key: str = "") -> str:
    """Return the statement that inserts a row; with a key, that updates the row that has it already."""
    statement = insert_many(table, columns).of(1)
    if not key:
        return statement
    names = [name for name in columns.split(", ") if name not in key.split(", ")]
    changes = ", ".join(f"{name} = excluded.{name}" for name in names)
    return f"{statement} ON CONFLICT ({key}) DO UPDATE SET {changes}"  # nosec B608: of constants of the code


EXCHANGE_COLUMNS = (
    "at_send, max_deliveries, max_owners, max_messages, max_bytes,"
    " owner_count, message_count, byte_count, last_rank, last_dead_letter"
)
EXCHANGE = f"SELECT {EXCHANGE_COLUMNS} FROM exchange WHERE {OF_EXCHANGE}"
SAVE_EXCHANGE = insert("exchange", f"tenant_id, exchange_id, {EXCHANGE_COLUMNS}", "tenant_id, exchange_id")

OWNER_COLUMNS = "owner_id, rank, registered_at, inbox_count, outbox_count, last_sequence, last_position"
OWNER = f"SELECT {OWNER_COLUMNS} FROM exchange_owner WHERE {OF_OWNER}"
OWNERS = f"SELECT {OWNER_COLUMNS} FROM exchange_owner WHERE {OF_EXCHANGE} AND rank > ? ORDER BY rank LIMIT ?"
NEXT_WITH_MAIL = (
    f"SELECT {OWNER_COLUMNS} FROM exchange_owner INDEXED BY exchange_owner_with_mail"
    f" WHERE {OF_EXCHANGE} AND rank > ? AND rank <= ? AND rank IS NOT NULL AND outbox_count > 0"
    " ORDER BY rank LIMIT 1"
)
SAVE_OWNER = insert(
    "exchange_owner", f"tenant_id, exchange_id, {OWNER_COLUMNS}", "tenant_id, exchange_id, owner_id"
)

BODY = "SELECT bytes FROM exchange_body WHERE number = ?"
INSERT_BODY = insert("exchange_body", "tenant_id, exchange_id, bytes")
DELETE_BODY = "DELETE FROM exchange_body WHERE number = ?"
INSERT_SHARED = insert("exchange_shared_body", "number, tenant_id, exchange_id, holders")
RELEASE_SHARED = "UPDATE exchange_shared_body SET holders = holders - 1 WHERE number = ? RETURNING holders"
DELETE_SHARED = "DELETE FROM exchange_shared_body WHERE number = ?"

OUTBOX_COLUMNS = "position, message_id, route, recipient_id, body, size, shared"
INSERT_IN_OUTBOX = insert("exchange_outbox", f"tenant_id, exchange_id, owner_id, {OUTBOX_COLUMNS}")
OUTBOX = (
    f"SELECT {OUTBOX_COLUMNS} FROM exchange_outbox"
    f" WHERE {OF_OWNER} AND position > ? ORDER BY position LIMIT ?"
)
DELETE_FROM_OUTBOX = f"DELETE FROM exchange_outbox WHERE {OF_OWNER} AND position <= ?"

INBOX_COLUMNS = "sequence, sender_id, body, size, shared, delivered_at, delivery_count, lease_id, expires_at"
BODY_OF_ROW = "(SELECT bytes FROM exchange_body WHERE number = body)"
INSERT_IN_INBOXES = insert_many("exchange_inbox", f"tenant_id, exchange_id, owner_id, {INBOX_COLUMNS}")
INBOX = (
    f"SELECT {INBOX_COLUMNS} FROM exchange_inbox WHERE {OF_OWNER} AND sequence > ? ORDER BY sequence LIMIT ?"
)
_PAGE = f"SELECT {INBOX_COLUMNS}, {BODY_OF_ROW} FROM exchange_inbox"
INBOX_PAGE = f"{_PAGE} WHERE {OF_OWNER} AND sequence > ? ORDER BY sequence LIMIT ?"
INBOX_PAGE_OF_SENDER = (
    f"{_PAGE} INDEXED BY exchange_inbox_by_sender"
    f" WHERE {OF_OWNER} AND sender_id = ? AND sequence > ? ORDER BY sequence LIMIT ?"
)
_AVAILABLE = f"SELECT {INBOX_COLUMNS} FROM exchange_inbox INDEXED BY"
AVAILABLE = (
    f"{_AVAILABLE} exchange_inbox_free WHERE {OF_OWNER} AND {FREE} AND sequence > ? ORDER BY sequence LIMIT ?"
)
AVAILABLE_OF_SENDER = (
    f"{_AVAILABLE} exchange_inbox_free_by_sender"
    f" WHERE {OF_OWNER} AND sender_id = ? AND {FREE} AND sequence > ? ORDER BY sequence LIMIT ?"
)
LEASED_ENTRY = f"SELECT {INBOX_COLUMNS} FROM exchange_inbox WHERE {OF_OWNER} AND {LEASED} AND lease_id = ?"
# Sorted by whoever asks: few leases expire for the last time, and the index is in another order.
EXPIRED = (
    f"SELECT {INBOX_COLUMNS} FROM exchange_inbox INDEXED BY exchange_inbox_by_expiry"
    f" WHERE {OF_OWNER} AND {LEASED} AND expires_at <= ? AND delivery_count >= ?"
)
NTH_EXPIRY = (
    "SELECT expires_at FROM exchange_inbox INDEXED BY exchange_inbox_by_expiry"
    f" WHERE {OF_OWNER} AND {LEASED} AND expires_at <= ? ORDER BY expires_at LIMIT 1 OFFSET ?"
)
LEASE = (
    "UPDATE exchange_inbox SET delivery_count = ?, lease_id = ?, expires_at = ?"
    f" WHERE {OF_OWNER} AND sequence = ?"
)
END_LEASE = (
    "UPDATE exchange_inbox SET lease_id = NULL, expires_at = 0"
    f" WHERE {OF_OWNER} AND {LEASED} AND lease_id = ?"
)
END_EXPIRED = (
    "UPDATE exchange_inbox INDEXED BY exchange_inbox_by_expiry SET lease_id = NULL, expires_at = 0"
    f" WHERE {OF_OWNER} AND {LEASED} AND expires_at <= ?"
)
DELETE_FROM_INBOX = f"DELETE FROM exchange_inbox WHERE {OF_OWNER} AND sequence = ?"
EMPTY_INBOX = f"DELETE FROM exchange_inbox WHERE {OF_OWNER} AND sequence <= ?"

DEAD_COLUMNS = (
    "position, dead_letter_id, reason, owner_id, delivery_count, dead_at, sender_id, body, size, shared"
)
INSERT_DEAD = insert_many("exchange_dead_letter", f"tenant_id, exchange_id, {DEAD_COLUMNS}")
DEAD_LETTER = f"SELECT {DEAD_COLUMNS} FROM exchange_dead_letter WHERE {OF_EXCHANGE} AND dead_letter_id = ?"
_DEAD_PAGE = f"SELECT {DEAD_COLUMNS}, {BODY_OF_ROW} FROM exchange_dead_letter"
DEAD_PAGE = f"{_DEAD_PAGE} WHERE {OF_EXCHANGE} AND position > ? ORDER BY position LIMIT ?"
DEAD_PAGE_OF_OWNER = (
    f"{_DEAD_PAGE} INDEXED BY exchange_dead_letter_by_owner"
    f" WHERE {OF_OWNER} AND position > ? ORDER BY position LIMIT ?"
)
DELETE_DEAD = f"DELETE FROM exchange_dead_letter WHERE {OF_EXCHANGE} AND position = ?"
