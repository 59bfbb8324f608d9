"""The statements of the exchange; ``exchange`` runs them."""

from __future__ import annotations

from history_service.storage.postgres.statements import (
    EXCHANGE_KEY,
    OF_EXCHANGE,
    OF_OWNER,
    ManyRows,
    insert_many,
    rows_of,
)

_LEASED = "lease_id IS NOT NULL"
_ENDED_BY = f"{_LEASED} AND expires_at >= 0 AND expires_at <= %(at)s"
_FREE = "lease_id IS NULL"
_OWNER_KEY = f"{EXCHANGE_KEY}, owner_id bytea"
_ANY_NUMBER = f"{OF_EXCHANGE} AND number IN (SELECT unnest(%(numbers)s::bigint[]))"

_EXCHANGE_TYPES = (
    "at_send boolean, max_deliveries bigint, max_owners bigint, max_messages bigint, max_bytes bigint,"
    " owner_count bigint, message_count bigint, byte_count bigint, last_rank bigint, last_dead_letter bigint"
)
_OWNER_TYPES = (
    "owner_id bytea, rank bigint, registered_at bigint, inbox_count bigint, outbox_count bigint,"
    " last_sequence bigint, last_position bigint"
)
_OUTBOX_TYPES = (
    "position bigint, message_id bytea, route smallint, recipient_id bytea, body bigint, size bigint,"
    " shared boolean"
)
_INBOX_TYPES = (
    "sequence bigint, sender_id bytea, body bigint, size bigint, shared boolean, delivered_at bigint,"
    " delivery_count bigint, lease_id bytea, expires_at bigint"
)
_DEAD_TYPES = (
    "position bigint, dead_letter_id bytea, reason smallint, owner_id bytea, delivery_count bigint,"
    " dead_at bigint, sender_id bytea, body bigint, size bigint, shared boolean"
)


def _names(columns: str) -> str:
    return ", ".join(rows_of(columns)[1])


EXCHANGE_COLUMNS = _names(_EXCHANGE_TYPES)
OWNER_COLUMNS = _names(_OWNER_TYPES)
OUTBOX_COLUMNS = _names(_OUTBOX_TYPES)
INBOX_COLUMNS = _names(_INBOX_TYPES)
DEAD_COLUMNS = _names(_DEAD_TYPES)

EXCHANGE = f"SELECT {EXCHANGE_COLUMNS} FROM exchange WHERE {OF_EXCHANGE}"
SAVE_EXCHANGES = insert_many("exchange", f"{EXCHANGE_KEY}, {_EXCHANGE_TYPES}", key="tenant_id, exchange_id")

OWNER = f"SELECT {OWNER_COLUMNS} FROM exchange_owner WHERE {OF_OWNER}"
LAST_SEQUENCES = (
    "SELECT owner.tenant_id, owner.exchange_id, owner.owner_id, owner.last_sequence"
    " FROM unnest(%(tenants)s::bytea[], %(exchanges)s::bytea[], %(owners)s::bytea[])"
    " AS wanted (tenant_id, exchange_id, owner_id) JOIN exchange_owner AS owner"
    " ON owner.tenant_id = wanted.tenant_id AND owner.exchange_id = wanted.exchange_id"
    " AND owner.owner_id = wanted.owner_id"
)
_OWNERS = f"SELECT {OWNER_COLUMNS} FROM exchange_owner WHERE {OF_EXCHANGE} AND rank IS NOT NULL"
OWNERS = f"{_OWNERS} AND rank > %(after)s ORDER BY rank LIMIT %(limit)s"
NEXT_WITH_MAIL = (
    f"{_OWNERS} AND rank > %(after)s AND rank <= %(last)s AND outbox_count > 0 ORDER BY rank LIMIT 1"
)
SAVE_OWNERS = insert_many(
    "exchange_owner", f"{EXCHANGE_KEY}, {_OWNER_TYPES}", key="tenant_id, exchange_id, owner_id"
)

BODY = f"SELECT bytes FROM exchange_body WHERE {OF_EXCHANGE} AND number = %(number)s"
INSERT_BODIES = insert_many("exchange_body", f"{EXCHANGE_KEY}, number bigint, bytes bytea")
DELETE_BODIES = f"DELETE FROM exchange_body WHERE {_ANY_NUMBER}"
INSERT_SHARED = insert_many("exchange_shared_body", f"{EXCHANGE_KEY}, number bigint, holders bigint")
_released, _released_columns = rows_of("number bigint, released bigint")
RELEASE_SHARED = ManyRows(
    f"UPDATE exchange_shared_body AS body SET holders = holders - gone.released FROM {_released}"
    " AS gone (number, released) WHERE body.tenant_id = %(tenant)s AND body.exchange_id = %(exchange)s"
    " AND body.number = gone.number RETURNING body.number, holders",
    _released_columns,
)
DELETE_SHARED = f"DELETE FROM exchange_shared_body WHERE {_ANY_NUMBER}"

