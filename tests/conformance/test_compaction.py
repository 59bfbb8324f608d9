"""Compaction: a summary in the view takes the place of messages that stay in the branch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import (
    AntiphonError,
    ContentKindFixedError,
    FieldInvalidError,
    MessageNotFoundError,
    ProgressionInvalidError,
    RevisionConflictError,
    RevisionExpiredError,
    RevisionInFutureError,
)
from history_service.sweeping import Keeping
from tests.support.branch_files import export_file, import_file
from tests.support.history import (
    History,
    assistant,
    instruction,
    numbers,
    running,
    summary,
    system,
    uuid_of,
)
from tests.support.watching import watching

pytestmark = pytest.mark.anyio

SUMMARY = 50


async def talk(history: History, number: int = 1) -> str:
    """Make a branch of a system record, 9, and three rounds, 1 to 6."""
    branch = await history.create(number)
    rounds = [instruction(1), assistant(2), instruction(3), assistant(4), instruction(5), assistant(6)]
    await history.add(branch, system(9), *rounds)
    return branch


async def seen(history: History, branch: str, at: int | None = None) -> list[int]:
    """Return the numbers of what is selected: the view, else the full order."""
    return numbers((await history.snapshot(branch, at=at)).order)


async def compact(history: History, branch: str, *kept: int, **fields: Any) -> Any:
    """Commit a compaction of messages 1 to 4 under the id ``SUMMARY``."""
    return await history.compact(branch, (1, 4), kept, message_id=uuid_of(SUMMARY), **fields)


async def test_a_summary_takes_the_place_of_a_stretch_and_nothing_leaves_the_branch(
    history: History,
) -> None:
    branch = await talk(history)
    response = await compact(history, branch, 5, 6, metadata_json='{"by": "test"}')
    assert (response.revision, response.view_count, response.replayed) == (3, 3, False)
    assert (response.placement.message_id, response.placement.index) == (uuid_of(SUMMARY), 7)
    assert await seen(history, branch) == [SUMMARY, 5, 6]
    assert numbers(await history.ids(branch)) == [9, 1, 2, 3, 4, 5, 6, SUMMARY]
    stored = await history.get(branch, uuid_of(SUMMARY))
    assert stored.summary == summary(0, 1, 4).summary
    assert (stored.role, stored.metadata_json) == (3, '{"by": "test"}')
    assert stored.HasField("created_at")
    await history.call(pb.ClearViewRequest(branch_id=branch))
    assert await seen(history, branch) == [9, 1, 2, 3, 4, 5, 6, SUMMARY]


async def test_revisions_before_it_read_as_they_were(history: History) -> None:
    branch = await talk(history)
    before = await history.snapshot(branch)
    await compact(history, branch, 9, 5, 6)
    again = await history.snapshot(branch, at=2)
    assert (again.order, again.bodies) == (before.order, before.bodies)
    assert again.header.SerializeToString(deterministic=True) == before.header.SerializeToString(
        deterministic=True
    )


async def test_a_system_record_that_stays_heads_the_view(history: History) -> None:
    branch = await talk(history)
    response = await compact(history, branch, 5, 9, 6)
    assert await seen(history, branch) == [9, SUMMARY, 5, 6]
    assert response.view_count == 4
    await compact(history, branch, 6)
    assert await seen(history, branch) == [SUMMARY, 6]
    assert (await history.snapshot(branch)).header.system.id == uuid_of(9)


async def test_everything_may_be_summarized(history: History) -> None:
    branch = await talk(history)
    assert (await compact(history, branch)).view_count == 1
    assert await seen(history, branch) == [SUMMARY]
    await history.add(branch, instruction(7))
    assert await seen(history, branch) == [SUMMARY, 7]


async def test_a_second_compaction_updates_the_summary_under_its_id(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    first = await history.get(branch, uuid_of(SUMMARY))
    await history.add(branch, instruction(7), assistant(8))
    response = await history.compact(branch, (1, 6), [7, 8], "more")
    assert (response.placement.message_id, response.placement.index) == (uuid_of(SUMMARY), 7)
    assert await seen(history, branch) == [SUMMARY, 7, 8]
    second = await history.get(branch, uuid_of(SUMMARY))
    assert (second.summary.text, second.summary.last_id) == ("more", uuid_of(6))
    assert second.created_at == first.created_at
    assert await history.get(branch, uuid_of(SUMMARY), at=4) == first
    assert await seen(history, branch, at=4) == [SUMMARY, 5, 6, 7, 8]
    assert numbers(await history.ids(branch)).count(SUMMARY) == 1


async def test_without_a_view_the_summary_in_the_order_is_updated(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    await history.call(pb.ClearViewRequest(branch_id=branch))
    response = await history.compact(branch, (1, 2), [3, 4])
    assert response.placement.message_id == uuid_of(SUMMARY)
    assert await seen(history, branch) == [SUMMARY, 3, 4]


async def test_a_summary_outside_of_the_view_is_left_alone(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(5), uuid_of(6)]))
    response = await history.compact(branch, (5, 5), [6])
    assert response.placement.message_id not in (uuid_of(SUMMARY), "")
    assert response.placement.index == 8
    assert (await history.get(branch, uuid_of(SUMMARY))).summary.text == "summary 0"


async def test_of_several_summaries_in_the_view_the_first_is_updated_and_the_others_leave_it(
    history: History,
) -> None:
    branch = await talk(history)
    await history.add(branch, summary(51, 1, 2), summary(52, 3, 4))
    await history.call(
        pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(5), uuid_of(52), uuid_of(51)])
    )
    response = await history.compact(branch, (1, 4), [5], planned_revision=4)
    assert response.placement.message_id == uuid_of(52)
    assert await seen(history, branch) == [52, 5]
    assert 51 in numbers(await history.ids(branch))


async def test_a_summary_that_another_added_meanwhile_does_not_follow(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    planned = (await history.branch(branch)).revision
    await history.add(branch, instruction(7), summary(51, 1, 2), assistant(8))
    await history.compact(branch, (1, 5), [6], planned_revision=planned)
    assert await seen(history, branch) == [SUMMARY, 6, 7, 8]


async def test_a_summary_named_otherwise_takes_the_others_place(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    await history.compact(branch, (1, 4), [6], message_id=uuid_of(60))
    assert await seen(history, branch) == [60, 6]
    assert numbers(await history.ids(branch))[-2:] == [SUMMARY, 60]


async def test_what_is_added_while_a_summary_is_written_follows(history: History) -> None:
    branch = await talk(history)
    planned = (await history.branch(branch)).revision
    await history.add(branch, instruction(7), assistant(8))
    await history.add(branch, instruction(5, "edited"))
    await history.call(
        pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(8), index=1),
    )
    response = await compact(history, branch, 9, 5, 6, planned_revision=planned)
    # Without a view its order is the branch's.
    assert await seen(history, branch) == [9, SUMMARY, 5, 6, 8, 7]
    assert response.view_count == 6


async def test_what_is_added_to_a_view_follows_in_the_views_order(history: History) -> None:
    branch = await talk(history)
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(n) for n in (3, 4, 5, 6)]))
    planned = (await history.branch(branch)).revision
    await history.add(branch, instruction(7), assistant(8), instruction(10), assistant(11))
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(8)]))
    await history.call(
        pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(n) for n in (11, 4, 5, 6, 7)])
    )
    await history.compact(branch, (3, 4), [5, 6], message_id=uuid_of(SUMMARY), planned_revision=planned)
    # 8 has left the branch, 10 its view, and 3 and 4 are summarized.
    assert await seen(history, branch) == [SUMMARY, 5, 6, 11, 7]


async def test_what_leaves_and_comes_back_was_added(history: History) -> None:
    branch = await talk(history)
    planned = (await history.branch(branch)).revision
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(2), uuid_of(5)]))
    await history.add(branch, assistant(2, "anew"), instruction(5, "anew"))
    await compact(history, branch, 5, 6, planned_revision=planned)
    assert await seen(history, branch) == [SUMMARY, 5, 6, 2]


async def test_a_system_record_set_meanwhile_heads_the_view(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), assistant(2))
    planned = (await history.branch(branch)).revision
    await history.system(branch, "policy", uuid_of(8))
    await history.compact(branch, (1, 1), [2], message_id=uuid_of(SUMMARY), planned_revision=planned)
    assert await seen(history, branch) == [8, SUMMARY, 2]


async def test_without_a_planned_revision_the_view_is_what_is_listed(history: History) -> None:
    branch = await talk(history)
    await history.add(branch, instruction(7))
    await compact(history, branch, 6)
    assert await seen(history, branch) == [SUMMARY, 6]


async def test_a_summary_that_was_only_moved_overtakes_no_plan(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    planned = (await history.branch(branch)).revision
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(SUMMARY), index=1))
    await compact(history, branch, 6, planned_revision=planned)
    assert await seen(history, branch) == [SUMMARY, 6]


async def test_a_plan_that_another_compaction_overtook_is_refused(history: History) -> None:
    """The other one's summary stands for messages that the plan has never seen."""
    branch = await talk(history)
    planned = (await history.branch(branch)).revision
    await history.add(branch, instruction(7), assistant(8), instruction(10), assistant(11))
    await history.compact(branch, (1, 8), [10, 11], planned_revision=planned + 1)
    with pytest.raises(RevisionConflictError) as caught:
        await compact(history, branch, 5, 6, planned_revision=planned)
    assert (caught.value.expected_revision, caught.value.actual_revision) == (planned, planned + 2)
    assert len(await seen(history, branch)) == 3
    await history.compact(branch, (1, 10), [11], planned_revision=planned + 2)
    assert numbers((await history.snapshot(branch)).order[1:]) == [11]


