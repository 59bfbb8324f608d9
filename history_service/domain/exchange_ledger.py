"""An exchange's books during one write: totals, owners, deliveries and dead letters.

Rules change the rows the ledger hands out and end with ``save``; what a step
moved is then written together, each row once. A step is one transaction, and
the store's one writer serves nobody else meanwhile: a rule that may have much to
move asks ``is_full`` and leaves the rest to further steps (``writes.Unfinished``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import OwnerNotFoundError, QuotaExceededError
from history_service.storage.exchange_port import (
    DeadLetterRow,
    ExchangeKey,
    ExchangeRow,
    ExchangeWrites,
    InboxEntry,
    Letter,
    OutboxEntry,
    OwnerRow,
)

OWNER_COST = 10
"""Letters that cost as much as one more owner: in each index of its mail, a page has to be written."""
_AT_ONCE = 1000
"""Entries of a box read at a time."""


class StepSize(NamedTuple):
    """How much a step may move, in letters; each owner reached counts as some more of them."""

    full_at: int
    """The step begins no further message once it has moved so much."""
    most: int | None = None
    """It begins none that would take it beyond this; None: it may move one message's copies more."""


FIRST_STEP = StepSize(1_000, 1_000)
"""Of the step that waits for nobody: no longer than an ordinary write takes, however many come at once."""
FURTHER_STEP = StepSize(16_000)
"""Of the steps that are taken in turn: 0.1 to 0.2 s of the writer."""


class Route(IntEnum):
    """How a message is addressed. Stored: the numbers stay."""

    UNSET = 0
    BROADCAST = 1
    MEMBER = 2
    ROLE = 3
    NAME = 4


_ROUTES = {
    "broadcast": Route.BROADCAST,
    "member_id": Route.MEMBER,
    "role": Route.ROLE,
    "name": Route.NAME,
}

UNDELIVERABLE = {
    Route.UNSET: pb.DEAD_LETTER_REASON_RECIPIENT_UNSET,
    Route.ROLE: pb.DEAD_LETTER_REASON_RECIPIENT_ROLE,
    Route.NAME: pb.DEAD_LETTER_REASON_RECIPIENT_NAME,
}
"""Why no message of a route is ever delivered; the other routes may be."""


def route_of(recipient: message_pb.Address) -> Route:
    """Return how a recipient is addressed; an absent one is unset."""
    return _ROUTES.get(recipient.WhichOneof("state") or "", Route.UNSET)


class Settled(NamedTuple):
    """What came of expired leases."""

    dead: int
    """Messages that became dead letters."""
    complete: bool
    """Whether no expired lease is left."""


