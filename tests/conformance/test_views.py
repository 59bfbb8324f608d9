"""The selected view: an ordered subset that follows the branch."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import ProgressionInvalidError
from tests.support.history import (
    History,
    call_action,
    instruction,
    numbers,
    system,
    uuid_of,
)

pytestmark = pytest.mark.anyio


async def select(history: History, branch: str, selected: Iterable[int]) -> pb.SelectViewResponse:
    """Select a view."""
    ids = [uuid_of(number) for number in selected]
    response: pb.SelectViewResponse = await history.call(
        pb.SelectViewRequest(branch_id=branch, message_ids=ids)
    )
    return response


async def viewed(history: History, branch: str, at: int | None = None) -> list[int] | None:
    """Return the view's numbers, checked against the branch's count of them."""
    view = await history.view(branch, at)
    described = await history.branch(branch, at)
    assert described.HasField("view_count") is (view is not None)
    assert described.view_count == len(view or [])
    return None if view is None else numbers(view)


async def remove(history: History, branch: str, *removed: int) -> None:
    """Remove messages."""
    ids = [uuid_of(number) for number in removed]
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=ids))


async def test_a_view_orders_a_subset_and_deletes_nothing(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n) for n in range(1, 6)))
    assert await viewed(history, branch) is None
    assert (await select(history, branch, [4, 2])).revision == 3
    assert await viewed(history, branch) == [4, 2]
    assert numbers(await history.ids(branch)) == [1, 2, 3, 4, 5]
    await select(history, branch, [1, 3, 5])
    assert await viewed(history, branch) == [1, 3, 5]
    cleared = await history.call(pb.ClearViewRequest(branch_id=branch))
    assert cleared.revision == 5
    assert await viewed(history, branch) is None
    assert numbers((await history.snapshot(branch)).order) == [1, 2, 3, 4, 5]
    assert [await viewed(history, branch, at) for at in (2, 3, 4)] == [None, [4, 2], [1, 3, 5]]


async def test_an_empty_view_is_a_view(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1))
    await select(history, branch, [])
    assert await viewed(history, branch) == []
    await history.add(branch, instruction(2))
    assert await viewed(history, branch) == [2]
    assert await viewed(history, branch, at=3) == []
    empty = await history.create(2)
    await select(history, empty, [])
    assert await viewed(history, empty) == []


async def test_clearing_a_view_that_is_not_selected_is_a_write_like_any(history: History) -> None:
    branch = await history.create()
    assert (await history.call(pb.ClearViewRequest(branch_id=branch))).revision == 2
    assert (await history.call(pb.ClearViewRequest(branch_id=branch))).revision == 3
    assert await viewed(history, branch) is None


async def test_unknown_and_repeated_ids_are_refused_and_all_listed(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2))
    await select(history, branch, [2])
    with pytest.raises(ProgressionInvalidError) as caught:
        await select(history, branch, [1, 8, 2, 1, 9, 9, 2, 2])
    assert caught.value.metadata == {
        "missing": f"{uuid_of(8)},{uuid_of(9)}",
        "missing_count": "2",
        "duplicate": f"{uuid_of(1)},{uuid_of(2)},{uuid_of(9)}",
        "duplicate_count": "3",
    }
    assert await viewed(history, branch) == [2]
    assert (await history.branch(branch)).revision == 3


async def test_added_messages_enter_the_views_end_and_replaced_ones_stay(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2), instruction(3))
    await select(history, branch, [3, 1])
    await history.add(branch, instruction(4), instruction(3, "anew"), instruction(2, "anew"), instruction(5))
    assert await viewed(history, branch) == [3, 1, 4, 5]
    snapshot = await history.snapshot(branch)
    assert snapshot.messages[0].instruction.instruction == "anew"
    former = await history.snapshot(branch, at=3)
    assert former.messages[0].instruction.instruction == "instruction 3"
    await history.add(branch, call_action(6))
    await history.call(
        pb.RespondToActionRequest(branch_id=branch, action_request_id=uuid_of(6), message_id=uuid_of(7))
    )
    assert await viewed(history, branch) == [3, 1, 4, 5, 6, 7]


async def test_removed_messages_leave_the_view(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n) for n in range(1, 6)))
    await select(history, branch, [4, 2, 5])
    await remove(history, branch, 1, 2)
    assert await viewed(history, branch) == [4, 5]
    await history.add(branch, instruction(2))
    assert await viewed(history, branch) == [4, 5, 2]
    assert await viewed(history, branch, at=3) == [4, 2, 5]


async def test_moving_in_the_base_order_does_not_reorder_the_view(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n) for n in range(1, 4)))
    await select(history, branch, [3, 1])
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(3), index=1))
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(1), index=2))
    assert numbers(await history.ids(branch)) == [3, 2, 1]
    assert await viewed(history, branch) == [3, 1]


async def test_a_first_system_record_heads_the_view(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2))
    await select(history, branch, [2])
    await history.add(branch, instruction(3), system(9))
    assert await viewed(history, branch) == [9, 2, 3]
    await history.system(branch, "second", uuid_of(8))
    assert await viewed(history, branch) == [8, 2, 3]
    await history.system(branch, "a new version", uuid_of(8))
    assert await viewed(history, branch) == [8, 2, 3]
    assert await viewed(history, branch, at=4) == [9, 2, 3]


async def test_a_replaced_system_record_heads_the_view_if_one_was_in_it(history: History) -> None:
    branch = await history.create()
    await history.add(branch, system(9), instruction(1), instruction(2))
    await select(history, branch, [2, 9, 1])
    await history.system(branch, "second", uuid_of(8))
    assert await viewed(history, branch) == [8, 2, 1]
    await select(history, branch, [2, 1])
    await history.system(branch, "third", uuid_of(7))
    assert await viewed(history, branch) == [2, 1]


async def test_clearing_the_messages_keeps_the_view_and_the_system_record_in_it(history: History) -> None:
    branch = await history.create()
    await history.add(branch, system(9), instruction(1), instruction(2))
    await select(history, branch, [1, 9])
    await history.call(pb.ClearMessagesRequest(branch_id=branch))
    assert await viewed(history, branch) == [9]
    await history.add(branch, instruction(1))
    assert await viewed(history, branch) == [9, 1]
    await select(history, branch, [1])
    await history.call(pb.ClearMessagesRequest(branch_id=branch))
    assert await viewed(history, branch) == []
    assert numbers(await history.ids(branch)) == [9]
    assert await viewed(history, branch, at=6) == [1]


async def test_the_header_names_the_system_record_whether_or_not_it_is_in_the_view(history: History) -> None:
    branch = await history.create()
    await history.add(branch, system(9), instruction(1))
    await select(history, branch, [1])
    snapshot = await history.snapshot(branch)
    assert snapshot.header.system.id == uuid_of(9)
    assert (numbers(snapshot.order), snapshot.header.message_count) == ([1], 1)
