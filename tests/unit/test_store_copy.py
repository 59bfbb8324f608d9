"""Copies of a store: what is refused, what is repaired, what is noticed, and that nothing is left out."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import StoreBusyError
from history_service.copying import CopyError, destination, passes
from history_service.copying.source import open_source
from history_service.copying.tables import TABLES, UNCOPIED_COLUMNS, UNCOPIED_TABLES
from history_service.storage import open_store
from history_service.storage.postgres.connection import Session
from history_service.storage.sqlite.lock import ProcessLock
from tests.support import exchange as exchanges
from tests.support import postgres
from tests.support.backups import make_store
from tests.support.history import History, assistant, instruction, running, uuid_of
from tests.support.store_copies import copied, differing, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(anyio_backend: object, tmp_path: Path) -> Path:
    """A SQLite store with something of everything, closed."""
    return await make_store(tmp_path / "source")


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    postgres.require_server()
    yield postgres.schema_url(tmp_path)
    postgres.recycle()


def execute(url: str, statement: str, *values: Any) -> int:
    """Run a statement on a database; return how many rows it touched."""
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement.encode(), values).rowcount


def value(url: str, query: str) -> Any:
    """Return the one value of a query."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


# What is copied


async def test_every_table_and_column_is_copied_or_said_not_to_be(store: Path, url: str) -> None:
    copied(store, url)
    read: dict[str, set[str]] = {}
    for table in TABLES:
        read.setdefault(table.source.partition(" ")[0] or table.name, set()).update(table.names)
    with contextlib.closing(apsw.Connection(str(store))) as file:
        tables = {name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        assert tables - set(read) <= UNCOPIED_TABLES
        for source, names in read.items():
            columns = {name for (name,) in file.execute("SELECT name FROM pragma_table_info(?)", (source,))}
            left = {(source, name) for name in columns - names} - UNCOPIED_COLUMNS
            # The name of a change's writer is in the writer's row.
            assert left - {("change", "writer")} == set()
    with psycopg.connect(url) as connection:
        columns_there: dict[str, set[str]] = {}
        for table, column in connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = current_schema()"
        ):
            columns_there.setdefault(table, set()).add(column)
    assert {name: names for name, names in columns_there.items() if name not in UNCOPIED_TABLES} == {
        table.name: set(table.names) for table in TABLES
    }


async def test_the_source_is_left_as_it_is(store: Path, url: str) -> None:
    before = store.read_bytes()
    copied(store, url)
    copied(store, url, last=True)
    assert store.read_bytes() == before


async def test_what_a_killed_service_left_in_its_log_is_copied(tmp_path: Path, url: str) -> None:
    async with running("sqlite", tmp_path) as history:
        await history.create(1)
        # As if killed: the log is not moved into the file.
        for suffix in ("", "-wal"):
            (tmp_path / f"killed{suffix}").write_bytes((tmp_path / f"history.sqlite3{suffix}").read_bytes())
    assert (tmp_path / "killed-wal").stat().st_size
    assert copied(tmp_path / "killed", url, last=True).finished
    async with serving(url) as served:
        assert (await served.branch(uuid_of(1))).revision == 1


# Passes


async def change_much(folder: Path) -> None:
    """Write, fork, trim and purge."""
    async with running("sqlite", folder) as history:
        await history.add(uuid_of(1), instruction(300), assistant(301), request_id=uuid_of(900))
        await history.call(pb.RemoveMessagesRequest(branch_id=uuid_of(1), message_ids=[uuid_of(100)]))
        await history.call(
            pb.ForkBranchRequest(source_branch_id=uuid_of(1), branch_id=uuid_of(4), at_revision=4)
        )
        await history.call(pb.TrimHistoryRequest(branch_id=uuid_of(2), before_revision=6))
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(3), purge=True))
    async with exchanges.running("sqlite", folder, first_id=0xEEEE_8000_0000) as exchange:
        await exchange.lease(2, 1)
        await exchange.unregister(3)
        await exchange.register(3)


