"""Several replicas over one database: to the domain, all their writes run one after another."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import AntiphonError, RevisionConflictError
from history_service.polling import Poller
from history_service.storage.postgres import PostgresStore
from history_service.sweeping import Sweeper
from history_service.watch_stream import WatchTimes
from tests.support import postgres
from tests.support.exchange import Exchange
from tests.support.history import History, call_action, instruction, numbers, uuid_of
from tests.support.replicas import stores
from tests.support.stored import message_bodies, rows
from tests.support.watching import replica, watching

pytestmark = pytest.mark.anyio

REPLICAS = 3


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The URL of an empty store."""
    postgres.require_server()
    yield postgres.schema_url(tmp_path)
    postgres.recycle()


@pytest.fixture
async def replicas(anyio_backend: object, url: str) -> AsyncIterator[list[History]]:
    """Three history services over one database."""
    async with stores(url, REPLICAS) as opened:
        yield [History(store) for store in opened]


async def test_32_writers_on_one_branch_lose_nothing(replicas: list[History]) -> None:
    branch = await replicas[0].create()
    writers, appends = 32, 10

    async def write(writer: int) -> list[int]:
        history = replicas[writer % REPLICAS]
        return [
            (await history.add(branch, instruction(writer * 1000 + step))).revision for step in range(appends)
        ]

    revisions = await asyncio.gather(*(write(writer) for writer in range(writers)))
    total = writers * appends
    assert sorted(itertools.chain.from_iterable(revisions)) == list(range(2, total + 2))
    for history in replicas:
        found = numbers(await history.ids(branch))
        assert len(found) == len(set(found)) == total
    for writer in (0, 31):
        for step, revision in enumerate(revisions[writer]):
            assert (await replicas[0].ids(branch, at=revision))[-1] == uuid_of(writer * 1000 + step)
    changes = await replicas[0].store.read(lambda tx: tx.changes(tx.branch("", branch).key, 0, 1000))  # type: ignore[union-attr]
    positions = {(change.writer_id, change.counter) for change in changes}
    assert len(positions) == total + 1
    assert len({writer_id for writer_id, _ in positions}) == REPLICAS


async def test_one_expected_revision_has_one_winner(replicas: list[History]) -> None:
    branch = await replicas[0].create()
    for round_number in range(1, 11):
        results = await asyncio.gather(
            *(
                replicas[n % REPLICAS].add(
                    branch, instruction(100 * round_number + n), expected_revision=round_number
                )
                for n in range(12)
            ),
            return_exceptions=True,
        )
        lost = [result for result in results if isinstance(result, RevisionConflictError)]
        won = [result for result in results if not isinstance(result, BaseException)]
        assert (len(won), len(lost)) == (1, 11)
        assert won[0].revision == round_number + 1


async def test_one_request_sent_to_all_replicas_at_once_is_done_once(replicas: list[History]) -> None:
    branch = await replicas[0].create()
    for number in range(10):
        messages = [instruction(number)]
        request_id = uuid_of(0xA00 + number)
        results = await asyncio.gather(
            *(history.add(branch, *messages, request_id=request_id) for history in replicas)
        )
        assert sorted(result.replayed for result in results) == [False, True, True]
        assert {result.revision for result in results} == {number + 2}
    assert numbers(await replicas[0].ids(branch)) == list(range(10))


async def test_a_retry_on_another_replica_finds_what_was_done(replicas: list[History]) -> None:
    """Also where the branch, as it is since, would refuse it."""
    first, second, _ = replicas
    branch = await first.create()
    done = await first.add(branch, instruction(1), expected_revision=1, request_id=uuid_of(0xA1))
    await first.add(branch, call_action(2))
    again = await second.add(branch, instruction(1), expected_revision=1, request_id=uuid_of(0xA1))
    assert again.replayed
    assert again.revision == done.revision
    request = pb.DeleteBranchRequest(branch_id=branch, request_id=uuid_of(0xA2))
    await second.call(request)
    assert (await first.call(request)).replayed


async def test_an_external_key_is_given_once(replicas: list[History]) -> None:
    for number in range(5):
        results = await asyncio.gather(
            *(
                history.create(10 * number + n, external_key=f"key {number}")
                for n, history in enumerate(replicas)
            ),
            return_exceptions=True,
        )
        assert sum(isinstance(result, str) for result in results) == 1
        assert sum(isinstance(result, AntiphonError) for result in results) == REPLICAS - 1


