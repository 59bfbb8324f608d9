"""Consuming: pop, leases, dead letters, redriving and watching, on every store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import (
    FieldInvalidError,
    LeaseLostError,
    MessageNotFoundError,
    OwnerNotFoundError,
    QuotaExceededError,
)
from antiphon_client.limits import Limits
from tests.support.exchange import (
    START,
    Exchange,
    leased_numbers,
    letter,
    nanoseconds,
    number_of,
    running,
)
from tests.support.history import uuid_of

pytestmark = pytest.mark.anyio

SECOND = 10**9


@pytest.fixture
async def exchange(anyio_backend: object, store_kind: str, tmp_path: Path) -> AsyncIterator[Exchange]:
    """An exchange of owners 1, 2 and 3, its messages leased twice at most."""
    async with running(store_kind, tmp_path) as service:
        await service.register(1, 2, 3, max_deliveries=2)
        yield service


# Receive and pop


async def test_receive_takes_nothing_and_shows_leased_mail(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10, 11)
    await exchange.lease(2, 1)
    for _ in range(2):
        deliveries = await exchange.receive(2)
        assert [number_of(delivery.message) for delivery in deliveries] == [10, 11]
    assert [delivery.delivery_count for delivery in deliveries] == [1, 0]


async def test_pop_takes_the_oldest_of_one_sender_and_skips_leased_mail(exchange: Exchange) -> None:
    await exchange.deliver(3, 2, 30)
    await exchange.deliver(1, 2, 10, 11, 12)
    await exchange.lease(2, 2)
    response = await exchange.call(pb.PopRequest(owner_id=uuid_of(2), sender_id=uuid_of(1)))
    assert response.delivery.message.generic.value_json == '"11"'
    assert response.delivery.sequence == 3
    assert await exchange.pop(2, 1) == 12
    assert await exchange.pop(2, 1) is None
    assert await exchange.pop(2, 3) is None
    assert await exchange.inbox(2) == [30, 10]


# Leases


async def test_two_consumers_never_hold_the_same_message(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, *range(10, 15))
    assert leased_numbers(await exchange.lease(2, 0)) == [10]
    assert leased_numbers(await exchange.lease(2, 2)) == [11, 12]
    assert leased_numbers(await exchange.lease(2)) == [13, 14]
    assert await exchange.lease(2) == []


async def test_a_lease_says_what_it_is(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10, 11, 12)
    (first,) = await exchange.lease(2, 1)
    (second,) = await exchange.lease(2, 1, visibility_seconds=43_200)
    assert first.lease_id != second.lease_id
    assert nanoseconds(first.expires_at) == START + 30 * SECOND
    assert nanoseconds(second.expires_at) == START + 43_200 * SECOND
    assert first.delivery.message == (await exchange.receive(2))[0].message
    assert (first.delivery.sequence, first.delivery.delivery_count) == (1, 1)
    assert nanoseconds(first.delivery.delivered_at) == START


async def test_a_lease_may_be_of_one_sender(exchange: Exchange) -> None:
    await exchange.deliver(3, 2, 30)
    await exchange.deliver(1, 2, 10)
    await exchange.deliver(3, 2, 31)
    assert leased_numbers(await exchange.lease(2, sender_id=uuid_of(3))) == [30, 31]
    assert leased_numbers(await exchange.lease(2)) == [10]


async def test_a_lease_ends_at_so_many_bytes(store_kind: str, tmp_path: Path) -> None:
    async with running(store_kind, tmp_path, Limits(page_bytes=1000, page_messages=4)) as exchange:
        await exchange.register(1, 2)
        for number, size in ((10, 1500), (11, 400), (12, 400), (13, 400)):
            await exchange.call(pb.SendRequest(message=letter(1, 2, number, "x" * size)))
        await exchange.deliver(1, 2, *range(14, 19))
        assert leased_numbers(await exchange.lease(2)) == [10]
        assert leased_numbers(await exchange.lease(2)) == [11]
        page = await exchange.call(pb.ReceiveRequest(owner_id=uuid_of(2)))
        assert [number_of(delivery.message) for delivery in page.deliveries] == [10]
        assert await exchange.inbox(2) == list(range(10, 19))
        assert leased_numbers(await exchange.lease(2)) == [12]
        assert leased_numbers(await exchange.lease(2, 5000)) == [13, 14, 15, 16]


async def test_acknowledging_removes_for_good(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10, 11, 12)
    leases = await exchange.lease(2)
    await exchange.acknowledge(2, [leases[2], leases[0]])
    assert await exchange.inbox(2) == [11]
    exchange.clock.turn(31)
    assert leased_numbers(await exchange.lease(2)) == [11]


async def test_rejecting_brings_back_at_once_and_in_place(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10, 11, 12)
    leases = await exchange.lease(2, 2)
    response = await exchange.reject(2, [leases[0]])
    assert response.dead_letter_count == 0
    again = await exchange.lease(2)
    assert leased_numbers(again) == [10, 12]
    assert [lease.delivery.delivery_count for lease in again] == [2, 1]
    assert [lease.delivery.sequence for lease in again] == [1, 3]


@pytest.mark.parametrize("end", ["acknowledge", "reject", "expire", "unregister"])
@pytest.mark.parametrize("use", ["acknowledge", "reject"])
async def test_a_lost_lease_spoils_all_and_every_lost_one_is_told(
    exchange: Exchange, end: str, use: str
) -> None:
    await exchange.deliver(1, 2, 10, 11, 12)
    lost = await exchange.lease(2, 2)
    if end == "acknowledge":
        await exchange.acknowledge(2, lost)
    elif end == "reject":
        await exchange.reject(2, lost)
    elif end == "expire":
        exchange.clock.turn(30)
    else:
        await exchange.unregister(2)
        await exchange.register(2)
        await exchange.deliver(1, 2, 12)
    before = await exchange.inbox(2)
    held = await exchange.lease(2, 1000)
    with pytest.raises(LeaseLostError) as caught:
        await getattr(exchange, use)(2, [lost[0], held[-1], lost[1]])
    assert caught.value.metadata == {
        "lease_id": f"{lost[0].lease_id},{lost[1].lease_id}",
        "lease_id_count": "2",
    }
    assert await exchange.inbox(2) == before
    await exchange.acknowledge(2, held)


async def test_a_lease_of_another_owner_is_lost(exchange: Exchange) -> None:
    await exchange.deliver(1, "broadcast", 10)
    leases = await exchange.lease(2)
    for owner in (3, 99):
        with pytest.raises(LeaseLostError):
            await exchange.acknowledge(owner, leases)
    await exchange.acknowledge(2, leases)


async def test_a_lease_ends_by_itself_at_its_instant(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10)
    (lease,) = await exchange.lease(2, visibility_seconds=5)
    exchange.clock.now = START + 5 * SECOND - 1
    assert await exchange.lease(2) == []
    assert await exchange.pop(2, 1) is None
    exchange.clock.now += 1
    with pytest.raises(LeaseLostError):
        await exchange.acknowledge(2, [lease])
    (again,) = await exchange.lease(2)
    assert again.delivery.delivery_count == 2
    with pytest.raises(LeaseLostError):
        await exchange.acknowledge(2, [lease])
    await exchange.acknowledge(2, [again])


async def test_pop_finds_what_came_back(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10, 11)
    await exchange.lease(2, 1)
    exchange.clock.turn(30)
    assert await exchange.pop(2, 1) == 10


@pytest.mark.parametrize("end", ["reject", "expire"])
async def test_a_message_dies_exactly_at_the_limit(exchange: Exchange, end: str) -> None:
    await exchange.deliver(1, 2, 10, 11)
    for count in (1, 2):
        (lease,) = await exchange.lease(2, 1)
        assert (number_of(lease.delivery.message), lease.delivery.delivery_count) == (10, count)
        assert await exchange.dead() == []
        if end == "reject":
            response = await exchange.reject(2, [lease])
            assert response.dead_letter_count == (count == 2)
        else:
            exchange.clock.turn(30)
    assert leased_numbers(await exchange.lease(2)) == [11]
    assert await exchange.dead() == [(10, "TOO_MANY_DELIVERIES", 2, 2)]
    assert await exchange.inbox(2) == [11]


async def test_rejected_together_they_die_in_order(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10, 11, 12)
    await exchange.reject(2, await exchange.lease(2, 2))
    leases = await exchange.lease(2)
    assert (await exchange.reject(2, reversed(leases))).dead_letter_count == 2
    assert [number for number, *_ in await exchange.dead()] == [10, 11]
    assert await exchange.inbox(2) == [12]


async def test_expired_for_the_last_time_is_noticed_by_pop_and_unregister(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10, 11, 12)
    await exchange.reject(2, await exchange.lease(2, 1))
    await exchange.lease(2, 2)
    exchange.clock.turn(30)
    assert await exchange.pop(2, 3) is None
    assert await exchange.dead() == [(10, "TOO_MANY_DELIVERIES", 2, 2)]
    assert await exchange.inbox(2) == [11, 12]
    await exchange.lease(2, 1)
    exchange.clock.turn(30)
    response = await exchange.unregister(2, pb.QUEUED_MAIL_RETURN)
    assert response.dead_letter_count == 1
    assert [number_of(message) for message in response.inbox] == [12]


async def test_unregistering_counts_what_died_of_its_leases_too(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10, 11)
    await exchange.reject(2, await exchange.lease(2, 1))
    await exchange.lease(2, 1)
    exchange.clock.turn(30)
    assert (await exchange.unregister(2)).dead_letter_count == 2
    assert await exchange.dead() == [
        (10, "TOO_MANY_DELIVERIES", 2, 2),
        (11, "RECIPIENT_UNREGISTERED", 2, 0),
    ]


async def test_a_lowered_limit_of_deliveries_holds_for_what_is_queued(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10, 11)
    await exchange.reject(2, await exchange.lease(2, 1))
    await exchange.register(4, max_deliveries=1)
    assert leased_numbers(await exchange.lease(2)) == [11]
    assert await exchange.dead() == [(10, "TOO_MANY_DELIVERIES", 2, 1)]


async def test_the_defaults(store_kind: str, tmp_path: Path) -> None:
    async with running(store_kind, tmp_path) as exchange:
        await exchange.register(1, 2)
        await exchange.deliver(1, 2, 10)
        for count in range(1, 17):
            (lease,) = await exchange.lease(2)
            assert lease.delivery.delivery_count == count
            await exchange.reject(2, [lease])
        assert await exchange.lease(2) == []
        assert await exchange.dead() == [(10, "TOO_MANY_DELIVERIES", 2, 16)]


# Dead letters


async def test_dead_letters_are_listed_oldest_first_and_by_owner(exchange: Exchange) -> None:
    await exchange.deliver(1, 7, 10)
    exchange.clock.turn(5)
    await exchange.deliver(1, 8, 11)
    await exchange.deliver(1, "role", 12)
    await exchange.deliver(1, 7, 13)
    assert [number for number, *_ in await exchange.dead(page_size=1)] == [10, 11, 12, 13]
    assert [number for number, *_ in await exchange.dead(page_size=1, owner_id=uuid_of(7))] == [10, 13]
    page = await exchange.call(pb.ListDeadLettersRequest(page_size=1, owner_id=uuid_of(7)))
    assert page.next_page_token
    dead = await exchange.dead_letters()
    assert [nanoseconds(one.dead_at) - START for one in dead] == [0, 5 * SECOND, 5 * SECOND, 5 * SECOND]
    assert len({one.dead_letter_id for one in dead}) == 4


async def test_redriving_delivers_with_a_fresh_count(exchange: Exchange) -> None:
    await exchange.deliver(1, 2, 10)
    for _ in range(2):
        await exchange.reject(2, await exchange.lease(2))
    (dead,) = await exchange.dead_letters()
    assert (await exchange.redrive(dead.dead_letter_id)).sequence == 2
    assert await exchange.dead() == []
    (lease,) = await exchange.lease(2)
    assert (lease.delivery.sequence, lease.delivery.delivery_count) == (2, 1)
    assert lease.delivery.message.generic.value_json == '"10"'
    with pytest.raises(MessageNotFoundError) as caught:
        await exchange.redrive(dead.dead_letter_id)
    assert caught.value.metadata == {"missing": dead.dead_letter_id, "missing_count": "1"}


async def test_redriving_goes_to_whom_it_was_meant_for_or_to_another(exchange: Exchange) -> None:
    await exchange.deliver(1, 7, 10, 11)
    await exchange.deliver(1, "name", 12)
    unknown, other, nobodys = await exchange.dead_letters()
    with pytest.raises(OwnerNotFoundError):
        await exchange.redrive(unknown.dead_letter_id)
    await exchange.redrive(other.dead_letter_id, 3)
    with pytest.raises(FieldInvalidError, match="recipient_id"):
        await exchange.redrive(nobodys.dead_letter_id)
    await exchange.redrive(nobodys.dead_letter_id, 3)
    await exchange.register(7)
    await exchange.redrive(unknown.dead_letter_id)
    assert await exchange.inbox(3) == [11, 12]
    assert await exchange.pop(3, 1) == 11
    assert await exchange.inbox(7) == [10]


async def test_redriving_needs_room(exchange: Exchange) -> None:
    await exchange.deliver(1, 7, 10)
    await exchange.deliver(1, 2, 11)
    await exchange.register(7, max_messages=1)
    (dead,) = await exchange.dead_letters()
    with pytest.raises(QuotaExceededError):
        await exchange.redrive(dead.dead_letter_id)
    assert await exchange.dead() == [(10, "RECIPIENT_UNKNOWN", 7, 0)]
    await exchange.pop(2, 1)
    await exchange.redrive(dead.dead_letter_id)
    with pytest.raises(QuotaExceededError):
        await exchange.send(1, 2, 12)
