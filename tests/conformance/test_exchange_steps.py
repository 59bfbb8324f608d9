"""Writes of several steps: what happens between two of them, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import FieldInvalidError, RequestIdReusedError
from history_service.domain.exchange_ledger import FURTHER_STEP, OWNER_COST, StepSize
from history_service.storage.exchange_port import ExchangeKey
from history_service.storage.port import HistoryStore
from tests.support import exchange_scenes as scenes
from tests.support.exchange import Exchange, counts
from tests.support.failpoints import FailpointStore
from tests.support.history import History, instruction, make_store, uuid_of
from tests.support.stored import recorded_responses

pytestmark = pytest.mark.anyio

STEPS_BETWEEN = 4
"""Steps that may end while another caller awaits an answer: one under way, one queued, some of a loop."""


@asynccontextmanager
async def opened(kind: str, folder: Path) -> AsyncIterator[HistoryStore]:
    """An empty store."""
    store = make_store(kind, folder)
    await store.start()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def stepping(
    kind: str, folder: Path, *owners: int, step_size: int = scenes.STEP_SIZE, **settings: Any
) -> AsyncIterator[tuple[Exchange, FailpointStore]]:
    """An exchange whose writes take many steps."""
    async with opened(kind, folder) as inner:
        store = FailpointStore(inner)
        exchange = Exchange(store, step_size=step_size)
        await exchange.register(*owners, **settings)
        yield exchange, store


def after_step(store: FailpointStore, number: int, act: Callable[[], Awaitable[object]]) -> None:
    """Do something once, after the step of a number from 1."""
    taken = 0

    async def between(_starts_commit: bool) -> None:
        nonlocal taken
        taken += 1
        if taken == number:
            await act()

    store.between = between


class LetterCountingStore:
    """A store that notes how many deliveries each write made, once it is answered.

    Attributes:
        moved: These numbers, in order.
    """

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self.moved: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, work: Callable[[Any], Any], *, starts_commit: bool = False) -> Any:
        """Write, and note it."""
        moved = 0

        def counted(tx: Any) -> Any:
            nonlocal moved
            moved = 0  # A store may run a work again.
            put = tx.exchange.put_in_inboxes

            def put_in_inboxes(key: ExchangeKey, entries: Sequence[Any]) -> None:
                nonlocal moved
                moved += len(entries)
                put(key, entries)

            return work(Replacing(tx, exchange=Replacing(tx.exchange, put_in_inboxes=put_in_inboxes)))

        result = await self._store.write(counted, starts_commit=starts_commit)
        self.moved.append(moved)
        return result


class Replacing:
    """An object but for some of its attributes."""

    def __init__(self, inner: Any, **attributes: Any) -> None:
        self.__dict__.update(attributes)
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def places(exchange: Exchange, owners: list[int]) -> dict[int, list[int]]:
    """Every owner's inbox."""
    return {owner: await exchange.inbox(owner) for owner in owners}


# Others' writes


async def test_appends_are_answered_while_large_collections_run(store_kind: str, tmp_path: Path) -> None:
    """Whoever appends waits for few steps, whatever is collected and by how many at once."""
    collectors, messages = range(1, 7), 12
    log: list[str] = []
    async with opened(store_kind, tmp_path) as inner:
        store = FailpointStore(inner)
        exchange = Exchange(store, step_size=scenes.STEP_SIZE)
        history = History(inner)
        branch = await history.create()
        await exchange.register(*collectors, 7, 8)
        for sender in collectors:
            for number in range(messages):
                await exchange.send(sender, "broadcast", 100 * sender + number)

        async def note(starts_commit: bool) -> None:
            if starts_commit:
                log.append("step")
            store.between = note  # also for the steps of others that end meanwhile

        store.between = note
        collecting = asyncio.gather(*(exchange.collect(sender) for sender in collectors))
        number = 1000
        while not collecting.done():
            await history.add(branch, instruction(number))
            log.append("append")
            number += 1
        assert await collecting == [(messages, 0, 0)] * len(collectors)
    steps = [len(list(run)) for kind, run in groupby(log) if kind == "step"]
    assert sum(steps) == len(collectors) * (messages - 1)
    assert max(steps) <= STEPS_BETWEEN