class Ledger:
    """See the module.

    Attributes:
        tx: The primitives.
        key: The exchange's key.
        now: Nanoseconds since the epoch: the one time of this write.
        exchange: The exchange's row; a new one where there is none yet.
        reached: Owners whose inbox got something.
    """

    def __init__(
        self,
        tx: ExchangeWrites,
        key: ExchangeKey,
        now: int,
        new_id: Callable[[], str],
        step_size: StepSize = FURTHER_STEP,
    ) -> None:
        """Open the books.

        Args:
            tx: The primitives.
            key: The exchange's key.
            now: Nanoseconds since the epoch.
            new_id: Returns a fresh canonical UUID.
            step_size: How much this write may move.
        """
        self.tx = tx
        self.key = key
        self.now = now
        self.new_id = new_id
        self._size = step_size
        self.exchange = tx.exchange(key) or ExchangeRow()
        self.reached: set[str] = set()
        self._owners: dict[str, OwnerRow | None] = {}
        self._all_owners: list[OwnerRow] | None = None
        self._changed: dict[str, OwnerRow] = {}
        self._cost = 0
        self._delivered: list[tuple[str, InboxEntry]] = []
        self._buried: list[DeadLetterRow] = []

    # Owners

    def known(self, owner_id: str) -> OwnerRow | None:
        """Return an owner's row, unregistered ones included."""
        if owner_id not in self._owners:
            self._owners[owner_id] = self.tx.owner(self.key, owner_id)
        return self._owners[owner_id]

    def registered(self, owner_id: str) -> OwnerRow | None:
        """Return a registered owner's row, or None."""
        row = self.known(owner_id)
        return None if row is None or row.rank is None else row

    def require(self, owner_id: str) -> OwnerRow:
        """Return a registered owner's row.

        Raises:
            OwnerNotFoundError: It is not registered.
        """
        row = self.registered(owner_id)
        if row is None:
            raise OwnerNotFoundError(
                f"owner {owner_id} is not registered in the exchange", metadata={"owner_id": owner_id}
            )
        return row

    def add_owner(self, row: OwnerRow) -> None:
        """Take a new owner's row into the books."""
        self._owners[row.owner_id] = row

    def all_registered(self) -> list[OwnerRow]:
        """Return every registered owner's row, by rank. Cost: theirs, once a write."""
        if self._all_owners is None:
            rows = self.tx.owners(self.key, 0, None)
            self._all_owners = [self._owners.setdefault(row.owner_id, row) or row for row in rows]
        return self._all_owners

    def next_with_mail(self, after_rank: int, last_rank: int) -> OwnerRow | None:
        """Return the first registered owner of a rank in ``(after_rank, last_rank]`` that has queued mail."""
        row = self.tx.next_with_mail(self.key, after_rank, last_rank)
        return None if row is None else self._owners.setdefault(row.owner_id, row) or row

    def inbox(self, owner: OwnerRow) -> Iterator[InboxEntry]:
        """Yield an inbox's entries, oldest first."""
        after, is_more = 0, True
        while is_more:
            entries = self.tx.inbox(self.key, owner.owner_id, after, _AT_ONCE)
            yield from entries
            is_more = len(entries) == _AT_ONCE
            after = entries[-1].sequence if entries else after

    def outbox(self, owner: OwnerRow) -> Iterator[OutboxEntry]:
        """Yield an outbox's entries, oldest first."""
        after, is_more = 0, True
        while is_more:
            entries = self.tx.outbox(self.key, owner.owner_id, after, _AT_ONCE)
            yield from entries
            is_more = len(entries) == _AT_ONCE
            after = entries[-1].position if entries else after

    # Quotas

    def require_room(self, letter_size: int) -> None:
        """Check that one more message of so many bytes may be queued.

        Raises:
            QuotaExceededError: It would pass a limit of the exchange.
        """
        exchange = self.exchange
        require_within("max_messages", exchange.max_messages, exchange.message_count + 1)
        require_within("max_bytes", exchange.max_bytes, exchange.byte_count + letter_size)

    def has_room_for_copies(self, letter: Letter, copies: int) -> bool:
        """Whether a queued message may become so many."""
        more, exchange = copies - 1, self.exchange
        return more == 0 or (
            exchange.message_count + more <= exchange.max_messages
            and exchange.byte_count + more * letter.size <= exchange.max_bytes
        )

    def count_in(self, letter: Letter, copies: int = 1) -> None:
        """Count messages that are now queued."""
        self.exchange.message_count += copies
        self.exchange.byte_count += copies * letter.size

    def count_out(self, letter: Letter) -> None:
        """Count a message that is queued no more."""
        self.exchange.message_count -= 1
        self.exchange.byte_count -= letter.size

    # Moving letters

    @property
    def step_size(self) -> int:
        """Letters after which the step begins no further message."""
        return self._size.full_at

    @property
    def is_full(self) -> bool:
        """Whether the step has moved as much as one should."""
        return self._cost >= self.step_size

    def has_time_for(self, copies: int) -> bool:
        """Whether the step may still move a message of so many copies, each to another inbox at most."""
        cost = self._cost + copies * (1 + OWNER_COST)
        return not self.is_full and (self._size.most is None or cost <= self._size.most)

    def finish_owner(self) -> None:
        """Count an owner that the step is done with, so that it does not visit any number of them."""
        self._cost += OWNER_COST

    def deliver(self, owner: OwnerRow, letter: Letter) -> int:
        """Put a letter, counted as queued already, into an inbox; return its sequence."""
        owner.last_sequence += 1
        owner.inbox_count += 1
        self._cost += 1 if owner.owner_id in self.reached else 1 + OWNER_COST
        self._delivered.append((owner.owner_id, InboxEntry(owner.last_sequence, letter, self.now)))
        self.reached.add(owner.owner_id)
        self.change(owner)
        return owner.last_sequence

    def bury(
        self,
        letter: Letter,
        reason: pb.DeadLetterReason.ValueType,
        owner_id: str | None = None,
        delivery_count: int = 0,
    ) -> None:
        """Make a queued letter a dead letter; its entry is the caller's to drop."""
        self.count_out(letter)
        self._cost += 1
        self.exchange.last_dead_letter += 1
        position = self.exchange.last_dead_letter
        self._buried.append(
            DeadLetterRow(position, self.new_id(), reason, owner_id, delivery_count, self.now, letter)
        )

    def bury_spent(self, owner: OwnerRow, entries: Sequence[InboxEntry]) -> None:
        """Make inbox entries that were leased too often dead letters."""
        for entry in entries:
            reason = pb.DEAD_LETTER_REASON_TOO_MANY_DELIVERIES
            self.bury(entry.letter, reason, owner.owner_id, entry.delivery_count)
        self.drop(owner, entries)

    def consume(self, owner: OwnerRow, entries: Sequence[InboxEntry]) -> None:
        """Take inbox entries out for good."""
        for entry in entries:
            self.count_out(entry.letter)
        self.drop(owner, entries)
        self.tx.release_bodies(self.key, [entry.letter for entry in entries])

    def drop(self, owner: OwnerRow, entries: Sequence[InboxEntry]) -> None:
        """Delete inbox entries whose letters have gone elsewhere."""
        owner.inbox_count -= len(entries)
        self.change(owner)
        self.tx.drop_from_inbox(self.key, owner.owner_id, [entry.sequence for entry in entries])

    def settle(self, owner: OwnerRow) -> Settled:
        """Bring back what an inbox's expired leases hold: all, or the first to end where many did."""
        tx, key, owner_id = self.tx, self.key, owner.owner_id
        at = None
        if owner.inbox_count > self.step_size:
            at = tx.nth_expiry(key, owner_id, self.now, self.step_size + 1)
        complete = at is None
        at = self.now if at is None else at
        spent = tx.expired(key, owner_id, at=at, min_deliveries=self.exchange.max_deliveries)
        if spent:
            self.bury_spent(owner, spent)
        tx.end_expired(key, owner_id, at)
        return Settled(len(spent), complete)

    # Writing

    def change(self, owner: OwnerRow) -> None:
        """Have ``save`` write an owner's row."""
        self._changed[owner.owner_id] = owner

    def save(self) -> None:
        """Write everything: the letters moved, the owners changed, the exchange."""
        if self._delivered:
            self.tx.put_in_inboxes(self.key, self._delivered)
            self._delivered = []
        if self._buried:
            self.tx.put_dead_letters(self.key, self._buried)
            self._buried = []
        self.tx.save_owners(self.key, list(self._changed.values()))
        self.tx.save_exchange(self.key, self.exchange)

    def save_if_changed(self) -> None:
        """Write everything, unless the write has found nothing to do."""
        if self._changed:
            self.save()


def require_within(limit_name: str, limit: int, actual: int) -> None:
    """Check a quota.

    Raises:
        QuotaExceededError: ``actual`` is over ``limit``.
    """
    if actual > limit:
        raise QuotaExceededError(
            f"the exchange's limit {limit_name} of {limit} is reached",
            metadata={"limit_name": limit_name, "limit": str(limit), "actual": str(actual)},
        )
