"""WatchBranch: every change once a position, in order, without a gap, whatever the reader does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import (
    BranchDeletedError,
    BranchNotFoundError,
    FieldInvalidError,
    RevisionExpiredError,
    RevisionInFutureError,
    StoreCorruptError,
)
from history_service.storage.memory import MemoryStore
from history_service.watch_stream import PAGE_CHANGES, WatchTimes
from tests.support.history import (
    History,
    action_result,
    assistant,
    call_action,
    instruction,
    running,
    system,
    uuid_of,
)
from tests.support.watching import Mirror, Watcher, replica, watching

pytestmark = pytest.mark.anyio

KINDS = pb.BranchChangeKind


def steps(change: pb.BranchChange) -> list[tuple[Any, ...]]:
    """Return a change's operations as tuples of numbers that a test can write down."""
    found: list[tuple[Any, ...]] = []
    for operation in change.operations:
        kind = str(operation.WhichOneof("operation"))
        values = [value for _, value in getattr(operation, kind).ListFields()]
        found.append((kind, *(int(v[-12:], 16) if isinstance(v, str) else v for v in values)))
    return found


async def revisions(watcher: Watcher, count: int) -> list[int]:
    return [(await watcher.change()).revision for _ in range(count)]


async def test_every_kind_of_write_is_told_as_it_was(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), call_action(2), assistant(3))
    await history.add(branch, action_result(4, request=2), instruction(1, "again"))
    await history.system(branch, "policy", uuid_of(10))
    await history.system(branch, "another", uuid_of(11))
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(3), index=1))
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(3)]))
    await history.call(pb.ClearViewRequest(branch_id=branch))
    await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json="{}"))
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(4)]))
    await history.call(pb.ClearMessagesRequest(branch_id=branch))
    async with watching(history, branch) as watcher:
        told = await watcher.changes()
    assert [change.revision for change in told] == list(range(1, 12))
    assert [(KINDS.Name(change.kind)[len("BRANCH_CHANGE_KIND_") :], steps(change)) for change in told] == [
        ("CREATED", []),
        ("MEMBERSHIP", [("added", 1), ("added", 2, 1), ("added", 3, 2)]),
        ("MEMBERSHIP", [("replaced", 1), ("added", 4, 3), ("replaced", 2)]),
        ("MEMBERSHIP", [("added", 10)]),
        ("MEMBERSHIP", [("removed", 10), ("added", 11)]),
        ("MEMBERSHIP", [("moved", 3, 1)]),
        ("VIEW", [("view_selected", 1)]),
        ("VIEW", [("view_cleared",)]),
        ("METADATA", []),
        ("MEMBERSHIP", [("removed", 4), ("replaced", 2)]),
        ("MEMBERSHIP", [("cleared",)]),
    ]
    incarnation = (await history.branch(branch)).incarnation
    assert {change.incarnation for change in told} == {incarnation}
    assert not any(change.ignorable for change in told)
    writers = {change.position.writer_id for change in told}
    assert len(writers) == 1
    counters = [change.position.counter for change in told]
    assert counters == list(range(counters[0], counters[0] + 11))


async def test_mirror_of_the_changes_is_the_order(history: History) -> None:
    branch = await history.create()
    mirror = Mirror()
    async with watching(history, branch) as watcher:
        for number in range(1, 40):
            if number % 5 == 0:
                message_id = mirror.order[-1]
                await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=message_id, index=1))
            elif number % 7 == 0:
                mirror.system = uuid_of(100 + number)
                await history.system(branch, "policy", mirror.system)
            elif number % 11 == 0:
                message_ids = mirror.order[1:3]
                await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=message_ids))
            elif number == 26:
                await history.call(pb.ClearMessagesRequest(branch_id=branch))
            else:
                await history.add(branch, instruction(number), instruction(1000 + number))
            for change in await watcher.changes():
                mirror.apply(change)
            assert mirror.order == await history.ids(branch)


async def test_watch_begins_after_the_revision_and_stays_open(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1))
    await history.add(branch, instruction(2))
    async with watching(history, branch, after=2) as watcher:
        assert (await watcher.change()).revision == 3
        assert (await watcher.frame()).caught_up.revision == 3
        waiting = asyncio.ensure_future(watcher.frame())
        await history.add(branch, instruction(3))
        assert (await waiting).change.revision == 4
        assert (await watcher.frame()).caught_up.revision == 4
    async with watching(history, branch, after=4) as watcher:
        assert (await watcher.frame()).caught_up.revision == 4


async def test_more_than_a_page_of_changes_has_no_seam(history: History) -> None:
    branch = await history.create()
    count = 2 * PAGE_CHANGES
    for number in range(count - 1):
        await history.add(branch, instruction(number))
    async with watching(history, branch) as watcher:
        assert [change.revision for change in await watcher.changes()] == list(range(1, count + 1))


