"""Owners of an exchange: registering, unregistering, listing, on every store."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import (
    FieldInvalidError,
    OwnerExistsError,
    PageTokenInvalidError,
    SizeLimitExceededError,
)
from antiphon_client.limits import Limits
from tests.support.exchange import START, Exchange, letter, nanoseconds, number_of, running
from tests.support.history import uuid_of

pytestmark = pytest.mark.anyio


async def test_registering_twice_is_an_error(exchange: Exchange) -> None:
    await exchange.register(1)
    with pytest.raises(OwnerExistsError) as caught:
        await exchange.register(1)
    assert caught.value.metadata == {"owner_id": uuid_of(1)}
    other = Exchange(exchange.store, name="others")
    await other.register(1)


async def test_exchanges_and_tenants_are_apart(exchange: Exchange) -> None:
    await exchange.register(1, 2)
    await exchange.deliver(1, 2, 10)
    other = Exchange(exchange.store, name="others")
    await other.register(2)
    assert await other.inbox(2) == []
    assert await exchange.inbox(2) == [10]
    request = pb.ReceiveRequest(owner_id=uuid_of(2))
    assert not (await exchange.call(request, tenant_id="t")).deliveries
    await exchange.call(pb.RegisterOwnerRequest(owner_id=uuid_of(1)), tenant_id="t")


async def test_an_exchange_id_is_any_text_of_some_bytes(exchange: Exchange) -> None:
    for name in ("a", "\0", "ä" * 256, "🤝" * 128, " "):
        room = Exchange(exchange.store, name=name)
        await room.register(1)
        assert [owner.owner_id for owner in await room.owners()] == [uuid_of(1)]
    exchange.name = ""
    for name in ("", "ä" * 257):
        with pytest.raises(FieldInvalidError, match="exchange_id: must have 1 to 512 bytes"):
            await exchange.call(pb.CollectAllRequest(exchange_id=name))


async def test_owners_are_listed_in_registration_order(exchange: Exchange) -> None:
    await exchange.register(5, 3, 9, 1)
    await exchange.unregister(3)
    exchange.clock.turn(60)
    await exchange.register(3)
    await exchange.deliver(5, 9, 20)
    await exchange.send(5, 9, 21)
    for size in (0, 1, 2, 1000, 5000):
        owners = await exchange.owners(page_size=size)
        assert [int(owner.owner_id[-12:], 16) for owner in owners] == [5, 9, 1, 3]
    assert [(owner.inbox_count, owner.outbox_count, owner.last_sequence) for owner in owners] == [
        (0, 1, 0),
        (1, 0, 1),
        (0, 0, 0),
        (0, 0, 0),
    ]
    assert [nanoseconds(owner.registered_at) - START for owner in owners] == [0, 0, 0, 60 * 10**9]
    await exchange.lease(9)
    assert (await exchange.owners())[1].inbox_count == 1


async def test_page_sizes_and_tokens(exchange: Exchange) -> None:
    await exchange.register(1, 2, 3)
    page = await exchange.call(pb.ListOwnersRequest(page_size=1))
    assert len(page.owners) == 1
    for request in (
        pb.ListOwnersRequest(page_token="nonsense"),
        pb.ListOwnersRequest(page_token=page.next_page_token, exchange_id="others"),
        pb.ReceiveRequest(page_token=page.next_page_token, owner_id=uuid_of(1)),
        pb.ListDeadLettersRequest(page_token=page.next_page_token),
    ):
        with pytest.raises(PageTokenInvalidError):
            await exchange.call(request)
    for request in (
        pb.ListOwnersRequest(page_size=-1),
        pb.ReceiveRequest(page_size=-1, owner_id=uuid_of(1)),
        pb.ListDeadLettersRequest(page_size=-1),
    ):
        with pytest.raises(FieldInvalidError, match="page_size"):
            await exchange.call(request)


async def test_unregistering_makes_mail_dead_letters(exchange: Exchange) -> None:
    await exchange.register(1, 2)
    await exchange.deliver(1, 2, 10, 11)
    for number, recipient in ((20, 1), (21, "broadcast"), (22, 7)):
        await exchange.send(2, recipient, number)
    held = await exchange.lease(2, 1)
    response = await exchange.unregister(2)
    assert response.was_registered
    assert response.dead_letter_count == 5
    assert not response.inbox
    assert not response.outbox
    assert await exchange.dead() == [
        (10, "RECIPIENT_UNREGISTERED", 2, 1),
        (11, "RECIPIENT_UNREGISTERED", 2, 0),
        (20, "SENDER_UNREGISTERED", 1, 0),
        (21, "SENDER_UNREGISTERED", None, 0),
        (22, "SENDER_UNREGISTERED", 7, 0),
    ]
    with pytest.raises(Exception, match="lost"):
        await exchange.acknowledge(2, held)
    assert not (await exchange.unregister(2)).was_registered


async def test_unregistering_returns_mail_if_asked(exchange: Exchange) -> None:
    await exchange.register(1, 2, 3)
    await exchange.deliver(1, "broadcast", 10)
    await exchange.deliver(1, 2, 11)
    await exchange.send(2, 1, 20)
    await exchange.send(2, "role", 21)
    await exchange.lease(2, 1)
    response = await exchange.unregister(2, pb.QUEUED_MAIL_RETURN)
    assert [number_of(message) for message in response.inbox] == [10, 11]
    assert [number_of(message) for message in response.outbox] == [20, 21]
    assert response.inbox[0].generic.value_json == '"10"'
    assert response.dead_letter_count == 0
    assert await exchange.dead() == []
    assert await exchange.inbox(3) == [10]


async def test_too_much_mail_is_not_returned(store_kind: str, tmp_path: Path) -> None:
    async with running(store_kind, tmp_path, Limits(page_messages=3, page_bytes=700)) as exchange:
        await exchange.register(1, 2)
        await exchange.deliver(1, 2, 10, 11)
        for number in (20, 21):
            await exchange.send(2, 1, number)
        with pytest.raises(SizeLimitExceededError) as caught:
            await exchange.unregister(2, pb.QUEUED_MAIL_RETURN)
        assert caught.value.metadata == {"limit_name": "page_messages", "limit": "3", "actual": "4"}
        await exchange.pop(2, 1)
        await exchange.call(pb.SendRequest(message=letter(1, 2, 12, "x" * 600)))
        await exchange.collect(2)
        await exchange.collect(1)
        with pytest.raises(SizeLimitExceededError, match="page_bytes"):
            await exchange.unregister(2, pb.QUEUED_MAIL_RETURN)
        assert await exchange.inbox(2) == [11, 12]
        assert (await exchange.unregister(2)).dead_letter_count == 2


async def test_an_unknown_owner_has_nothing_and_is_no_error(exchange: Exchange) -> None:
    assert not (await exchange.unregister(1)).was_registered
    assert await exchange.inbox(1) == []
    assert await exchange.pop(1, 2) is None
    assert await exchange.lease(1) == []
    assert await exchange.dead() == []
    assert await exchange.owners() == []


async def test_who_registers_again_starts_empty_and_the_sequence_goes_on(exchange: Exchange) -> None:
    await exchange.register(1, 2)
    await exchange.deliver(1, 2, 10, 11)
    await exchange.send(2, 1, 20)
    await exchange.unregister(2)
    await exchange.register(2)
    assert await exchange.inbox(2) == []
    assert await exchange.collect(2) == (0, 0, 0)
    await exchange.deliver(1, 2, 12)
    assert [delivery.sequence for delivery in await exchange.receive(2)] == [3]
