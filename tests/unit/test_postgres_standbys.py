"""The PostgreSQL store where commits wait for a standby: nothing is answered, or shown, that none has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import psycopg
import pytest

from antiphon_client.errors import StoreBusyError
from history_service.storage.port import BranchKey
from history_service.storage.postgres import PostgresLimits, PostgresStore
from tests.support import postgres
from tests.support.history import History, instruction, uuid_of

pytestmark = pytest.mark.anyio

REQUEST = uuid_of(0xA1)
WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


class Primary(postgres.Server):
    """A server whose standby can be away."""

    def lose_standby(self) -> None:
        """From now on no commit is confirmed."""
        self._wait_for("nobody")

    def find_standby(self) -> None:
        """Confirm what waits and what comes."""
        self._wait_for("")

    def _wait_for(self, names: str) -> None:
        self.run(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self.run("SELECT pg_reload_conf()")
        with psycopg.connect(self.url(), autocommit=True) as connection:
            # A session reads the settings again between two statements.
            while connection.execute("SHOW synchronous_standby_names").fetchone() != (names,):
                pass

    async def until_waiting(self, count: int) -> None:
        """Return when so many commits wait for a standby."""
        async with (
            asyncio.timeout(30),
            await psycopg.AsyncConnection.connect(self.url(), autocommit=True) as connection,
        ):
            while len(await (await connection.execute(WAITING)).fetchall()) != count:
                await asyncio.sleep(0.01)


@pytest.fixture(scope="module")
def server() -> Iterator[Primary]:
    """A server of the tests' own, running."""
    postgres.require_server()
    own = Primary(postgres.find_binaries(), postgres.DURABLE)
    own.start()
    yield own
    own.remove()


@pytest.fixture
async def stores(anyio_backend: object, server: Primary) -> AsyncIterator[list[PostgresStore]]:
    """Two replicas of one history, whose writers are connected."""
    server.run("DROP SCHEMA public CASCADE")
    server.run("CREATE SCHEMA public")
    opened = [PostgresStore(server.url()) for _ in range(2)]
    for store in opened:
        await store.start()
        await store.write(lambda _: None)
    yield opened
    server.find_standby()
    for store in opened:
        await store.close()


async def until_answered(call: Callable[[], Awaitable[Any]]) -> Any:
    """Make a call again until it is not refused any more."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await call()
            except StoreBusyError:
                await asyncio.sleep(0.01)


async def test_a_write_that_no_standby_has_is_neither_answered_nor_shown(
    stores: list[PostgresStore], server: Primary
) -> None:
    histories = [History(store) for store in stores]
    one = await histories[0].create()
    server.lose_standby()
    first = asyncio.create_task(histories[0].add(one, instruction(1), request_id=REQUEST))
    await server.until_waiting(1)
    assert [(await each.branch(one)).revision for each in histories] == [1, 1]
    assert not first.done()
    server.find_standby()
    assert (await first).revision == 2
    assert (await histories[1].add(one, instruction(1), request_id=REQUEST)).replayed


async def test_a_commit_nobody_confirms_is_given_up_but_not_cancelled(
    anyio_backend: object, stores: list[PostgresStore], server: Primary
) -> None:
    store = PostgresStore(server.url(), limits=PostgresLimits(statement_seconds=0.5))
    await store.start()
    history = History(store)
    one = await history.create()
    server.lose_standby()
    with pytest.raises(StoreBusyError, match="not known whether"):
        await history.add(one, instruction(1), request_id=REQUEST)
    # What comes after is refused at once, and leaves nothing more waiting at the database.
    for request_id in (REQUEST, uuid_of(0xA2)):
        with pytest.raises(StoreBusyError, match="not begun"):
            await history.add(one, instruction(2), request_id=request_id)
    await server.until_waiting(1)
    assert (await history.branch(one)).revision == 1
    server.find_standby()
    answer = await until_answered(lambda: history.add(one, instruction(1), request_id=REQUEST))
    assert (answer.replayed, answer.revision) == (True, 2)
    # The writer does not know whether what it counted is there.
    await history.add(one, instruction(2))
    changes = await store.read(lambda tx: tx.changes(BranchKey("", one, one), 0, 9))
    assert len({(change.writer_id, change.counter) for change in changes}) == len(changes) == 3
    await store.close()


async def test_a_commit_that_is_late_is_no_hindrance_to_a_stop(
    anyio_backend: object, stores: list[PostgresStore], server: Primary
) -> None:
    store = PostgresStore(server.url(), limits=PostgresLimits(statement_seconds=0.5))
    await store.start()
    server.lose_standby()
    # To connect takes no standby, which is what a replica that starts has to do.
    one = uuid_of(1)
    waiting = [asyncio.create_task(History(store).create(number)) for number in (1, 2, 3)]
    await asyncio.sleep(0)
    await asyncio.wait_for(store.close(), 30)
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(result) for result in results} == {StoreBusyError}
    server.find_standby()
    await server.until_waiting(0)
    assert (await History(stores[0]).branch(one)).revision == 1


async def test_a_commit_that_is_late_ends_with_its_connection(
    anyio_backend: object, stores: list[PostgresStore], server: Primary
) -> None:
    store = PostgresStore(server.url(), limits=PostgresLimits(statement_seconds=0.5))
    await store.start()
    history = History(store)
    one = await history.create()
    server.lose_standby()
    with pytest.raises(StoreBusyError, match="not known whether"):
        await history.add(one, instruction(1))
    server.stop("immediate")
    server.start()
    server.find_standby()
    assert (await history.add(one, instruction(2))).revision == 3
    await store.close()


async def test_the_answer_to_a_retry_waits_for_the_standby_as_the_write_did(
    stores: list[PostgresStore], server: Primary
) -> None:
    histories = [History(store) for store in stores]
    one = await histories[0].create()
    server.lose_standby()
    first = asyncio.create_task(histories[0].add(one, instruction(1), request_id=REQUEST))
    await server.until_waiting(1)
    server.run(f"SELECT pg_cancel_backend(pid) FROM ({WAITING}) AS waiting")
    with pytest.raises(StoreBusyError, match="not known whether"):
        await first
    # The database shows it now, and no standby has it.
    assert (await histories[1].branch(one)).revision == 2
    retries = [
        asyncio.create_task(history.add(one, instruction(1), request_id=REQUEST)) for history in histories
    ]
    await server.until_waiting(2)
    assert not any(retry.done() for retry in retries)
    server.find_standby()
    answers = await asyncio.gather(*retries)
    assert [(answer.replayed, answer.revision) for answer in answers] == [(True, 2)] * 2
