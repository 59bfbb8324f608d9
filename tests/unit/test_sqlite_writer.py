"""The group writer: what shares a commit, what fails alone, what fails together."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from antiphon_client.errors import (
    AntiphonError,
    OverloadedError,
    RevisionConflictError,
    ShuttingDownError,
    StoreBusyError,
    StoreCorruptError,
)
from history_service.storage.port import (
    BranchKey,
    BranchRow,
    MessagePage,
    NewMember,
    ReadTransaction,
    WriteTransaction,
)
from history_service.storage.sqlite import SqliteStore, WriterLimits
from history_service.storage.sqlite.connection import open_observer
from history_service.storage.sqlite.store import READER_THREADS
from history_service.storage.sqlite.writer import BUNDLE_WORKS, QUIET_TURNS, GroupWriter
from tests.support.faults import FaultyVfs, faulty_disk
from tests.support.history import uuid_of
from tests.support.powercut import DiskLog, RecordingVfs, Sync

pytestmark = pytest.mark.anyio

KEY = BranchKey("", uuid_of(1), uuid_of(1))
PATIENCE_SECONDS = 30.0


@asynccontextmanager
async def opened(
    folder: Path, *, limits: WriterLimits | None = None, vfs: str | None = None, new: bool = True
) -> AsyncIterator[SqliteStore]:
    """Run a store with one branch, made unless it is there already."""
    store = SqliteStore(str(folder / "history.sqlite3"), limits=limits, vfs=vfs)
    await store.start()
    try:
        if new:
            await store.write(lambda tx: tx.insert_branch(BranchRow(KEY, uuid_of(2), 1), ""))
        yield store
    finally:
        await store.close()


async def test_a_read_that_failed_keeps_no_thread_in_the_past(anyio_backend: object, tmp_path: Path) -> None:
    together = threading.Barrier(READER_THREADS)

    def on_each_thread(work: Callable[[ReadTransaction], Any]) -> Callable[[ReadTransaction], Any]:
        def waiting(tx: ReadTransaction) -> Any:
            together.wait(PATIENCE_SECONDS)
            return work(tx)

        return waiting

    def read_all(tx: ReadTransaction) -> MessagePage:
        return tx.read_messages(KEY, 9, view=None, after=None, limit=9, max_bytes=999)

    def revision(tx: ReadTransaction) -> int:
        branch = tx.branch("", KEY.branch_id)
        assert branch is not None
        return branch.revision

    async with opened(tmp_path) as store:
        for number in (10, 11, 12):
            await store.write(append(number))
        connection = apsw.Connection(store.path)
        connection.execute("DELETE FROM message_body WHERE number = 2")
        connection.close()
        # The errors are kept: with them would be the statements that they cut short.
        failures = await asyncio.gather(
            *(store.read(on_each_thread(read_all)) for _ in range(READER_THREADS)), return_exceptions=True
        )
        assert [type(failure) for failure in failures] == [StoreCorruptError] * READER_THREADS
        await store.write(append(13))
        found = await asyncio.gather(*(store.read(on_each_thread(revision)) for _ in range(READER_THREADS)))
        assert found == [5] * READER_THREADS


def append(number: int) -> Callable[[WriteTransaction], int]:
    """A work that appends one message."""

    def work(tx: WriteTransaction) -> int:
        branch = tx.branch("", KEY.branch_id)
        assert branch is not None
        branch.revision += 1
        branch.message_count += 1
        branch.last_key += 10
        row = NewMember(uuid_of(number), branch.last_key, 2, None, False, b"body %d" % number)
        tx.insert_members(KEY, branch.revision, [row])
        tx.append_change(KEY, branch.revision, 1, False, b"")
        tx.save_head(branch)
        return branch.revision

    return work


def failing(number: int) -> Callable[[WriteTransaction], int]:
    """A work that appends one message and then fails."""

    def work(tx: WriteTransaction) -> int:
        append(number)(tx)
        raise LookupError(f"work {number}")

    return work


def revision_of(tx: ReadTransaction) -> int:
    """The branch's revision."""
    branch = tx.branch("", KEY.branch_id)
    assert branch is not None
    return branch.revision