@pytest.mark.parametrize("planned", [3, 2**62])
async def test_a_planned_revision_is_one_the_branch_has_reached(history: History, planned: int) -> None:
    branch = await talk(history)
    with pytest.raises(RevisionInFutureError) as caught:
        await compact(history, branch, planned_revision=planned)
    assert caught.value.metadata["actual"] == "2"


async def test_a_planned_revision_that_was_dropped_is_expired(history: History) -> None:
    branch = await talk(history)
    await history.add(branch, instruction(7))
    await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=3))
    with pytest.raises(RevisionExpiredError) as caught:
        await compact(history, branch, 5, 6, planned_revision=2)
    assert caught.value.oldest_revision == 3
    await compact(history, branch, 5, 6, planned_revision=3)
    assert await seen(history, branch) == [SUMMARY, 5, 6]


async def test_unknown_and_repeated_ids_are_all_listed(history: History) -> None:
    branch = await talk(history)
    with pytest.raises(ProgressionInvalidError) as caught:
        await compact(history, branch, 5, 77, 5, 78, 6, 6)
    assert caught.value.metadata == {
        "missing": f"{uuid_of(77)},{uuid_of(78)}",
        "missing_count": "2",
        "duplicate": f"{uuid_of(5)},{uuid_of(6)}",
        "duplicate_count": "2",
    }
    with pytest.raises(MessageNotFoundError) as unknown:
        await history.compact(branch, (77, 78), [5])
    assert unknown.value.metadata == {"missing": f"{uuid_of(77)},{uuid_of(78)}", "missing_count": "2"}
    with pytest.raises(MessageNotFoundError) as unknown:
        await history.compact(branch, (1, 78), [5])
    assert unknown.value.metadata["missing"] == uuid_of(78)
    assert (await history.branch(branch)).revision == 2


