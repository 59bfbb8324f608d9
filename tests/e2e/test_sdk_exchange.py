"""The exchange through the SDK against the real service, on both stores, blocking and asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from antiphon_client import (
    UNSET,
    AsyncExchange,
    AsyncHistoryClient,
    Exchange,
    ExchangeSettings,
    HistoryClient,
    MessageRole,
)
from antiphon_client.errors import (
    LeaseLostError,
    MessageNotFoundError,
    OwnerExistsError,
    OwnerNotFoundError,
    QuotaExceededError,
)
from antiphon_client.ids import new_ordered_id
from tests.support.pair import running_pair, served_pair


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def history(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HistoryClient]:
    folder = tmp_path_factory.mktemp("pair")
    store = "memory:" if request.param == "memory" else f"sqlite:{folder / 'x.sqlite3'}"
    with served_pair(folder, store) as pair, HistoryClient(pair.history, timeout=20) as client:
        yield client


@pytest.fixture
def exchange(history: HistoryClient) -> Exchange:
    return Exchange(history, f"exchange {uuid4()}")


def registered(exchange: Exchange, count: int) -> list[UUID]:
    return [exchange.register(uuid4()) for _ in range(count)]


def test_registration(exchange: Exchange) -> None:
    assert exchange.owner_ids() == []
    owners = registered(exchange, 3)
    assert exchange.owner_ids() == owners
    assert exchange.has(owners[1])
    record = exchange.get(str(owners[1]))
    assert record is not None
    assert (record.inbox_count, record.outbox_count, record.last_sequence) == (0, 0, 0)
    with pytest.raises(OwnerExistsError) as caught:
        exchange.register(owners[1])
    assert isinstance(caught.value, ValueError)
    left = exchange.unregister(owners[1])
    assert left is not None
    assert (left.inbox, left.outbox, left.dead_letter_count) == ((), (), 0)
    assert exchange.owner_ids() == [owners[0], owners[2]]
    assert [record.owner_id for record in exchange.owners()] == [owners[0], owners[2]]
    assert not exchange.has(owners[1])


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^delivery must be on_collect or at_send$"):
        ExchangeSettings(delivery="at_once")  # type: ignore[arg-type]


def test_an_unknown_owner_sends_and_collects_nothing_and_has_nothing(exchange: Exchange) -> None:
    stranger, other = uuid4(), exchange.register(uuid4())
    with pytest.raises(OwnerNotFoundError) as caught:
        exchange.send(stranger, other, "x")
    assert isinstance(caught.value, ValueError)
    assert caught.value.metadata["owner_id"] == str(stranger)
    with pytest.raises(OwnerNotFoundError):
        exchange.collect(stranger)
    assert exchange.unregister(stranger) is None
    assert exchange.get(stranger) is None
    assert exchange.receive(stranger) == []
    assert exchange.pop_message(stranger, other) is None
    assert exchange.pop_message(other, stranger) is None
    assert exchange.lease(stranger) == []
    assert list(exchange.watch(stranger, follow=False)) == []


def test_direct_mail_waits_for_the_collection_and_is_taken_oldest_first(exchange: Exchange) -> None:
    alice, bob = registered(exchange, 2)
    later = uuid4()
    sent = [exchange.send(alice, bob, {"n": n}, "work", metadata={"n": n}) for n in range(3)]
    waiting = exchange.send(alice, later, "to one who comes later")
    assert exchange.receive(bob) == []
    exchange.register(later)
    assert exchange.collect(alice) == 4
    assert exchange.collect(alice) == 0
    received = exchange.receive(bob)
    assert received == sent == exchange.receive(bob, alice)
    assert exchange.receive(bob, later) == []
    assert [d.sequence for d in exchange.deliveries(bob)] == [1, 2, 3]
    popped = [exchange.pop_message(bob, alice) for _ in range(4)]
    assert popped == [*sent, None]
    assert exchange.receive(later) == [waiting]


def test_none_is_everybody_else_and_counts_once(exchange: Exchange) -> None:
    alice, *others = registered(exchange, 4)
    sent = exchange.send(alice, None, "hear")
    assert sent.is_broadcast
    latecomer = exchange.register(uuid4())
    assert exchange.collect(alice) == 1
    assert exchange.receive(alice) == []
    for owner in (*others, latecomer):
        assert exchange.receive(owner) == [sent]
    assert exchange.pop_message(others[0], alice) == sent
    assert exchange.receive(others[1]) == [sent]


def test_channels_do_not_affect_delivery(exchange: Exchange) -> None:
    alice, bob = registered(exchange, 2)
    sent = [exchange.send(alice, bob, n, channel) for n, channel in enumerate((None, "a", "b", "a"))]
    assert exchange.collect(alice) == 4
    assert [(m.content, m.channel) for m in exchange.receive(bob)] == [
        (0, None),
        (1, "a"),
        (2, "b"),
        (3, "a"),
    ]
    assert [exchange.pop_message(bob, alice) for _ in sent] == sent


def test_what_cannot_be_delivered_is_a_dead_letter_with_its_reason(exchange: Exchange) -> None:
    alice, bob = registered(exchange, 2)
    expected: dict[UUID, tuple[str, UUID | None]] = {
        exchange.send(alice, UNSET, 0).id: ("recipient_unset", None),
        exchange.send(alice, MessageRole.USER, 1).id: ("recipient_role", None),
        exchange.send(alice, "someone", 2).id: ("recipient_name", None),
    }
    stranger = uuid4()
    expected[exchange.send(alice, stranger, 3).id] = ("recipient_unknown", stranger)
    delivered = exchange.send(alice, bob, 4)
    assert exchange.collect(alice) == 1
    assert exchange.receive(bob) == [delivered]
    letters = list(exchange.dead_letters())
    assert {m.message.id: (m.reason, m.owner_id) for m in letters} == expected
    assert [m.message.content for m in letters] == [0, 1, 2, 3]
    assert [m.message.id for m in exchange.dead_letters(stranger)] == [letters[3].message.id]
    assert exchange.redrive(letters[0], bob) == 2
    exchange.register(stranger)
    assert exchange.redrive(letters[3].dead_letter_id) == 1
    assert [m.content for m in exchange.receive(bob)] == [4, 0]
    assert [m.content for m in exchange.receive(stranger)] == [3]
    with pytest.raises(MessageNotFoundError):
        exchange.redrive(letters[0], bob)
    assert len(list(exchange.dead_letters())) == 2


def test_mail_of_one_who_leaves_comes_back_or_dies(exchange: Exchange) -> None:
    alice, bob, carol = registered(exchange, 3)
    for owner in (bob, carol):
        inbound = exchange.send(alice, owner, "in")
        outbound = exchange.send(owner, alice, "out")
        exchange.collect(alice)
        left = exchange.unregister(owner, return_mail=owner == bob)
        assert left is not None
        if owner == bob:
            assert (left.inbox, left.outbox, left.dead_letter_count) == ((inbound,), (outbound,), 0)
        else:
            assert (left.inbox, left.outbox, left.dead_letter_count) == ((), (), 2)
            reasons = {letter.message.id: letter.reason for letter in exchange.dead_letters()}
            assert reasons == {inbound.id: "recipient_unregistered", outbound.id: "sender_unregistered"}
    assert exchange.register(bob) == bob
    assert exchange.receive(bob) == []


def test_leases_hide_acknowledge_and_reject(exchange: Exchange) -> None:
    alice = exchange.register(uuid4(), settings=ExchangeSettings(max_deliveries=2))
    bob = exchange.register(uuid4())
    sent = [exchange.send(alice, bob, n) for n in range(3)]
    exchange.sync()
    first, second = exchange.lease(bob, 2, visibility_seconds=600)
    assert [lease.message for lease in (first, second)] == sent[:2]
    assert exchange.receive(bob) == sent
    assert exchange.pop_message(bob, alice) == sent[2]
    assert exchange.lease(bob) == []
    exchange.acknowledge(bob, first)
    with pytest.raises(LeaseLostError):
        exchange.acknowledge(bob, [second, first])
    assert exchange.reject(bob, second) == 0
    (again,) = exchange.lease(bob, sender=alice)
    assert (again.message, again.delivery.delivery_count) == (sent[1], 2)
    assert again.lease_id != second.lease_id
    assert exchange.reject(bob, [again.lease_id]) == 1
    (letter,) = exchange.dead_letters(bob)
    assert (letter.message, letter.reason, letter.delivery_count) == (sent[1], "too_many_deliveries", 2)
    assert exchange.receive(bob) == []


def test_the_same_request_has_its_effect_once(exchange: Exchange) -> None:
    alice, bob = registered(exchange, 2)
    request_id = new_ordered_id()
    sent = {exchange.send(alice, bob, "once", request_id=request_id).id for _ in range(2)}
    assert len(sent) == 1
    collecting = new_ordered_id()
    assert [exchange.collect_all(request_id=collecting) for _ in range(2)] == [1, 1]
    taking = new_ordered_id()
    taken = [exchange.pop_message(bob, alice, request_id=taking) for _ in range(2)]
    assert taken[0] is not None
    assert taken[0] == taken[1]
    assert exchange.receive(bob) == []


def test_a_full_exchange_takes_nothing_more(exchange: Exchange) -> None:
    alice = exchange.register(uuid4(), settings=ExchangeSettings(max_owners=2, max_messages=1))
    bob = exchange.register(uuid4())
    with pytest.raises(QuotaExceededError):
        exchange.register(uuid4())
    sent = exchange.send(alice, bob, 1)
    with pytest.raises(QuotaExceededError):
        exchange.send(alice, bob, 2)
    exchange.sync()
    assert exchange.receive(bob) == [sent]


def test_an_exchange_may_deliver_as_mail_is_sent(exchange: Exchange) -> None:
    alice = exchange.register(uuid4(), settings=ExchangeSettings(delivery="at_send"))
    bob = exchange.register(uuid4())
    sent = exchange.send(alice, bob, "now")
    assert exchange.receive(bob) == [sent]


def test_exchanges_are_apart(exchange: Exchange, history: HistoryClient) -> None:
    alice, bob = registered(exchange, 2)
    other = Exchange(history, f"other {exchange.exchange_id}")
    other.register(alice)
    exchange.send(alice, bob, "x")
    assert other.sync() == 0
    assert other.owner_ids() == [alice]
    assert exchange.sync() == 1


def test_more_than_a_page(exchange: Exchange) -> None:
    owners = registered(exchange, 5)
    exchange.register(uuid4())
    for n in range(12):
        exchange.send(owners[0], owners[1], n)
    exchange.sync()
    first = exchange.delivery_page(owners[1], page_size=5)
    rest = exchange.delivery_page(owners[1], page_size=5, page_token=first.next_page_token)
    assert [d.message.content for d in (*first.items, *rest.items)] == list(range(10))
    page = exchange.owner_page(page_size=4)
    assert [o.owner_id for o in page.items] == owners[:4]
    assert len(exchange.owner_page(page_size=4, page_token=page.next_page_token).items) == 2


def test_watching_goes_on_after_the_last_sequence_seen(exchange: Exchange) -> None:
    alice, bob = registered(exchange, 2)
    for n in range(4):
        exchange.send(alice, bob, n)
    exchange.sync()
    watch = exchange.watch(bob)
    seen = [next(watch), next(watch)]
    watch.close()
    exchange.pop_message(bob, alice)
    rest = list(exchange.watch(bob, seen[-1].sequence, follow=False))
    assert [(d.sequence, d.message.content) for d in (*seen, *rest)] == [(1, 0), (2, 1), (3, 2), (4, 3)]
    assert [d.sequence for d in exchange.watch(bob, follow=False)] == [2, 3, 4]


@pytest.fixture
async def async_exchange(anyio_backend: object, tmp_path: Path) -> AsyncIterator[AsyncExchange]:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history, timeout=20) as history:
        yield AsyncExchange(history, "agents")


@pytest.mark.anyio
async def test_the_asyncio_exchange_runs_until_it_is_stopped(async_exchange: AsyncExchange) -> None:
    alice, bob = [await async_exchange.register(uuid4()) for _ in range(2)]
    running = asyncio.ensure_future(async_exchange.run(0.01))
    received: list[object] = []

    async def watch() -> None:
        async for delivery in async_exchange.watch(bob):
            received.append(delivery.message.content)
            if len(received) == 5:
                return

    watching = asyncio.ensure_future(watch())
    for n in range(5):
        await async_exchange.send(alice, bob, n)
    async with asyncio.timeout(20):
        await watching
        async_exchange.stop()
        await running
    assert received == [0, 1, 2, 3, 4]
    await async_exchange.send(alice, None, "later")
    assert await async_exchange.sync() == 1
    (lease,) = await async_exchange.lease(bob, visibility_seconds=60)
    await async_exchange.acknowledge(bob, lease)
    assert [m.content for m in await async_exchange.receive(bob)] == [1, 2, 3, 4, "later"]
    assert [letter async for letter in async_exchange.dead_letters()] == []


@pytest.mark.anyio
async def test_a_watch_waits_for_its_owner_to_register(async_exchange: AsyncExchange) -> None:
    alice, late = await async_exchange.register(uuid4()), uuid4()
    watch = async_exchange.watch(late)
    first = asyncio.ensure_future(anext(watch))
    await async_exchange.register(late)
    sent = await async_exchange.send(alice, late, "hello")
    await async_exchange.collect(alice)
    async with asyncio.timeout(20):
        assert (await first).message == sent
    await watch.aclose()
