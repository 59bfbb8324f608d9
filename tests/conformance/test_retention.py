"""Delete, purge, trim and the retention settings: what is gone, what stays, what is told."""

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
    RevisionConflictError,
    RevisionExpiredError,
    RevisionInFutureError,
)
from antiphon_client.limits import Limits
from history_service.sweeping import Keeping, Sweeper
from tests.support.history import (
    History,
    action_result,
    call_action,
    instruction,
    numbers,
    running,
    system,
    uuid_of,
)
from tests.support.stored import message_bodies

pytestmark = pytest.mark.anyio

DAY = 86400 * 10**9


async def fork(history: History, source: str, target: int, **fields: Any) -> str:
    """Fork a branch; return the fork's id."""
    request = pb.ForkBranchRequest(source_branch_id=source, branch_id=uuid_of(target), **fields)
    response: pb.ForkBranchResponse = await history.call(request)
    return response.branch.branch_id


async def eventful(history: History, number: int = 1) -> str:
    """Make a branch with every kind of former version, at revision 12."""
    branch = await history.create(number, metadata_json='{"v": 1}')
    await history.add(branch, system(10), instruction(11), call_action(12), instruction(13))
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(11), uuid_of(13)]))
    await history.add(branch, instruction(11, "edited"), action_result(14, 12))
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(13), index=1))
    await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json='{"v": 2}'))
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(10), uuid_of(14)]))
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(14)]))
    await history.system(branch, "policy anew", uuid_of(15))
    await history.call(pb.ClearViewRequest(branch_id=branch))
    await history.add(branch, instruction(16))
    await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json='{"v": 3}'))
    return branch


async def seen(history: History, branch: str, at: int) -> tuple[Any, ...]:
    """Read everything that a revision shows, as bytes where there are bytes."""
    order = await history.ids(branch, at)
    whole = await history.snapshot(branch, at=at, ids=order)
    viewed = await history.snapshot(branch, at=at)
    described = await history.branch(branch, at)
    described.ClearField("oldest_revision")
    return order, whole.bodies, viewed.order, viewed.bodies, described


async def trim(history: History, branch: str, before: int) -> int:
    """Trim a branch; return its oldest revision."""
    response = await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=before))
    return int(response.oldest_revision)


# Trim


@pytest.mark.parametrize("before", range(1, 13))
async def test_a_trim_drops_what_is_older_and_leaves_the_rest_byte_for_byte(
    history: History, before: int
) -> None:
    branch = await eventful(history)
    was = {at: await seen(history, branch, at) for at in range(1, 13)}
    assert await trim(history, branch, before) == before
    for at in range(before, 13):
        assert await seen(history, branch, at) == was[at]
        assert (await history.branch(branch, at)).oldest_revision == before
    for at in range(1, before):
        for read in every_read(branch, at):
            with pytest.raises(RevisionExpiredError) as caught:
                await read(history)
            assert caught.value.oldest_revision == before
            assert caught.value.metadata["oldest"] == str(before)
    key = (await history.store.read(lambda tx: tx.branch("", branch))).key  # type: ignore[union-attr]
    records = await history.store.read(lambda tx: tx.changes(key, 0, 100))
    assert [record.revision for record in records] == list(range(before, 13))
    needed = {body for at in range(before, 13) for body in was[at][1]}
    assert set(message_bodies(history.store)) == set(needed)
    assert (await history.branch(branch)).revision == 12
    assert (await history.add(branch, instruction(20))).revision == 13


def every_read(branch: str, at: int) -> list[Any]:
    """Return one read of each kind at a revision."""

    async def get_branch(history: History) -> None:
        await history.branch(branch, at)

    async def get(history: History) -> None:
        await history.get(branch, uuid_of(11), at)

    async def ids(history: History) -> None:
        await history.ids(branch, at)

    async def snapshot(history: History) -> None:
        await history.snapshot(branch, at=at)

    async def chosen(history: History) -> None:
        await history.snapshot(branch, at=at, ids=[])

    async def keep(history: History) -> None:
        await fork(history, branch, 90, at_revision=at)

    async def new(history: History) -> None:
        await fork(history, branch, 90, at_revision=at, ids=pb.FORK_IDS_NEW)

    return [get_branch, get, ids, snapshot, chosen, keep, new]


