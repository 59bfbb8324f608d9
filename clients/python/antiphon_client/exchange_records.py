"""What the Exchange answers, as plain frozen values; times are seconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.messages import Message, from_proto

DeliveryMode: TypeAlias = Literal["on_collect", "at_send"]
"""Whether mail waits for ``collect`` or is delivered as it is sent."""

DeadLetterReason: TypeAlias = Literal[
    "recipient_unset",
    "recipient_role",
    "recipient_name",
    "recipient_unknown",
    "recipient_unregistered",
    "sender_unregistered",
    "too_many_deliveries",
    "broadcast_to_nobody",
]
"""Why a message was not delivered; the meanings stand in ``exchange_service.proto``."""

_REASONS: dict[int, DeadLetterReason] = {
    pb.DeadLetterReason.Value(f"DEAD_LETTER_REASON_{name.upper()}"): name
    for name in get_args(DeadLetterReason)
}


@dataclass(frozen=True, slots=True)
class ExchangeSettings:
    """Rules of a whole exchange; None leaves a rule as it is.

    Attributes:
        delivery: ``on_collect`` (the default): mail waits for ``collect``; ``at_send``: it is
            delivered as it is sent.
        max_deliveries: How often a message is leased until it is a dead letter (16).
        max_owners: Registered owners (10,000; 20,000 at most).
        max_messages: Messages in all inboxes and outboxes, each copy of a broadcast counted
            (1,000,000).
        max_bytes: Their bytes (1 GiB).

    Raises:
        ValueError: ``delivery`` is neither.
    """

    delivery: DeliveryMode | None = None
    max_deliveries: int | None = None
    max_owners: int | None = None
    max_messages: int | None = None
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        """Check the mode; the service checks the numbers."""
        if self.delivery not in (None, *get_args(DeliveryMode)):
            raise ValueError(f"delivery must be {' or '.join(get_args(DeliveryMode))}")

    def to_proto(self) -> pb.ExchangeSettings:
        """Return the wire form."""
        mode = "unspecified" if self.delivery is None else self.delivery
        return pb.ExchangeSettings(
            delivery=pb.DeliveryMode.Value(f"DELIVERY_MODE_{mode.upper()}"),
            max_deliveries=self.max_deliveries,
            max_owners=self.max_owners,
            max_messages=self.max_messages,
            max_bytes=self.max_bytes,
        )


@dataclass(frozen=True, slots=True)
class OwnerRecord:
    """A registered owner; ``last_sequence`` is 0 while nothing was delivered to it."""

    owner_id: UUID
    registered_at: float
    inbox_count: int
    outbox_count: int
    last_sequence: int

    @classmethod
    def from_proto(cls, owner: pb.Owner) -> OwnerRecord:
        """Read an owner."""
        return cls(
            owner_id=UUID(owner.owner_id),
            registered_at=_seconds(owner.registered_at),
            inbox_count=owner.inbox_count,
            outbox_count=owner.outbox_count,
            last_sequence=owner.last_sequence,
        )


@dataclass(frozen=True, slots=True)
class OwnerPage:
    """One page of the list of owners."""

    items: tuple[OwnerRecord, ...]
    next_page_token: str

    @classmethod
    def from_proto(cls, response: pb.ListOwnersResponse) -> OwnerPage:
        """Read one page."""
        return cls(tuple(map(OwnerRecord.from_proto, response.owners)), response.next_page_token)


@dataclass(frozen=True, slots=True)
class Unregistered:
    """What became of an unregistered owner's mail.

    Attributes:
        inbox: Its inbox, oldest first, where it was asked to be returned.
        outbox: Its outbox, likewise.
        dead_letter_count: Messages that became dead letters.
    """

    inbox: tuple[Message, ...]
    outbox: tuple[Message, ...]
    dead_letter_count: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message in an inbox.

    Attributes:
        message: The message; a broadcast has one id in every inbox.
        sequence: Its place in this inbox, from 1, never reused.
        delivery_count: How often it was leased.
        delivered_at: When it came.
    """

    message: Message
    sequence: int
    delivery_count: int
    delivered_at: float

    @classmethod
    def from_proto(cls, delivery: pb.Delivery) -> Delivery:
        """Read a delivery."""
        return cls(
            message=from_proto(delivery.message),
            sequence=delivery.sequence,
            delivery_count=delivery.delivery_count,
            delivered_at=_seconds(delivery.delivered_at),
        )


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """One page of an inbox."""

    items: tuple[Delivery, ...]
    next_page_token: str

    @classmethod
    def from_proto(cls, response: pb.ReceiveResponse) -> DeliveryPage:
        """Read one page."""
        return cls(tuple(map(Delivery.from_proto, response.deliveries)), response.next_page_token)


@dataclass(frozen=True, slots=True)
class Lease:
    """A message handed out for a time: acknowledge it or reject it before ``expires_at``."""

    lease_id: UUID
    delivery: Delivery
    expires_at: float

    @property
    def message(self) -> Message:
        """The message."""
        return self.delivery.message

    @classmethod
    def from_proto(cls, leased: pb.LeasedDelivery) -> Lease:
        """Read a lease."""
        return cls(UUID(leased.lease_id), Delivery.from_proto(leased.delivery), _seconds(leased.expires_at))


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was not delivered.

    Attributes:
        dead_letter_id: Names it.
        message: The message.
        reason: Why it is here; a newer server's reason is its number as text.
        owner_id: Whose inbox it was in or was meant for; None is nobody's.
        delivery_count: How often it had been leased.
        dead_at: When it became a dead letter.
    """

    dead_letter_id: UUID
    message: Message
    reason: DeadLetterReason | str
    owner_id: UUID | None
    delivery_count: int
    dead_at: float

    @classmethod
    def from_proto(cls, letter: pb.DeadLetter) -> DeadLetter:
        """Read a dead letter."""
        return cls(
            dead_letter_id=UUID(letter.dead_letter_id),
            message=from_proto(letter.message),
            reason=_REASONS.get(letter.reason, str(letter.reason)),
            owner_id=UUID(letter.owner_id) if letter.HasField("owner_id") else None,
            delivery_count=letter.delivery_count,
            dead_at=_seconds(letter.dead_at),
        )


@dataclass(frozen=True, slots=True)
class DeadLetterPage:
    """One page of the dead letters."""

    items: tuple[DeadLetter, ...]
    next_page_token: str

    @classmethod
    def from_proto(cls, response: pb.ListDeadLettersResponse) -> DeadLetterPage:
        """Read one page."""
        return cls(tuple(map(DeadLetter.from_proto, response.dead_letters)), response.next_page_token)


def _seconds(time: Timestamp) -> float:
    return time.seconds + time.nanos / 1e9
