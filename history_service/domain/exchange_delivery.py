"""From outboxes to inboxes and dead letters, a step at a time (ADR-0006 D5)."""

from __future__ import annotations

from typing import NamedTuple

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from history_service.domain.exchange_ledger import UNDELIVERABLE, Ledger, Route, route_of
from history_service.domain.prepared import PreparedMessage
from history_service.storage.exchange_port import Letter, OutboxEntry, OwnerRow


class Stretch(NamedTuple):
    """The part of an outbox that a collection is about: what was queued when it began."""

    owner_id: str
    up_to: int
    """Position of the last message; positions are never used again, not even by an owner registered anew."""


class Moved(NamedTuple):
    """What one step made of a stretch."""

    message_ids: set[str]
    """Messages delivered."""
    dead: int
    """Messages that became dead letters."""
    remaining: int | None
    """Messages left, as copies had no room; None: the step was full, and another goes on."""


def queue(ledger: Ledger, message: message_pb.Message, prepared: PreparedMessage) -> OwnerRow:
    """Queue a message in its sender's outbox; return the sender.

    Args:
        ledger: The books.
        message: The message, for its addresses.
        prepared: The same, ready to be stored.

    Raises:
        OwnerNotFoundError: The sender is not registered.
        QuotaExceededError: The exchange is full.
    """
    sender = ledger.require(message.sender.member_id)
    size = len(prepared.body)
    ledger.require_room(size)
    letter = Letter(sender.owner_id, ledger.tx.put_body(ledger.key, prepared.body), size, False)
    ledger.count_in(letter)
    sender.last_position += 1
    sender.outbox_count += 1
    ledger.change(sender)
    route = route_of(message.recipient)
    member_id = message.recipient.member_id if route == Route.MEMBER else None
    entry = OutboxEntry(sender.last_position, prepared.message_id, route, member_id, letter)
    ledger.tx.put_in_outbox(ledger.key, sender.owner_id, entry)
    return sender


def queued(owner: OwnerRow) -> Stretch:
    """Return what is queued in an owner's outbox."""
    return Stretch(owner.owner_id, owner.last_position)


def move(ledger: Ledger, stretch: Stretch) -> Moved:
    """Deliver a stretch's messages in order until it ends, a broadcast has no room or the step is full.

    Each is taken out of the outbox with all its deliveries, or stays.
    """
    owner = ledger.registered(stretch.owner_id)
    if owner is None:
        return Moved(set(), 0, 0)
    delivered: set[str] = set()
    dead = after = 0
    is_full = False
    for entry in ledger.outbox(owner):
        if entry.position > stretch.up_to:
            break
        is_full = not ledger.has_time_for(_most_copies(ledger, entry))
        if is_full:
            break
        recipients = _recipients(ledger, entry)
        if not ledger.has_room_for_copies(entry.letter, max(1, len(recipients))):
            break
        after = entry.position
        owner.outbox_count -= 1
        if recipients:
            _deliver(ledger, entry.letter, recipients)
            delivered.add(entry.message_id)
        else:
            _bury(ledger, entry)
            dead += 1
    if after:
        ledger.tx.drop_from_outbox(ledger.key, owner.owner_id, after)
        ledger.change(owner)
    # Positions in an outbox have no gaps: what came after the stretch is not left of it.
    left = max(0, owner.outbox_count - (owner.last_position - stretch.up_to))
    return Moved(delivered, dead, None if is_full else left)


def _most_copies(ledger: Ledger, entry: OutboxEntry) -> int:
    """Return how many inboxes an entry may be for, without reading the owners."""
    return ledger.exchange.owner_count if entry.route == Route.BROADCAST else 1


def _recipients(ledger: Ledger, entry: OutboxEntry) -> list[OwnerRow]:
    """Return the registered owners an entry is for."""
    if entry.route == Route.BROADCAST:
        return [owner for owner in ledger.all_registered() if owner.owner_id != entry.letter.sender_id]
    member = ledger.registered(entry.recipient_id) if entry.recipient_id is not None else None
    return [] if member is None else [member]


def _deliver(ledger: Ledger, letter: Letter, recipients: list[OwnerRow]) -> None:
    copies = len(recipients)
    if copies > 1:
        ledger.tx.share_body(ledger.key, letter.body, copies)
        letter = letter._replace(shared=True)
        ledger.count_in(letter, copies - 1)
    for owner in recipients:
        ledger.deliver(owner, letter)


def _bury(ledger: Ledger, entry: OutboxEntry) -> None:
    route = Route(entry.route)
    if route == Route.BROADCAST:
        ledger.bury(entry.letter, pb.DEAD_LETTER_REASON_BROADCAST_TO_NOBODY)
    elif route == Route.MEMBER:
        ledger.bury(entry.letter, pb.DEAD_LETTER_REASON_RECIPIENT_UNKNOWN, entry.recipient_id)
    else:
        ledger.bury(entry.letter, UNDELIVERABLE[route])