INSERT_IN_OUTBOX = insert_many("exchange_outbox", f"{_OWNER_KEY}, {_OUTBOX_TYPES}")
OUTBOX = (
    f"SELECT {OUTBOX_COLUMNS} FROM exchange_outbox"
    f" WHERE {OF_OWNER} AND position > %(after)s ORDER BY position LIMIT %(limit)s"
)
DELETE_FROM_OUTBOX = f"DELETE FROM exchange_outbox WHERE {OF_OWNER} AND position <= %(up_to)s"

INSERT_IN_INBOXES = insert_many("exchange_inbox", f"{_OWNER_KEY}, {_INBOX_TYPES}")
_ENTRIES = f"SELECT {INBOX_COLUMNS} FROM exchange_inbox WHERE {OF_OWNER}"
_OF_SENDER = " AND sender_id = %(sender)s"
_ONWARD = " AND sequence > %(after)s ORDER BY sequence LIMIT %(limit)s"
INBOX = _ENTRIES + _ONWARD
AVAILABLE = f"{_ENTRIES} AND {_FREE}{_ONWARD}"
AVAILABLE_OF_SENDER = f"{_ENTRIES} AND {_FREE}{_OF_SENDER}{_ONWARD}"
LEASED_ENTRIES = f"{_ENTRIES} AND {_LEASED} AND lease_id IN (SELECT unnest(%(leases)s::bytea[]))"
EXPIRED = f"{_ENTRIES} AND {_ENDED_BY} AND delivery_count >= %(deliveries)s ORDER BY sequence"
NTH_EXPIRY = (
    f"SELECT expires_at FROM exchange_inbox WHERE {OF_OWNER} AND {_ENDED_BY}"
    " ORDER BY expires_at LIMIT 1 OFFSET %(before)s"
)
_leased, _leased_columns = rows_of(
    "sequence bigint, delivery_count bigint, lease_id bytea, expires_at bigint"
)
LEASE = ManyRows(
    "UPDATE exchange_inbox AS entry SET delivery_count = leased.delivery_count,"
    f" lease_id = leased.lease_id, expires_at = leased.expires_at FROM {_leased}"
    " AS leased (sequence, delivery_count, lease_id, expires_at)"
    " WHERE entry.tenant_id = %(tenant)s AND entry.exchange_id = %(exchange)s"
    " AND entry.owner_id = %(owner)s AND entry.sequence = leased.sequence",
    _leased_columns,
)
_END = f"UPDATE exchange_inbox SET lease_id = NULL, expires_at = 0 WHERE {OF_OWNER} AND {_LEASED}"
END_LEASES = f"{_END} AND lease_id IN (SELECT unnest(%(leases)s::bytea[]))"
END_EXPIRED = f"{_END} AND expires_at >= 0 AND expires_at <= %(at)s"
DELETE_FROM_INBOX = (
    f"DELETE FROM exchange_inbox WHERE {OF_OWNER} AND sequence IN (SELECT unnest(%(sequences)s::bigint[]))"
)
EMPTY_INBOX = f"DELETE FROM exchange_inbox WHERE {OF_OWNER} AND sequence <= %(up_to)s"

INSERT_DEAD = insert_many("exchange_dead_letter", f"{EXCHANGE_KEY}, {_DEAD_TYPES}")
_DEAD = f"SELECT {DEAD_COLUMNS} FROM exchange_dead_letter WHERE {OF_EXCHANGE}"
DEAD_LETTER = f"{_DEAD} AND dead_letter_id = %(dead_letter)s"
DELETE_DEAD = f"DELETE FROM exchange_dead_letter WHERE {OF_EXCHANGE} AND position = %(position)s"


def _page(entries: str, order: str) -> str:
    """Read entries, bound by ``limit``, with their bodies as far as ``max_bytes`` go.

    Its rows: the entries' columns, then whether the body fits, the body, null
    where it does not or there is none, and whether there is one. The first one
    fits always. Bodies are looked up as in ``scans.cut_bodies``, and why.
    """
    return (
        "SELECT entry.*, CASE WHEN fits THEN bytes END, bytes IS NOT NULL FROM ("
        "SELECT page.*, row_number() OVER way = 1 OR sum(size) OVER way <= %(max_bytes)s AS fits"
        f" FROM ({entries}) AS page WINDOW way AS (ORDER BY {order} ROWS UNBOUNDED PRECEDING)"
        f") AS entry LEFT JOIN LATERAL (SELECT bytes FROM exchange_body WHERE {OF_EXCHANGE}"
        f" AND number = entry.body LIMIT 1) AS found ON true ORDER BY {order}"
    )


INBOX_PAGE = _page(INBOX, "sequence")
INBOX_PAGE_OF_SENDER = _page(_ENTRIES + _OF_SENDER + _ONWARD, "sequence")
_DEAD_ONWARD = " AND position > %(after)s ORDER BY position LIMIT %(limit)s"
DEAD_PAGE = _page(_DEAD + _DEAD_ONWARD, "position")
DEAD_PAGE_OF_OWNER = _page(
    f"{_DEAD} AND owner_id IS NOT NULL AND owner_id = %(owner)s{_DEAD_ONWARD}", "position"
)