async def test_a_trim_repeated_or_of_less_changes_nothing(history: History) -> None:
    branch = await eventful(history)
    assert await trim(history, branch, 5) == 5
    was = {at: await seen(history, branch, at) for at in range(5, 13)}
    assert await trim(history, branch, 5) == 5
    assert await trim(history, branch, 2) == 5
    assert await trim(history, branch, 1) == 5
    assert {at: await seen(history, branch, at) for at in range(5, 13)} == was


async def test_a_trim_is_refused_for_what_is_wrong(history: History) -> None:
    branch = await eventful(history)
    with pytest.raises(RevisionInFutureError):
        await trim(history, branch, 13)
    for before in (0, -1):
        with pytest.raises(FieldInvalidError):
            await trim(history, branch, before)
    with pytest.raises(BranchNotFoundError):
        await trim(history, uuid_of(77), 1)
    request = pb.TrimHistoryRequest(branch_id=branch, before_revision=3)
    with pytest.raises(BranchNotFoundError):
        await history.call(request, tenant_id="other")
    assert (await history.branch(branch, 1)).oldest_revision == 1
    await history.call(pb.DeleteBranchRequest(branch_id=branch))
    with pytest.raises(BranchDeletedError):
        await trim(history, branch, 1)


async def test_the_next_page_of_a_trimmed_revision_has_expired(history: History) -> None:
    branch = await eventful(history)
    request = pb.ListMessagesRequest(branch_id=branch, page_size=1, at_revision=4)
    token = (await history.call(request)).next_page_token
    current = pb.ListMessagesRequest(branch_id=branch, page_size=1)
    kept = (await history.call(current)).next_page_token
    await trim(history, branch, 5)
    for at in (None, 4):
        with pytest.raises(RevisionExpiredError):
            await history.call(
                pb.ListMessagesRequest(branch_id=branch, page_size=1, page_token=token, at_revision=at)
            )
    current.page_token = kept
    assert len((await history.call(current)).messages) == 1


async def test_a_snapshot_under_way_of_a_trimmed_revision_expires(
    anyio_backend: object, store_kind: str, tmp_path: Path
) -> None:
    limits = Limits(snapshot_batch_messages=1, frame_bytes=120)
    async with running(store_kind, tmp_path, limits) as history:
        branch = await eventful(history)
        for ids in (None, [uuid_of(11), uuid_of(12), uuid_of(13)]):
            frames = history.frames(branch, at=4, ids=ids)
            await anext(frames)
            before = (await history.branch(branch)).oldest_revision
            await trim(history, branch, 4)
            assert before in (1, 4)
            await anext(frames)
            await frames.aclose()
        frames = history.frames(branch, at=4)
        await anext(frames)
        await trim(history, branch, 5)
        with pytest.raises(RevisionExpiredError):
            [frame async for frame in frames]


async def test_a_trimmed_branch_goes_on_as_before(history: History) -> None:
    branch = await eventful(history)
    await trim(history, branch, 12)
    assert numbers(await history.ids(branch)) == [15, 13, 11, 12, 16]
    request = pb.RespondToActionRequest(branch_id=branch, action_request_id=uuid_of(12), output_json="1")
    await history.call(request)
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(16), index=1))
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(11)]))
    assert await history.view(branch) == [uuid_of(11)]
    assert await history.view(branch, 14) is None
    assert (await history.branch(branch, 12)).metadata_json == '{"v": 3}'


# Forks and what is shared


async def test_a_trimmed_source_leaves_its_forks_whole(history: History) -> None:
    source = await eventful(history)
    old = await fork(history, source, 2, at_revision=4)
    was = await seen(history, old, 1)
    expected = message_bodies(history.store)
    await trim(history, source, 12)
    assert await seen(history, old, 1) == was
    left = message_bodies(history.store)
    assert set(was[1]) <= set(left) < set(expected)
    await history.call(pb.ClearMessagesRequest(branch_id=old))
    assert await seen(history, old, 1) == was
    await trim(history, old, 2)
    needed = {body for branch in (source, old) for body in (await now(history, branch))}
    assert set(message_bodies(history.store)) == set(needed)


async def now(history: History, branch: str) -> list[bytes]:
    """Read a branch's current bodies in full order."""
    return (await history.snapshot(branch, ids=await history.ids(branch))).bodies