async def test_no_summary_stays_beside_the_new_one(history: History) -> None:
    branch = await talk(history)
    await history.add(branch, summary(51, 1, 2))
    with pytest.raises(FieldInvalidError) as caught:
        await compact(history, branch, 5, 51)
    assert [violation.field for violation in caught.value.violations] == ["view_message_ids[1]"]


async def test_the_id_of_another_kind_is_refused(history: History) -> None:
    branch = await talk(history)
    for taken in (5, 9):
        with pytest.raises(ContentKindFixedError) as caught:
            await history.compact(branch, (1, 4), [6], message_id=uuid_of(taken))
        assert caught.value.metadata["message_id"] == uuid_of(taken)
    assert await seen(history, branch) == [9, 1, 2, 3, 4, 5, 6]


async def test_a_refused_summary_changes_nothing(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    with pytest.raises(FieldInvalidError):
        await history.compact(branch, (1, 5), [6], " \n")
    assert (await history.branch(branch)).revision == 3
    assert (await history.get(branch, uuid_of(SUMMARY))).summary.text == "summary 0"


async def test_a_stretch_may_name_messages_that_were_removed(history: History) -> None:
    branch = await talk(history)
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(1), uuid_of(4)]))
    await compact(history, branch, 5, 6)
    assert await seen(history, branch) == [SUMMARY, 5, 6]


