"""What a store owes the domain beside what the service shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import ShuttingDownError, StoreCorruptError
from antiphon_client.limits import Limits
from history_service.domain.changes import ChangeKind
from history_service.storage.port import (
    AnchorNotFoundError,
    BranchKey,
    BranchRow,
    NewMember,
    RecordedResponse,
    WriteTransaction,
)
from tests.support.history import History, action_result, call_action, instruction, running, uuid_of

pytestmark = pytest.mark.anyio

KEY = BranchKey("", uuid_of(1), uuid_of(1))


async def test_an_exception_of_a_work_undoes_all_it_did(history: History) -> None:
    await history.create(1)
    await history.add(uuid_of(1), instruction(1), instruction(2))

    def work(tx: WriteTransaction) -> None:
        branch = tx.branch("", uuid_of(1))
        assert branch is not None
        branch.revision += 1
        tx.remove_members(KEY, 3, [uuid_of(1)])
        tx.insert_members(KEY, 3, [NewMember(uuid_of(3), 7, 2, None, False, b"\n$" + uuid_of(3).encode())])
        tx.relabel(KEY, {7: 9})
        tx.begin_view(KEY, 3)
        tx.insert_view_rows(KEY, 3, 3, [(1, uuid_of(3))])
        tx.put_metadata(KEY, 3, '{"lost": 1}')
        tx.append_change(KEY, 3, ChangeKind.MEMBERSHIP, False, b"[]")
        tx.record_response("", uuid_of(5), RecordedResponse(b"h" * 32, b"r"), 1)
        tx.insert_branch(BranchRow(BranchKey("", uuid_of(2), uuid_of(2)), uuid_of(8), 1), "")
        tx.save_head(branch)
        raise LookupError("on purpose")

    with pytest.raises(LookupError, match="on purpose"):
        await history.store.write(work)

    def look(tx: WriteTransaction) -> None:
        assert tx.branch("", uuid_of(2)) is None
        assert tx.recorded_response("", uuid_of(5)) is None
        assert tx.view_at(KEY, 3) is None
        assert tx.metadata(KEY, 3) == ""
        assert [change.revision for change in tx.changes(KEY, 0, 10)] == [1, 2]
        assert tx.members(KEY, [uuid_of(1), uuid_of(3)]).keys() == {uuid_of(1)}
        assert tx.order_keys_between(KEY, 0, 100) == []

    await history.store.write(look)
    assert (await history.add(uuid_of(1), instruction(3))).revision == 3
    assert (await history.branch(uuid_of(1))).message_count == 3


async def test_every_write_leaves_one_typed_change_record(history: History) -> None:
    branch = await history.create(1)
    await history.add(branch, call_action(1), instruction(2), instruction(3))
    await history.add(branch, action_result(4, 1), instruction(2, "anew"))
    await history.system(branch, "policy", uuid_of(9))
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(3), index=1))
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(2)]))
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(4)]))
    await history.call(pb.ClearViewRequest(branch_id=branch))
    await history.call(pb.UpdateBranchRequest(branch_id=branch))
    await history.call(pb.ClearMessagesRequest(branch_id=branch))
    await history.call(pb.DeleteBranchRequest(branch_id=branch))
    records = await history.store.read(lambda tx: tx.changes(KEY, 0, 100))
    ids = {number: uuid_of(number) for number in range(10)}
    assert [(record.revision, record.kind, record.payload.decode()) for record in records] == [
        (1, ChangeKind.BRANCH_CREATED, ""),
        (2, ChangeKind.MEMBERSHIP, f'[["append",0,["{ids[1]}","{ids[2]}","{ids[3]}"]]]'),
        (
            3,
            ChangeKind.MEMBERSHIP,
            f'[["replace",1,"{ids[2]}"],["append",3,["{ids[4]}"]],["relink",["{ids[1]}"]]]',
        ),
        (4, ChangeKind.MEMBERSHIP, f'[["system","{ids[9]}",null]]'),
        (5, ChangeKind.MEMBERSHIP, f'[["move","{ids[3]}",1]]'),
        (6, ChangeKind.VIEW_SELECTED, '{"epoch":6,"count":1}'),
        (7, ChangeKind.MEMBERSHIP, f'[["remove",["{ids[4]}"]],["relink",["{ids[1]}"]]]'),
        (8, ChangeKind.VIEW_CLEARED, ""),
        (9, ChangeKind.METADATA_REPLACED, ""),
        (10, ChangeKind.MEMBERSHIP, '[["clear"]]'),
        (11, ChangeKind.BRANCH_DELETED, ""),
    ]
    assert not any(record.ignorable for record in records)
    assert len({record.writer_id for record in records}) == 1
    counters = [record.counter for record in records]
    assert counters == sorted(set(counters))
    later = await history.store.read(lambda tx: tx.changes(KEY, 6, 2))
    assert [record.revision for record in later] == [7, 8]


async def test_a_change_record_names_a_link_only_where_it_is_the_only_change(history: History) -> None:
    branch = await history.create(1)
    await history.add(branch, call_action(1), action_result(2, 1))
    both = [uuid_of(1), uuid_of(2)]
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=both))
    records = await history.store.read(lambda tx: tx.changes(KEY, 1, 10))
    listed = f'["{uuid_of(1)}","{uuid_of(2)}"]'
    assert [record.payload.decode() for record in records] == [
        f'[["append",0,{listed}]]',
        f'[["remove",{listed}]]',
    ]


async def test_a_transaction_gives_out_copies_of_branches(history: History) -> None:
    await history.create(1)

    def spoil(tx: WriteTransaction) -> None:
        branch = tx.branch("", uuid_of(1))
        assert branch is not None
        branch.revision = 77
        again = tx.branch("", uuid_of(1))
        assert again is not None
        assert again.revision == 1

    await history.store.write(spoil)
    assert (await history.branch(uuid_of(1))).revision == 1


async def test_relabelling_may_use_keys_in_use_and_keeps_equal_keys_equal(history: History) -> None:
    await history.create(1)

    def insert(tx: WriteTransaction) -> None:
        rows = [NewMember(uuid_of(n), n, 2, None, False, b"\n$" + uuid_of(n).encode()) for n in (1, 2, 3)]
        tx.insert_members(KEY, 2, rows)
        tx.remove_members(KEY, 3, [uuid_of(2)])
        tx.insert_members(KEY, 3, [NewMember(uuid_of(2), 2, 2, None, False, b"\n$" + uuid_of(2).encode())])
        tx.relabel(KEY, {1: 2, 2: 3, 3: 4})

    await history.store.write(insert)

    def look(tx: WriteTransaction) -> None:
        assert tx.order_keys_between(KEY, 0, 10) == [2, 3, 4]
        assert tx.order_keys_between(KEY, 3, 3) == [3]
        assert tx.order_keys_at(KEY, 1, 5) == [3, 4]
        assert tx.index_of(KEY, 4) == 2
        for at in (2, 3):
            ids = tx.read_ids(KEY, at, view=None, after=None, limit=10)
            assert ids == [uuid_of(1), uuid_of(2), uuid_of(3)]
            assert tx.read_ids(KEY, at, view=None, after=uuid_of(2), limit=10) == [uuid_of(3)]

    await history.store.write(look)


async def test_an_anchor_outside_the_selection_is_told(history: History) -> None:
    branch = await history.create(1)
    await history.add(branch, instruction(1), instruction(2))
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(2)]))

    async def ids(at: int, view: int | None, after: int) -> list[str]:
        return await history.store.read(
            lambda tx: tx.read_ids(KEY, at, view=view, after=uuid_of(after), limit=5)
        )

    assert await ids(3, None, 1) == [uuid_of(2)]
    for at, view, after in ((3, None, 7), (1, None, 1), (3, 3, 1)):
        with pytest.raises(AnchorNotFoundError):
            await ids(at, view, after)


async def test_a_body_that_is_not_there_is_corruption(history: History) -> None:
    await history.create(1)
    with pytest.raises(StoreCorruptError):
        await history.store.read(lambda tx: tx.body(KEY, uuid_of(1), 12345))


@pytest.mark.parametrize(
    "id_bytes", [b"\xff" * 36, b"z" * 36, uuid_of(9).encode()], ids=["bytes", "text", "other"]
)
async def test_a_body_with_another_id_is_corruption(
    anyio_backend: object, store_kind: str, tmp_path: Path, id_bytes: bytes
) -> None:
    damaged = NewMember(uuid_of(3), 1, pb.MESSAGE_KIND_INSTRUCTION, None, False, b"\n$" + id_bytes)
    # A batch a message: the second starts after the id of the first.
    async with running(store_kind, tmp_path, Limits(snapshot_batch_messages=1)) as history:
        branch = await history.create(1)
        await history.add(branch, instruction(1), instruction(2))
        await history.store.write(lambda tx: tx.remove_members(KEY, 2, [uuid_of(1)]))
        await history.store.write(lambda tx: tx.insert_members(KEY, 2, [damaged]))
        with pytest.raises(StoreCorruptError):
            await history.snapshot(branch)


async def test_a_closed_store_refuses_work(history: History) -> None:
    await history.create(1)
    await history.store.close()
    with pytest.raises(ShuttingDownError):
        await history.create(2)
    with pytest.raises(ShuttingDownError):
        await history.branch(uuid_of(1))
    await history.store.close()
