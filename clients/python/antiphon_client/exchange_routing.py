"""Routing through an exchange (ADR-0006 D5): owners, outboxes, inboxes.

The names are the ADR's: ``register``, ``send``, ``collect``, ``receive``,
``pop_message`` and so on; the contract stands in ``exchange_service.proto``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from uuid import UUID

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.exchange_records import (
    Delivery,
    DeliveryPage,
    ExchangeSettings,
    OwnerPage,
    OwnerRecord,
    Unregistered,
)
from antiphon_client.messages import Message, from_proto, to_proto
from antiphon_client.messages.address import normalize_recipient
from antiphon_client.pages import Page
from antiphon_client.rpc import Steps, UnaryCall, perform
from antiphon_client.wire_values import Id, given_request_id, request_id_text

T = TypeVar("T")

PAGE = 1000
"""Entries asked for in one page of a whole list."""


class ExchangeRouting:
    """Owners and mail of one exchange. An owner is a UUID, its text, or an object with an ``id``.

    Writes take ``request_id``: the same request under the same id has its
    effect once and the first answer again; a new one is made when none is given.
    """

    def __init__(self, exchange_id: str) -> None:
        self.exchange_id = exchange_id

    def register(
        self, owner_id: Any, *, settings: ExchangeSettings | None = None, request_id: Id | None = None
    ) -> Steps[UUID]:
        """Register an owner and return its id; ``settings`` are the whole exchange's from now on.

        Raises:
            OwnerExistsError: It is registered already; this is a ValueError.
            QuotaExceededError: The exchange has as many owners as it may.
        """
        owner = owner_uuid(owner_id)
        request = pb.RegisterOwnerRequest(
            exchange_id=self.exchange_id,
            owner_id=str(owner),
            settings=None if settings is None else settings.to_proto(),
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("RegisterOwner", request, lambda _: owner))

    def unregister(
        self, owner_id: Any, *, return_mail: bool = False, request_id: Id | None = None
    ) -> Steps[Unregistered | None]:
        """Unregister an owner; None if it is not registered.

        Its queued mail becomes dead letters or, with ``return_mail``, is
        returned and gone: 1,000 messages and 3 MiB at most
        (SizeLimitExceededError, nothing done).
        """
        request = pb.UnregisterOwnerRequest(
            exchange_id=self.exchange_id,
            owner_id=owner_text(owner_id),
            queued_mail=pb.QUEUED_MAIL_RETURN if return_mail else pb.QUEUED_MAIL_DEAD_LETTER,
            request_id=request_id_text(request_id),
        )

        def decode(response: pb.UnregisterOwnerResponse) -> Unregistered | None:
            if not response.was_registered:
                return None
            return Unregistered(
                inbox=tuple(map(from_proto, response.inbox)),
                outbox=tuple(map(from_proto, response.outbox)),
                dead_letter_count=response.dead_letter_count,
            )

        return perform(UnaryCall("UnregisterOwner", request, decode))

    def owner_page(self, *, page_size: int = PAGE, page_token: str = "") -> Steps[OwnerPage]:
        """Read one page of the owners, in registration order."""
        request = pb.ListOwnersRequest(
            exchange_id=self.exchange_id, page_size=page_size, page_token=page_token
        )
        return perform(UnaryCall("ListOwners", request, OwnerPage.from_proto))

    def get(self, owner_id: Any) -> Steps[OwnerRecord | None]:
        """Read what is known of an owner; None if it is not registered. Cost: that of the list of owners."""
        wanted, token = owner_uuid(owner_id), ""
        while True:
            page = yield from self.owner_page(page_token=token)
            for owner in page.items:
                if owner.owner_id == wanted:
                    return owner
            token = page.next_page_token
            if not token:
                return None

    def has(self, owner_id: Any) -> Steps[bool]:
        """Tell whether an owner is registered. Cost: as :meth:`get`."""
        return (yield from self.get(owner_id)) is not None

    def owners(self) -> Steps[list[OwnerRecord]]:
        """Read what is known of every owner, in registration order."""
        return _all(lambda token: self.owner_page(page_token=token))

    def owner_ids(self) -> Steps[list[UUID]]:
        """Read the ids of every owner, in registration order."""
        return [owner.owner_id for owner in (yield from self.owners())]

    def send(
        self,
        sender: Any,
        recipient: Any,
        content: Any,
        channel: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        request_id: Id | None = None,
    ) -> Steps[Message]:
        """Queue a message in its sender's outbox and return it.

        Args:
            sender: A registered owner.
            recipient: An owner, which need not be registered yet; None is
                everybody else. Roles, names and ``UNSET`` are taken and become
                dead letters when they are collected.
            content: Any JSON value.
            channel: Grouping label; it never affects delivery.
            metadata: The sender's own data.
            request_id: Makes the call safe to repeat: the message made by the first call
                is the one that is sent, and its id the same.

        Raises:
            OwnerNotFoundError: The sender is not registered; this is a ValueError.
            QuotaExceededError: The exchange is full; nothing is queued.
        """
        message = Message(
            content,
            sender=owner_uuid(sender),
            recipient=normalize_recipient(recipient),
            channel=channel,
            metadata=metadata,
        )
        wire = to_proto(message)
        if given_request_id(request_id) is not None:
            # A repetition must be the same request: what differs each time is the server's to make.
            wire.ClearField("id")
            wire.ClearField("created_at")
        request = pb.SendRequest(
            exchange_id=self.exchange_id, message=wire, request_id=request_id_text(request_id)
        )

        def decode(response: pb.SendResponse) -> Message:
            wire.id = response.message_id
            return from_proto(wire)

        return perform(UnaryCall("Send", request, decode))

    def collect(self, owner_id: Any, *, request_id: Id | None = None) -> Steps[int]:
        """Deliver an owner's outbox; return how many unique messages were delivered.

        What cannot be delivered becomes a dead letter and is not counted. A
        broadcast whose copies have no room stays in the outbox, with what follows it.

        Raises:
            OwnerNotFoundError: The owner is not registered; this is a ValueError.
        """
        request = pb.CollectRequest(
            exchange_id=self.exchange_id,
            owner_id=owner_text(owner_id),
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("Collect", request, _delivered))

    def collect_all(self, *, request_id: Id | None = None) -> Steps[int]:
        """Collect for every owner registered now, in registration order; return the sum."""
        request = pb.CollectAllRequest(exchange_id=self.exchange_id, request_id=request_id_text(request_id))
        return perform(UnaryCall("CollectAll", request, _delivered))

    def sync(self, *, request_id: Id | None = None) -> Steps[int]:
        """Do what :meth:`collect_all` does, under the ADR's other name."""
        return self.collect_all(request_id=request_id)

    def delivery_page(
        self, owner_id: Any, sender: Any = None, *, page_size: int = PAGE, page_token: str = ""
    ) -> Steps[DeliveryPage]:
        """Read one page of an inbox, in delivery order, leased mail included."""
        request = pb.ReceiveRequest(
            exchange_id=self.exchange_id,
            owner_id=owner_text(owner_id),
            sender_id=optional_owner_text(sender),
            page_size=page_size,
            page_token=page_token,
        )
        return perform(UnaryCall("Receive", request, DeliveryPage.from_proto))

    def deliveries(self, owner_id: Any, sender: Any = None) -> Steps[list[Delivery]]:
        """Read an inbox as :meth:`receive` does, with each message's place in it."""
        return _all(lambda token: self.delivery_page(owner_id, sender, page_token=token))

    def receive(self, owner_id: Any, sender: Any = None) -> Steps[list[Message]]:
        """Read an inbox, all or one sender's, in delivery order. An unknown owner has none."""
        return [delivery.message for delivery in (yield from self.deliveries(owner_id, sender))]

    def pop_message(
        self, owner_id: Any, sender: Any, *, request_id: Id | None = None
    ) -> Steps[Message | None]:
        """Take the oldest message of one sender that is not leased; None if there is none."""
        request = pb.PopRequest(
            exchange_id=self.exchange_id,
            owner_id=owner_text(owner_id),
            sender_id=owner_text(sender),
            request_id=request_id_text(request_id),
        )

        def decode(response: pb.PopResponse) -> Message | None:
            return from_proto(response.delivery.message) if response.HasField("delivery") else None

        return perform(UnaryCall("Pop", request, decode))