async def test_two_tenants_and_two_branches_do_not_meet(history: History) -> None:
    first, second = await history.create(1), await history.create(2)
    async with watching(history, first) as watcher:
        await watcher.changes()
        await history.add(second, instruction(1))
        await history.add(first, instruction(1))
        assert (await watcher.change()).operations[0].added.message_id == uuid_of(1)
    other = History(history.store, tenant_id="other")
    async with watching(other, first) as watcher:
        with pytest.raises(BranchNotFoundError):
            await watcher.frame()


async def test_deleted_branch_ends_the_watch_after_the_last_change(history: History) -> None:
    branch = await history.create()
    async with watching(history, branch) as watcher:
        await watcher.changes()
        await history.call(pb.DeleteBranchRequest(branch_id=branch))
        change = await watcher.change()
        assert (change.revision, change.kind) == (2, pb.BRANCH_CHANGE_KIND_DELETED)
        with pytest.raises(BranchDeletedError):
            await watcher.frame()
    for after, told in ((1, [2]), (2, [])):
        async with watching(history, branch, after) as watcher:
            assert await revisions(watcher, len(told)) == told
            with pytest.raises(BranchDeletedError):
                await watcher.frame()


async def test_wrong_positions_are_refused(history: History) -> None:
    branch = await history.create()
    incarnation = (await history.branch(branch)).incarnation
    for after, known, expected in (
        (2, "", RevisionInFutureError),
        (-1, "", FieldInvalidError),
        (0, "not-a-uuid", FieldInvalidError),
        (1, uuid_of(9), RevisionExpiredError),
    ):
        async with watching(history, branch, after, incarnation=known) as watcher:
            with pytest.raises(expected):
                await watcher.frame()
    async with watching(history, branch, 1, incarnation=incarnation) as watcher:
        assert (await watcher.frame()).caught_up.revision == 1
    async with watching(history, uuid_of(99)) as watcher:
        with pytest.raises(BranchNotFoundError):
            await watcher.frame()


async def test_record_of_an_unknown_kind_is_an_error_unless_ignorable(history: History) -> None:
    branch = await history.create()

    def write(kind: int, *, ignorable: bool, payload: bytes = b"") -> Any:
        def work(tx: Any) -> None:
            row = tx.branch("", branch)
            row.revision += 1
            tx.append_change(row.key, row.revision, kind, ignorable, payload)
            tx.save_head(row)

        return history.store.write(work)

    await write(99, ignorable=True)
    await history.add(branch, instruction(1))
    async with watching(history, branch) as watcher:
        assert await revisions(watcher, 2) == [1, 3]
        assert (await watcher.frame()).caught_up.revision == 3
        await write(98, ignorable=False)
        await history.add(branch, instruction(2))
        with pytest.raises(StoreCorruptError, match="revision 4 is of kind 98"):
            await watcher.frame()
    second = branch = await history.create(2)
    await write(4, ignorable=False, payload=b'[["new operation", 1]]')
    async with watching(history, second, 1) as watcher:
        with pytest.raises(StoreCorruptError, match="revision 2 cannot be read"):
            await watcher.frame()


async def test_quiet_watch_sends_heartbeats(history: History) -> None:
    branch = await history.create()
    quick = replica(history, WatchTimes(heartbeat=0.01, poll=60))
    async with watching(history, branch, servicer=quick) as watcher:
        await watcher.changes()
        for _ in range(2):
            assert (await watcher.frame()).heartbeat.revision == 1


async def test_what_another_process_commits_is_found_by_looking(history: History) -> None:
    branch = await history.create()
    polling = replica(history, WatchTimes(heartbeat=60, poll=0.01))
    async with watching(history, branch, servicer=polling) as watcher:
        await watcher.changes()
        for number in range(3):
            await history.add(branch, instruction(number))
            assert (await watcher.change()).revision == number + 2


async def test_watch_goes_on_across_a_restart(store_kind: str, tmp_path: Path) -> None:
    if store_kind == "memory":
        pytest.skip("the memory store ends with its process")
    async with running(store_kind, tmp_path) as history:
        branch = await history.create()
        incarnation = (await history.branch(branch)).incarnation
        await history.add(branch, system(1))
        async with watching(history, branch) as watcher:
            before = await watcher.changes()
    async with running(store_kind, tmp_path) as history:
        await history.add(branch, instruction(2))
        async with watching(history, branch, 2, incarnation=incarnation) as watcher:
            after = await watcher.changes()
    assert [change.revision for change in (*before, *after)] == [1, 2, 3]
    writers = [change.position.writer_id for change in (*before, *after)]
    assert writers[0] == writers[1] != writers[2]
    assert after[0].position.counter == 0


async def test_trimmed_changes_are_expired_and_never_skipped(history: History) -> None:
    branch = await history.create()
    for number in range(1, 8):
        await history.add(branch, instruction(number))
    await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=5))
    for after in (1, 2, 3):
        async with watching(history, branch, after) as watcher:
            with pytest.raises(RevisionExpiredError):
                await watcher.frame()
    for after, first in ((0, 5), (4, 5), (5, 6), (7, 8)):
        async with watching(history, branch, after) as watcher:
            assert [change.revision for change in await watcher.changes()] == list(range(first, 9))


