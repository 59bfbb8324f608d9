"""A small exchange with something of everything, and each step that can be taken in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from antiphon.history.v1 import exchange_service_pb2 as pb
from tests.support.exchange import Exchange, letter, message_numbers
from tests.support.failpoints import FailpointStore
from tests.support.history import uuid_of

REQUEST_ID = uuid_of(0xABCD)


async def set_up(exchange: Exchange) -> None:
    """Owners 1 to 4; mail queued, delivered, leased, expired, dead."""
    await exchange.register(1, 2, 3, 4, max_deliveries=1)
    await exchange.deliver(1, 2, 10, 11, 12, 13)
    await exchange.deliver(1, 7, 14)
    for recipient, number in ((2, 20), ("broadcast", 21), (7, 22), ("role", 23), (3, 24), ("broadcast", 25)):
        await exchange.send(1, recipient, number)
    await exchange.send(4, 2, 40)
    await exchange.lease(2, 1, visibility_seconds=1)
    exchange.clock.turn(2)
    await exchange.deliver(3, 4, 30, 31)
    await exchange.lease(4, 2, visibility_seconds=3600)


async def requests(exchange: Exchange) -> dict[str, Any]:
    """Every step, by name, under one request id: of the scene, only one may be taken."""
    (dead,) = [one for one in await exchange.dead_letters() if one.owner_id == uuid_of(7)]
    leases = await exchange.lease(4)
    assert not leases
    made: dict[str, Any] = {
        "register": pb.RegisterOwnerRequest(owner_id=uuid_of(5)),
        "unregister": pb.UnregisterOwnerRequest(owner_id=uuid_of(2)),
        "return": pb.UnregisterOwnerRequest(owner_id=uuid_of(1), queued_mail=pb.QUEUED_MAIL_RETURN),
        "send": pb.SendRequest(message=letter(1, 2, 50)),
        "collect": pb.CollectRequest(owner_id=uuid_of(1)),
        "pop": pb.PopRequest(owner_id=uuid_of(2), sender_id=uuid_of(1)),
        "lease": pb.LeaseRequest(owner_id=uuid_of(2), max_messages=2),
        "redrive": pb.RedriveDeadLetterRequest(dead_letter_id=dead.dead_letter_id, recipient_id=uuid_of(3)),
    }
    for request in made.values():
        request.exchange_id = exchange.name
        request.request_id = REQUEST_ID
    return made


STEP_SIZE = 2
"""So small that each step moves one delivery, or two dead letters."""


async def set_up_at_send(exchange: Exchange) -> None:
    """The scene, where Send now delivers, and mail is queued since it did not."""
    await set_up(exchange)
    await exchange.register(6, delivery=pb.DELIVERY_MODE_AT_SEND)


async def set_up_mail(exchange: Exchange) -> None:
    """The scene, with mail in both boxes of owner 2."""
    await set_up(exchange)
    await exchange.send(2, 1, 60)
    await exchange.send(2, "broadcast", 61)


async def set_up_expired(exchange: Exchange) -> None:
    """The scene, with more expired leases in an inbox than a step brings back."""
    await set_up(exchange)
    await exchange.register(6, max_deliveries=2)
    for seconds in (3, 1, 2):
        await exchange.lease(2, 1, visibility_seconds=seconds)
    exchange.clock.turn(3)


LONG_WRITES: dict[str, tuple[Callable[[Exchange], Awaitable[None]], Any]] = {
    "collect": (set_up, pb.CollectRequest(owner_id=uuid_of(1), request_id=REQUEST_ID)),
    "collect_all": (set_up, pb.CollectAllRequest(request_id=REQUEST_ID)),
    "send": (set_up_at_send, pb.SendRequest(message=letter(1, 2, 50), request_id=REQUEST_ID)),
    "unregister": (set_up_mail, pb.UnregisterOwnerRequest(owner_id=uuid_of(2), request_id=REQUEST_ID)),
    "lease": (
        set_up_expired,
        pb.LeaseRequest(owner_id=uuid_of(2), max_messages=2, request_id=REQUEST_ID),
    ),
    "pop": (
        set_up_expired,
        pb.PopRequest(owner_id=uuid_of(2), sender_id=uuid_of(1), request_id=REQUEST_ID),
    ),
}
"""Writes that take several steps of ``STEP_SIZE``, each with the scene it is for."""


def comparable(response: Any) -> Any:
    """A response without what is made anew each time: lease ids, and whether it is a replay."""
    same = type(response).FromString(response.SerializeToString())
    same.replayed = False
    for delivery in getattr(same, "deliveries", ()):
        delivery.lease_id = ""
    return same


async def states_of(exchange: Exchange, store: FailpointStore, request: Any) -> tuple[Any, list[Any]]:
    """Let a write succeed; return its response, and the exchange before it and after each of its steps."""
    states = [await everything(exchange)]

    async def look(_starts_commit: bool) -> None:
        states.append(await everything(exchange))

    store.between = look
    response = await exchange.call(request)
    store.between = None
    return response, states


async def everything(exchange: Exchange) -> dict[str, Any]:
    """All that can be read of the exchange."""
    owners = await exchange.owners()
    inboxes = {
        number: [
            (message_numbers([one.message])[0], one.sequence, one.delivery_count)
            for one in await exchange.receive(number)
        ]
        for number in range(1, 6)
    }
    dead = [(number, reason, owner) for number, reason, owner, _ in await exchange.dead()]
    return {
        "owners": [(one.owner_id, one.inbox_count, one.outbox_count, one.last_sequence) for one in owners],
        "inboxes": inboxes,
        "dead": dead,
    }
