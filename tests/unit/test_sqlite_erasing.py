"""What is purged or trimmed is gone from the files, not only from the tables."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from history_service.storage.sqlite.migrations import known_migrations, migrate
from tests.support.history import History, instruction, running, uuid_of

pytestmark = pytest.mark.anyio

SECRET = "the words that must not stay"


def on_disk(folder: Path) -> bytes:
    """Return the bytes of the database and of its log."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("history.sqlite3*")))


async def furnished(history: History) -> str:
    """Make a branch with secrets of several sizes, small ones between them."""
    branch = await history.create(1)
    await history.create(2)
    for number, times in enumerate((1, 40, 400, 4000), start=1):
        text = " ".join(f"{SECRET} {number}" for _ in range(times))
        await history.add(branch, instruction(number, text), instruction(100 + number, "harmless"))
        await history.add(uuid_of(2), instruction(number, "another branch's"))
    return branch


async def test_a_purge_leaves_no_bytes_in_the_files(anyio_backend: object, tmp_path: Path) -> None:
    async with running("sqlite", tmp_path) as history:
        branch = await furnished(history)
        assert SECRET.encode() in on_disk(tmp_path)
        await history.call(pb.DeleteBranchRequest(branch_id=branch, purge=True))
        # The writer empties its log before it takes up the next write.
        await history.add(uuid_of(2), instruction(50))
        assert SECRET.encode() not in on_disk(tmp_path)
    assert SECRET.encode() not in on_disk(tmp_path)
    assert b"another branch's" in on_disk(tmp_path)


async def test_a_trim_leaves_no_bytes_of_what_it_drops(anyio_backend: object, tmp_path: Path) -> None:
    async with running("sqlite", tmp_path) as history:
        branch = await furnished(history)
        edited = [instruction(number, "edited") for number in range(1, 5)]
        revision = (await history.add(branch, *edited)).revision
        await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=revision))
        await history.add(uuid_of(2), instruction(50))
        assert SECRET.encode() not in on_disk(tmp_path)
        assert len(await history.ids(branch)) == 8


def rows(folder: Path) -> dict[str, int]:
    """Count the rows of the tables that hold what belongs to branches."""
    tables = (
        "branch",
        "branch_metadata",
        "message_body",
        "member",
        "view",
        "view_row",
        "change",
        "body_share",
    )
    connection = apsw.Connection(str(folder / "history.sqlite3"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return {table: connection.execute(f"SELECT count(*) FROM {table}").get for table in tables}
    finally:
        connection.close()


async def with_views(history: History) -> str:
    """Make a branch at revision 8 with three views, of which one is selected, and former rows in each."""
    branch = await history.create(1)
    await history.add(branch, *(instruction(number) for number in range(1, 6)))
    for chosen in ((1, 2, 3), (2, 3, 4), (3, 4, 5)):
        ids = [uuid_of(number) for number in chosen]
        await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=ids))
        await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=ids[:1]))
    return branch


async def test_a_trim_leaves_no_row_that_nothing_shows(anyio_backend: object, tmp_path: Path) -> None:
    async with running("sqlite", tmp_path) as history:
        branch = await with_views(history)
        expected = {"branch": 1, "branch_metadata": 1, "body_share": 0}
        # Members, bodies, views and view rows needed from a revision on.
        for oldest, needed in {
            2: (5, 5, 3, 9),
            4: (4, 4, 3, 8),
            5: (4, 4, 2, 6),
            6: (3, 3, 2, 5),
            7: (3, 3, 1, 3),
            8: (2, 2, 1, 2),
        }.items():
            await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=oldest))
            counts = dict(zip(("member", "message_body", "view", "view_row"), needed, strict=True))
            assert rows(tmp_path) == expected | counts | {"change": 9 - oldest}, oldest


async def test_a_purge_leaves_a_tombstone_and_its_last_change_alone(
    anyio_backend: object, tmp_path: Path
) -> None:
    async with running("sqlite", tmp_path) as history:
        branch = await with_views(history)
        for target in (2, 3):
            await history.call(
                pb.ForkBranchRequest(source_branch_id=branch, branch_id=uuid_of(target), at_revision=4)
            )
        for number in (1, 2, 3):
            await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(number), purge=True))
        left = {table: number for table, number in rows(tmp_path).items() if number}
        assert left == {"branch": 3, "change": 3}


async def test_a_branch_deleted_before_the_migration_is_kept_for_a_while(tmp_path: Path) -> None:
    path = str(tmp_path / "history.sqlite3")
    connection = apsw.Connection(path)
    migrations = known_migrations()
    migrate(connection, migrations[:1])
    connection.execute(
        "INSERT INTO branch (tenant_id, branch_id, lineage_id, incarnation, created_at, revision,"
        " message_count, last_key, view_count, view_last_key, deleted) VALUES"
        " ('', x'01', x'01', x'01', 1, 2, 0, 0, 0, 0, 1), ('', x'02', x'02', x'02', 1, 2, 0, 0, 0, 0, 0)"
    )
    migrate(connection, migrations)
    rows = connection.execute(
        "SELECT deleted, oldest_revision, sweep_after > unixepoch() * 1000000000 FROM branch ORDER BY number"
    ).fetchall()
    connection.close()
    assert rows == [(1, 1, 1), (0, 1, None)]
