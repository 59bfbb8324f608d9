"""An exchange without a wire: the real servicer over a store, called by method name.

As ``tests.support.history``: requests and responses go through their encodings,
errors are raised as they leave the servicer.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.edge.call import Call, bind_call
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from history_service.domain.exchange_ledger import FIRST_STEP, FURTHER_STEP, StepSize
from history_service.exchange_servicer import ExchangeServicer
from history_service.storage.port import HistoryStore
from history_service.watch_stream import DEFAULT_TIMES, WatchTimes
from tests.support.history import make_store, uuid_of

METHODS = pb.DESCRIPTOR.services_by_name["ExchangeService"].methods_by_name
SERVICE = "/antiphon.history.v1.ExchangeService"
NAME = "agents"
SECOND = 10**9
START = 1_700_000_000 * SECOND


class StillClock:
    """Stands still until a test turns it."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def turn(self, seconds: float) -> None:
        """Let time pass."""
        self.now += int(seconds * SECOND)


class Exchange:
    """An exchange as one caller sees it.

    Attributes:
        clock: Gives the server's times.
        store: The store behind it.
        name: Its id.
    """

    def __init__(
        self,
        store: HistoryStore,
        limits: Limits = DEFAULT_LIMITS,
        *,
        name: str = NAME,
        watch_times: WatchTimes = DEFAULT_TIMES,
        first_id: int = 0xEEEE_0000_0000,
        first_step: StepSize = FIRST_STEP,
        step_size: int = FURTHER_STEP.full_at,
    ) -> None:
        self.store = store
        self.clock = StillClock()
        self.name = name
        ids = itertools.count(first_id)
        self.servicer = ExchangeServicer(
            store,
            limits,
            clock=self.clock,
            make_id=lambda: uuid_of(next(ids)),
            watch_times=watch_times,
            first_step=first_step._replace(full_at=min(first_step.full_at, step_size)),
            further_step=StepSize(step_size),
        )

    async def call(self, request: Any, *, tenant_id: str = "") -> Any:
        """Call the unary method whose request this is; the exchange's id is filled in where empty."""
        name = type(request).__name__.removesuffix("Request")
        request.exchange_id = request.exchange_id or self.name
        raw = request.SerializeToString()

        async def serve() -> Any:
            bind_call(Call(f"{SERVICE}/{name}", tenant_id, raw))
            return await getattr(self.servicer, name)(type(request).FromString(raw), None)

        # A task has a context of its own, as a call has at the edge.
        reply = await asyncio.create_task(serve())
        response_type = getattr(pb, METHODS[name].output_type.name)
        return response_type.FromString(reply if isinstance(reply, bytes) else reply.SerializeToString())

    async def watch(self, owner: int, after: int = 0) -> AsyncGenerator[pb.WatchInboxResponse]:
        """Yield a watch's frames."""
        request = pb.WatchInboxRequest(exchange_id=self.name, owner_id=uuid_of(owner), after_sequence=after)
        bind_call(Call(f"{SERVICE}/WatchInbox", "", b""))
        async with aclosing(self.servicer.WatchInbox(request, None)) as frames:  # type: ignore[arg-type, type-var]
            async for frame in frames:
                raw = frame if isinstance(frame, bytes) else frame.SerializeToString()
                yield pb.WatchInboxResponse.FromString(raw)

    # The requests that tests make all the time; owners and messages go by number

    async def register(self, *owners: int, **settings: Any) -> None:
        """Register owners."""
        for owner in owners:
            given = pb.ExchangeSettings(**settings) if settings else None
            await self.call(pb.RegisterOwnerRequest(owner_id=uuid_of(owner), settings=given))

    async def unregister(self, owner: int, fate: Any = pb.QUEUED_MAIL_UNSPECIFIED, **fields: Any) -> Any:
        """Unregister an owner."""
        return await self.call(pb.UnregisterOwnerRequest(owner_id=uuid_of(owner), queued_mail=fate, **fields))

    async def send(self, sender: int, recipient: Any, number: int, **fields: Any) -> Any:
        """Send a message; see ``letter``."""
        return await self.call(pb.SendRequest(message=letter(sender, recipient, number), **fields))

    async def collect(self, owner: int, **fields: Any) -> Any:
        """Collect; the counts of the response as a tuple."""
        return counts(await self.call(pb.CollectRequest(owner_id=uuid_of(owner), **fields)))

    async def collect_all(self, **fields: Any) -> Any:
        """Collect for all; the counts of the response as a tuple."""
        return counts(await self.call(pb.CollectAllRequest(**fields)))

    async def deliver(self, sender: int, recipient: Any, *numbers: int) -> None:
        """Send messages and collect them."""
        for number in numbers:
            await self.send(sender, recipient, number)
        await self.collect(sender)

    async def receive(self, owner: int, **fields: Any) -> list[pb.Delivery]:
        """Read all pages of an inbox."""
        deliveries: list[pb.Delivery] = []
        token = ""
        while True:
            request = pb.ReceiveRequest(owner_id=uuid_of(owner), page_token=token, **fields)
            page = await self.call(request)
            deliveries.extend(page.deliveries)
            token = page.next_page_token
            if not token:
                return deliveries

    async def inbox(self, owner: int, **fields: Any) -> list[int]:
        """Read an inbox: its messages' numbers."""
        return message_numbers(delivery.message for delivery in await self.receive(owner, **fields))

    async def pop(self, owner: int, sender: int, **fields: Any) -> int | None:
        """Pop; the message's number."""
        request = pb.PopRequest(owner_id=uuid_of(owner), sender_id=uuid_of(sender), **fields)
        response = await self.call(request)
        return number_of(response.delivery.message) if response.HasField("delivery") else None

    async def lease(self, owner: int, most: int = 1000, **fields: Any) -> list[pb.LeasedDelivery]:
        """Lease."""
        request = pb.LeaseRequest(owner_id=uuid_of(owner), max_messages=most, **fields)
        return list((await self.call(request)).deliveries)

    async def acknowledge(self, owner: int, leases: Iterable[pb.LeasedDelivery], **fields: Any) -> Any:
        """Acknowledge leases."""
        ids = [lease.lease_id for lease in leases]
        return await self.call(pb.AcknowledgeRequest(owner_id=uuid_of(owner), lease_ids=ids, **fields))

    async def reject(self, owner: int, leases: Iterable[pb.LeasedDelivery], **fields: Any) -> Any:
        """Reject leases."""
        ids = [lease.lease_id for lease in leases]
        return await self.call(pb.RejectRequest(owner_id=uuid_of(owner), lease_ids=ids, **fields))

    async def dead_letters(self, **fields: Any) -> list[pb.DeadLetter]:
        """Read all pages of the dead letters."""
        dead: list[pb.DeadLetter] = []
        token = ""
        while True:
            page = await self.call(pb.ListDeadLettersRequest(page_token=token, **fields))
            dead.extend(page.dead_letters)
            token = page.next_page_token
            if not token:
                return dead

    async def dead(self, **fields: Any) -> list[tuple[int, str, int | None, int]]:
        """Read the dead letters: message, reason, owner, delivery count."""
        return [
            (
                number_of(one.message),
                pb.DeadLetterReason.Name(one.reason).removeprefix("DEAD_LETTER_REASON_"),
                int(one.owner_id[-12:], 16) if one.HasField("owner_id") else None,
                one.delivery_count,
            )
            for one in await self.dead_letters(**fields)
        ]

    async def redrive(self, dead_letter_id: str, recipient: int | None = None, **fields: Any) -> Any:
        """Redrive a dead letter."""
        recipient_id = None if recipient is None else uuid_of(recipient)
        return await self.call(
            pb.RedriveDeadLetterRequest(dead_letter_id=dead_letter_id, recipient_id=recipient_id, **fields)
        )

    async def owners(self, **fields: Any) -> list[pb.Owner]:
        """Read all pages of the owners."""
        owners: list[pb.Owner] = []
        token = ""
        while True:
            page = await self.call(pb.ListOwnersRequest(page_token=token, **fields))
            owners.extend(page.owners)
            token = page.next_page_token
            if not token:
                return owners


