"""The writes of the exchange that may take several steps, each a transaction of its own.

What a write does may be as large as an exchange, and the store's one writer
serves nobody else during a transaction. So a step moves a bounded number of
letters (``exchange_ledger.STEP_SIZE``) and what it leaves is another step's;
other works come between. Every step leaves the exchange whole: a message is in
its outbox or delivered, never both, never to some. So a write that is cut short
has delivered the first of its messages, and the others are queued as before.

A write is an object that knows what its steps have done so far. A step is run
in a transaction and must not change the object, as a store may run it again;
``follow`` tells the object of it once it is committed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from history_service.domain import exchange_owners
from history_service.domain.exchange_delivery import Moved, Stretch, move, queue, queued
from history_service.domain.exchange_ledger import Ledger
from history_service.domain.prepared import PreparedMessage
from history_service.domain.writes import CreationResponse, Unfinished

Outcome = CreationResponse | Unfinished
Rule = Callable[[Ledger], Outcome]


class Write(Protocol):
    """A write of the exchange. See the module."""

    def step(self, ledger: Ledger) -> Outcome:
        """Take the next step; return the response with the last."""

    def follow(self, record: list[Any]) -> None:
        """Take note of a step that was not the last."""


class RuleWrite:
    """A write that is one rule, run until it finishes; what it did needs no note."""

    def __init__(self, rule: Rule) -> None:
        self.step = rule

    def follow(self, record: list[Any]) -> None:
        """See ``Write``."""


class _Tally:
    """What a collection of one outbox came to so far."""

    def __init__(self) -> None:
        self._message_ids: set[str] = set()
        self._dead = 0

    def add(self, message_ids: list[str], dead: int) -> None:
        """Count a step in."""
        self._message_ids.update(message_ids)
        self._dead += dead

    def with_last(self, moved: Moved) -> tuple[int, int]:
        """Return the unique messages delivered and the dead letters, the last step's included."""
        return len(self._message_ids | moved.message_ids), self._dead + moved.dead


class Collection:
    """Collect: deliver what is in an owner's outbox.

    Raises, at its first step:
        OwnerNotFoundError: The owner is not registered.
    """

    def __init__(self, owner_id: str) -> None:
        """Set up for an owner."""
        self._owner_id = owner_id
        self._stretch: Stretch | None = None
        self._tally = _Tally()

    def step(self, ledger: Ledger) -> Outcome:
        """See ``Write``."""
        stretch = self._stretch or queued(ledger.require(self._owner_id))
        moved = move(ledger, stretch)
        if moved.remaining is None:
            return Unfinished([stretch, sorted(moved.message_ids), moved.dead])
        delivered, dead = self._tally.with_last(moved)
        return pb.CollectResponse(
            delivered_count=delivered, dead_letter_count=dead, remaining_count=moved.remaining
        )

    def follow(self, record: list[Any]) -> None:
        """See ``Write``."""
        stretch, message_ids, dead = record
        self._stretch = Stretch(*stretch)
        self._tally.add(message_ids, dead)


class Sending:
    """Send: queue a message; collect its sender's outbox where the exchange delivers at send.

    The first step queues it, and delivers it too unless there is much before it.

    Raises, at its first step:
        OwnerNotFoundError: The sender is not registered.
        QuotaExceededError: The exchange is full.
    """

    def __init__(self, message: message_pb.Message, prepared: PreparedMessage) -> None:
        """Set up for a message, given also as it is to be stored."""
        self._message = message
        self._prepared = prepared
        self._message_id = prepared.message_id
        self._stretch: Stretch | None = None
        self._tally = _Tally()

    def step(self, ledger: Ledger) -> Outcome:
        """See ``Write``."""
        stretch = self._stretch
        if stretch is None:
            sender = queue(ledger, self._message, self._prepared)
            if not ledger.exchange.at_send:
                ledger.save([sender])
                return pb.SendResponse(message_id=self._message_id)
            stretch = queued(sender)
        moved = move(ledger, stretch)
        if moved.remaining is None:
            return Unfinished([self._message_id, stretch, sorted(moved.message_ids), moved.dead])
        delivered, _ = self._tally.with_last(moved)
        return pb.SendResponse(message_id=self._message_id, delivered_count=delivered)

    def follow(self, record: list[Any]) -> None:
        """See ``Write``."""
        self._message_id, stretch, message_ids, dead = record
        self._stretch = Stretch(*stretch)
        self._tally.add(message_ids, dead)


class CollectionOfAll:
    """CollectAll: collect for every owner registered at its first step, in registration order.

    A step is about one owner. An owner that registered since has a greater rank,
    also one that had been there before.
    """

    def __init__(self) -> None:
        """Set up."""
        self._last_rank: int | None = None
        self._rank = 0
        self._counts = (0, 0, 0)
        self._stretch: Stretch | None = None
        self._tally = _Tally()

    def step(self, ledger: Ledger) -> Outcome:
        """See ``Write``."""
        last_rank = ledger.exchange.last_rank if self._last_rank is None else self._last_rank
        stretch, rank = self._stretch, self._rank
        if stretch is None:
            owner = ledger.tx.next_with_mail(ledger.key, rank, last_rank)
            if owner is None or owner.rank is None:
                delivered, dead, remaining = self._counts
                return pb.CollectAllResponse(
                    delivered_count=delivered, dead_letter_count=dead, remaining_count=remaining
                )
            stretch, rank = queued(owner), owner.rank
        moved = move(ledger, stretch)
        progress = [last_rank, rank, stretch]
        if moved.remaining is None:
            return Unfinished([*progress, sorted(moved.message_ids), moved.dead, None])
        return Unfinished([*progress, [], 0, (*self._tally.with_last(moved), moved.remaining)])

    def follow(self, record: list[Any]) -> None:
        """See ``Write``."""
        self._last_rank, self._rank, stretch, message_ids, dead, counts = record
        self._stretch = Stretch(*stretch)
        self._tally.add(message_ids, dead)
        if counts is not None:
            delivered, buried, remaining = self._counts
            self._counts = (delivered + counts[0], buried + counts[1], remaining + counts[2])
            self._stretch, self._tally = None, _Tally()


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
        """See ``Write``."""
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
        ledger.save([owner])
        return response if done else Unfinished([rank, response.dead_letter_count])

    def follow(self, record: list[Any]) -> None:
        """See ``Write``."""
        self._rank, self._dead = record
