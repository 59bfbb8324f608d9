"""The exchange's rows as the databases keep them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from history_service.storage.codec import id_blob, id_text, optional_id_blob, optional_id_text
from history_service.storage.exchange_port import (
    DeadLetterRow,
    ExchangeRow,
    InboxEntry,
    Letter,
    OwnerRow,
)

_sender_blob = lru_cache(maxsize=1024)(id_blob)
"""Of many deliveries most come from few senders."""


def exchange_columns(row: ExchangeRow) -> tuple[int, ...]:
    """Encode an exchange, without its leading columns."""
    return (
        row.at_send,
        row.max_deliveries,
        row.max_owners,
        row.max_messages,
        row.max_bytes,
        row.owner_count,
        row.message_count,
        row.byte_count,
        row.last_rank,
        row.last_dead_letter,
    )


def owner_row(columns: Any) -> OwnerRow:
    """Decode an owner."""
    return OwnerRow(id_text(columns[0]), *columns[1:])


def owner_columns(row: OwnerRow) -> tuple[bytes | int | None, ...]:
    """Encode an owner, without its exchange's columns."""
    return (
        id_blob(row.owner_id),
        row.rank,
        row.registered_at,
        row.inbox_count,
        row.outbox_count,
        row.last_sequence,
        row.last_position,
    )


def inbox_entry(columns: Any) -> InboxEntry:
    """Decode an inbox entry."""
    sequence, sender_id, body, size, shared, delivered_at, delivery_count, lease_id, expires_at = columns
    letter = Letter(id_text(sender_id), body, size, bool(shared))
    return InboxEntry(sequence, letter, delivered_at, delivery_count, optional_id_text(lease_id), expires_at)


def inbox_columns(entry: InboxEntry) -> tuple[bytes | int | None, ...]:
    """Encode an inbox entry, without its owner's columns."""
    sequence, (sender_id, body, size, shared), delivered_at, delivery_count, lease_id, expires_at = entry
    return (
        sequence,
        _sender_blob(sender_id),
        body,
        size,
        shared,
        delivered_at,
        delivery_count,
        optional_id_blob(lease_id),
        expires_at,
    )


def dead_letter_row(columns: Any) -> DeadLetterRow:
    """Decode a dead letter."""
    position, dead_letter_id, reason, owner_id, delivery_count, dead_at, sender_id, body, size, shared = (
        columns
    )
    letter = Letter(id_text(sender_id), body, size, bool(shared))
    return DeadLetterRow(
        position, id_text(dead_letter_id), reason, optional_id_text(owner_id), delivery_count, dead_at, letter
    )


def dead_letter_columns(row: DeadLetterRow) -> tuple[bytes | int | None, ...]:
    """Encode a dead letter, without its exchange's columns."""
    position, dead_letter_id, reason, owner_id, delivery_count, dead_at, letter = row
    sender_id, body, size, shared = letter
    return (
        position,
        id_blob(dead_letter_id),
        reason,
        optional_id_blob(owner_id),
        delivery_count,
        dead_at,
        id_blob(sender_id),
        body,
        size,
        shared,
    )
