"""Snapshots told as what has changed since a revision that the reader holds."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.limits import Limits
from antiphon_client.snapshot import AssembledSnapshot, SnapshotAssembler
from history_service.domain import deltas
from tests.support import history_model as model
from tests.support.history import (
    STORES,
    History,
    action_result,
    assistant,
    call_action,
    instruction,
    numbers,
    running,
    uuid_of,
)
from tests.support.history_programs import STEPS, AnyStep, Restart, Wait, branch_id, foretell, wait
from tests.support.history_runs import Transcript, attempt

pytestmark = pytest.mark.anyio


async def read(
    history: History, branch: str, at: int | None = None, held: AssembledSnapshot | None = None, **fields: Any
) -> tuple[AssembledSnapshot, pb.SnapshotHeader, int]:
    """Read a snapshot, by what is held if anything is; return its header and how many messages came, too."""
    if held is not None:
        fields = {"since": held.revision, "incarnation": held.incarnation} | fields
    assembler = SnapshotAssembler(held)
    frames = [pb.ReadSnapshotResponse.FromString(f) async for f in history.frames(branch, at=at, **fields)]
    for frame in frames:
        assembler.feed(frame)
    return assembler.result(), frames[0].header, frames[-1].footer.message_count


def same(one: AssembledSnapshot, other: AssembledSnapshot) -> bool:
    """Whether two snapshots are the same, however they were told."""
    return (one.branch, one.incarnation, one.revision, one.system, one.message_ids, one.messages) == (
        other.branch,
        other.incarnation,
        other.revision,
        other.system,
        other.message_ids,
        other.messages,
    )


async def expect(
    history: History, branch: str, held: AssembledSnapshot, *, sent: Sequence[int], kept: Sequence[Any]
) -> None:
    """Check that a delta leads from what is held to the branch as it is, and how."""
    whole, _, _ = await read(history, branch)
    applied, header, count = await read(history, branch, held=held)
    assert header.is_delta
    assert same(applied, whole)
    assert count == len(sent)
    kept_indexes = {i for run in applied.kept for i in range(run.at, run.at + run.length)}
    arrived = [m for i, m in enumerate(applied.message_ids) if i not in kept_indexes]
    assert numbers(arrived) == list(sent)
    assert [tuple(run) for run in applied.kept] == list(kept)


async def test_an_append_sends_what_was_appended(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *[instruction(n) for n in range(1, 8)])
    held, _, _ = await read(history, branch)
    await expect(history, branch, held, sent=[], kept=[(0, 0, 7)])
    await history.add(branch, assistant(8))
    await history.add(branch, instruction(9), instruction(10))
    await expect(history, branch, held, sent=[8, 9, 10], kept=[(0, 0, 7)])


async def test_an_append_under_a_view_sends_what_entered_it(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *[instruction(n) for n in range(1, 8)])
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(5), uuid_of(2)]))
    held, _, _ = await read(history, branch)
    await history.add(branch, assistant(8), assistant(9))
    await history.add(branch, instruction(3, "not in the view"), instruction(2, "in the view"))
    await expect(history, branch, held, sent=[2, 8, 9], kept=[(0, 0, 1)])


async def test_a_result_sends_the_call_again_with_its_link(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), call_action(2), assistant(3))
    held, _, _ = await read(history, branch)
    await history.add(branch, action_result(4, 2))
    await expect(history, branch, held, sent=[2, 4], kept=[(0, 0, 1), (2, 2, 1)])


async def test_replaced_moved_and_removed_messages(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *[instruction(n) for n in range(1, 10)])
    held, _, _ = await read(history, branch)
    await history.add(branch, instruction(5, "other"))
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(7)]))
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(9), index=1))
    await expect(history, branch, held, sent=[9, 5], kept=[(0, 0, 1), (2, 1, 3), (6, 5, 1), (7, 7, 1)])


async def test_a_message_that_went_there_and_back_is_kept(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *[instruction(n) for n in range(1, 5)])
    held, _, _ = await read(history, branch)
    await history.add(branch, instruction(9))
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(9)]))
    await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json='{"a":1}'))
    await expect(history, branch, held, sent=[], kept=[(0, 0, 4)])


async def test_a_system_record_shifts_the_order(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2))
    held, _, _ = await read(history, branch)
    await history.system(branch, "policy", uuid_of(8))
    await expect(history, branch, held, sent=[8], kept=[(1, 0, 2)])
    held, _, _ = await read(history, branch)
    await history.system(branch, "other policy", uuid_of(9))
    await expect(history, branch, held, sent=[9], kept=[(1, 1, 2)])


async def test_a_past_revision_is_told_from_a_more_past_one(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2))
    held, _, _ = await read(history, branch)
    await history.add(branch, instruction(3))
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(1), uuid_of(3)]))
    whole, _, _ = await read(history, branch, 3)
    applied, header, count = await read(history, branch, 3, held)
    assert (header.is_delta, count) == (True, 1)
    assert same(applied, whole)


async def test_what_cannot_be_told_as_a_delta_is_told_whole(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2))
    held, _, _ = await read(history, branch)
    await history.add(branch, instruction(3))

    async def is_whole(at: int | None = None, **fields: Any) -> bool:
        applied, header, count = await read(history, branch, at, held, **fields)
        plain, _, _ = await read(history, branch, at, ids=fields.get("ids"))
        assert same(applied, plain)
        assert applied.kept == () or header.is_delta
        return not header.is_delta and count == len(plain.messages)

    assert not await is_whole()
    assert await is_whole(incarnation="")
    assert await is_whole(incarnation=uuid_of(77))
    assert await is_whole(since=0)
    assert await is_whole(since=-(2**63))
    assert await is_whole(since=4)
    assert await is_whole(since=2**63 - 1)
    assert await is_whole(at=1)
    assert await is_whole(ids=[uuid_of(2)])
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(2)]))
    assert await is_whole()
    await history.call(pb.ClearViewRequest(branch_id=branch))
    assert not await is_whole()
    await history.call(pb.ClearMessagesRequest(branch_id=branch))
    assert await is_whole()


async def test_a_dropped_revision_is_no_base(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2))
    held, _, _ = await read(history, branch)
    await history.add(branch, instruction(3))
    later, _, _ = await read(history, branch)
    await history.add(branch, instruction(4))
    await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=later.revision))
    _, header, _ = await read(history, branch, held=held)
    assert not header.is_delta
    await expect(history, branch, later, sent=[4], kept=[(0, 0, 3)])


async def test_a_delta_of_too_much_is_told_whole(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltas, "MOST_TOUCHED", 3)
    branch = await history.create()
    await history.add(branch, instruction(1))
    held, _, _ = await read(history, branch)
    for number in range(2, 5):
        await history.add(branch, instruction(number))
    await expect(history, branch, held, sent=[2, 3, 4], kept=[(0, 0, 1)])
    await history.add(branch, instruction(5))
    _, header, _ = await read(history, branch, held=held)
    assert not header.is_delta
    held, _, _ = await read(history, branch)
    await history.add(branch, *[instruction(n) for n in range(6, 10)])
    _, header, _ = await read(history, branch, held=held)
    assert not header.is_delta


async def test_runs_and_messages_fit_in_frames(
    anyio_backend: object, store_kind: str, tmp_path: Path
) -> None:
    limits = Limits(frame_bytes=400, snapshot_batch_messages=2)
    async with running(store_kind, tmp_path, limits) as history:
        branch = await history.create()
        await history.add(branch, *[instruction(n) for n in range(1, 30)])
        held, _, _ = await read(history, branch)
        await history.add(branch, *[instruction(n, "x") for n in range(1, 30, 2)])
        frames = [
            frame async for frame in history.frames(branch, since=held.revision, incarnation=held.incarnation)
        ]
        assert max(map(len, frames[1:])) <= 400
        kinds = [str(pb.ReadSnapshotResponse.FromString(frame).WhichOneof("frame")) for frame in frames]
        assert (kinds.count("delta"), kinds.count("batch")) == (3, 8)
        applied, _, _ = await read(history, branch, held=held)
        whole, _, _ = await read(history, branch)
        assert same(applied, whole)


async def play(history: History, steps: Sequence[AnyStep]) -> model.World:
    """Run a program on the service and on the model; return the model."""
    world = model.World()
    await history.call(pb.CreateBranchRequest(branch_id=branch_id(0)))
    for step in steps:
        if isinstance(step, Wait):
            await wait(history, step.days)
        elif not isinstance(step, Restart):
            await attempt(history, step, world, Transcript())
            await foretell(history, world, step)
    return world


async def deltas_lead_everywhere(kind: str, folder: Path, steps: Sequence[AnyStep]) -> None:
    """Every readable revision, told from every earlier one, is what it is told whole."""
    async with running(kind, folder) as history:
        world = await play(history, steps)
        for number, branch in world.branches.items():
            if branch.deleted:
                continue
            readable = range(branch.oldest, branch.revision + 1)
            whole = {at: (await read(history, branch_id(number), at))[0] for at in readable}
            for since in readable:
                for at in readable[readable.index(since) :]:
                    applied, _, _ = await read(history, branch_id(number), at, whole[since])
                    assert same(applied, whole[at]), (since, at)
        await history.store.close()


@settings(max_examples=60)
@given(st.lists(STEPS, max_size=16))
def test_the_memory_stores_deltas_lead_from_any_revision_to_any_later(steps: Sequence[AnyStep]) -> None:
    asyncio.run(deltas_lead_everywhere(STORES[0], Path(), steps))


@settings(max_examples=25)
@given(st.lists(STEPS, max_size=12))
def test_the_sqlite_stores_deltas_lead_from_any_revision_to_any_later(steps: Sequence[AnyStep]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(deltas_lead_everywhere(STORES[1], Path(folder), steps))
