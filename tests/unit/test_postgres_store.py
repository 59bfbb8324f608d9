"""The PostgreSQL store where the database is slow, away, restarted, or in another's hands."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

from antiphon_client.errors import OverloadedError, ShuttingDownError, StoreBusyError, StoreCorruptError
from history_service.storage.port import BranchKey, BranchRow, RecordedResponse, WriteTransaction
from history_service.storage.postgres import PostgresLimits, PostgresStore
from history_service.storage.postgres import writer as writing
from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.migrations import known_migrations
from tests.support import postgres
from tests.support.history import History, instruction, uuid_of
from tests.support.stored import rows

pytestmark = pytest.mark.anyio

NEWEST = known_migrations()[-1].version
QUICK = PostgresLimits(connect_seconds=2, statement_seconds=5, conflict_seconds=1)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The URL of an empty store."""
    postgres.require_server()
    yield postgres.schema_url(tmp_path)
    postgres.recycle()


@pytest.fixture
async def store(anyio_backend: object, url: str) -> AsyncIterator[PostgresStore]:
    """A store, open."""
    opened = PostgresStore(url, limits=QUICK)
    await opened.start()
    yield opened
    await opened.close()


@pytest.fixture
def server() -> Iterator[postgres.Server]:
    """A server of the test's own, running."""
    postgres.require_server()
    own = postgres.Server(postgres.find_binaries(), postgres.DURABLE)
    own.start()
    yield own
    own.remove()


def branch(number: int, **fields: Any) -> BranchRow:
    return BranchRow(BranchKey("", uuid_of(number), uuid_of(number)), uuid_of(99), number, **fields)


def insert(number: int, **fields: Any) -> Any:
    return lambda tx: tx.insert_branch(branch(number, **fields), "")


async def found(store: PostgresStore) -> list[int]:
    """The branches there are."""
    return sorted(created_at for (created_at,) in rows(store, "SELECT created_at FROM branch"))


# Starting


async def test_stores_that_start_together_make_the_schema_once(anyio_backend: object) -> None:
    postgres.require_server()
    for attempt in range(5):
        schema = f"together{attempt}"
        postgres.run_statement(f"CREATE SCHEMA {schema}")
        together = [PostgresStore(postgres.shared_server().url(schema)) for _ in range(8)]
        await asyncio.gather(*(each.start() for each in together))
        await asyncio.gather(*(each.write(insert(n)) for n, each in enumerate(together)))
        assert await found(together[0]) == list(range(8))
        assert rows(together[0], "SELECT version FROM antiphon_schema_version") == [
            (step.version,) for step in known_migrations()
        ]
        await asyncio.gather(*(each.close() for each in together))
        postgres.run_statement(f"DROP SCHEMA {schema} CASCADE")


async def test_a_newer_schema_is_refused(url: str) -> None:
    first = PostgresStore(url)
    await first.start()
    await first.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO antiphon_schema_version VALUES (999, 'later', 0)")
    with pytest.raises(
        StoreCorruptError, match=f"version 999 and this release knows versions up to {NEWEST}"
    ):
        await PostgresStore(url).start()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DELETE FROM antiphon_schema_version WHERE version = 999")


async def test_tables_of_another_program_are_left_alone(anyio_backend: object) -> None:
    postgres.require_server()
    postgres.run_statement("CREATE SCHEMA others")
    url = postgres.shared_server().url("others")
    postgres.run_statement("CREATE TABLE others.member (mine TEXT)")
    with pytest.raises(StoreCorruptError, match="tables of another program"):
        await PostgresStore(url).start()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT * FROM antiphon_schema_version").fetchall() == []
        assert connection.execute("SELECT to_regclass('branch')").fetchall() == [(None,)]
    postgres.run_statement("DROP SCHEMA others CASCADE")


async def test_a_database_that_is_not_there_is_busy(anyio_backend: object, tmp_path: Path) -> None:
    with pytest.raises(StoreBusyError, match="cannot open the database"):
        await PostgresStore(f"postgresql://me:hidden@/db?host={tmp_path}").start()


async def test_a_store_that_is_not_open_refuses(url: str) -> None:
    with pytest.raises(ShuttingDownError):
        await PostgresStore(url).write(insert(1))
    with pytest.raises(ShuttingDownError):
        await PostgresStore(url).read(lambda tx: tx.branch("", uuid_of(1)))