async def test_what_a_trim_dropped_is_unknown_but_for_the_summary_it_belongs_to(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(1), uuid_of(2)]))
    await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=4))
    with pytest.raises(MessageNotFoundError) as caught:
        await history.compact(branch, (2, 5), [6])
    assert caught.value.metadata["missing"] == uuid_of(2)
    # The former summary still begins with 1: whoever updates it has no better name for the start.
    await history.compact(branch, (1, 5), [6])
    assert (await history.get(branch, uuid_of(SUMMARY))).summary.first_id == uuid_of(1)


async def test_what_the_retention_dropped_is_unknown_before_it_is_erased(
    store_kind: str, tmp_path: Path
) -> None:
    async with running(store_kind, tmp_path, keeping=Keeping(revisions=2)) as history:
        branch = await talk(history)
        await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(1)]))
        await history.add(branch, instruction(7))
        assert (await history.branch(branch)).oldest_revision == 3
        with pytest.raises(MessageNotFoundError):
            await compact(history, branch, 5, 6)


async def test_it_is_repeatable_and_guarded(history: History) -> None:
    branch = await talk(history)
    fields: dict[str, Any] = {"request_id": uuid_of(99), "expected_revision": 2, "planned_revision": 2}
    first = await history.compact(branch, (1, 4), [5, 6], **fields)
    await history.add(branch, instruction(7))
    again = await history.compact(branch, (1, 4), [5, 6], **fields)
    assert (first.replayed, again.replayed) == (False, True)
    again.replayed = False
    assert again == first
    assert len(await seen(history, branch)) == 4
    with pytest.raises(RevisionConflictError):
        await history.compact(branch, (1, 4), [6], expected_revision=2)


async def test_a_watcher_is_told_of_the_summary_and_the_view(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    await history.compact(branch, (1, 5), [6])
    async with watching(history, branch, 2) as watcher:
        first, second = await watcher.changes()
    assert first.kind == second.kind == pb.BRANCH_CHANGE_KIND_MEMBERSHIP
    added, selected = first.operations
    assert (added.added.message_id, added.added.index) == (uuid_of(SUMMARY), 7)
    assert selected.view_selected.message_count == 3
    replaced, selected = second.operations
    assert replaced.replaced.message_id == uuid_of(SUMMARY)
    assert selected.view_selected.message_count == 2


async def test_a_fork_takes_the_summary_along(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 9, 5, 6)
    kept = (await history.call(pb.ForkBranchRequest(source_branch_id=branch))).branch.branch_id
    assert await seen(history, kept) == [9, SUMMARY, 5, 6]
    await history.compact(kept, (1, 5), [6], "the fork's")
    assert await seen(history, branch) == [9, SUMMARY, 5, 6]
    assert (await history.get(branch, uuid_of(SUMMARY))).summary.text == "summary 0"


async def test_clones_of_a_stretch_are_named_by_the_clone_of_its_summary(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(1)]))
    fork = await history.call(pb.ForkBranchRequest(source_branch_id=branch, ids=pb.FORK_IDS_NEW))
    cloned = {message.metadata_json: message for message in await history.messages(fork.branch.branch_id)}
    named = {number: cloned[f'{{"clone_from":"{uuid_of(number)}"}}'] for number in (4, SUMMARY)}
    stretch = named[SUMMARY].summary
    # 1 is not in the fork; 4 is.
    assert (stretch.first_id, stretch.last_id) == (uuid_of(1), named[4].id)
    order = (await history.snapshot(fork.branch.branch_id)).order
    assert order[0] == named[SUMMARY].id
    # Whoever compacts the fork further goes on from the start that the summary names.
    await history.compact(fork.branch.branch_id, (1, 1), [])


async def test_a_branch_file_carries_it(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 9, 5, 6)
    file = await export_file(history, branch)
    again = (await import_file(history, file)).branch.branch_id
    assert again != branch
    former, restored = await history.snapshot(branch), await history.snapshot(again)
    assert restored.bodies == former.bodies
    assert restored.order == former.order
    listed = await history.messages(branch)
    assert await history.messages(again) == listed


async def test_a_trim_keeps_what_the_view_holds(history: History) -> None:
    branch = await talk(history)
    await compact(history, branch, 5, 6)
    await history.compact(branch, (1, 5), [6])
    await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=4))
    assert await seen(history, branch) == [SUMMARY, 6]
    with pytest.raises(RevisionExpiredError):
        await seen(history, branch, at=3)
    await history.call(pb.DeleteBranchRequest(branch_id=branch, purge=True))
    with pytest.raises(AntiphonError):
        await seen(history, branch)