async def test_a_later_pass_brings_what_was_written_since(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "_BATCH_ROWS", 1)
    async with running("sqlite", store.parent) as history:
        await history.create(9, external_key="key")
    first = copied(store, url)
    await change_much(store.parent)
    async with running("sqlite", store.parent) as history:
        # The key passes on to a branch that comes before the one that had it.
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(9)))
        await history.create(8, external_key="key")
    second = copied(store, url)
    assert (differing(second), second.finished) == ([], False)
    assert 0 < second.changed < first.changed
    third = copied(store, url, last=True)
    assert (third.changed, third.finished) == (0, True)


async def test_a_pass_is_the_store_at_one_moment_though_it_is_written_meanwhile(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running("sqlite", store.parent) as history:
        loop = asyncio.get_running_loop()
        write = destination.Destination.write

        def write_beside(self: Any, table: Any, *rows: Any) -> None:
            asyncio.run_coroutine_threadsafe(
                history.add(uuid_of(1), instruction(400 + next(count))), loop
            ).result()
            write(self, table, *rows)

        count = iter(range(100))
        monkeypatch.setattr(destination.Destination, "write", write_beside)
        report = await asyncio.to_thread(copied, store, url)
        written = next(count)
        assert written > 10
        assert differing(report) == []
        assert value(url, "SELECT max(revision) FROM branch") == 8
        monkeypatch.undo()
        await asyncio.to_thread(copied, store, url)
        assert value(url, "SELECT max(revision) FROM branch") == 8 + written


@pytest.mark.parametrize("seed", range(6))
async def test_a_pass_that_ended_anywhere_is_taken_up(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(passes, "_BATCH_ROWS", 3)
    monkeypatch.setattr(destination, "_PAGE_ROWS", 2)
    write = destination.Destination.write
    left = chance.randrange(1, 40)

    def end_at_last(self: Any, *rows: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt
        write(self, *rows)

    monkeypatch.setattr(destination.Destination, "write", end_at_last)
    with pytest.raises(KeyboardInterrupt):
        copied(store, url, last=True)
    written = value(url, "SELECT count(*) FROM store_copy WHERE finished_at IS NULL")
    assert written == 1
    if seed % 2:
        await change_much(store.parent)
    monkeypatch.setattr(destination.Destination, "write", write)
    report = copied(store, url, last=True)
    assert (differing(report), report.finished) == ([], True)


async def test_long_messages_do_not_gather(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running("sqlite", tmp_path) as history:
        branch = await history.create(1)
        for number in range(12):
            await history.add(branch, instruction(number + 10, "x" * 2**20))
    sizes = []
    write = destination.Destination.write

    def measure(self: Any, table: Any, keys: Any, rows: Any) -> None:
        if table.name == "message_body":
            sizes.append(sum(len(row[3]) for row in rows))
        write(self, table, keys, rows)

    monkeypatch.setattr(destination.Destination, "write", measure)
    assert differing(copied(tmp_path / "history.sqlite3", url)) == []
    assert len(sizes) == 3
    assert max(sizes) < 6 * 2**20


# What is noticed

TAMPERED = (
    ("message_body", "UPDATE message_body SET bytes = bytes || '\\x00' WHERE number = 5"),
    ("member", "UPDATE member SET order_key = order_key + 1 WHERE body = 5"),
    ("member", "DELETE FROM member WHERE body = 5"),
    ("branch", "UPDATE branch SET incarnation = '\\x00000000000000000000000000000000' WHERE revision > 1"),
    ("body_share", "INSERT INTO body_share SELECT tenant_id, lineage_id, 5, branch_id FROM branch"),
    ("change", "UPDATE change SET counter = counter + 1 WHERE revision = 2"),
    ("change", "UPDATE change SET payload = payload || '\\x00' WHERE revision = 2"),
    ("recorded_response", "UPDATE recorded_response SET response = response || '\\x00'"),
    ("branch_metadata", "UPDATE branch_metadata SET metadata_json = '{}'"),
    ("selected_view", "UPDATE selected_view SET ended_revision = 20"),
    ("view_row", "DELETE FROM view_row"),
    ("writer", "INSERT INTO writer VALUES (77, '\\x00', 0)"),
    ("exchange", "UPDATE exchange SET at_send = NOT at_send"),
    ("exchange_owner", "UPDATE exchange_owner SET last_sequence = last_sequence + 1"),
    ("exchange_inbox", "UPDATE exchange_inbox SET expires_at = 0"),
    ("exchange_outbox", "UPDATE exchange_outbox SET shared = NOT shared"),
    ("exchange_dead_letter", "DELETE FROM exchange_dead_letter"),
    (
        "exchange_shared_body",
        "INSERT INTO exchange_shared_body SELECT tenant_id, exchange_id, 1, 1 FROM exchange",
    ),
    (
        "exchange_body",
        "UPDATE exchange_body SET bytes = '' WHERE number = (SELECT min(number) FROM exchange_body)",
    ),
)


async def test_a_row_that_was_tampered_with_is_noticed(store: Path, url: str) -> None:
    copied(store, url, last=True)
    with psycopg.connect(url, autocommit=True) as connection:
        for table, statement in TAMPERED:
            connection.execute(f"CREATE TEMPORARY TABLE kept AS SELECT * FROM {table}".encode())
            assert connection.execute(statement.encode()).rowcount
            report = copied(store, url, last=True)
            assert differing(report) == [table], statement
            assert report.compared_only
            connection.execute(
                f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept; DROP TABLE kept".encode()
            )
    assert differing(copied(store, url, last=True)) == []


async def test_what_differs_after_it_was_written_is_not_finished(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = destination.Destination.write

    def write_wrongly(self: Any, table: Any, keys: Any, rows: Any) -> None:
        if table.name == "member":
            rows = rows[1:]
        write(self, table, keys, rows)

    monkeypatch.setattr(destination.Destination, "write", write_wrongly)
    report = copied(store, url, last=True)
    assert (differing(report), report.finished) == (["member"], False)
    (member,) = [table for table in report.tables if table.table == "member"]
    assert (member.source_rows - member.destination_rows, member.different) == (1, 1)
    with pytest.raises(StoreBusyError, match="unfinished copy"):
        await open_store(url).start()


async def test_a_body_that_was_tampered_with_before_the_end_is_repaired(store: Path, url: str) -> None:
    copied(store, url)
    execute(url, TAMPERED[0][1])
    report = copied(store, url, last=True)
    assert (report.changed, report.finished) == (1, True)


# What is refused


async def test_an_unfinished_copy_is_not_served(store: Path, url: str) -> None:
    early = open_store(url)
    await early.start()
    copied(store, url)
    with pytest.raises(StoreBusyError, match="unfinished copy"):
        await open_store(url).start()
    # Nor is it written by a service that was started before the copy began.
    with pytest.raises(StoreBusyError, match="unfinished copy"):
        await History(early).create(50)
    await early.close()
    assert copied(store, url, last=True).finished
    async with serving(url) as history:
        await history.add(uuid_of(1), instruction(500))


async def test_a_copy_in_whose_way_a_service_begins_to_write_is_refused(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = open_store(url)
    await service.start()
    loop = asyncio.get_running_loop()
    take = destination.Destination._take

    def take_beside(self: Any) -> bool:
        finished = take(self)
        # The service writes when the copy has seen nobody there and has not committed yet.
        monkeypatch.setattr(destination.Destination, "_take", take)
        asyncio.run_coroutine_threadsafe(History(service).create(60), loop).result()
        return finished

    monkeypatch.setattr(destination.Destination, "_take", take_beside)
    with pytest.raises(CopyError, match="a store of its own"):
        await asyncio.to_thread(copied, store, url)
    await service.close()
    async with serving(url) as history:
        assert (await history.branch(uuid_of(60))).revision == 1


async def test_a_service_in_whose_way_a_copy_begins_does_not_write(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = open_store(url)
    await service.start()
    commit = Session.commit

    def commit_beside(self: Session) -> None:
        # The copy begins when the service has seen no mark and has not committed its place yet.
        monkeypatch.setattr(Session, "commit", commit)
        with (
            open_source(str(store), stopped=False) as source,
            destination.open_destination(url, source.store_id) as begun,
        ):
            assert not begun.finished
        commit(self)

    monkeypatch.setattr(Session, "commit", commit_beside)
    with pytest.raises(StoreBusyError, match="unfinished copy"):
        await History(service).create(60)
    await service.close()
    assert copied(store, url, last=True).finished


async def test_a_copy_that_was_served_is_never_written(store: Path, url: str) -> None:
    copied(store, url, last=True)
    async with serving(url) as history:
        await history.add(uuid_of(1), instruction(500))
    report = copied(store, url, last=True)
    assert report.compared_only
    assert {"branch", "member", "change", "message_body", "writer"} < set(differing(report))
    async with serving(url) as history:
        assert uuid_of(500) in await history.ids(uuid_of(1))


async def test_a_destination_of_its_own_or_of_another_is_refused(
    store: Path, tmp_path: Path, url: str
) -> None:
    async with serving(url) as history:
        await history.create(70)
    with pytest.raises(CopyError, match="a store of its own"):
        copied(store, url)
    assert value(url, "SELECT count(*) FROM branch") == 1
    execute(url, "DELETE FROM branch_metadata; DELETE FROM branch; DELETE FROM change; DELETE FROM writer")
    copied(store, url)
    another = await make_store(tmp_path / "another")
    with pytest.raises(CopyError, match="a copy of another store"):
        copied(another, url)
    assert copied(store, url).changed == 0


async def test_the_last_pass_needs_the_service_stopped_and_keeps_it_so(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running("sqlite", store.parent):
        with pytest.raises(CopyError, match=r"service stopped: .*already open"):
            copied(store, url, last=True)
        assert not copied(store, url).finished
    finish = destination.Destination.finish

    def finish_under_lock(self: Any) -> None:
        with pytest.raises(StoreBusyError, match="already open"):
            ProcessLock(str(store.resolve()))
        finish(self)

    monkeypatch.setattr(destination.Destination, "finish", finish_under_lock)
    assert copied(store, url, last=True).finished
    async with running("sqlite", store.parent) as history:
        assert (await history.branch(uuid_of(1))).revision


async def test_a_copy_that_began_later_goes_on_alone(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = destination.Destination.write

    def overtaken(self: Any, *rows: Any) -> None:
        monkeypatch.setattr(destination.Destination, "write", write)
        copied(store, url)
        write(self, *rows)

    monkeypatch.setattr(destination.Destination, "write", overtaken)
    with pytest.raises(CopyError, match="has begun meanwhile"):
        copied(store, url)
    assert copied(store, url, last=True).finished


async def test_what_is_no_store_of_this_release_is_refused(store: Path, tmp_path: Path, url: str) -> None:
    with pytest.raises(CopyError, match="cannot read"):
        copied(tmp_path / "none", url)
    with pytest.raises(CopyError, match="not there"):
        copied(tmp_path / "none", url, last=True)
    assert not list(tmp_path.glob("none*"))
    (tmp_path / "empty").touch()
    with pytest.raises(CopyError, match="is empty"):
        copied(tmp_path / "empty", url)
    (tmp_path / "text").write_text("no database at all" * 100)
    with pytest.raises(CopyError, match="cannot read"):
        copied(tmp_path / "text", url)
    with contextlib.closing(apsw.Connection(str(store))) as file:
        file.execute("DELETE FROM schema_version WHERE version > 3")
    with pytest.raises(CopyError, match="schema 3 of an earlier release"):
        copied(store, url)


async def test_a_database_that_cannot_be_reached_is_told_without_its_password(store: Path) -> None:
    with pytest.raises(CopyError, match="the same command goes on") as caught:
        copied(store, "postgresql://somebody:hidden@127.0.0.1:1/none")
    assert "hidden" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)
    with pytest.raises(CopyError, match="cannot be read") as caught:
        copied(store, "postgresql://somebody@h/d?pasword=hidden")
    assert "hidden" not in str(caught.value)
