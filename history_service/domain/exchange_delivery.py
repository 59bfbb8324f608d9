"""Sending and collecting: from outboxes to inboxes and dead letters (ADR-0006 D5)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import NamedTuple

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from history_service.domain.exchange_ledger import UNDELIVERABLE, Ledger, Route, route_of
from history_service.domain.prepared import PreparedMessage
from history_service.storage.exchange_port import ExchangeKey, ExchangeReads, Letter, OutboxEntry, OwnerRow

_AT_ONCE = 1000
"""Outbox entries moved before what they became is written."""


class Collected(NamedTuple):
    """What collecting did."""

    delivered: int
    """Unique message ids delivered."""
    dead: int
    """Messages that became dead letters."""
    remaining: int
    """Messages left, as copies had no room."""


def send(ledger: Ledger, message: message_pb.Message, prepared: PreparedMessage) -> pb.SendResponse:
    """Queue a message in its sender's outbox; collect it where the exchange delivers at send.

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
    route = route_of(message.recipient)
    member_id = message.recipient.member_id if route == Route.MEMBER else None
    entry = OutboxEntry(sender.last_position, prepared.message_id, route, member_id, letter)
    ledger.tx.put_in_outbox(ledger.key, sender.owner_id, entry)
    delivered = _empty_outbox(ledger, sender).delivered if ledger.exchange.at_send else 0
    ledger.save([sender])
    return pb.SendResponse(message_id=prepared.message_id, delivered_count=delivered)


def collect(ledger: Ledger, owner_id: str) -> Collected:
    """Deliver what is in an owner's outbox.

    Raises:
        OwnerNotFoundError: The owner is not registered.
    """
    owner = ledger.require(owner_id)
    collected = _empty_outbox(ledger, owner)
    ledger.save([owner])
    return collected


def _empty_outbox(ledger: Ledger, owner: OwnerRow) -> Collected:
    """Move an outbox's letters, in order, until it is empty or a broadcast has no room."""
    delivered: set[str] = set()
    dead = after = 0
    has_room = True
    while has_room and owner.outbox_count:
        entries = ledger.tx.outbox(ledger.key, owner.owner_id, after, _AT_ONCE)
        moved = 0
        for entry in entries:
            recipients = _recipients(ledger, entry)
            has_room = ledger.has_room_for_copies(entry.letter, max(1, len(recipients)))
            if not has_room:
                break
            moved += 1
            after = entry.position
            if recipients:
                _deliver(ledger, entry.letter, recipients)
                delivered.add(entry.message_id)
            else:
                _bury(ledger, entry)
                dead += 1
        owner.outbox_count -= moved
        if moved:
            ledger.tx.drop_from_outbox(ledger.key, owner.owner_id, after)
        ledger.flush()
    return Collected(len(delivered), dead, owner.outbox_count)


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


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a CollectAll has come; recorded with each owner's transaction.

    Attributes:
        last_rank: Rank of the last owner that was registered when it began.
        rank: Rank of the last owner collected.
        finished: Whether no owner is left.
        delivered: As in ``Collected``, summed.
        dead: As in ``Collected``, summed.
        remaining: As in ``Collected``, summed.
    """

    last_rank: int
    rank: int = 0
    finished: bool = False
    delivered: int = 0
    dead: int = 0
    remaining: int = 0

    def SerializeToString(self) -> bytes:  # noqa: N802 (as any recorded response)
        """Encode it; ``decoded`` is the inverse."""
        values = (self.last_rank, self.rank, self.finished, self.delivered, self.dead, self.remaining)
        return json.dumps(values).encode()

    @classmethod
    def decoded(cls, text: bytes) -> Progress:
        """Decode what was recorded."""
        return cls(*json.loads(text))


def begin_collect_all(tx: ExchangeReads, key: ExchangeKey) -> Progress:
    """Begin with the owners registered now: those up to the latest rank."""
    exchange = tx.exchange(key)
    return Progress(0 if exchange is None else exchange.last_rank)


def collect_next(ledger: Ledger, progress: Progress) -> Progress:
    """Collect for the next owner in registration order that has mail queued.

    An owner that registered since has a greater rank, also one that had been
    there before.
    """
    owner = ledger.tx.next_with_mail(ledger.key, progress.rank, progress.last_rank)
    if owner is None or owner.rank is None:
        return replace(progress, finished=True)
    done = collect(ledger, owner.owner_id)
    return replace(
        progress,
        rank=owner.rank,
        delivered=progress.delivered + done.delivered,
        dead=progress.dead + done.dead,
        remaining=progress.remaining + done.remaining,
    )