@pytest.mark.parametrize("deletions", [(1, 2, 3), (3, 2, 1), (2, 1, 3), (2, 3, 1)])
async def test_the_bytes_go_with_the_last_branch_that_shares_them(
    history: History, deletions: tuple[int, ...]
) -> None:
    source = await eventful(history)
    await fork(history, source, 2, at_revision=4)
    await fork(history, uuid_of(2), 3)
    await history.add(uuid_of(3), instruction(30))
    living = {1, 2, 3}
    revisions = {1: 12, 2: 1, 3: 2}
    was = {
        (number, at): await seen(history, uuid_of(number), at)
        for number in living
        for at in range(1, revisions[number] + 1)
    }
    for number in deletions:
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(number), purge=True))
        living.discard(number)
        needed: set[bytes] = set()
        for (branch, at), before in was.items():
            if branch in living:
                assert await seen(history, uuid_of(branch), at) == before
                needed |= set(before[1])
        assert set(message_bodies(history.store)) == set(needed)
    assert message_bodies(history.store) == []


async def test_a_fork_does_not_hold_on_to_what_it_re_encoded(history: History) -> None:
    source = await history.create(1)
    await history.add(source, call_action(1), instruction(2), action_result(3, 1))
    child = await fork(history, source, 2, up_to_message_id=uuid_of(2))
    await history.call(pb.DeleteBranchRequest(branch_id=source, purge=True))
    assert message_bodies(history.store) == sorted(await now(history, child))


async def test_fork_then_trim_then_purge(history: History) -> None:
    source = await eventful(history)
    child = await fork(history, source, 2)
    await history.call(pb.MoveMessageRequest(branch_id=child, message_id=uuid_of(16), index=1))
    await trim(history, child, 2)
    order = await history.ids(child)
    whole = await now(history, child)
    await history.call(pb.DeleteBranchRequest(branch_id=source, purge=True))
    assert await history.ids(child) == order
    assert await now(history, child) == whole
    assert set(message_bodies(history.store)) == set(whole)
    grandchild = await fork(history, child, 3)
    await history.call(pb.DeleteBranchRequest(branch_id=child, purge=True))
    assert await now(history, grandchild) == whole
    assert (await history.branch(grandchild)).lineage_id == source


# Delete and purge


async def test_a_deleted_branch_keeps_its_bytes_until_the_retention_time(history: History) -> None:
    branch = await eventful(history)
    kept = message_bodies(history.store)
    await history.call(pb.DeleteBranchRequest(branch_id=branch))
    sweeper = Sweeper(history.store, history.clock)
    history.clock.now += 29 * DAY
    await sweeper.sweep_due()
    assert message_bodies(history.store) == kept
    history.clock.now += 2 * DAY
    await sweeper.sweep_due()
    assert message_bodies(history.store) == []
    with pytest.raises(BranchDeletedError):
        await history.branch(branch)
    with pytest.raises(BranchDeletedError):
        await history.create(1)
    assert await history.store.read(lambda tx: tx.branches_to_sweep(2**62, 10)) == []


async def test_a_purged_branch_stays_deleted_and_keeps_its_last_change_alone(history: History) -> None:
    branch = await eventful(history)
    key = (await history.store.read(lambda tx: tx.branch("", branch))).key  # type: ignore[union-attr]
    response = await history.call(pb.DeleteBranchRequest(branch_id=branch, purge=True))
    assert response.revision == 13
    assert message_bodies(history.store) == []
    records = await history.store.read(lambda tx: tx.changes(key, 0, 100))
    assert [record.revision for record in records] == [13]
    for request in (
        pb.AddMessagesRequest(branch_id=branch, messages=[instruction(1)]),
        pb.GetBranchRequest(branch_id=branch),
        pb.TrimHistoryRequest(branch_id=branch, before_revision=1),
        pb.DeleteBranchRequest(branch_id=branch),
        pb.CreateBranchRequest(branch_id=branch),
        pb.ForkBranchRequest(source_branch_id=branch),
    ):
        with pytest.raises(BranchDeletedError):
            await history.call(request)
    assert (await history.call(pb.ListBranchesRequest())).branches == []


async def test_a_deleted_branch_can_be_purged_by_a_second_call_that_makes_no_revision(
    history: History,
) -> None:
    branch = await eventful(history)
    first = pb.DeleteBranchRequest(branch_id=branch, request_id=uuid_of(70))
    assert (await history.call(first)).revision == 13
    assert message_bodies(history.store) != []
    second = pb.DeleteBranchRequest(branch_id=branch, purge=True, expected_revision=12)
    with pytest.raises(RevisionConflictError):
        await history.call(second)
    assert message_bodies(history.store) != []
    second.expected_revision = 13
    second.request_id = uuid_of(71)
    purged = await history.call(second)
    assert (purged.revision, purged.replayed) == (13, False)
    assert message_bodies(history.store) == []
    replayed = await history.call(second)
    assert (replayed.revision, replayed.replayed) == (13, True)
    again = await history.call(pb.DeleteBranchRequest(branch_id=branch, purge=True))
    assert (again.revision, again.replayed) == (13, False)
    assert (await history.call(first)).replayed
    with pytest.raises(BranchNotFoundError):
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(77), purge=True))