async def test_trim_under_a_watch_that_is_behind(history: History) -> None:
    branch = await history.create()
    for number in range(2 * PAGE_CHANGES):
        await history.add(branch, instruction(number))
    async with watching(history, branch) as watcher:
        assert await revisions(watcher, 3) == [1, 2, 3]
        await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=2 * PAGE_CHANGES))
        assert await revisions(watcher, PAGE_CHANGES - 3) == list(range(4, PAGE_CHANGES + 1))
        with pytest.raises(RevisionExpiredError):
            await watcher.frame()


async def test_purged_branch_has_only_its_end_for_every_position(history: History) -> None:
    branch = await history.create()
    for number in range(2 * PAGE_CHANGES):
        await history.add(branch, instruction(number))
    last = 2 * PAGE_CHANGES + 2
    await history.call(pb.DeleteBranchRequest(branch_id=branch, purge=True))
    for after, told in [(after, [last]) for after in range(last)] + [(last, [])]:
        async with watching(history, branch, after) as watcher:
            assert await revisions(watcher, len(told)) == told
            with pytest.raises(BranchDeletedError):
                await watcher.frame()


async def test_purge_under_a_watch_that_is_behind_leaves_it_the_deletion(history: History) -> None:
    branch = await history.create()
    for number in range(2 * PAGE_CHANGES):
        await history.add(branch, instruction(number))
    async with watching(history, branch) as watcher:
        assert await revisions(watcher, 3) == [1, 2, 3]
        await history.call(pb.DeleteBranchRequest(branch_id=branch, purge=True))
        assert await revisions(watcher, PAGE_CHANGES - 3) == list(range(4, PAGE_CHANGES + 1))
        change = await watcher.change()
        assert (change.revision, change.kind) == (2 * PAGE_CHANGES + 2, pb.BRANCH_CHANGE_KIND_DELETED)
        with pytest.raises(BranchDeletedError):
            await watcher.frame()


async def test_half_a_purge_tells_what_is_kept_or_the_deletion_alone(history: History) -> None:
    """A sweep goes step by step: one that has erased part of the log is seen by others."""
    if isinstance(history.store, MemoryStore):
        pytest.skip("the memory store erases a branch in one step")
    branch = await history.create()
    for number in range(7):
        await history.add(branch, instruction(number))
    await history.call(pb.DeleteBranchRequest(branch_id=branch))

    def erase_in_part(tx: Any) -> None:
        row = tx.branch("", branch)
        limit = 1
        while len(tx.changes(row.key, 0, 100)) > 5:
            assert not tx.sweep(row, limit)

    await history.store.write(erase_in_part)
    for after, told in ((0, [5, 6, 7, 8, 9]), (1, [9]), (3, [9]), (4, [5, 6, 7, 8, 9]), (8, [9]), (9, [])):
        async with watching(history, branch, after) as watcher:
            assert await revisions(watcher, len(told)) == told
            with pytest.raises(BranchDeletedError):
                await watcher.frame()


async def test_purged_branch_keeps_what_a_trim_made_of_its_positions(history: History) -> None:
    branch = await history.create()
    for number in range(5):
        await history.add(branch, instruction(number))
    await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=5))
    await history.call(pb.DeleteBranchRequest(branch_id=branch, purge=True))
    for after in (1, 2, 3):
        async with watching(history, branch, after) as watcher:
            with pytest.raises(RevisionExpiredError):
                await watcher.frame()
    for after in (0, 4, 5, 6):
        async with watching(history, branch, after) as watcher:
            assert await revisions(watcher, 1) == [7]


async def test_a_record_lost_from_the_middle_of_a_deleted_branch_s_log_is_an_error(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1))

    def skip_one(tx: Any) -> None:
        row = tx.branch("", branch)
        row.revision += 1
        tx.save_head(row)

    await history.store.write(skip_one)
    await history.call(pb.DeleteBranchRequest(branch_id=branch))
    async with watching(history, branch) as watcher:
        with pytest.raises(StoreCorruptError, match="revision 3 is missing"):
            await watcher.frame()


async def test_what_this_process_commits_is_told_and_not_found_by_looking(history: History) -> None:
    history._servicer = replica(history, WatchTimes(heartbeat=3600, poll=3600))
    branch = await history.create()
    async with watching(history, branch) as watcher:
        await watcher.changes()
        writes = (
            pb.AddMessagesRequest(branch_id=branch, messages=[instruction(1)]),
            pb.SelectViewRequest(branch_id=branch),
            pb.DeleteBranchRequest(branch_id=branch),
        )
        for revision, request in enumerate(writes, start=2):
            waiting = asyncio.ensure_future(watcher.change())
            await asyncio.sleep(0)
            await history.call(request)
            assert (await waiting).revision == revision
