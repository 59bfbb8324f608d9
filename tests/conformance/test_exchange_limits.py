"""Quotas of an exchange, and steps repeated under their request ids, on every store."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import (
    OwnerNotFoundError,
    QuotaExceededError,
    RequestIdReusedError,
)
from tests.support.exchange import Exchange, letter
from tests.support.history import uuid_of
from tests.support.stored import exchange_bodies

pytestmark = pytest.mark.anyio


async def test_owners_are_limited(exchange: Exchange) -> None:
    await exchange.register(1, max_owners=2)
    await exchange.register(2)
    with pytest.raises(QuotaExceededError) as caught:
        await exchange.register(3)
    assert caught.value.metadata == {"limit_name": "max_owners", "limit": "2", "actual": "3"}
    await exchange.unregister(1)
    await exchange.register(3)
    with pytest.raises(QuotaExceededError):
        await exchange.register(4)
    await exchange.register(4, max_owners=3)


async def test_queued_messages_are_limited_and_nothing_is_lost(exchange: Exchange) -> None:
    await exchange.register(1, 2, max_messages=3)
    await exchange.register(3, 4)
    await exchange.deliver(1, 2, 10)
    await exchange.send(1, 2, 11)
    await exchange.send(1, 2, 12)
    with pytest.raises(QuotaExceededError) as caught:
        await exchange.send(1, 2, 13)
    assert caught.value.metadata == {"limit_name": "max_messages", "limit": "3", "actual": "4"}
    assert await exchange.collect(1) == (2, 0, 0)
    assert await exchange.inbox(2) == [10, 11, 12]
    leases = await exchange.lease(2, 1)
    with pytest.raises(QuotaExceededError):
        await exchange.send(1, 2, 13)
    await exchange.acknowledge(2, leases)
    await exchange.send(1, "role", 13)
    assert await exchange.collect(1) == (0, 1, 0)
    await exchange.send(1, 2, 14)


async def test_queued_bytes_are_limited(exchange: Exchange) -> None:
    await exchange.register(1, 2, max_bytes=1000)
    await exchange.call(pb.SendRequest(message=letter(1, 2, 10, "x" * 600)))
    with pytest.raises(QuotaExceededError, match="max_bytes"):
        await exchange.call(pb.SendRequest(message=letter(1, 2, 11, "x" * 600)))
    await exchange.send(1, 2, 12)
    await exchange.collect(1)
    assert await exchange.inbox(2) == [10, 12]
    await exchange.pop(2, 1)
    await exchange.call(pb.SendRequest(message=letter(1, 2, 11, "x" * 600)))


@pytest.mark.parametrize("settings", [{"max_messages": 4}, {"max_bytes": 1300}])
async def test_a_broadcast_without_room_for_its_copies_stays(
    exchange: Exchange, settings: dict[str, int]
) -> None:
    await exchange.register(1, 2, 3, 4)
    await exchange.register(5, **settings)
    for recipient, number in ((2, 10), ("broadcast", 11), (3, 12)):
        await exchange.call(pb.SendRequest(message=letter(1, recipient, number, "x" * 200)))
    assert await exchange.collect(1) == (1, 0, 2)
    assert await exchange.collect(1) == (0, 0, 2)
    assert await exchange.collect_all() == (0, 0, 2)
    assert await exchange.inbox(2) == [10]
    assert await exchange.inbox(3) == []
    await exchange.unregister(5)
    await exchange.pop(2, 1)
    assert await exchange.collect(1) == (2, 0, 0)
    assert await exchange.inbox(3) == [11, 12]


async def test_what_is_consumed_leaves_no_bytes_behind(exchange: Exchange) -> None:
    await exchange.register(1, 2, 3, 4)
    await exchange.deliver(1, "broadcast", 10, 11)
    await exchange.deliver(1, 2, 12)
    await exchange.deliver(1, 7, 13)
    await exchange.send(1, 2, 14)
    await exchange.acknowledge(2, await exchange.lease(2, 1))
    await exchange.pop(3, 1)
    await exchange.redrive((await exchange.dead_letters())[0].dead_letter_id, 3)
    assert exchange_bodies(exchange.store) == 5
    for owner in (1, 2, 3, 4):
        await exchange.unregister(owner, pb.QUEUED_MAIL_RETURN)
    assert exchange_bodies(exchange.store) == 0


async def test_a_limit_lowered_below_what_there_is_drops_nothing(exchange: Exchange) -> None:
    await exchange.register(1, 2, 3)
    await exchange.deliver(1, 2, 10, 11, 12)
    await exchange.register(4, max_messages=1, max_owners=10, max_bytes=1)
    assert await exchange.inbox(2) == [10, 11, 12]
    with pytest.raises(QuotaExceededError):
        await exchange.send(1, 2, 13)
    assert len(await exchange.owners()) == 4


async def test_every_step_repeated_under_its_request_id_answers_the_same(exchange: Exchange) -> None:
    await exchange.register(1, 2)
    await exchange.deliver(1, 2, 10, 11, 12)
    await exchange.send(1, "name", 13)
    await exchange.collect(1)
    (dead,) = await exchange.dead_letters()
    leases = await exchange.lease(2, 1)
    more = await exchange.lease(2, 1)
    await exchange.send(1, 2, 14)
    message = letter(1, 2, 99)
    message.ClearField("id")
    owner = uuid_of(2)
    requests: list[Any] = [
        pb.RegisterOwnerRequest(owner_id=uuid_of(3)),
        pb.SendRequest(message=message),
        pb.CollectRequest(owner_id=uuid_of(1)),
        pb.CollectAllRequest(),
        pb.PopRequest(sender_id=uuid_of(1), owner_id=owner),
        pb.LeaseRequest(owner_id=owner),
        pb.AcknowledgeRequest(lease_ids=[leases[0].lease_id], owner_id=owner),
        pb.RejectRequest(lease_ids=[more[0].lease_id], owner_id=owner),
        pb.RedriveDeadLetterRequest(dead_letter_id=dead.dead_letter_id, recipient_id=uuid_of(2)),
        pb.UnregisterOwnerRequest(owner_id=owner, queued_mail=pb.QUEUED_MAIL_RETURN),
    ]
    for number, request in enumerate(requests, start=500):
        request.request_id = uuid_of(number)
        first = await exchange.call(request)
        assert not first.replayed
        for _ in range(2):
            again = await exchange.call(request)
            assert again.replayed
            again.replayed = False
            assert again == first
        # A request id is known by tenant, method and bytes.
        with pytest.raises(RequestIdReusedError):
            await exchange.call(pb.CollectRequest(owner_id=uuid_of(77), request_id=uuid_of(number)))


async def test_a_refused_step_is_not_recorded(exchange: Exchange) -> None:
    request = pb.CollectRequest(owner_id=uuid_of(1), request_id=uuid_of(500))
    with pytest.raises(OwnerNotFoundError):
        await exchange.call(request)
    await exchange.register(1)
    assert not (await exchange.call(request)).replayed