async def test_the_external_key_of_a_deleted_branch_is_free_and_a_purge_leaves_it_so(
    history: History,
) -> None:
    first = await history.create(1, external_key="key")
    await history.call(pb.DeleteBranchRequest(branch_id=first))
    await history.create(2, external_key="key")
    await history.call(pb.DeleteBranchRequest(branch_id=first, purge=True))
    listed = await history.call(pb.ListBranchesRequest(external_key_prefix="key"))
    assert [branch.branch_id for branch in listed.branches] == [uuid_of(2)]


async def test_many_messages_are_erased_in_steps(history: History) -> None:
    branch = await history.create(1)
    other = await history.create(2)
    for start in range(1000, 3000, 500):
        await history.add(branch, *(instruction(number) for number in range(start, start + 500)))
    await fork(history, branch, 3, up_to_message_id=uuid_of(1099))
    purge = pb.DeleteBranchRequest(branch_id=branch, purge=True)
    # Another writer has its turn between the steps.
    await asyncio.gather(history.call(purge), history.add(other, instruction(1)))
    assert len(message_bodies(history.store)) == 101
    assert len(await history.ids(uuid_of(3))) == 100


# What was cut short


async def test_what_a_stopped_service_left_is_erased_after_its_start(history: History) -> None:
    branch, trimmed = await eventful(history), await eventful(history, 2)

    def drop(tx: Any) -> None:
        for branch_id, deleted in ((branch, True), (trimmed, False)):
            row = tx.branch("", branch_id)
            row.deleted, row.oldest_revision, row.sweep_after = deleted, 12, 0
            tx.save_head(row)
            tx.save_retention(row)

    await history.store.write(drop)
    looked = asyncio.Event()

    async def pause() -> None:
        looked.set()
        await asyncio.Event().wait()

    sweeper = Sweeper(history.store, history.clock, pause)
    await sweeper.start()
    await looked.wait()
    await sweeper.close()
    await sweeper.close()
    assert set(message_bodies(history.store)) == set(await now(history, trimmed))


async def test_a_close_of_the_sweeper_can_be_cancelled(history: History) -> None:
    looked, cancelled, released = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def pause() -> None:
        looked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
            await released.wait()

    sweeper = Sweeper(history.store, history.clock, pause)
    await sweeper.start()
    await looked.wait()
    closing = asyncio.create_task(sweeper.close())
    await cancelled.wait()
    closing.cancel()
    await asyncio.wait((closing,))
    released.set()
    assert closing.cancelled()


async def test_the_sweeper_goes_on_after_a_failure(history: History) -> None:
    await history.create(1)
    looks = []
    looked = asyncio.Event()

    async def pause() -> None:
        looks.append(1)
        if len(looks) == 1:
            await history.store.close()
        else:
            looked.set()
            await asyncio.Event().wait()

    sweeper = Sweeper(history.store, history.clock, pause)
    await sweeper.start()
    await looked.wait()
    await sweeper.close()
    assert len(looks) == 2


# The setting for revisions


async def test_the_setting_for_revisions_drops_old_ones_in_batches(
    anyio_backend: object, store_kind: str, tmp_path: Path
) -> None:
    async with running(store_kind, tmp_path, keeping=Keeping(revisions=5)) as history:
        branch = await history.create(1)
        for revision in range(2, 24):
            await history.add(branch, instruction(1, f"version {revision}"))
            oldest = (await history.branch(branch)).oldest_revision
            assert 5 <= revision - oldest + 1 < 10 or oldest == 1
        assert oldest == 16
        with pytest.raises(RevisionExpiredError):
            await history.ids(branch, 15)
        assert len(message_bodies(history.store)) == 22
        await Sweeper(history.store, history.clock).sweep_due()
        assert len(message_bodies(history.store)) == 8
        assert (await history.get(branch, uuid_of(1), 16)).instruction.instruction == "version 16"
