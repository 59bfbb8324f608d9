"""What the senders and consumers of the lease harness know, and what that must never contradict."""

from __future__ import annotations

from dataclasses import dataclass, field

from antiphon.history.v1 import exchange_service_pb2 as pb
from tests.crash.kills import BrokenPromiseError
from tests.support.exchange import SECOND, nanoseconds, number_of

MAX_DELIVERIES = 4
POISON_EVERY = 211

Place = tuple[int, int]
"""An owner and a sequence of its inbox: one message queued once."""


@dataclass
class Grant:
    """The latest hand-out of a message that a consumer saw.

    Attributes:
        count: The delivery count it came with.
        expires_at: When it ends, in nanoseconds since the epoch.
        given_back: Whether a consumer may have rejected it.
    """

    count: int
    expires_at: int
    given_back: bool = False


@dataclass
class Knowledge:
    """What the senders and consumers know together.

    Attributes:
        sent: Messages whose sending was answered.
        grants: By place.
        acknowledged: Messages whose acknowledgement was answered.
        unanswered: Acknowledgements whose answer nobody lived to see, with their messages.
        lost_leases: Acknowledgements refused as lost.
        consumers_killed: How many died.
    """

    sent: set[int] = field(default_factory=set)
    grants: dict[Place, Grant] = field(default_factory=dict)
    acknowledged: set[int] = field(default_factory=set)
    unanswered: list[tuple[pb.AcknowledgeRequest, list[int]]] = field(default_factory=list)
    lost_leases: int = 0
    consumers_killed: int = 0

    def note_grant(self, owner: int, one: pb.LeasedDelivery, visibility: int) -> None:
        """Note a hand-out, and hold it to those before."""
        place, number = (owner, one.delivery.sequence), number_of(one.delivery.message)
        count, expires_at = one.delivery.delivery_count, nanoseconds(one.expires_at)
        former = self.grants.get(place)
        if number in self.acknowledged:
            raise BrokenPromiseError(f"message {number} was handed out after it was acknowledged")
        if count > MAX_DELIVERIES:
            raise BrokenPromiseError(f"message {number} was handed out {count} times")
        if former is not None:
            if count <= former.count:
                raise BrokenPromiseError(f"message {number} was handed out twice as number {count}")
            if not former.given_back and expires_at - visibility * SECOND < former.expires_at:
                raise BrokenPromiseError(f"message {number} was handed out while another held it")
        self.grants[place] = Grant(count, expires_at)

    def note_acknowledged(self, numbers: list[int]) -> None:
        """Note that messages are gone for good."""
        twice = self.acknowledged.intersection(numbers)
        if twice:
            raise BrokenPromiseError(f"{len(twice)} messages were acknowledged twice, as {min(twice)}")
        self.acknowledged.update(numbers)


def is_poison(number: int) -> bool:
    """Whether nobody ever acknowledges a message."""
    return number % POISON_EVERY == 0