# The database goes and comes back


async def test_a_restarted_database_is_found_again(anyio_backend: object, server: postgres.Server) -> None:
    store = PostgresStore(server.url(), limits=QUICK)
    await store.start()
    history = History(store)
    one = await history.create()
    server.stop("immediate")
    for _ in range(2):
        with pytest.raises(StoreBusyError) as caught:
            await history.add(one, instruction(1), request_id=uuid_of(0xA1))
        assert caught.value.retry_after is not None
        with pytest.raises(StoreBusyError):
            await history.branch(one)
    server.start()
    # Connections that died while nobody used them are noticed without anybody being told.
    assert (await history.branch(one)).revision == 1
    assert (await history.add(one, instruction(1), request_id=uuid_of(0xA1))).revision == 2
    server.stop("fast")
    server.start()
    assert (await history.add(one, instruction(2))).revision == 3
    assert len(await history.ids(one)) == 2
    await store.close()


class _Dying:
    """Makes a writer's connection die at a COMMIT, before or after the database has carried it out."""

    def __init__(self, store: PostgresStore, *, carried_out: bool) -> None:
        writer = store._writer
        assert writer is not None
        self._commit = writer._commit
        self._carried_out = carried_out
        writer._commit = self  # type: ignore[method-assign]
        self._writer = writer

    def __call__(self, session: Session, group: list[Any]) -> None:
        commit = session.commit

        def die() -> None:
            if self._carried_out:
                commit()
            session.connection.close()
            commit()

        session.commit = die  # type: ignore[method-assign]
        self._writer._commit = self._commit  # type: ignore[method-assign]
        self._commit(session, group)


@pytest.mark.parametrize("carried_out", [False, True])
async def test_a_commit_of_unknown_outcome_is_busy_and_its_retry_is_done_once(
    store: PostgresStore, carried_out: bool
) -> None:
    history = History(store)
    one = await history.create()
    _Dying(store, carried_out=carried_out)
    with pytest.raises(StoreBusyError, match="not known whether"):
        await history.add(one, instruction(1), request_id=uuid_of(0xA1))
    again = await history.add(one, instruction(1), request_id=uuid_of(0xA1))
    assert again.replayed is carried_out
    assert again.revision == 2
    assert len(await history.ids(one)) == 1
    # A new writer, as it is not known how far the former one has counted.
    changes = await store.read(lambda tx: tx.changes(branch(1).key, 0, 9))
    assert len({change.writer_id for change in changes}) == (1 if carried_out else 2)


async def test_a_warning_at_the_commit_is_no_acknowledgement(store: PostgresStore) -> None:
    """So a database tells that it did not wait for a standby it should have waited for."""
    await store.write(insert(1))
    writer = store._writer
    assert writer is not None
    session = writer._session
    assert session is not None
    commit = session.commit

    def warn() -> None:
        session.run("DO $$ BEGIN RAISE WARNING 'canceling wait for synchronous replication'; END $$")
        commit()

    session.commit = warn  # type: ignore[method-assign]
    with pytest.raises(StoreBusyError, match="not known whether"):
        await store.write(insert(2))
    session.commit = commit  # type: ignore[method-assign]
    await store.write(insert(3))
    assert await found(store) == [1, 2, 3]


async def test_a_connection_lost_before_the_commit_is_made_good(store: PostgresStore) -> None:
    lost: list[bool] = []

    def lose(tx: Any) -> None:
        tx.insert_branch(branch(1), "")
        if not lost:
            lost.append(True)
            tx._session.connection.close()
            tx.metadata(branch(1).key, 1)

    await store.write(lose)
    assert await found(store) == [1]


async def test_a_read_goes_on_over_a_new_connection(store: PostgresStore) -> None:
    await store.write(insert(1))
    lost: list[bool] = []

    def lose(tx: Any) -> Any:
        if not lost:
            lost.append(True)
            tx._session.connection.close()
        return tx.branch("", uuid_of(1))

    read = await store.read(lose)
    assert read is not None
    assert lost == [True]


async def test_a_statement_that_takes_too_long_is_busy(url: str) -> None:
    store = PostgresStore(url, limits=PostgresLimits(statement_seconds=0.05))
    await store.start()

    def slow(tx: Any) -> None:
        tx._session.run("SELECT pg_sleep(10)")

    with pytest.raises(StoreBusyError, match="took too long"):
        await store.read(slow)
    with pytest.raises(StoreBusyError, match="took too long"):
        await store.write(slow)
    await store.write(insert(1))
    assert await found(store) == [1]
    await store.close()


