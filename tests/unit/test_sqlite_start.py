"""Opening and closing a database file: whose it is, which schema it has, what is left behind."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from antiphon_client.errors import ShuttingDownError, StoreBusyError, StoreCorruptError
from history_service.storage import open_store
from history_service.storage.port import BranchKey, BranchRow
from history_service.storage.sqlite import SqliteStore
from history_service.storage.sqlite import connection as connection_module
from history_service.storage.sqlite.migrations import APPLICATION_ID, Migration, known_migrations, migrate
from tests.support.history import uuid_of

pytestmark = pytest.mark.anyio

KEY = BranchKey("", uuid_of(1), uuid_of(1))
NAME = "history.sqlite3"


@contextmanager
def raw(path: Path) -> Iterator[apsw.Connection]:
    """Open a file without the store."""
    connection = apsw.Connection(str(path))
    try:
        yield connection
    finally:
        connection.close()


async def make_store(path: Path) -> None:
    """Make a database with one branch."""
    store = SqliteStore(str(path))
    await store.start()
    await store.write(lambda tx: tx.insert_branch(BranchRow(KEY, uuid_of(2), 1), ""))
    await store.close()


async def test_a_store_is_named_by_a_url(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / NAME}")
    assert isinstance(store, SqliteStore)
    assert os.listdir(tmp_path) == []


async def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    former = os.umask(0)
    try:
        store = SqliteStore(str(tmp_path / NAME))
        await store.start()
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
        await store.close()
    finally:
        os.umask(former)
    assert modes == dict.fromkeys([NAME, f"{NAME}-wal", f"{NAME}-shm", f"{NAME}.lock"], 0o600)


async def test_a_new_file_has_its_directory_entry_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(connection_module, "sync_directory", synced.append)
    await make_store(tmp_path / NAME)
    assert synced == [str(tmp_path)]


async def test_closing_leaves_one_file_and_twice_is_harmless(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / NAME))
    await store.start()
    await store.write(lambda tx: tx.insert_branch(BranchRow(KEY, uuid_of(2), 1), ""))
    await store.close()
    await store.close()
    assert sorted(os.listdir(tmp_path)) == [NAME, f"{NAME}.lock"]
    with raw(tmp_path / NAME) as connection:
        assert connection.execute("SELECT count(*) FROM branch").get == 1
        assert connection.pragma("integrity_check") == "ok"


async def test_a_store_that_was_never_started_can_be_closed_and_refuses_work(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / NAME))
    await store.close()
    with pytest.raises(ShuttingDownError):
        await store.write(lambda tx: None)
    with pytest.raises(ShuttingDownError):
        await store.read(lambda tx: None)


async def test_one_store_a_file(tmp_path: Path) -> None:
    path = tmp_path / NAME
    (tmp_path / "link.sqlite3").symlink_to(path)
    first = SqliteStore(str(path))
    await first.start()
    for name in (NAME, "link.sqlite3"):
        second = SqliteStore(str(tmp_path / name))
        with pytest.raises(StoreBusyError) as refusal:
            await second.start()
        assert str(refusal.value) == (
            f"{path} is already open in this process; one process serves a database file: "
            "stop that one, or start this one with another file"
        )
        await second.close()
    assert await first.read(lambda tx: tx.branch("", uuid_of(1))) is None
    await first.close()
    await make_store(path)


async def test_a_second_process_is_told_who_has_the_file(tmp_path: Path) -> None:
    path = tmp_path / NAME
    script = (
        "import asyncio, sys\n"
        "from history_service.storage.sqlite import SqliteStore\n"
        "async def main():\n"
        "    await SqliteStore(sys.argv[1]).start()\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.read()\n"
        "asyncio.run(main())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "open\n"
            store = SqliteStore(str(path))
            with pytest.raises(StoreBusyError, match=f"is already open in process {other.pid};"):
                await store.start()
        finally:
            other.kill()
    # Dead, however it died, it keeps nobody out.
    await make_store(path)


async def test_a_file_of_another_program_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with raw(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError, match="is a database of another program"):
        await SqliteStore(str(path)).start()
    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"Dear diary, " * 100)
    with pytest.raises(StoreCorruptError, match=f"cannot open {path}: the database file is damaged"):
        await SqliteStore(str(path)).start()
    assert path.read_bytes() == b"Dear diary, " * 100


async def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / NAME
    with pytest.raises(StoreBusyError, match=f"cannot open {path}.lock: No such file or directory"):
        await SqliteStore(str(path)).start()


async def test_a_newer_schema_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / NAME
    await make_store(path)
    newest = known_migrations()[-1].version
    with raw(path) as connection:
        connection.execute("INSERT INTO schema_version VALUES (?, 'later.sql', 0)", (newest + 1,))
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError) as refusal:
        await SqliteStore(str(path)).start()
    assert str(refusal.value) == (
        f"{path} has schema version {newest + 1} and this release knows versions up to {newest}: "
        "a newer release wrote it; run that one, or restore a backup made before the upgrade"
    )
    with raw(path):
        assert path.read_bytes() == before


async def test_the_schema_is_marked_and_numbered(tmp_path: Path) -> None:
    await make_store(tmp_path / NAME)
    await make_store_again(tmp_path / NAME)
    with raw(tmp_path / NAME) as connection:
        assert connection.pragma("application_id") == APPLICATION_ID
        rows = connection.execute("SELECT version, name FROM schema_version ORDER BY version").fetchall()
    assert rows == [(migration.version, migration.name) for migration in known_migrations()]
    assert [migration.version for migration in known_migrations()] == list(range(1, len(rows) + 1))


async def make_store_again(path: Path) -> None:
    """Open and close a database that exists."""
    store = SqliteStore(str(path))
    await store.start()
    await store.close()


def test_a_migration_runs_once_and_whole(tmp_path: Path) -> None:
    first = known_migrations()
    number = first[-1].version + 1
    good = Migration(number, f"{number:04}_good.sql", "CREATE TABLE extra (n INTEGER) STRICT;")
    bad = Migration(
        number + 1, f"{number + 1:04}_bad.sql", "CREATE TABLE more (n INTEGER) STRICT; DROP TABLE none;"
    )
    with raw(tmp_path / NAME) as connection:
        migrate(connection, [*first, good])
        migrate(connection, [*first, good])
        with pytest.raises(apsw.SQLError):
            migrate(connection, [*first, good, bad])
        assert connection.execute("SELECT max(version) FROM schema_version").get == number
        assert connection.execute("SELECT count(*) FROM extra").get == 0
        assert not connection.table_exists(None, "more")


async def test_tenant_lineage_and_commit_position_lead_the_keys(tmp_path: Path) -> None:
    await make_store(tmp_path / NAME)
    with raw(tmp_path / NAME) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        columns = {
            table: [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
            for table in tables
        }
    for table in ("branch_metadata", "member", "view", "view_row", "change"):
        assert columns[table][:3] == ["tenant_id", "lineage_id", "branch_id"]
    assert columns["message_body"][1:3] == ["tenant_id", "lineage_id"]
    assert columns["recorded_response"][:2] == ["tenant_id", "request_id"]
    assert {"tenant_id", "branch_id", "lineage_id", "incarnation"} < set(columns["branch"])
    assert {"writer", "counter"} < set(columns["change"])


async def test_commit_positions_name_the_start_and_count_from_zero(tmp_path: Path) -> None:
    positions = []
    await make_store(tmp_path / NAME)
    for number in (2, 3):
        store = SqliteStore(str(tmp_path / NAME))
        await store.start()
        for _ in range(2):
            await store.write(lambda tx, revision=number: tx.append_change(KEY, revision, 1, False, b""))  # type: ignore[misc]
        changes = await store.read(lambda tx, after=number - 1: tx.changes(KEY, after, 10))  # type: ignore[misc]
        positions.append([(change.writer_id, change.counter) for change in changes])
        await store.close()
    assert [counter for _, counter in positions[0]] == [counter for _, counter in positions[1]] == [0, 1]
    assert positions[0][0][0] == positions[0][1][0] != positions[1][0][0]