async def test_no_message_is_leased_twice(anyio_backend: object, url: str) -> None:
    messages = 120
    async with stores(url, REPLICAS) as opened:
        exchanges = [Exchange(store, first_id=0xEE00_0000 << n) for n, store in enumerate(opened)]
        await exchanges[0].register(1, 2)
        await exchanges[0].deliver(1, 2, *range(100, 100 + messages))

        async def consume(exchange: Exchange) -> list[tuple[str, int]]:
            found = []
            while leases := await exchange.lease(2, 3):
                found += [(lease.lease_id, lease.delivery.sequence) for lease in leases]
                await asyncio.sleep(0)
                await exchange.acknowledge(2, leases)
            return found

        consumed = await asyncio.gather(*(consume(exchanges[n % REPLICAS]) for n in range(9)))
        leased = list(itertools.chain.from_iterable(consumed))
        assert len(leased) == len({lease_id for lease_id, _ in leased}) == messages
        assert sorted(sequence for _, sequence in leased) == list(range(1, messages + 1))
        assert await exchanges[0].inbox(2) == []


async def test_replicas_may_sweep_at_once(replicas: list[History]) -> None:
    for number in range(1, 5):
        branch = await replicas[0].create(number)
        await replicas[0].add(branch, *(instruction(100 * number + n) for n in range(40)))
    kept = uuid_of(4)
    for number in range(1, 4):
        await replicas[0].call(pb.DeleteBranchRequest(branch_id=uuid_of(number)))
    later = replicas[0].clock.now + 40 * 86400 * 10**9
    await asyncio.gather(*(Sweeper(history.store, lambda: later).sweep_due() for history in replicas))
    assert len(message_bodies(replicas[0].store)) == 40
    assert len(await replicas[1].ids(kept)) == 40
    assert rows(replicas[0].store, "SELECT count(*) FROM member") == [(40,)]


async def test_a_fork_and_a_purge_of_its_source_at_once_keep_the_forks_messages(
    replicas: list[History],
) -> None:
    for number in range(1, 9):
        source, fork = uuid_of(number), uuid_of(100 + number)
        await replicas[0].create(number)
        await replicas[0].add(source, *(instruction(1000 * number + n) for n in range(10)))
        outcomes: tuple[Any, Any] = await asyncio.gather(
            replicas[1].call(pb.ForkBranchRequest(source_branch_id=source, branch_id=fork)),
            replicas[2].call(pb.DeleteBranchRequest(branch_id=source, purge=True)),
            return_exceptions=True,
        )
        forked, purged = outcomes
        assert not isinstance(purged, BaseException)
        if not isinstance(forked, BaseException):
            found = await replicas[0].snapshot(fork)
            assert numbers(found.order) == [1000 * number + n for n in range(10)]


async def test_a_watch_sees_what_another_replica_commits(replicas: list[History]) -> None:
    first, second, _ = replicas
    branch = await first.create()
    watcher_side = replica(second, WatchTimes(heartbeat=3600, poll=3600))
    poller = Poller(second.store, watcher_side.signals, watcher_side.signals.__class__(), 0.01)
    await poller.start()
    try:
        async with watching(second, branch, servicer=watcher_side) as watcher:
            await watcher.changes()
            for number in range(5):
                await first.add(branch, instruction(number))
                assert (await watcher.change()).revision == number + 2
    finally:
        await poller.close()


async def test_an_inbox_watch_sees_what_another_replica_delivers(anyio_backend: object, url: str) -> None:
    times = WatchTimes(heartbeat=3600, poll=3600)
    async with stores(url, 2) as (one, other):
        here, there = Exchange(one), Exchange(other, watch_times=times, first_id=0xDDDD_0000_0000)
        await here.register(1, 2)
        poller = Poller(other, there.servicer.signals.__class__(), there.servicer.signals, 0.01)
        await poller.start()
        frames = there.watch(2)
        try:
            assert (await anext(frames)).HasField("caught_up")
            for number in range(10, 13):
                await here.deliver(1, 2, number)
                frame = await asyncio.wait_for(anext(frames), 30)
                while not frame.HasField("delivery"):
                    frame = await asyncio.wait_for(anext(frames), 30)
                assert frame.delivery.sequence == number - 9
        finally:
            await frames.aclose()
            await poller.close()


async def test_the_poller_asks_for_what_is_watched_alone(replicas: list[History]) -> None:
    history = replicas[0]
    branch = await history.create()
    reads: list[object] = []
    store = history.store
    assert isinstance(store, PostgresStore)
    read = store.read

    async def counted(work: object) -> object:
        reads.append(work)
        return await read(work)  # type: ignore[arg-type]

    store.read = counted  # type: ignore[method-assign, assignment]
    servicer = replica(history, WatchTimes(heartbeat=3600, poll=3600))
    poller = Poller(store, servicer.signals, servicer.signals.__class__(), 3600)
    await poller.look()
    assert reads == []
    with servicer.signals.listening(("", branch)) as signal, servicer.signals.listening(("", uuid_of(9))):
        await poller.look()
        assert len(reads) == 1
        assert await signal.wait(0)
        signal.clear()
        await poller.look()
        assert not await signal.wait(0)
        await history.add(branch, instruction(1))
        await poller.look()
        assert await signal.wait(0)
