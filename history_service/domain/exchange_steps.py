"""The writes of the exchange that may take several steps, each a transaction of its own.

What a write does may be as large as an exchange, and the store's one writer
serves nobody else during a transaction. So a step moves a bounded number of
letters (``exchange_ledger.StepSize``) and what it leaves is another step's;
other works come between. Every step leaves the exchange whole: a message is in
its outbox or delivered, never both, never to some. So a write that is cut short
has delivered the first of its messages, and the others are queued as before.

A write is an object that knows what its steps have done so far. A step is run
in a transaction and must not change the object, as a store may run it again;
``follow`` tells the object of it once it is committed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from history_service.domain import exchange_owners
from history_service.domain.exchange_delivery import Stretch, move, queue, queued
from history_service.domain.exchange_ledger import Ledger
from history_service.domain.prepared import PreparedMessage
from history_service.domain.writes import CreationResponse, Unfinished

Outcome = CreationResponse | Unfinished
Rule = Callable[[Ledger], Outcome]


class SteppedWrite(Protocol):
    """A write of the exchange that is taken in steps. See the module."""

    def step(self, ledger: Ledger) -> Outcome:
        """Take the next step; return the response with the last."""

    def follow(self, record: dict[str, Any]) -> None:
        """Take note of a step that was not the last."""


class RepeatedRule:
    """A write whose every step is the same rule; what one did needs no note."""

    def __init__(self, rule: Rule) -> None:
        self.step = rule

    def follow(self, record: dict[str, Any]) -> None:
        """See ``SteppedWrite``."""


class Part(NamedTuple):
    """What one step did of an outbox's collection. Recorded: the names stay."""

    owner_id: str
    up_to: int
    """Of the stretch that is collected."""
    message_ids: list[str]
    """Messages that the step delivered."""
    dead: int
    """Messages that the step made dead letters."""


class Totals(NamedTuple):
    """What a collection came to."""

    delivered: int = 0
    """Unique messages delivered."""
    dead: int = 0
    remaining: int = 0

    def plus(self, other: Totals) -> Totals:
        """Return the sum."""
        return Totals(*map(sum, zip(self, other, strict=True)))


class OutboxCollection:
    """The collection of one outbox, and what its steps came to so far."""

    def __init__(self, stretch: Stretch) -> None:
        """Begin with nothing done."""
        self._stretch = stretch
        self._message_ids: set[str] = set()
        self._dead = 0

    def step(self, ledger: Ledger) -> Part | Totals:
        """Take the next step; return the totals with the last."""
        moved = move(ledger, self._stretch)
        if moved.remaining is None:
            return Part(*self._stretch, sorted(moved.message_ids), moved.dead)
        return Totals(len(self._message_ids | moved.message_ids), self._dead + moved.dead, moved.remaining)

    @classmethod
    def followed(cls, begun: OutboxCollection | None, part: Part) -> OutboxCollection:
        """Return what was begun, if it was, with one more step counted in."""
        collection = begun or cls(Stretch(part.owner_id, part.up_to))
        collection._message_ids.update(part.message_ids)
        collection._dead += part.dead
        return collection


class Collection:
    """Collect: deliver what is in an owner's outbox.

    Raises, at its first step:
        OwnerNotFoundError: The owner is not registered.
    """

    def __init__(self, owner_id: str) -> None:
        """Set up for an owner."""
        self._owner_id = owner_id
        self._outbox: OutboxCollection | None = None

    def step(self, ledger: Ledger) -> Outcome:
        """See ``SteppedWrite``."""
        outbox = self._outbox or OutboxCollection(queued(ledger.require(self._owner_id)))
        outcome = outbox.step(ledger)
        ledger.save_if_changed()
        if isinstance(outcome, Part):
            return Unfinished(outcome._asdict())
        return pb.CollectResponse(
            delivered_count=outcome.delivered,
            dead_letter_count=outcome.dead,
            remaining_count=outcome.remaining,
        )

    def follow(self, record: dict[str, Any]) -> None:
        """See ``SteppedWrite``."""
        self._outbox = OutboxCollection.followed(self._outbox, Part(**record))


