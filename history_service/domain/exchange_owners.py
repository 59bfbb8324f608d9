"""Who takes part in an exchange: registering, unregistering, listing (ADR-0006 D5)."""

from __future__ import annotations

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import OwnerExistsError, SizeLimitExceededError
from history_service.domain.exchange_ledger import Ledger, require_within
from history_service.domain.prepared import decode
from history_service.storage.exchange_port import (
    ExchangeKey,
    ExchangeReads,
    ExchangeRow,
    OwnerRow,
)

EXCHANGE_LIMITS = ("max_deliveries", "max_owners", "max_messages", "max_bytes")
"""The settings that are limits, of the same name in ``ExchangeSettings`` and ``ExchangeRow``."""


def register(ledger: Ledger, owner_id: str, settings: pb.ExchangeSettings) -> pb.RegisterOwnerResponse:
    """Register an owner and, where settings are given, change the exchange's rules.

    Raises:
        OwnerExistsError: It is registered already.
        QuotaExceededError: There are as many owners as the exchange allows.
    """
    owner = ledger.known(owner_id) or OwnerRow(owner_id)
    if owner.rank is not None:
        raise OwnerExistsError(
            f"owner {owner_id} is registered in the exchange already", metadata={"owner_id": owner_id}
        )
    exchange = ledger.exchange
    _apply(settings, exchange)
    require_within("max_owners", exchange.max_owners, exchange.owner_count + 1)
    exchange.owner_count += 1
    exchange.last_rank += 1
    owner.rank, owner.registered_at = exchange.last_rank, ledger.now
    ledger.change(owner)
    ledger.save()
    return pb.RegisterOwnerResponse()


def _apply(settings: pb.ExchangeSettings, exchange: ExchangeRow) -> None:
    if settings.delivery != pb.DELIVERY_MODE_UNSPECIFIED:
        exchange.at_send = settings.delivery == pb.DELIVERY_MODE_AT_SEND
    for field, value in settings.ListFields():
        if field.name in EXCHANGE_LIMITS:
            setattr(exchange, field.name, value)


def give_back(
    ledger: Ledger, owner: OwnerRow, response: pb.UnregisterOwnerResponse, max_messages: int, max_bytes: int
) -> None:
    """Move an owner's mail into a response.

    Args:
        ledger: The books.
        owner: The owner.
        response: Where it goes.
        max_messages: The most messages.
        max_bytes: The most bytes.

    Raises:
        SizeLimitExceededError: There is more mail.
    """
    _require_returnable(ledger, owner, max_messages, max_bytes)
    received = [entry.letter for entry in ledger.inbox(owner)]
    sent = [entry.letter for entry in ledger.outbox(owner)]
    for letters, returned in ((received, response.inbox), (sent, response.outbox)):
        returned.extend(decode(ledger.tx.body(ledger.key, letter.body)) for letter in letters)
        for letter in letters:
            ledger.count_out(letter)
    ledger.tx.empty_inbox(ledger.key, owner.owner_id, owner.last_sequence)
    ledger.tx.drop_from_outbox(ledger.key, owner.owner_id, owner.last_position)
    owner.inbox_count = owner.outbox_count = 0
    ledger.tx.release_bodies(ledger.key, [*received, *sent])


def _require_returnable(ledger: Ledger, owner: OwnerRow, max_messages: int, max_bytes: int) -> None:
    count = owner.inbox_count + owner.outbox_count
    size = 0
    if count <= max_messages:
        size = sum(entry.letter.size for entry in ledger.inbox(owner))
        size += sum(entry.letter.size for entry in ledger.outbox(owner))
    for name, limit, actual in (("page_messages", max_messages, count), ("page_bytes", max_bytes, size)):
        if actual > limit:
            raise SizeLimitExceededError.of(
                "the owner's mail",
                limit_name=name,
                limit=limit,
                actual=actual,
                advice="consume some, or have it made dead letters",
            )


def bury_mail(ledger: Ledger, owner: OwnerRow) -> int:
    """Make an owner's mail dead letters, the inbox first, until the step is full; return how many."""
    received = sent = 0
    for entry in ledger.inbox(owner):
        if ledger.is_full:
            break
        reason = pb.DEAD_LETTER_REASON_RECIPIENT_UNREGISTERED
        ledger.bury(entry.letter, reason, owner.owner_id, entry.delivery_count)
        last_received = entry.sequence
        received += 1
    for queued in ledger.outbox(owner):
        if ledger.is_full:
            break
        ledger.bury(queued.letter, pb.DEAD_LETTER_REASON_SENDER_UNREGISTERED, queued.recipient_id)
        last_sent = queued.position
        sent += 1
    if received:
        ledger.tx.empty_inbox(ledger.key, owner.owner_id, last_received)
    if sent:
        ledger.tx.drop_from_outbox(ledger.key, owner.owner_id, last_sent)
    owner.inbox_count -= received
    owner.outbox_count -= sent
    return received + sent


def remove(ledger: Ledger, owner: OwnerRow) -> None:
    """Unregister an owner without mail."""
    ledger.exchange.owner_count -= 1
    owner.rank = None


def list_owners(
    tx: ExchangeReads, key: ExchangeKey, after_rank: int, limit: int
) -> tuple[list[OwnerRow], int | None]:
    """Read a page of registered owners, and the rank after which the next page goes on, or None."""
    rows = tx.owners(key, after_rank, limit + 1)
    if len(rows) <= limit:
        return rows, None
    return rows[:limit], rows[limit - 1].rank
