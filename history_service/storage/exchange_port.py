"""The exchange's part of the storage port: rows, and the primitives over them.

A store gives it as ``transaction.exchange``, so that one commit holds a step of
the exchange and the recorded response that makes it repeatable.

Every row belongs to an ``ExchangeKey``, whose parts lead every key. A message
that is queued somewhere is a ``Letter``; it moves from outbox to inbox to dead
letters by its reference, and its bytes are written once. The rules, what counts
as expired among them, are the domain's; a store only finds rows again.

Unless it says otherwise, a primitive costs index look-ups in step with its
arguments and its result, whatever is queued.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

DEFAULT_MAX_DELIVERIES = 16
DEFAULT_MAX_OWNERS = 10_000
DEFAULT_MAX_MESSAGES = 1_000_000
DEFAULT_MAX_BYTES = 2**30


class ExchangeKey(NamedTuple):
    """Leading part of the key of every row of an exchange."""

    tenant_id: str
    """Owner of the exchange; empty until authentication is configured."""
    exchange_id: str
    """The exchange."""


@dataclass(slots=True)
class ExchangeRow:
    """An exchange: its rules, its totals and its counters."""

    at_send: bool = False
    """Whether Send delivers at once."""
    max_deliveries: int = DEFAULT_MAX_DELIVERIES
    max_owners: int = DEFAULT_MAX_OWNERS
    max_messages: int = DEFAULT_MAX_MESSAGES
    max_bytes: int = DEFAULT_MAX_BYTES

    owner_count: int = 0
    """Registered owners."""
    message_count: int = 0
    """Messages in all inboxes and outboxes."""
    byte_count: int = 0
    """Their bytes."""
    last_rank: int = 0
    """Rank of the latest registration."""
    last_dead_letter: int = 0
    """Position of the latest dead letter."""


@dataclass(slots=True)
class OwnerRow:
    """An owner. One that unregistered keeps its row for the sequence's sake."""

    owner_id: str
    rank: int | None = None
    """Its place in registration order; None while it is not registered."""
    registered_at: int = 0
    """Nanoseconds since the epoch."""
    inbox_count: int = 0
    outbox_count: int = 0
    last_sequence: int = 0
    """Sequence of the last delivery to its inbox."""
    last_position: int = 0
    """Position of the last message in its outbox."""


class Letter(NamedTuple):
    """A queued message, wherever it is queued."""

    sender_id: str
    body: int
    """Number of its body."""
    size: int
    """Bytes of its body."""
    shared: bool
    """Whether the body may have other holders, which the store counts."""


class OutboxEntry(NamedTuple):
    """A message in its sender's outbox."""

    position: int
    message_id: str
    route: int
    """A value of ``history_service.domain.exchange_ledger.Route``."""
    recipient_id: str | None
    """The member it is for."""
    letter: Letter


class InboxEntry(NamedTuple):
    """A message in an inbox."""

    sequence: int
    letter: Letter
    delivered_at: int
    """Nanoseconds since the epoch."""
    delivery_count: int = 0
    """How often it was leased."""
    lease_id: str | None = None
    """The lease it is under, expired or not."""
    expires_at: int = 0
    """When that lease ends, in nanoseconds since the epoch."""


class DeadLetterRow(NamedTuple):
    """A message that was not delivered."""

    position: int
    """Grows with every dead letter of the exchange."""
    dead_letter_id: str
    reason: int
    """A value of ``antiphon.history.v1.DeadLetterReason``."""
    owner_id: str | None
    """Whose inbox it was in or was meant for."""
    delivery_count: int
    dead_at: int
    """Nanoseconds since the epoch."""
    letter: Letter


class InboxPage(NamedTuple):
    """Deliveries read in order."""

    deliveries: list[tuple[InboxEntry, bytes]]
    """Entries with their encoded messages."""
    complete: bool
    """Whether the inbox ends with the last of them."""


class DeadLetterPage(NamedTuple):
    """Dead letters read in order."""

    dead_letters: list[tuple[DeadLetterRow, bytes]]
    """Rows with their encoded messages."""
    complete: bool
    """Whether the list ends with the last of them."""