class Sending:
    """Send: queue a message; collect its sender's outbox where the exchange delivers at send.

    The first step queues it, and delivers it too unless that is much.

    Raises, at its first step:
        OwnerNotFoundError: The sender is not registered.
        QuotaExceededError: The exchange is full.
    """

    def __init__(self, message: message_pb.Message, prepared: PreparedMessage) -> None:
        """Set up for a message, given also as it is to be stored."""
        self._message = message
        self._prepared = prepared
        self._message_id = prepared.message_id
        self._outbox: OutboxCollection | None = None

    def step(self, ledger: Ledger) -> Outcome:
        """See ``SteppedWrite``."""
        response = pb.SendResponse(message_id=self._message_id)
        outbox = self._outbox
        if outbox is None:
            sender = queue(ledger, self._message, self._prepared)
            if not ledger.exchange.at_send:
                ledger.save()
                return response
            outbox = OutboxCollection(queued(sender))
        outcome = outbox.step(ledger)
        ledger.save_if_changed()
        if isinstance(outcome, Part):
            return Unfinished({"message_id": self._message_id, "part": outcome._asdict()})
        response.delivered_count = outcome.delivered
        return response

    def follow(self, record: dict[str, Any]) -> None:
        """See ``SteppedWrite``."""
        self._message_id = record["message_id"]
        self._outbox = OutboxCollection.followed(self._outbox, Part(**record["part"]))


class CollectionOfAll:
    """CollectAll: collect for every owner registered at its first step, in registration order.

    An owner that registered since has a greater rank, also one that had been
    there before.
    """

    def __init__(self) -> None:
        """Set up."""
        self._last_rank: int | None = None
        self._rank = 0
        self._totals = Totals()
        self._outbox: OutboxCollection | None = None

    def step(self, ledger: Ledger) -> Outcome:
        """See ``SteppedWrite``."""
        last_rank = ledger.exchange.last_rank if self._last_rank is None else self._last_rank
        rank, totals, outbox = self._rank, self._totals, self._outbox
        part = None
        while part is None and not ledger.is_full:
            if outbox is None:
                owner = ledger.next_with_mail(rank, last_rank)
                if owner is None or owner.rank is None:
                    ledger.save_if_changed()
                    return pb.CollectAllResponse(
                        delivered_count=totals.delivered,
                        dead_letter_count=totals.dead,
                        remaining_count=totals.remaining,
                    )
                outbox, rank = OutboxCollection(queued(owner)), owner.rank
            outcome = outbox.step(ledger)
            if isinstance(outcome, Part):
                part = outcome._asdict()
            else:
                totals, outbox = totals.plus(outcome), None
                ledger.finish_owner()
        ledger.save_if_changed()
        return Unfinished({"last_rank": last_rank, "rank": rank, "totals": totals, "part": part})

    def follow(self, record: dict[str, Any]) -> None:
        """See ``SteppedWrite``."""
        self._last_rank = record["last_rank"]
        self._totals = Totals(*record["totals"])
        begun = self._outbox if record["rank"] == self._rank else None
        self._rank = record["rank"]
        part = record["part"]
        self._outbox = None if part is None else OutboxCollection.followed(begun, Part(**part))


class Unregistration:
    """UnregisterOwner: give an owner's mail back, or make it dead letters, and unregister it.

    Much mail becomes dead letters over several steps; the owner is registered
    until the last, which takes also what came meanwhile.

    Raises, at any step:
        SizeLimitExceededError: There is more mail than can be given back.
    """

    def __init__(self, owner_id: str, *, give_back: bool, max_messages: int, max_bytes: int) -> None:
        """Set up.

        Args:
            owner_id: The owner.
            give_back: Whether the mail is returned.
            max_messages: The most messages that can be returned.
            max_bytes: The most bytes that can be returned.
        """
        self._owner_id = owner_id
        self._give_back = give_back
        self._bounds = max_messages, max_bytes
        self._rank: int | None = None
        self._dead = 0

    def step(self, ledger: Ledger) -> Outcome:
        """See ``SteppedWrite``."""
        owner = ledger.registered(self._owner_id)
        begun = self._rank is not None
        response = pb.UnregisterOwnerResponse(was_registered=begun, dead_letter_count=self._dead)
        if owner is None or (begun and owner.rank != self._rank):
            return response
        rank = owner.rank
        settled = ledger.settle(owner)
        response.was_registered = True
        response.dead_letter_count += settled.dead
        done = settled.complete
        if done and self._give_back:
            exchange_owners.give_back(ledger, owner, response, *self._bounds)
        elif done:
            response.dead_letter_count += exchange_owners.bury_mail(ledger, owner)
            done = not owner.inbox_count + owner.outbox_count
        if done:
            exchange_owners.remove(ledger, owner)
        ledger.change(owner)
        ledger.save()
        return response if done else Unfinished({"rank": rank, "dead": response.dead_letter_count})

    def follow(self, record: dict[str, Any]) -> None:
        """See ``SteppedWrite``."""
        self._rank, self._dead = record["rank"], record["dead"]