def bodies_of(tx: ReadTransaction) -> list[bytes]:
    """The branch's bodies, in order."""
    return tx.read_messages(KEY, revision_of(tx), view=None, after=None, limit=1000, max_bytes=10**6).bodies


class Gate:
    """A work that holds the writer until the test has queued what it wants in one commit."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def __call__(self, _tx: WriteTransaction) -> None:
        self.reached.set()
        assert self.open.wait(PATIENCE_SECONDS)


async def until_queued() -> None:
    """Let the loop turn until every task has asked for its write and the bundle of them is complete."""
    for _ in range(QUIET_TURNS + 3):
        await asyncio.sleep(0)


async def in_one_commit(
    store: SqliteStore, works: Sequence[Callable[[WriteTransaction], object]]
) -> list[Any]:
    """Run works in the commit of a gate that holds the writer until they are queued."""
    gate = Gate()
    held = asyncio.create_task(store.write(gate))
    await asyncio.to_thread(gate.reached.wait, PATIENCE_SECONDS)
    tasks = [asyncio.create_task(store.write(work)) for work in works]
    await until_queued()
    gate.open.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(held, return_exceptions=True)
    return results


async def test_queued_works_share_a_commit(tmp_path: Path) -> None:
    log = DiskLog({})
    vfs = RecordingVfs("recording-commits", log)
    async with opened(tmp_path, vfs=vfs.name) as store:
        before = len(log.entries)
        results = await in_one_commit(store, [append(number) for number in range(10, 30)])
        assert results == list(range(2, 22))
        assert sum(isinstance(entry, Sync) for entry in log.entries[before:]) == 1
        counters = await store.read(lambda tx: [change.counter for change in tx.changes(KEY, 0, 100)])
        assert counters == list(range(20))
    vfs.unregister()


async def test_works_of_successive_turns_of_the_loop_share_a_commit(tmp_path: Path) -> None:
    log = DiskLog({})
    vfs = RecordingVfs("recording-turns", log)
    async with opened(tmp_path, vfs=vfs.name) as store:
        # The caller is not alone.
        await asyncio.gather(store.write(append(1)), store.write(append(2)), store.write(append(3)))
        before = len(log.entries)
        begun = threading.Event()
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(store.write(lambda _tx: begun.set()))]
        for number in range(10, 15):
            for _ in range(QUIET_TURNS // 2):
                await asyncio.sleep(0)
            # The writer has all the time it wants, but no work before the loop has been quiet for long.
            assert not begun.wait(0.01)
            tasks.append(asyncio.create_task(store.write(append(number))))
        await asyncio.gather(*tasks)
        assert sum(isinstance(entry, Sync) for entry in log.entries[before:]) == 1
    vfs.unregister()


async def test_a_lone_callers_work_does_not_wait_for_the_loop_to_be_quiet(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        for number in (1, 2, 3):
            await store.write(append(number))
            gate = Gate()
            gate.open.set()
            task = asyncio.create_task(store.write(gate))
            await asyncio.sleep(0)
            # The loop does not turn any more, and yet the writer has it.
            assert gate.reached.wait(PATIENCE_SECONDS)
            await task


async def test_a_complete_bundle_does_not_wait_for_the_loop_to_be_quiet(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        await asyncio.gather(*(store.write(append(number)) for number in (1, 2, 3)))
        begun = threading.Event()
        tasks = [asyncio.create_task(store.write(lambda _tx: begun.set())) for _ in range(BUNDLE_WORKS)]
        for _ in range(2):
            await asyncio.sleep(0)
        assert begun.wait(PATIENCE_SECONDS)
        await asyncio.gather(*tasks)


async def test_closing_takes_the_works_of_an_incomplete_bundle_along(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        await asyncio.gather(*(store.write(append(number)) for number in (1, 2, 3)))
        task = asyncio.create_task(store.write(append(4)))
        await asyncio.sleep(0)
        await store.close()
        assert await asyncio.wait_for(task, PATIENCE_SECONDS) == 5


async def test_a_work_that_starts_a_commit_is_not_committed_with_those_before_it(tmp_path: Path) -> None:
    log = DiskLog({})
    vfs = RecordingVfs("recording-apart", log)
    async with opened(tmp_path, vfs=vfs.name) as store:
        before = len(log.entries)
        commits: list[int] = []

        def counted(work: Callable[[WriteTransaction], int]) -> Callable[[WriteTransaction], int]:
            def count(tx: WriteTransaction) -> int:
                commits.append(sum(isinstance(entry, Sync) for entry in log.entries[before:]))
                return work(tx)

            return count

        gate = Gate()
        held = asyncio.create_task(store.write(gate))
        await asyncio.to_thread(gate.reached.wait, PATIENCE_SECONDS)
        tasks = [
            asyncio.create_task(store.write(counted(append(number)), starts_commit=number in (11, 13)))
            for number in range(10, 14)
        ]
        await until_queued()
        closing = asyncio.create_task(store.close())
        await asyncio.sleep(0)
        gate.open.set()
        assert await asyncio.gather(*tasks) == [2, 3, 4, 5]
        await asyncio.gather(held, closing)
        assert commits == [0, 1, 1, 2]
    vfs.unregister()


async def test_a_failing_work_leaves_the_others_of_its_commit(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        works = [append(1), failing(2), append(3), failing(4), failing(5), append(6)]
        results = await in_one_commit(store, works)
        assert [result for result in results if isinstance(result, int)] == [2, 3, 4]
        assert [str(result) for result in results if isinstance(result, LookupError)] == [
            "work 2", "work 4", "work 5",
        ]  # fmt: skip
        assert await store.read(bodies_of) == [b"body 1", b"body 3", b"body 6"]
        counters = await store.read(lambda tx: [change.counter for change in tx.changes(KEY, 0, 100)])
        assert counters == [0, 1, 2]


async def test_groups_end_at_their_bounds(tmp_path: Path) -> None:
    for limits in (WriterLimits(group_works=3), WriterLimits(group_bytes=10)):
        folder = tmp_path / str(limits.group_works)
        folder.mkdir()
        async with opened(folder, limits=limits) as store:
            results = await in_one_commit(store, [append(number) for number in range(10, 20)])
            assert results == list(range(2, 12))


@pytest.mark.parametrize(
    ("fault", "text", "condition"),
    [
        (apsw.FullError("disk full"), "the disk is full", "disk_full"),
        (apsw.ReadOnlyError("read only"), "the database file cannot be written", "read_only"),
        (apsw.IOError("broken"), "the disk reports an input/output error", "io_error"),
    ],
)
@pytest.mark.parametrize("moment", ["on_write", "on_sync"])
async def test_a_commit_that_fails_fails_all_its_works(
    tmp_path: Path, fault: apsw.Error, text: str, condition: str, moment: str
) -> None:
    def conflicting(tx: WriteTransaction) -> int:
        raise RevisionConflictError.of(KEY.branch_id, expected=1, actual=revision_of(tx))

    def break_disk(tx: WriteTransaction) -> int:
        setattr(disk, moment, fault)
        return append(2)(tx)

    with faulty_disk("faulty-commit") as disk:
        async with opened(tmp_path, vfs=disk.name) as store:
            assert await store.write(append(1)) == 2
            results = await in_one_commit(store, [append(3), conflicting, break_disk, append(4)])
            # The conflict, too: it was over a write that did not happen.
            assert [type(result) for result in results] == [StoreBusyError] * 4
            assert text in str(results[0])
            assert isinstance(results[0], AntiphonError)
            assert results[0].metadata == {"condition": condition}
            assert results[0].retry_after == (0.1 if condition == "io_error" else 1.0)
            assert await store.read(bodies_of) == [b"body 1"]
            with pytest.raises(StoreBusyError):
                await store.write(append(5))
            _mend(disk)
            assert await store.write(append(6)) == 3
            assert await store.read(bodies_of) == [b"body 1", b"body 6"]
            counters = await store.read(lambda tx: [change.counter for change in tx.changes(KEY, 0, 100)])
            assert counters == [0, 1]


def _mend(disk: FaultyVfs) -> None:
    disk.on_write = disk.on_sync = None


async def test_a_read_that_fails_is_told_and_the_next_one_works(tmp_path: Path) -> None:
    with faulty_disk("faulty-read") as disk:
        async with opened(tmp_path, vfs=disk.name) as store:
            disk.on_read = apsw.IOError("broken")
            with pytest.raises(StoreBusyError, match="the disk reports an input/output error"):
                await store.read(revision_of)
            disk.on_read = None
            assert await store.read(revision_of) == 1


async def test_a_full_queue_refuses(tmp_path: Path) -> None:
    async with opened(tmp_path, limits=WriterLimits(queued_works=3)) as store:
        results = await in_one_commit(store, [append(number) for number in range(10, 14)])
        assert results[:2] == [2, 3]
        assert [type(result) for result in results[2:]] == [OverloadedError, OverloadedError]
        assert await store.write(append(20)) == 4


async def test_a_cancelled_caller_does_not_cancel_its_work(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        gate = Gate()
        held = asyncio.create_task(store.write(gate))
        await asyncio.to_thread(gate.reached.wait, PATIENCE_SECONDS)
        task = asyncio.create_task(store.write(append(1)))
        await until_queued()
        task.cancel()
        gate.open.set()
        await held
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await store.write(append(2)) == 3


async def test_closing_finishes_what_is_queued_and_refuses_the_rest(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        gate = Gate()
        held = asyncio.create_task(store.write(gate))
        await asyncio.to_thread(gate.reached.wait, PATIENCE_SECONDS)
        queued = asyncio.create_task(store.write(append(1)))
        await asyncio.sleep(0)
        closing = asyncio.create_task(store.close())
        await asyncio.sleep(0)
        with pytest.raises(ShuttingDownError):
            await store.write(append(2))
        gate.open.set()
        await closing
        await held
        assert await queued == 2
        with pytest.raises(ShuttingDownError):
            await store.read(revision_of)


async def test_a_branch_head_does_not_outlive_the_work_that_failed(tmp_path: Path) -> None:
    other = BranchKey("", uuid_of(7), uuid_of(7))

    def create_and_fail(tx: WriteTransaction) -> None:
        tx.insert_branch(BranchRow(other, uuid_of(8), 1), "")
        assert tx.branch("", other.branch_id) is not None
        raise LookupError

    async with opened(tmp_path) as store:
        with pytest.raises(LookupError):
            await store.write(create_and_fail)
        assert await store.write(lambda tx: tx.branch("", other.branch_id)) is None


async def test_the_log_is_copied_and_begun_anew(tmp_path: Path) -> None:
    limits = WriterLimits(checkpoint_pages=20, full_checkpoint_pages=60)
    async with opened(tmp_path, limits=limits) as store:
        for number in range(10, 210):
            await store.write(append(number))
        assert (tmp_path / "history.sqlite3-wal").stat().st_size < 100 * 4200
        assert len(await store.read(bodies_of)) == 200


async def test_a_long_reading_does_not_hold_every_write_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer waits for a reader once in a while, not after each of its commits."""
    outcomes: list[tuple[int, bool]] = []
    monkeypatch.setattr("history_service.storage.sqlite.connection.BUSY_MILLISECONDS", 1)
    copy_log = GroupWriter._copy_log

    def noted(writer: GroupWriter, mode: int) -> bool:
        outcomes.append((mode, copy_log(writer, mode)))
        return outcomes[-1][1]

    monkeypatch.setattr(GroupWriter, "_copy_log", noted)
    limits = WriterLimits(checkpoint_pages=1, full_checkpoint_pages=1)
    async with opened(tmp_path, limits=limits) as store:
        with contextlib.closing(open_observer(store.path)) as reading:
            reading.execute("BEGIN")
            assert reading.execute("SELECT count(*) FROM branch").get == 1
            for number in range(10, 22):
                await store.write(append(number))
            # The last write's own checkpoint may be still to come, and one may have come before the reading.
            assert outcomes.count((apsw.SQLITE_CHECKPOINT_RESTART, False)) == 1
            assert outcomes.count((apsw.SQLITE_CHECKPOINT_PASSIVE, True)) >= 9