# Groups


class _Gate:
    """Holds the writer until the test lets it go, so that a group gathers."""

    def __init__(self) -> None:
        self._open = threading.Event()

    def __call__(self, tx: WriteTransaction) -> None:
        assert self._open.wait(30)

    def open(self) -> None:
        self._open.set()


async def test_one_failed_work_of_a_group_leaves_the_others(store: PostgresStore) -> None:
    gate = _Gate()

    def fail(tx: WriteTransaction) -> None:
        tx.insert_branch(branch(50), "")
        raise LookupError("on purpose")

    works = [gate, insert(1), fail, insert(2), insert(1), insert(3)]
    written = [asyncio.ensure_future(store.write(work)) for work in works]
    await asyncio.sleep(0)
    gate.open()
    results = await asyncio.gather(*written, return_exceptions=True)
    assert [type(result) for result in results] == [
        *(type(None), type(None), LookupError, type(None), errors.UniqueViolation, type(None))
    ]
    assert await found(store) == [1, 2, 3]
    assert (await store.read(lambda tx: tx.branch("", uuid_of(50)))) is None


async def test_a_failed_statement_of_one_work_leaves_the_others(store: PostgresStore) -> None:
    gate = _Gate()

    def fail(tx: Any) -> None:
        tx._session.run("SELECT 1 / 0")

    works = [gate, insert(1), fail, insert(2)]
    written = [asyncio.ensure_future(store.write(work)) for work in works]
    await asyncio.sleep(0)
    gate.open()
    results = await asyncio.gather(*written, return_exceptions=True)
    assert [type(result) for result in results] == [
        *(type(None), type(None), errors.DivisionByZero, type(None))
    ]
    assert await found(store) == [1, 2]


async def test_a_failure_that_a_work_hides_is_no_success(store: PostgresStore) -> None:
    def hide(tx: Any) -> None:
        tx.branch("", uuid_of(1))
        with contextlib.suppress(psycopg.Error):
            tx._session.run("SELECT 1 / 0")

    with pytest.raises(errors.InFailedSqlTransaction):
        await store.write(hide)
    await store.write(insert(1))
    assert await found(store) == [1]


async def test_a_conflicting_group_runs_again_and_then_each_work_alone(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_LONGEST_PAUSE_SECONDS", 0.01)
    gate = _Gate()
    groups: list[int] = []
    assert store._writer is not None
    attempt = store._writer._attempt

    def count(group: list[Any], *, gather: bool) -> None:
        try:
            attempt(group, gather=gather)
        finally:
            groups.append(len(group))

    monkeypatch.setattr(store._writer, "_attempt", count)

    def conflict(tx: WriteTransaction) -> None:
        raise errors.SerializationFailure("on purpose")

    works = [gate, insert(1), insert(2), conflict]
    written = [asyncio.ensure_future(store.write(work)) for work in works]
    await asyncio.sleep(0)
    gate.open()
    results = await asyncio.gather(*written, return_exceptions=True)
    assert [type(result) for result in results] == [type(None), type(None), type(None), StoreBusyError]
    assert await found(store) == [1, 2]
    assert set(groups[:3]) == {4}
    assert set(groups[-3:]) == {1}


async def test_a_group_stays_within_its_bounds(url: str) -> None:
    store = PostgresStore(url, limits=PostgresLimits(group_works=3, queued_works=8))
    await store.start()
    gate = _Gate()
    groups: list[int] = []
    assert store._writer is not None
    deliver = store._writer._deliver

    def count(group: list[Any]) -> None:
        groups.append(len(group))
        deliver(group)

    store._writer._deliver = count  # type: ignore[method-assign]
    written = [asyncio.ensure_future(store.write(work)) for work in (gate, *(insert(n) for n in range(1, 8)))]
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError):
        await store.write(insert(9))
    gate.open()
    await asyncio.gather(*written)
    assert groups == [3, 3, 2]
    gate = _Gate()
    written = [
        asyncio.ensure_future(store.write(work, starts_commit=n == 1))
        for n, work in enumerate([gate, insert(9)])
    ]
    await asyncio.sleep(0)
    gate.open()
    await asyncio.gather(*written)
    assert groups[3:] == [1, 1]
    await store.close()