def watch_request(exchange_id: str, owner_id: Any, after_sequence: int) -> pb.WatchInboxRequest:
    """Return the request that opens an inbox's watch."""
    return pb.WatchInboxRequest(
        exchange_id=exchange_id, owner_id=owner_text(owner_id), after_sequence=after_sequence
    )


def owner_uuid(owner: Any) -> UUID:
    """Return an owner's id.

    Raises:
        ValueError: It is no UUID, no text of one, and has no ``id`` that is.
    """
    found = normalize_recipient(owner)
    if not isinstance(found, UUID):
        raise ValueError("an owner is a UUID, its text, or an object with an id")
    return found


def owner_text(owner: Any) -> str:
    """Return an owner's id as text; raises as `owner_uuid`."""
    return str(owner_uuid(owner))


def optional_owner_text(owner: Any) -> str | None:
    """Return an optional owner's id as text; raises as `owner_uuid`."""
    return None if owner is None else owner_text(owner)


def _delivered(response: pb.CollectResponse | pb.CollectAllResponse) -> int:
    return response.delivered_count


def _all(page_at: Callable[[str], Steps[Page[T]]]) -> Steps[list[T]]:
    found: list[T] = []
    token = ""  # nosec B105: a page's
    while True:
        page = yield from page_at(token)
        found.extend(page.items)
        token = page.next_page_token
        if not token:
            return found
