"""Change records in SQLite: a chain through the log, with an index entry at every 32nd."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import apsw
import pytest

from history_service.storage.port import BranchKey
from history_service.storage.sqlite.migrations import known_migrations, migrate
from history_service.storage.sqlite.reading import SqliteReadTransaction
from history_service.storage.sqlite.writing import SqliteWriteTransaction
from tests.support.history import uuid_of
from tests.support.sqlite_writer import BRANCH, CountingWriter

OTHER = uuid_of(2)
REVISIONS = 150
MILESTONE = 32


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[CountingWriter]:
    """Two branches written in turns, to the same revision."""
    writer = CountingWriter(tmp_path)
    for branch in (BRANCH, OTHER):
        writer.create(branch)
    writer.append_to_each([BRANCH, OTHER] * (REVISIONS - 1))
    yield writer
    writer.store.close()


def read(writer: CountingWriter, after: int, limit: int, branch: str = BRANCH) -> list[int]:
    """The revisions of the records read."""
    reader = SqliteReadTransaction(writer.store.connection)
    return [row.revision for row in reader.changes(BranchKey("", branch, branch), after, limit)]


@pytest.mark.parametrize("limit", [1, 7, MILESTONE, 1000])
def test_records_are_read_from_any_revision(writer: CountingWriter, limit: int) -> None:
    for after in range(REVISIONS + 2):
        wanted = list(range(after + 1, min(after + limit, REVISIONS) + 1))
        assert read(writer, after, limit) == wanted, after


def test_a_commit_sees_the_records_it_wrote(writer: CountingWriter) -> None:
    key = BranchKey("", BRANCH, BRANCH)

    def work(tx: SqliteWriteTransaction) -> list[int]:
        for revision in range(REVISIONS + 1, REVISIONS + 41):
            tx.append_change(key, revision, 4, False, b"[]")
        return [row.revision for row in tx.changes(key, REVISIONS - 2, 1000)]

    assert writer.store.run(work)[0] == list(range(REVISIONS - 1, REVISIONS + 41))


@pytest.mark.parametrize("limit", [1, 40, 1000])
def test_a_trim_drops_the_oldest_and_leaves_the_rest_readable(writer: CountingWriter, limit: int) -> None:
    for oldest in (2, 20, MILESTONE, MILESTONE + 1, 100, REVISIONS):
        writer.trim(BRANCH, oldest, limit)
        kept = list(range(oldest, REVISIONS + 1))
        assert read(writer, oldest - 1, 1000) == kept
        assert read(writer, oldest - 1, 5) == kept[:5]
        assert read(writer, 0, 40) == kept[:40]
        assert rows_of(writer, BRANCH) == len(kept)
    assert read(writer, 0, 1000, OTHER) == list(range(1, REVISIONS + 1))


def rows_of(writer: CountingWriter, branch: str) -> int:
    """How many records the file has of a branch."""
    blob = bytes.fromhex(branch.replace("-", ""))
    return int(
        writer.store.connection.execute("SELECT count(*) FROM change WHERE branch_id = ?", (blob,)).get
    )


def test_reading_costs_what_is_read_and_not_how_much_there_is(writer: CountingWriter) -> None:
    def steps(after: int) -> int:
        taken = 0

        def count() -> bool:
            nonlocal taken
            taken += 1
            return False

        writer.store.connection.set_progress_handler(count, 1)
        read(writer, after, 10)
        writer.store.connection.set_progress_handler(None)
        return taken

    first = mean(steps(after) for after in range(MILESTONE))
    last = mean(steps(after) for after in range(REVISIONS - 10 - MILESTONE, REVISIONS - 10))
    # Near the end a walk begins at the last record, which is nearer than a milestone.
    assert last <= first <= 1.5 * last


def test_few_records_have_an_index_entry(writer: CountingWriter) -> None:
    used = writer.store.bytes_used()
    entry = 60
    assert 0 < used["change_by_milestone"] <= entry * 2 * (REVISIONS // MILESTONE)


def test_records_of_an_earlier_schema_are_chained(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "history.sqlite3"))
    migrations = known_migrations()
    migrate(connection, migrations[:3])
    connection.execute("INSERT INTO writer VALUES (1, x'01', 1)")
    branches = [BRANCH, OTHER]
    for branch in branches:
        blob = bytes.fromhex(branch.replace("-", ""))
        connection.execute(
            "INSERT INTO branch (tenant_id, branch_id, lineage_id, incarnation, created_at, revision,"
            " message_count, last_key, view_count, view_last_key, deleted)"
            " VALUES ('', ?1, ?1, ?1, 1, 100, 0, 0, 0, 0, 0)",
            (blob,),
        )
    for revision in range(1, 101):
        for branch in branches:
            blob = bytes.fromhex(branch.replace("-", ""))
            connection.execute(
                "INSERT INTO change VALUES ('', ?1, ?1, ?2, 4, 0, ?3, 1, 0)",
                (blob, revision, f"{branch} {revision}".encode()),
            )
    migrate(connection, migrations)
    writer = SqliteWriteTransaction(connection)
    connection.execute("BEGIN IMMEDIATE")
    writer.begin_group(careful=False)
    writer.begin_work()
    for branch in branches:
        writer.append_change(BranchKey("", branch, branch), 101, 4, False, f"{branch} 101".encode())
    writer.end_work()
    writer.flush()
    connection.execute("COMMIT")
    reader = SqliteReadTransaction(connection)
    for branch in branches:
        for after in (0, 31, 32, 99, 100):
            found = reader.changes(BranchKey("", branch, branch), after, 1000)
            assert [row.payload.decode() for row in found] == [
                f"{branch} {revision}" for revision in range(after + 1, 102)
            ]
    connection.close()