async def test_what_waits_is_written_before_the_store_closes(url: str) -> None:
    store = PostgresStore(url)
    await store.start()
    written = [asyncio.ensure_future(store.write(insert(n))) for n in range(1, 20)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*written)
    assert await found(store) == list(range(1, 20))
    with pytest.raises(ShuttingDownError):
        await store.write(insert(30))


async def test_commit_positions_are_dense_over_works_taken_back(store: PostgresStore) -> None:
    def change(number: int, *, fail: bool) -> Any:
        def work(tx: WriteTransaction) -> None:
            tx.insert_branch(branch(number), "")
            tx.append_change(branch(number).key, 1, 1, False, b"")
            if fail:
                raise LookupError

        return work

    await asyncio.gather(
        *(store.write(change(number, fail=number % 3 == 0)) for number in range(1, 20)),
        return_exceptions=True,
    )
    counters = sorted(counter for (counter,) in rows(store, "SELECT counter FROM change"))
    assert counters == list(range(13))


# Request ids


async def test_a_request_id_found_used_at_the_commit_is_looked_up(store: PostgresStore) -> None:
    """Another replica may record it between a work's start and its commit."""
    seen: list[RecordedResponse | None] = []
    used = RecordedResponse(b"h" * 32, b"first")

    def record(tx: WriteTransaction) -> None:
        seen.append(tx.recorded_response("", uuid_of(7)))
        if seen[-1] is None:
            tx.record_response("", uuid_of(7), RecordedResponse(b"h" * 32, b"second"), 2)

    await store.write(lambda tx: tx.record_response("", uuid_of(7), used, 1))
    await store.write(record)
    assert seen == [None, used]


async def test_a_work_that_records_nothing_has_its_request_id_looked_up(store: PostgresStore) -> None:
    await store.write(lambda tx: tx.record_response("", uuid_of(7), RecordedResponse(b"h" * 32, b"r"), 1))

    def refuse(tx: WriteTransaction) -> bytes:
        recorded = tx.recorded_response("", uuid_of(7))
        if recorded is None:
            raise LookupError("the branch is not what it was")
        return recorded.response

    assert await store.write(refuse) == b"r"
    with pytest.raises(LookupError):
        await store.write(lambda tx: _refuse_new(tx))


def _refuse_new(tx: WriteTransaction) -> None:
    assert tx.recorded_response("", uuid_of(8)) is None
    raise LookupError("refused")


# Text


@pytest.mark.parametrize("text", ["\0", "a\0b", "\U0001f600\0é", ""])
async def test_any_text_is_kept_as_it_is(store: PostgresStore, text: str) -> None:
    key = BranchKey(text, uuid_of(1), uuid_of(1))
    row = BranchRow(key, uuid_of(9), 1, external_key=f"{text}x")

    def write(tx: WriteTransaction) -> None:
        tx.insert_branch(row, f'{{"k": "{text}"}}')
        tx.record_response(text, uuid_of(5), RecordedResponse(b"\0", b"\n" + text.encode()), 1)

    await store.write(write)

    def look(tx: Any) -> None:
        assert tx.branch(text, uuid_of(1)) == row
        assert tx.metadata(key, 1) == f'{{"k": "{text}"}}'
        assert tx.branch_id_of_external_key(text, f"{text}x") == uuid_of(1)
        assert tx.recorded_response(text, uuid_of(5)) == RecordedResponse(b"\0", b"\n" + text.encode())

    await store.read(look)


# Readers


async def test_reads_run_beside_each_other_up_to_the_bound_and_idle_connections_go(url: str) -> None:
    limits = PostgresLimits(min_connections=1, max_connections=3, idle_seconds=0.05)
    store = PostgresStore(url, limits=limits)
    await store.start()
    together = threading.Barrier(3)

    def meet(tx: Any) -> None:
        together.wait(30)

    await asyncio.gather(*(store.read(meet) for _ in range(6)))
    assert store._readers is not None
    assert len([thread for thread in store._readers._threads if thread.is_alive()]) == 3
    for _ in range(600):
        if len([thread for thread in store._readers._threads if thread.is_alive()]) == 1:
            break
        await asyncio.sleep(0.05)
    else:
        pytest.fail("idle connections stay")
    assert (await store.read(lambda tx: tx.branch("", uuid_of(1)))) is None
    await store.close()
