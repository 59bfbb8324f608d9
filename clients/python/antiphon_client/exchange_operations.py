"""What can be done with an exchange (ADR-0006 D5), written once for both kinds of client.

To the ADR's routing it adds what the ADR lists as missing: leases with their
acknowledgement, and dead letters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.exchange_records import DeadLetter, DeadLetterPage, Lease
from antiphon_client.exchange_routing import PAGE, ExchangeRouting, optional_owner_text, owner_text
from antiphon_client.rpc import Steps, UnaryCall, perform
from antiphon_client.wire_values import Id, request_id_text


class ExchangeOperations(ExchangeRouting):
    """Every operation of one exchange; owners and ``request_id`` as in the base class."""

    def lease(
        self,
        owner_id: Any,
        max_messages: int = 1,
        *,
        visibility_seconds: int = 30,
        sender: Any = None,
        request_id: Id | None = None,
    ) -> Steps[list[Lease]]:
        """Take the oldest messages for a time, in which nobody else gets them.

        Without an acknowledgement they come back when the time is over, and
        become dead letters once they were leased as often as the exchange allows.

        Args:
            owner_id: Whose inbox; an unknown owner's is empty.
            max_messages: At most; 0 is taken as 1, over 1,000 as 1,000. The reply also ends at 3 MiB.
            visibility_seconds: 1 to 43,200; 0 is taken as 30.
            sender: Only this sender's messages, where given.
            request_id: Makes the call safe to repeat: under the same id it is done once.
        """
        request = pb.LeaseRequest(
            exchange_id=self.exchange_id,
            owner_id=owner_text(owner_id),
            max_messages=max_messages,
            visibility_seconds=visibility_seconds,
            sender_id=optional_owner_text(sender),
            request_id=request_id_text(request_id),
        )

        def decode(response: pb.LeaseResponse) -> list[Lease]:
            return [Lease.from_proto(leased) for leased in response.deliveries]

        return perform(UnaryCall("Lease", request, decode))

    def acknowledge(
        self, owner_id: Any, leases: Lease | Id | Iterable[Lease | Id], *, request_id: Id | None = None
    ) -> Steps[None]:
        """Remove leased messages for good, all or none.

        Raises:
            LeaseLostError: Some leases are over; nothing was removed.
        """
        request = pb.AcknowledgeRequest(
            exchange_id=self.exchange_id,
            owner_id=owner_text(owner_id),
            lease_ids=_lease_texts(leases),
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("Acknowledge", request, lambda _: None))

    def reject(
        self, owner_id: Any, leases: Lease | Id | Iterable[Lease | Id], *, request_id: Id | None = None
    ) -> Steps[int]:
        """Give leased messages back at once, all or none; return how many became dead letters.

        Raises:
            LeaseLostError: Some leases are over; nothing was given back.
        """
        request = pb.RejectRequest(
            exchange_id=self.exchange_id,
            owner_id=owner_text(owner_id),
            lease_ids=_lease_texts(leases),
            request_id=request_id_text(request_id),
        )

        def decode(response: pb.RejectResponse) -> int:
            return response.dead_letter_count

        return perform(UnaryCall("Reject", request, decode))

    def dead_letter_page(
        self, owner_id: Any = None, *, page_size: int = PAGE, page_token: str = ""
    ) -> Steps[DeadLetterPage]:
        """Read one page of the dead letters, all or one owner's, oldest first."""
        request = pb.ListDeadLettersRequest(
            exchange_id=self.exchange_id,
            owner_id=optional_owner_text(owner_id),
            page_size=page_size,
            page_token=page_token,
        )
        return perform(UnaryCall("ListDeadLetters", request, DeadLetterPage.from_proto))

    def redrive(
        self, dead_letter: DeadLetter | Id, recipient: Any = None, *, request_id: Id | None = None
    ) -> Steps[int]:
        """Deliver a dead letter to an owner, or to whom it was meant for; return its place in the inbox.

        Raises:
            MessageNotFoundError: There is no such dead letter.
            OwnerNotFoundError: The recipient is not registered.
            QuotaExceededError: The exchange is full; the dead letter stays.
        """
        letter_id = dead_letter.dead_letter_id if isinstance(dead_letter, DeadLetter) else dead_letter
        request = pb.RedriveDeadLetterRequest(
            exchange_id=self.exchange_id,
            dead_letter_id=str(letter_id),
            recipient_id=optional_owner_text(recipient),
            request_id=request_id_text(request_id),
        )

        def decode(response: pb.RedriveDeadLetterResponse) -> int:
            return response.sequence

        return perform(UnaryCall("RedriveDeadLetter", request, decode))


def _lease_texts(leases: Lease | Id | Iterable[Lease | Id]) -> list[str]:
    given = [leases] if isinstance(leases, (Lease, UUID, str)) else leases
    return [str(lease.lease_id if isinstance(lease, Lease) else lease) for lease in given]
