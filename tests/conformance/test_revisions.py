"""Revisions, replays and time travel."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1.message_pb2 import SystemContent
from antiphon_client.errors import (
    BranchDeletedError,
    BranchNotFoundError,
    FieldInvalidError,
    MessageNotFoundError,
    RequestIdReusedError,
    RevisionConflictError,
    RevisionInFutureError,
)
from history_service.write_calls import REPLAY_RETENTION
from tests.support.history import (
    History,
    call_action,
    instruction,
    numbers,
    running,
    summary,
    system,
    uuid_of,
)

pytestmark = pytest.mark.anyio


def all_writes(branch: str, **guard: Any) -> list[Any]:
    """Return one acceptable request of every guarded write, for a branch made by ``furnished``."""
    return [
        pb.UpdateBranchRequest(branch_id=branch, metadata_json="{}", **guard),
        pb.AddMessagesRequest(branch_id=branch, messages=[instruction(50)], **guard),
        pb.RespondToActionRequest(
            branch_id=branch, action_request_id=uuid_of(2), message_id=uuid_of(51), **guard
        ),
        pb.SetSystemRequest(branch_id=branch, system=SystemContent(system_message="policy"), **guard),
        pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(1), index=1, **guard),
        pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(1)], **guard),
        pb.ClearViewRequest(branch_id=branch, **guard),
        pb.CommitCompactionRequest(
            branch_id=branch, summary=summary(0, 1, 2).summary, view_message_ids=[uuid_of(2)], **guard
        ),
        pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(1)], **guard),
        pb.ClearMessagesRequest(branch_id=branch, **guard),
        pb.DeleteBranchRequest(branch_id=branch, **guard),
    ]


async def furnished(history: History, number: int = 1) -> str:
    """Make a branch at revision 2 that every write can work on."""
    branch = await history.create(number)
    await history.add(branch, system(9), instruction(1), call_action(2))
    return branch


async def test_every_accepted_write_is_the_next_revision_even_one_that_changes_nothing(
    history: History,
) -> None:
    branch = await furnished(history)
    revision = 2
    for request in all_writes(branch)[:-1]:
        for again in (True, False):
            if again and isinstance(request, pb.RespondToActionRequest | pb.RemoveMessagesRequest):
                continue
            revision += 1
            assert (await history.call(request)).revision == revision
            assert (await history.branch(branch)).revision == revision
    assert (await history.call(pb.DeleteBranchRequest(branch_id=branch))).revision == revision + 1


async def test_every_write_is_guarded_by_the_expected_revision(history: History) -> None:
    for number, index in enumerate(range(len(all_writes(""))), start=1):
        branch = await furnished(history, number)
        request = all_writes(branch, expected_revision=1)[index]
        with pytest.raises(RevisionConflictError) as caught:
            await history.call(request)
        assert (caught.value.expected_revision, caught.value.actual_revision) == (1, 2)
        assert caught.value.metadata["branch_id"] == branch
        request.expected_revision = 2
        assert (await history.call(request)).revision == 3


async def test_a_refused_write_makes_no_revision(history: History) -> None:
    branch = await furnished(history)
    with pytest.raises(MessageNotFoundError):
        await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(77)]))
    assert (await history.branch(branch)).revision == 2


async def test_a_repeated_request_gets_the_first_response_and_has_no_effect(history: History) -> None:
    for number, index in enumerate(range(len(all_writes(""))), start=1):
        branch = await furnished(history, number)
        request = all_writes(branch, request_id=uuid_of(0xA000 + number), expected_revision=2)[index]
        first = await history.call(request)
        again = await history.call(request)
        assert (first.replayed, again.replayed) == (False, True)
        again.replayed = False
        assert again == first
        if not isinstance(request, pb.DeleteBranchRequest):
            assert (await history.branch(branch)).revision == 3


async def test_creating_is_repeatable_too(history: History) -> None:
    request = pb.CreateBranchRequest(external_key="key", metadata_json='{"a": 1}', request_id=uuid_of(5))
    first = await history.call(request)
    again = await history.call(request)
    assert again.replayed
    assert again.branch == first.branch
    assert len((await history.call(pb.ListBranchesRequest())).branches) == 1


async def test_a_replay_keeps_the_ids_the_server_made(history: History) -> None:
    branch = await history.create()
    message = instruction(0)
    message.id = ""
    request = pb.AddMessagesRequest(branch_id=branch, messages=[message], request_id=uuid_of(5))
    first, again = await history.call(request), await history.call(request)
    assert again.placements == first.placements
    assert await history.ids(branch) == [first.placements[0].message_id]


async def test_another_request_under_a_known_id_is_refused(history: History) -> None:
    branch = await furnished(history)
    await history.call(pb.ClearViewRequest(branch_id=branch, request_id=uuid_of(5)))
    for other in (
        pb.ClearViewRequest(branch_id=branch, request_id=uuid_of(5), expected_revision=3),
        # The same bytes for another method.
        pb.DeleteBranchRequest(branch_id=branch, request_id=uuid_of(5)),
        pb.CreateBranchRequest(request_id=uuid_of(5)),
        pb.ClearViewRequest(branch_id=uuid_of(404), request_id=uuid_of(5)),
    ):
        with pytest.raises(RequestIdReusedError):
            await history.call(other)
    assert (await history.branch(branch)).revision == 3


async def test_the_same_bytes_for_another_method_are_another_request(history: History) -> None:
    branch = await furnished(history)
    clear_view = pb.ClearViewRequest(branch_id=branch, request_id=uuid_of(5))
    clear_messages = pb.ClearMessagesRequest(branch_id=branch, request_id=uuid_of(5))
    assert clear_view.SerializeToString() == clear_messages.SerializeToString()
    await history.call(clear_view)
    with pytest.raises(RequestIdReusedError):
        await history.call(clear_messages)


async def test_errors_are_not_recorded(history: History) -> None:
    branch = await history.create()
    request = pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(1)], request_id=uuid_of(5))
    with pytest.raises(MessageNotFoundError):
        await history.call(request)
    await history.add(branch, instruction(1))
    response = await history.call(request)
    assert (response.revision, response.replayed) == (3, False)


async def test_checks_come_in_their_order(history: History) -> None:
    branch = await furnished(history)
    known = pb.DeleteBranchRequest(branch_id=branch, request_id=uuid_of(5), expected_revision=2)
    await history.call(known)
    # Replay before deletion and revision; fields before replay; deletion before revision.
    assert (await history.call(known)).replayed
    invalid = pb.SelectViewRequest(branch_id=branch, message_ids=["?"], request_id=uuid_of(5))
    with pytest.raises(FieldInvalidError):
        await history.call(invalid)
    for request in all_writes(branch, expected_revision=1):
        with pytest.raises(BranchDeletedError):
            await history.call(request)
    # Revision before the rules of the write.
    other = await history.create(2)
    missing = pb.RemoveMessagesRequest(branch_id=other, message_ids=[uuid_of(1)], expected_revision=7)
    with pytest.raises(RevisionConflictError):
        await history.call(missing)


async def test_request_ids_belong_to_their_tenant(history: History) -> None:
    request = pb.CreateBranchRequest(branch_id=uuid_of(1), request_id=uuid_of(5))
    await history.call(request, tenant_id="a")
    response = await history.call(request, tenant_id="b")
    assert not response.replayed
    with pytest.raises(BranchNotFoundError):
        await history.call(pb.GetBranchRequest(branch_id=uuid_of(1)))


async def test_request_ids_are_kept_for_a_day_and_then_forgotten(history: History) -> None:
    branch = await history.create()
    request = pb.ClearViewRequest(branch_id=branch, request_id=uuid_of(5))
    await history.call(request)
    start = history.clock.now

    fresh_ids = map(uuid_of, itertools.count(0xB0000))

    async def many_writes() -> None:
        # Forgetting is done by writes, now and then.
        for request_id in itertools.islice(fresh_ids, 300):
            await history.call(pb.ClearViewRequest(branch_id=branch, request_id=request_id))

    history.clock.now = start + REPLAY_RETENTION - 3600 * 10**9
    await many_writes()
    assert (await history.call(request)).replayed
    history.clock.now = start + REPLAY_RETENTION + 3600 * 10**9
    await many_writes()
    assert not (await history.call(request)).replayed


@pytest.mark.parametrize("kind", ["sqlite"])
async def test_a_request_id_survives_a_restart(anyio_backend: object, kind: str, tmp_path: Path) -> None:
    request = pb.AddMessagesRequest(branch_id=uuid_of(1), messages=[instruction(1)], request_id=uuid_of(5))
    async with running(kind, tmp_path) as history:
        await history.create()
        first = await history.call(request)
    async with running(kind, tmp_path) as history:
        again = await history.call(request)
        assert again.replayed
        assert again.placements == first.placements
        assert (await history.branch(uuid_of(1))).revision == 2
        assert (await history.add(uuid_of(1), instruction(2))).revision == 3
        assert numbers(await history.ids(uuid_of(1))) == [1, 2]


async def test_concurrent_duplicates_have_one_effect(history: History) -> None:
    branch = await history.create()
    request = pb.AddMessagesRequest(branch_id=branch, messages=[instruction(1)], request_id=uuid_of(5))
    responses = await asyncio.gather(*(history.call(request) for _ in range(20)))
    assert sorted(response.replayed for response in responses) == [False] + [True] * 19
    assert {response.revision for response in responses} == {2}
    assert (await history.branch(branch)).revision == 2


async def test_metadata_and_everything_else_can_be_read_as_it_stood(history: History) -> None:
    branch = await history.create(metadata_json='{"v": 1}')
    await history.add(branch, instruction(1))
    await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json='{"v":2}'))
    await history.system(branch, "policy", uuid_of(9))
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(1)]))
    await history.call(pb.UpdateBranchRequest(branch_id=branch))
    now = await history.branch(branch)
    facts = []
    for at in range(1, 7):
        then = await history.branch(branch, at)
        assert (then.revision, then.incarnation, then.created_at) == (at, now.incarnation, now.created_at)
        facts.append(
            (then.metadata_json, then.message_count, then.system_message_id, then.HasField("view_count"))
        )
    assert facts == [
        ('{"v": 1}', 0, "", False),
        ('{"v": 1}', 1, "", False),
        ('{"v":2}', 1, "", False),
        ('{"v":2}', 2, uuid_of(9), False),
        ('{"v":2}', 2, uuid_of(9), True),
        ("", 2, uuid_of(9), True),
    ]
    assert await history.branch(branch, 6) == now


async def test_a_revision_that_is_not_there_yet_is_refused_by_every_read(history: History) -> None:
    branch = await furnished(history)
    for request in (
        pb.GetBranchRequest(branch_id=branch, at_revision=3),
        pb.GetMessagesRequest(branch_id=branch, message_ids=[uuid_of(1)], at_revision=3),
        pb.ListMessagesRequest(branch_id=branch, at_revision=3),
    ):
        with pytest.raises(RevisionInFutureError) as caught:
            await history.call(request)
        assert caught.value.metadata["actual"] == "2"
    with pytest.raises(RevisionInFutureError):
        await history.snapshot(branch, at=3)
