"""A small exchange with something of everything, and each step that can be taken in it."""

from __future__ import annotations

from typing import Any

from antiphon.history.v1 import exchange_service_pb2 as pb
from tests.support.exchange import Exchange, letter, message_numbers
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
