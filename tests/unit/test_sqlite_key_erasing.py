"""An erased key makes its branch unreadable and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import BranchDeletedError, StoreCorruptError
from history_service.storage.port import BranchKey, BranchRow
from history_service.storage.sqlite import SqliteStore
from history_service.sweeping import Keeping, Sweeper
from tests.support.encryption import SEALED_BODIES, on_disk, opened_bodies, ring
from tests.support.encryption_scenes import furnished, read_whole
from tests.support.history import instruction, running, uuid_of

pytestmark = pytest.mark.anyio


def look(folder: Path, statement: str, *values: Any) -> list[Any]:
    """Ask the file."""
    connection = apsw.Connection(str(folder / "history.sqlite3"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


OF_BRANCH = "FROM member WHERE branch_id = ? ORDER BY order_key, added_revision"


def blob(number: int) -> bytes:
    return bytes.fromhex(uuid_of(number).replace("-", ""))


async def test_a_fork_wraps_keys_and_copies_no_bodies(anyio_backend: object, tmp_path: Path) -> None:
    async with furnished("encrypted", tmp_path) as history:
        bodies = look(tmp_path, "SELECT number, bytes FROM message_body ORDER BY number")
        former = dict(look(tmp_path, f"SELECT body, wrapped_key {OF_BRANCH}", blob(1)))
        await history.call(pb.ForkBranchRequest(source_branch_id=uuid_of(1), branch_id=uuid_of(7)))
        assert look(tmp_path, "SELECT number, bytes FROM message_body ORDER BY number") == bodies
        own = dict(look(tmp_path, f"SELECT body, wrapped_key {OF_BRANCH}", blob(7)))
        assert len(own) == 44
        assert own.keys() <= former.keys()
        assert not set(own.values()) & set(former.values())
        assert all(len(wrapped) == 60 for wrapped in own.values())
        assert (await read_whole(history, 7))[0][:2] == (await read_whole(history, 1))[0][:2]


async def test_a_purge_erases_the_key_and_leaves_the_forks_readable(
    anyio_backend: object, tmp_path: Path
) -> None:
    async with furnished("encrypted", tmp_path) as history:
        was = await read_whole(history, 2, 3, 4, 5, 6)
        keys = "SELECT wrapped FROM branch JOIN encryption_key k ON k.number = key_number WHERE branch_id = ?"
        ((wrapped,),) = look(tmp_path, keys, blob(1))
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(1), purge=True))
        assert await read_whole(history, 2, 3, 4, 5, 6) == was
        # The writer empties its log before it takes up the next write.
        await history.add(uuid_of(6), instruction(70))
        assert wrapped not in on_disk(tmp_path)
        assert look(tmp_path, keys, blob(1)) == [(bytes(len(wrapped)),)]
        with pytest.raises(BranchDeletedError):
            await history.snapshot(uuid_of(1))
        for number in (5, 3, 2):
            await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(number), purge=True))
        assert await read_whole(history, 4) == was[2:3]
    async with running("encrypted", tmp_path) as history:
        assert await read_whole(history, 4) == was[2:3]


async def test_nothing_of_a_branch_opens_once_its_key_is_erased_however_much_is_left(
    anyio_backend: object, tmp_path: Path
) -> None:
    async with furnished("encrypted", tmp_path) as history:
        assert len(opened(tmp_path)) == len(look(tmp_path, "SELECT number FROM message_body"))
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(1)))
        key = BranchKey("", uuid_of(1), uuid_of(1))
        # Its retention has not passed: the file and the master key still open it.
        assert await history.store.read(lambda tx: tx.metadata(key, 1)) == '{"a": 1}'
        deleted = await history.store.read(lambda tx: tx.branch("", uuid_of(1)))
        assert isinstance(deleted, BranchRow)
        assert not await history.store.write(lambda tx: tx.sweep(deleted, 1))
        rows = look(tmp_path, f"SELECT message_id, body {OF_BRANCH}", blob(1))
        assert len(rows) >= 44
        with pytest.raises(StoreCorruptError, match="erased"):
            await history.store.read(lambda tx: tx.metadata(key, 1))
        for at in (2, 3, 5):
            with pytest.raises(StoreCorruptError, match="erased"):
                await history.store.read(
                    lambda tx, at=at: tx.read_messages(  # type: ignore[misc]
                        key, at, view=None, after=None, limit=99, max_bytes=10**6
                    )
                )
        with pytest.raises(StoreCorruptError, match="erased"):
            opened(tmp_path)
        assert len(await read_whole(history, 2, 3, 4, 5, 6)) == 5


def opened(folder: Path) -> dict[int, bytes]:
    """Open every body of the file with the master key."""
    connection = apsw.Connection(str(folder / "history.sqlite3"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return opened_bodies(connection.execute(SEALED_BODIES), ring())
    finally:
        connection.close()


async def test_the_retention_erases_the_key_when_it_has_passed(anyio_backend: object, tmp_path: Path) -> None:
    async with running("encrypted", tmp_path, keeping=Keeping(deleted_seconds=100)) as history:
        for number in (1, 2):
            await history.add(await history.create(number), instruction(9))
        ((wrapped,),) = look(tmp_path, "SELECT wrapped FROM encryption_key WHERE number = 1")
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(1)))
        sweeper = Sweeper(history.store, clock=history.clock)
        await sweeper.sweep_due()
        assert look(tmp_path, "SELECT wrapped FROM encryption_key WHERE number = 1") == [(wrapped,)]
        history.clock.now += 101 * 10**9
        await sweeper.sweep_due()
        await history.add(uuid_of(2), instruction(10))
        assert wrapped not in on_disk(tmp_path)


async def test_of_many_keys_the_erased_ones_stand_nowhere(anyio_backend: object, tmp_path: Path) -> None:
    """Enough keys for several pages, most of them erased: SQLite would move rows if they were deleted."""
    async with running("encrypted", tmp_path) as history:
        for number in range(1, 301):
            await history.create(number)
        keys = dict(look(tmp_path, "SELECT number, wrapped FROM encryption_key"))
        gone = [number for number in range(1, 301) if number % 7 or number < 100]
        for number in gone:
            await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(number), purge=True))
        await history.create(301)
        files = on_disk(tmp_path)
        assert not [number for number in gone if keys[number] in files]
        assert all(keys[number] in files for number in keys if number not in gone)


async def test_a_log_left_by_a_crash_does_not_keep_an_erased_key(
    anyio_backend: object, tmp_path: Path
) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    async with running("encrypted", tmp_path) as history:
        await history.create(1)
        await history.create(2)
        ((wrapped,),) = look(tmp_path, "SELECT wrapped FROM encryption_key WHERE number = 1")
        # A reader in the way keeps the log from being emptied.
        reader = apsw.Connection(str(tmp_path / "history.sqlite3"))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM branch").fetchall()
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(1), purge=True))
        for file in tmp_path.glob("history.sqlite3*"):
            (crashed / file.name).write_bytes(file.read_bytes())
        reader.close()
    assert wrapped in on_disk(crashed)
    store = SqliteStore(str(crashed / "history.sqlite3"), ring=ring())
    await store.start()
    assert wrapped not in on_disk(crashed)
    await store.close()