class ExchangeReads(Protocol):
    """The reading primitives."""

    def exchange(self, key: ExchangeKey) -> ExchangeRow | None:
        """Find an exchange. The result is the caller's own copy."""

    def owner(self, key: ExchangeKey, owner_id: str) -> OwnerRow | None:
        """Find an owner, unregistered ones included. The result is the caller's own copy."""

    def last_sequences(
        self, inboxes: Collection[tuple[ExchangeKey, str]]
    ) -> dict[tuple[ExchangeKey, str], int]:
        """Return ``last_sequence`` of each owner, given by exchange and id; unknown ones are left out."""

    def owners(self, key: ExchangeKey, after_rank: int, limit: int | None) -> list[OwnerRow]:
        """Read up to ``limit`` registered owners of a rank over ``after_rank``, by rank; None is all."""

    def next_with_mail(self, key: ExchangeKey, after_rank: int, last_rank: int) -> OwnerRow | None:
        """Find the first registered owner in ``(after_rank, last_rank]`` whose outbox is not empty."""

    def body(self, key: ExchangeKey, number: int) -> bytes:
        """Return a body.

        Raises:
            StoreCorruptError: There is none of that number.
        """

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
        """Read an inbox by sequence, after a sequence, leased entries too.

        Stops after ``limit`` entries or before ``max_bytes`` of messages is
        passed, but reads one entry at least. ``sender_id`` narrows it.
        """

    def dead_letter(self, key: ExchangeKey, dead_letter_id: str) -> DeadLetterRow | None:
        """Find a dead letter."""

    def dead_letter_page(
        self, key: ExchangeKey, *, owner_id: str | None, after: int, limit: int, max_bytes: int
    ) -> DeadLetterPage:
        """Read dead letters by position, after a position; bounded as ``inbox_page``.

        ``owner_id`` narrows it.
        """


class ExchangeWrites(ExchangeReads, Protocol):
    """The writing primitives, and reads that only writes need. They see their own writes."""

    def save_exchange(self, key: ExchangeKey, row: ExchangeRow) -> None:
        """Store an exchange, new or known."""

    def save_owners(self, key: ExchangeKey, rows: Iterable[OwnerRow]) -> None:
        """Store owners, new or known."""

    def put_body(self, key: ExchangeKey, body: bytes) -> int:
        """Store an encoded message for one holder; return its number."""

    def share_body(self, key: ExchangeKey, number: int, holders: int) -> None:
        """Store that a body, not shared so far, has so many holders, two at least."""

    def release_bodies(self, key: ExchangeKey, letters: Iterable[Letter]) -> None:
        """Take one holder from each letter's body; a body without one is erased."""

    # Outboxes

    def put_in_outbox(self, key: ExchangeKey, owner_id: str, entry: OutboxEntry) -> None:
        """Store a message in an outbox; its position is greater than any there."""

    def outbox(self, key: ExchangeKey, owner_id: str, after: int, limit: int) -> list[OutboxEntry]:
        """Read up to ``limit`` entries of an outbox of a position over ``after``, by position."""

    def drop_from_outbox(self, key: ExchangeKey, owner_id: str, up_to: int) -> None:
        """Delete the entries up to and including a position; bodies stay."""

    # Inboxes

    def put_in_inboxes(self, key: ExchangeKey, entries: Iterable[tuple[str, InboxEntry]]) -> None:
        """Store entries in the inboxes of the owners given beside them.

        They are not leased; each sequence is greater than any in its inbox.
        """

    def inbox(self, key: ExchangeKey, owner_id: str, after: int, limit: int) -> list[InboxEntry]:
        """Read up to ``limit`` entries, leased ones too, of a sequence over ``after``, by sequence."""

    def available(
        self, key: ExchangeKey, owner_id: str, *, after: int, sender_id: str | None, limit: int
    ) -> list[InboxEntry]:
        """Read up to ``limit`` entries under no lease of a sequence over ``after``, by sequence.

        Entries under a lease, expired or not, cost nothing.
        """

    def leased(self, key: ExchangeKey, owner_id: str, lease_ids: Collection[str]) -> dict[str, InboxEntry]:
        """Find the entries under the given leases, expired or not; unknown leases are left out."""

    def expired(self, key: ExchangeKey, owner_id: str, *, at: int, min_deliveries: int) -> list[InboxEntry]:
        """Read the entries whose lease ends at or before ``at``, leased that often at least, by sequence.

        Cost: that of all leases that end by then.
        """

    def nth_expiry(self, key: ExchangeKey, owner_id: str, at: int, number: int) -> int | None:
        """Return when the lease ends that is of a number from 1 among those that end at or before ``at``.

        None where there are fewer. Cost: that of so many leases.
        """

    def lease(self, key: ExchangeKey, owner_id: str, entries: Sequence[InboxEntry]) -> None:
        """Store the lease and the delivery count of entries that were under no lease."""

    def end_leases(self, key: ExchangeKey, owner_id: str, lease_ids: Iterable[str]) -> None:
        """Bring entries back from their leases; their delivery counts stay."""

    def end_expired(self, key: ExchangeKey, owner_id: str, at: int) -> None:
        """Bring back every entry whose lease ends at or before ``at``. Cost: that of the entries."""

    def drop_from_inbox(self, key: ExchangeKey, owner_id: str, sequences: Iterable[int]) -> None:
        """Delete entries; bodies stay."""

    def empty_inbox(self, key: ExchangeKey, owner_id: str, up_to: int) -> None:
        """Delete the entries up to and including a sequence; bodies stay. Cost: that of the entries."""

    # Dead letters

    def put_dead_letters(self, key: ExchangeKey, rows: Iterable[DeadLetterRow]) -> None:
        """Store dead letters."""

    def drop_dead_letter(self, key: ExchangeKey, row: DeadLetterRow) -> None:
        """Delete a dead letter; its body stays."""