async def test_however_many_begin_at_once_an_append_waits_for_few_letters(
    store_kind: str, tmp_path: Path
) -> None:
    """All that is moved counts, first steps too."""
    collectors, others, messages = range(1, 31), range(31, 41), 4
    copies = len(collectors) + len(others) - 1
    size = 2 * copies * OWNER_COST
    async with opened(store_kind, tmp_path) as inner:
        store = LetterCountingStore(inner)
        exchange = Exchange(store, first_step=StepSize(size // 4, size // 4), step_size=size)
        history = History(store)
        branch = await history.create()
        await exchange.register(*collectors, *others)
        for sender in collectors:
            for number in range(messages):
                await exchange.send(sender, "broadcast", 100 * sender + number)
        store.moved = []
        collecting = asyncio.gather(*(exchange.collect(sender) for sender in collectors))
        begun = len(store.moved)
        waits: list[int] = []
        while not collecting.done():
            await history.add(branch, instruction(1000 + len(waits)))
            waits.append(sum(store.moved[begun:]))
            begun = len(store.moved)
        assert await collecting == [(messages, 0, 0)] * len(collectors)
    assert sum(store.moved) == len(collectors) * messages * copies
    # A step moves two of these messages.
    assert max(waits) <= 2 * STEPS_BETWEEN * 2 * copies


async def test_a_small_write_is_done_in_one_transaction(store_kind: str, tmp_path: Path) -> None:
    """Its first step, which many writes take in one commit."""
    async with stepping(store_kind, tmp_path, *range(1, 21), step_size=FURTHER_STEP.full_at) as (
        exchange,
        store,
    ):
        taken: list[bool] = []

        async def note(starts_commit: bool) -> None:
            taken.append(starts_commit)

        for sender in range(1, 6):
            await exchange.send(sender, "broadcast", sender)
            await exchange.send(sender, 7, 10 + sender)
        store.between = note
        assert await exchange.collect(1) == (2, 0, 0)
        assert await exchange.collect_all() == (8, 0, 0)
        assert taken == [False, False]


async def test_a_first_step_leaves_what_it_cannot_do_shortly(store_kind: str, tmp_path: Path) -> None:
    async with opened(store_kind, tmp_path) as inner:
        store = FailpointStore(inner)
        exchange = Exchange(store, first_step=StepSize(50, 50))
        await exchange.register(*range(1, 12), delivery=pb.DELIVERY_MODE_AT_SEND)
        steps: list[tuple[bool, int]] = []

        async def note(starts_commit: bool) -> None:
            steps.append((starts_commit, len(await exchange.inbox(2))))

        store.between = note
        await exchange.send(1, 2, 10)
        await exchange.send(1, "broadcast", 11)
        assert steps == [(False, 1), (False, 1), (True, 2)]


async def test_a_step_of_a_collection_of_all_is_about_many_owners(store_kind: str, tmp_path: Path) -> None:
    senders = range(1, 201)
    async with stepping(store_kind, tmp_path, *senders, step_size=FURTHER_STEP.full_at) as (exchange, store):
        for sender in senders:
            await exchange.send(sender, sender % 200 + 1, sender)
        await exchange.send(7, "broadcast", 1000)
        taken: list[bool] = []

        async def note(starts_commit: bool) -> None:
            taken.append(starts_commit)

        store.between = note
        assert await exchange.collect_all() == (201, 0, 0)
        assert taken == [False, True]
        assert await exchange.inbox(1) == [1000, 200]
        assert {number: len(await exchange.inbox(number)) for number in (7, 8)} == {7: 1, 8: 2}


async def test_a_step_visits_few_owners_even_where_each_has_little(store_kind: str, tmp_path: Path) -> None:
    async with opened(store_kind, tmp_path) as inner:
        store = FailpointStore(inner)
        exchange = Exchange(store, first_step=StepSize(5 * OWNER_COST, 100 * OWNER_COST))
        await exchange.register(*range(1, 21))
        for sender in range(1, 21):
            await exchange.send(sender, "role", sender)
        dead: list[int] = []

        async def note(_starts_commit: bool) -> None:
            dead.append(len(await exchange.dead()))

        store.between = note
        assert await exchange.collect_all() == (0, 20, 0)
        assert dead == [5, 20]


async def test_an_answered_write_keeps_no_records_of_its_steps(store_kind: str, tmp_path: Path) -> None:
    async with stepping(store_kind, tmp_path, 1, 2, 3) as (exchange, store):
        for number in range(10, 18):
            await exchange.send(1, 2, number)
            await exchange.send(3, 2, number)
        for request in (
            pb.CollectRequest(owner_id=uuid_of(1), request_id=uuid_of(0xA1)),
            pb.CollectAllRequest(request_id=uuid_of(0xA2)),
            pb.UnregisterOwnerRequest(owner_id=uuid_of(2), request_id=uuid_of(0xA3)),
        ):
            kept: list[int] = []

            async def count(_starts_commit: bool, kept: list[int] = kept) -> None:
                kept.append(recorded_responses(store._store))

            store.between = count
            first, again = await exchange.call(request), await exchange.call(request)
            store.between = None
            before = kept[0] - 1
            *steps, done, replayed = [number - before for number in kept]
            assert steps == list(range(1, len(steps) + 1))
            assert len(steps) > 3
            assert (done, replayed) == (1, 1)
            assert (first.replayed, again.replayed) == (False, True)
            again.replayed = False
            assert first == again


async def test_the_same_request_at_once_is_done_once(store_kind: str, tmp_path: Path) -> None:
    async with stepping(store_kind, tmp_path, 1, 2, 3) as (exchange, _):
        for number in range(10, 20):
            await exchange.send(1, "broadcast", number)
        request = pb.CollectRequest(owner_id=uuid_of(1), request_id=scenes.REQUEST_ID)
        responses = await asyncio.gather(*(exchange.call(request) for _ in range(3)))
        assert sorted(response.replayed for response in responses) == [False, True, True]
        assert {counts(response) for response in responses} == {(10, 0, 0)}
        assert await places(exchange, [2, 3]) == {2: list(range(10, 20)), 3: list(range(10, 20))}


async def test_a_request_id_is_taken_from_the_first_step_on(store_kind: str, tmp_path: Path) -> None:
    async with stepping(store_kind, tmp_path, 1, 2) as (exchange, store):
        for number in range(10, 15):
            await exchange.send(1, 2, number)
            await exchange.send(2, 1, number + 10)

        async def reuse() -> None:
            with pytest.raises(RequestIdReusedError) as caught:
                await exchange.collect(2, request_id=scenes.REQUEST_ID)
            assert caught.value.metadata == {"request_id": scenes.REQUEST_ID}

        after_step(store, 2, reuse)
        assert await exchange.collect(1, request_id=scenes.REQUEST_ID) == (5, 0, 0)
        assert await places(exchange, [1, 2]) == {1: [], 2: [10, 11, 12, 13, 14]}


# What is a part of it


async def test_an_id_sent_again_counts_once_whatever_the_steps(store_kind: str, tmp_path: Path) -> None:
    async with stepping(store_kind, tmp_path, 1, 2) as (exchange, _):
        for number in (10, 11, 10, 12, 11, 10):
            await exchange.send(1, 2, number)
        assert await exchange.collect(1) == (3, 0, 0)
        assert await exchange.inbox(2) == [10, 11, 10, 12, 11, 10]


@pytest.mark.parametrize("all_owners", [False, True])
async def test_what_is_sent_meanwhile_is_no_part(store_kind: str, tmp_path: Path, all_owners: bool) -> None:
    # A step has room for two of these: the second also for what is sent after the first.
    async with stepping(store_kind, tmp_path, 1, 2, step_size=12) as (exchange, store):
        for number in (10, 11, 12):
            await exchange.send(1, 2, number)
        after_step(store, 1, lambda: exchange.send(1, 2, 13))
        collected = await (exchange.collect_all() if all_owners else exchange.collect(1))
        assert collected == (3, 0, 0)
        assert await exchange.inbox(2) == [10, 11, 12]
        assert [owner.outbox_count for owner in await exchange.owners()] == [1, 0]


async def test_an_owner_gone_meanwhile_ends_its_collection(store_kind: str, tmp_path: Path) -> None:
    async with stepping(store_kind, tmp_path, 1, 2) as (exchange, store):
        for number in (10, 11, 12):
            await exchange.send(1, 2, number)
        after_step(store, 1, lambda: exchange.unregister(1))
        assert await exchange.collect(1) == (1, 0, 0)
        assert await exchange.inbox(2) == [10]
        assert [number for number, *_ in await exchange.dead()] == [11, 12]


async def test_an_owner_registered_anew_meanwhile_keeps_its_new_mail(store_kind: str, tmp_path: Path) -> None:
    for request in (pb.CollectRequest(owner_id=uuid_of(1)), pb.UnregisterOwnerRequest(owner_id=uuid_of(1))):
        name = type(request).__name__
        (tmp_path / name).mkdir()
        async with stepping(store_kind, tmp_path / name, 1, 2) as (exchange, store):
            for number in (10, 11, 12):
                await exchange.send(1, 2, number)

            async def anew(exchange: Exchange = exchange) -> None:
                await exchange.unregister(1)
                await exchange.register(1)
                await exchange.send(1, 2, 13)

            after_step(store, 1, anew)
            await exchange.call(request)
            assert [(one.owner_id, one.outbox_count) for one in await exchange.owners()] == [
                (uuid_of(2), 0),
                (uuid_of(1), 1),
            ]


async def test_each_message_meets_the_owners_of_its_step(store_kind: str, tmp_path: Path) -> None:
    async with stepping(store_kind, tmp_path, 1, 2, 3) as (exchange, store):
        for recipient, number in (("broadcast", 10), ("broadcast", 11), (3, 12), (4, 13)):
            await exchange.send(1, recipient, number)

        async def change() -> None:
            await exchange.register(4)
            await exchange.unregister(3)

        after_step(store, 1, change)
        assert await exchange.collect(1) == (3, 1, 0)
        assert await places(exchange, [2, 4]) == {2: [10, 11], 4: [11, 13]}
        assert await exchange.dead() == [
            (10, "RECIPIENT_UNREGISTERED", 3, 0),
            (12, "RECIPIENT_UNKNOWN", 3, 0),
        ]


async def test_what_has_no_room_at_its_step_is_what_remains(store_kind: str, tmp_path: Path) -> None:
    async with stepping(store_kind, tmp_path, 1, 2, 3, max_messages=5) as (exchange, store):
        for number in (10, 11, 12):
            await exchange.send(1, "broadcast", number)
        # There is room for two copies more, and a message sent meanwhile takes some of it.
        after_step(store, 1, lambda: exchange.send(1, 2, 13))
        assert await exchange.collect(1) == (1, 0, 2)
        assert [owner.outbox_count for owner in await exchange.owners()] == [3, 0, 0]


async def test_mail_that_comes_while_an_owner_leaves_goes_with_the_rest(
    store_kind: str, tmp_path: Path
) -> None:
    async with stepping(store_kind, tmp_path, 1, 2) as (exchange, store):
        await exchange.deliver(1, 2, 10, 11, 12)
        after_step(store, 1, lambda: exchange.deliver(1, 2, 13))
        response = await exchange.unregister(2)
        assert (response.was_registered, response.dead_letter_count) == (True, 4)
        assert [number for number, *_ in await exchange.dead()] == [10, 11, 12, 13]
        assert await exchange.inbox(2) == []
        assert not (await exchange.unregister(2)).was_registered


async def test_much_that_died_of_lowered_limits_is_not_buried_in_one_step(
    store_kind: str, tmp_path: Path
) -> None:
    async with stepping(store_kind, tmp_path, 1, 2) as (exchange, store):
        await exchange.deliver(1, 2, 10, 11, 12, 13, 14, 15)
        await exchange.reject(2, await exchange.lease(2, 5))
        await exchange.register(3, max_deliveries=1)
        counted = []

        async def count(_starts_commit: bool) -> None:
            counted.append(len(await exchange.dead()))

        store.between = count
        leases = await exchange.lease(2, 1)
        assert [one.delivery.sequence for one in leases] == [6]
        assert counted == [3, 5]


async def test_owners_are_so_few_that_one_step_reaches_all(exchange: Exchange) -> None:
    with pytest.raises(FieldInvalidError, match=r"settings\.max_owners: must be 1 to 20000, is 20001"):
        await exchange.register(1, max_owners=20_001)
    await exchange.register(1, max_owners=20_000)
