"""Writers that race on one branch."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import ActionAlreadyAnsweredError, AntiphonError, RevisionConflictError
from tests.support.history import History, call_action, instruction, numbers, uuid_of

pytestmark = pytest.mark.anyio


async def test_32_writers_lose_nothing_and_their_revisions_are_dense(history: History) -> None:
    branch = await history.create()
    writers, appends = 32, 10

    async def write(writer: int) -> list[int]:
        return [
            (await history.add(branch, instruction(writer * 1000 + step))).revision for step in range(appends)
        ]

    revisions = await asyncio.gather(*(write(writer) for writer in range(writers)))
    total = writers * appends
    assert sorted(itertools.chain.from_iterable(revisions)) == list(range(2, total + 2))
    assert all(own == sorted(own) for own in revisions)
    found = numbers(await history.ids(branch))
    assert len(found) == len(set(found)) == total
    for writer in range(writers):
        own = [number for number in found if number // 1000 == writer]
        assert own == sorted(own)
    # The revision a write was told is the one that added its message.
    for writer in (0, 31):
        for step, revision in enumerate(revisions[writer]):
            assert (await history.ids(branch, at=revision))[-1] == uuid_of(writer * 1000 + step)


async def test_racing_systems_leave_one_after_each(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1))
    responses = await asyncio.gather(
        *(history.system(branch, f"policy {n}", uuid_of(100 + n)) for n in range(100))
    )
    by_revision = {response.revision: response.placement.message_id for response in responses}
    assert sorted(by_revision) == list(range(3, 103))
    for at in (3, 4, 50, 102):
        assert await history.ids(branch, at=at) == [by_revision[at], uuid_of(1)]
        assert (await history.branch(branch, at)).system_message_id == by_revision[at]
        systems = await history.messages(branch, kinds=[pb.MESSAGE_KIND_SYSTEM], at_revision=at)
        assert [message.id for message in systems] == [by_revision[at]]


async def test_racing_with_one_expected_revision_has_one_winner(history: History) -> None:
    branch = await history.create()
    for round_number in range(1, 6):
        results = await asyncio.gather(
            *(
                history.add(branch, instruction(100 * round_number + n), expected_revision=round_number)
                for n in range(12)
            ),
            return_exceptions=True,
        )
        lost = [result for result in results if isinstance(result, RevisionConflictError)]
        won = [result for result in results if not isinstance(result, BaseException)]
        assert (len(won), len(lost)) == (1, 11)
        assert won[0].revision == round_number + 1
        assert {error.actual_revision for error in lost} == {round_number + 1}


async def test_racing_responses_have_one_winner(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1))
    results = await asyncio.gather(
        *(
            history.call(
                pb.RespondToActionRequest(
                    branch_id=branch, action_request_id=uuid_of(1), message_id=uuid_of(100 + n)
                )
            )
            for n in range(12)
        ),
        return_exceptions=True,
    )
    won = [result for result in results if not isinstance(result, BaseException)]
    assert len(won) == 1
    assert sum(isinstance(result, ActionAlreadyAnsweredError) for result in results) == 11
    stored = await history.get(branch, uuid_of(1))
    assert stored.action_request.action_response_id == won[0].placement.message_id


async def test_a_refused_write_leaves_the_others_of_its_commit_alone(history: History) -> None:
    branch = await history.create()
    good = [history.add(branch, instruction(n)) for n in range(20)]
    bad = [
        history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(999)]))
        for _ in range(20)
    ]
    mixed = [call for pair in zip(good, bad, strict=True) for call in pair]
    results = await asyncio.gather(*mixed, return_exceptions=True)
    assert [isinstance(result, AntiphonError) for result in results] == [False, True] * 20
    assert numbers(await history.ids(branch)) == list(range(20))
    assert (await history.branch(branch)).revision == 21