def letter(sender: int, recipient: Any, number: int, text: str = "") -> message_pb.Message:
    """Make a routed message.

    ``recipient`` is an owner's number, "broadcast", "role", "name", "unset" or
    None for an absent one.
    """
    message = message_pb.Message(id=uuid_of(number))
    message.generic.value_json = f'"{text or number}"'
    message.sender.member_id = uuid_of(sender)
    if isinstance(recipient, int):
        message.recipient.member_id = uuid_of(recipient)
    elif recipient == "broadcast":
        message.recipient.broadcast.SetInParent()
    elif recipient == "unset":
        message.recipient.unset.SetInParent()
    elif recipient == "role":
        message.recipient.role = message_pb.ROLE_USER
    elif recipient == "name":
        message.recipient.name = "someone"
    return message


def number_of(message: message_pb.Message) -> int:
    """Return a message's number."""
    return int(message.id[-12:], 16)


def message_numbers(messages: Iterable[message_pb.Message]) -> list[int]:
    """Return messages' numbers."""
    return [number_of(message) for message in messages]


def leased_numbers(leases: Iterable[pb.LeasedDelivery]) -> list[int]:
    """Return the numbers of leased messages."""
    return [number_of(lease.delivery.message) for lease in leases]


def counts(response: Any) -> tuple[int, int, int]:
    """Return what a collection counted: delivered, dead, remaining."""
    return response.delivered_count, response.dead_letter_count, response.remaining_count


def nanoseconds(timestamp: Timestamp) -> int:
    """Return a time as the clock gives it."""
    return timestamp.seconds * SECOND + timestamp.nanos


@asynccontextmanager
async def running(
    kind: str, folder: Path, limits: Limits = DEFAULT_LIMITS, **options: Any
) -> AsyncIterator[Exchange]:
    """Run an exchange over a store of a kind; the store is closed at the end."""
    store = make_store(kind, folder)
    await store.start()
    try:
        yield Exchange(store, limits, **options)
    finally:
        await store.close()
