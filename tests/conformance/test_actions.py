"""Action correlation: links between requests and responses, owned by the service."""

from __future__ import annotations

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import (
    ActionAlreadyAnsweredError,
    ActionRequestUnknownError,
    FieldInvalidError,
)
from tests.support.history import (
    History,
    action_result,
    call_action,
    instruction,
    numbers,
    uuid_of,
)

pytestmark = pytest.mark.anyio


async def answer_of(history: History, branch: str, request: int, at: int | None = None) -> int | None:
    """Return which response a stored request names."""
    content = (await history.get(branch, uuid_of(request), at)).action_request
    return numbers([content.action_response_id])[0] if content.HasField("action_response_id") else None


async def request_of(history: History, branch: str, response: int, at: int | None = None) -> int | None:
    """Return which request a stored response names."""
    content = (await history.get(branch, uuid_of(response), at)).action_response
    return numbers([content.action_request_id])[0] if content.HasField("action_request_id") else None


async def respond(
    history: History, branch: str, request: int, message: int, **fields: object
) -> pb.RespondToActionResponse:
    """Answer a request."""
    response: pb.RespondToActionResponse = await history.call(
        pb.RespondToActionRequest(
            branch_id=branch,
            action_request_id=uuid_of(request),
            message_id=uuid_of(message),
            **fields,  # type: ignore[arg-type]
        )
    )
    return response


async def remove(history: History, branch: str, *removed: int) -> None:
    """Remove messages."""
    ids = [uuid_of(number) for number in removed]
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=ids))


async def test_responding_copies_the_call_and_links_both_ways_in_one_revision(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), instruction(2))
    response = await respond(history, branch, 1, 3, output_json="0", metadata_json='{"m": 1}')
    assert response.revision == 3
    assert (response.placement.message_id, response.placement.index) == (uuid_of(3), 2)
    stored = await history.get(branch, uuid_of(3))
    assert stored.action_response == message_pb.ActionResponseContent(
        function="look_up",
        arguments_json='{"n": 1.0}',
        output_json="0",
        action_request_id=uuid_of(1),
        provider_call_id="call_1",
        state=message_pb.ACTION_RESPONSE_STATE_FINAL,
    )
    assert (stored.role, stored.metadata_json) == (message_pb.ROLE_ACTION, '{"m": 1}')
    assert not stored.HasField("sender")
    assert not stored.HasField("recipient")
    assert await answer_of(history, branch, 1) == 3
    assert await answer_of(history, branch, 1, at=2) is None
    assert numbers(await history.ids(branch)) == [1, 2, 3]


@pytest.mark.parametrize("output", ["0", '""', "[]", "{}", "false", "null", None])
async def test_falsy_outputs_are_outputs(history: History, output: str | None) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1))
    fields = {} if output is None else {"output_json": output}
    await respond(history, branch, 1, 2, **fields)
    content = (await history.get(branch, uuid_of(2))).action_response
    assert content.HasField("output_json") is (output is not None)
    assert content.output_json == (output or "")
    assert not content.HasField("error")


async def test_an_empty_error_is_a_failure(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1))
    await respond(history, branch, 1, 2, error="")
    assert (await history.get(branch, uuid_of(2))).action_response.HasField("error")


async def test_a_request_has_one_final_response(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1))
    await respond(history, branch, 1, 2)
    facts = {"action_request_id": uuid_of(1), "action_response_id": uuid_of(2)}
    with pytest.raises(ActionAlreadyAnsweredError) as caught:
        await respond(history, branch, 1, 3)
    assert caught.value.metadata == facts
    for late in (action_result(3, 1), action_result(3, 1, interim=True)):
        with pytest.raises(ActionAlreadyAnsweredError) as caught:
            await history.add(branch, late)
        assert caught.value.metadata == facts
    assert (await history.branch(branch)).revision == 3


async def test_interim_responses_carry_the_link_and_do_not_answer(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1))
    await respond(history, branch, 1, 2, state=message_pb.ACTION_RESPONSE_STATE_INTERIM)
    await history.add(branch, action_result(3, 1, interim=True))
    assert await answer_of(history, branch, 1) is None
    assert [await request_of(history, branch, n) for n in (2, 3)] == [1, 1]
    await respond(history, branch, 1, 4)
    assert await answer_of(history, branch, 1) == 4


async def test_an_added_response_is_linked_both_ways(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1))
    added = await history.add(branch, action_result(2, 1))
    assert added.revision == 3
    assert await answer_of(history, branch, 1) == 2
    assert await request_of(history, branch, 2) == 1
    snapshot = await history.snapshot(branch)
    assert snapshot.bodies == [message.SerializeToString(deterministic=True) for message in snapshot.messages]


async def test_in_one_batch_a_response_may_follow_its_request_and_not_precede_it(history: History) -> None:
    branch = await history.create()
    with pytest.raises(ActionRequestUnknownError):
        await history.add(branch, action_result(2, 1), call_action(1))
    await history.add(branch, call_action(1), action_result(2, 1))
    assert await answer_of(history, branch, 1) == 2
    with pytest.raises(ActionAlreadyAnsweredError):
        await history.add(branch, call_action(3), action_result(4, 3), action_result(5, 3))


async def test_a_response_without_a_request_is_stored_uncorrelated(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), action_result(2))
    assert await answer_of(history, branch, 1) is None
    assert await request_of(history, branch, 2) is None


async def test_a_response_may_not_name_what_is_no_request(history: History) -> None:
    branch, other = await history.create(1), await history.create(2)
    await history.add(branch, instruction(1))
    await history.add(other, call_action(7))
    for named in (1, 7, 9, 2):
        with pytest.raises(ActionRequestUnknownError) as caught:
            await history.add(branch, action_result(2, named))
        assert caught.value.metadata["action_request_id"] == uuid_of(named)
        with pytest.raises(ActionRequestUnknownError):
            await respond(history, branch, named, 2)
    # What is there already and no request will never become one; nor will the response itself.
    for named in (1, 2):
        with pytest.raises(ActionRequestUnknownError):
            await history.add(branch, action_result(2, named), allow_unresolved=True)


async def test_responding_needs_a_free_id(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), instruction(2))
    for taken in (1, 2):
        with pytest.raises(FieldInvalidError) as caught:
            await respond(history, branch, 1, taken)
        assert caught.value.violations[0].field == "message_id"
    made = await history.call(pb.RespondToActionRequest(branch_id=branch, action_request_id=uuid_of(1)))
    stored = await history.get(branch, made.placement.message_id)
    assert stored.action_response.action_request_id == uuid_of(1)


async def test_an_unresolved_response_is_completed_by_its_request(history: History) -> None:
    branch = await history.create()
    await history.add(branch, action_result(2, 1, interim=True), allow_unresolved=True)
    await history.add(branch, action_result(3, 1), allow_unresolved=True)
    assert await request_of(history, branch, 3) == 1
    added = await history.add(branch, call_action(1))
    assert added.revision == 4
    assert await answer_of(history, branch, 1) == 3
    assert await request_of(history, branch, 2) == 1
    with pytest.raises(ActionAlreadyAnsweredError):
        await respond(history, branch, 1, 9)


async def test_an_unresolved_response_is_completed_within_its_batch(history: History) -> None:
    branch = await history.create()
    await history.add(branch, action_result(2, 1), call_action(1), allow_unresolved=True)
    assert await answer_of(history, branch, 1) == 2
    assert numbers(await history.ids(branch)) == [2, 1]


async def test_an_absent_request_has_one_final_response_too(history: History) -> None:
    branch = await history.create()
    await history.add(branch, action_result(2, 1), allow_unresolved=True)
    with pytest.raises(ActionAlreadyAnsweredError) as caught:
        await history.add(branch, action_result(3, 1), allow_unresolved=True)
    assert caught.value.metadata == {"action_request_id": uuid_of(1), "action_response_id": uuid_of(2)}
    with pytest.raises(ActionAlreadyAnsweredError):
        await history.add(branch, action_result(4, 8), action_result(5, 8), allow_unresolved=True)


async def test_a_replaced_request_or_response_keeps_its_link(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), action_result(2, 1))
    await history.add(branch, call_action(1, "other"), action_result(2, output="1"))
    assert (await history.get(branch, uuid_of(1))).action_request.function == "other"
    assert (await history.get(branch, uuid_of(2))).action_response.output_json == "1"
    assert await answer_of(history, branch, 1) == 2
    assert await request_of(history, branch, 2) == 1
    await history.add(branch, action_result(2, 1, output="2"))
    assert await request_of(history, branch, 2) == 1
    assert (await history.branch(branch)).message_count == 2


async def test_a_replacement_may_not_name_another_request(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), call_action(5), action_result(2, 1))
    with pytest.raises(FieldInvalidError) as caught:
        await history.add(branch, instruction(3), action_result(2, 5))
    assert caught.value.violations[0].field == "messages[1].action_response.action_request_id"


async def test_an_interim_response_may_become_final_and_never_back(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), action_result(2, 1, interim=True))
    await history.add(branch, action_result(3, 1, interim=True))
    await history.add(branch, action_result(2))
    assert await answer_of(history, branch, 1) == 2
    with pytest.raises(FieldInvalidError) as caught:
        await history.add(branch, action_result(2, 1, interim=True))
    assert caught.value.violations[0].field == "messages[0].action_response.state"
    with pytest.raises(ActionAlreadyAnsweredError):
        await history.add(branch, action_result(3))
    # News that came before the answer may still be corrected.
    await history.add(branch, action_result(3, interim=True, output="1"))
    assert await request_of(history, branch, 3) == 1


async def test_an_unresolved_interim_response_may_become_final(history: History) -> None:
    branch = await history.create()
    await history.add(branch, action_result(2, 1, interim=True), allow_unresolved=True)
    await history.add(branch, action_result(2))
    await history.add(branch, call_action(1))
    assert await answer_of(history, branch, 1) == 2


async def test_an_uncorrelated_response_may_be_linked_by_a_replacement(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), action_result(2))
    await history.add(branch, action_result(2, 1))
    assert await answer_of(history, branch, 1) == 2
    assert await request_of(history, branch, 2) == 1


async def test_removing_a_response_makes_its_request_unanswered(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), action_result(2, 1))
    created = (await history.get(branch, uuid_of(1))).created_at
    await remove(history, branch, 2)
    assert await answer_of(history, branch, 1) is None
    assert await answer_of(history, branch, 1, at=2) == 2
    assert (await history.get(branch, uuid_of(1))).created_at == created
    await respond(history, branch, 1, 3)
    assert await answer_of(history, branch, 1) == 3


async def test_removing_a_request_clears_the_link_of_every_response(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), action_result(2, 1, interim=True), action_result(3, 1))
    await remove(history, branch, 1)
    assert [await request_of(history, branch, n) for n in (2, 3)] == [None, None]
    assert [await request_of(history, branch, n, at=2) for n in (2, 3)] == [1, 1]
    assert numbers(await history.ids(branch)) == [2, 3]
    # The id is free: a new request of that id is not answered by the former one's response.
    await history.add(branch, call_action(1))
    assert await answer_of(history, branch, 1) is None


async def test_a_waiting_response_waits_on_when_another_response_of_that_id_goes(history: History) -> None:
    branch = await history.create()
    await history.add(branch, action_result(2, 1), allow_unresolved=True)
    await history.add(branch, action_result(1))
    await remove(history, branch, 1)
    assert await request_of(history, branch, 2) == 1
    await history.add(branch, call_action(1))
    assert await answer_of(history, branch, 1) == 2


async def test_removing_both_sides_and_removing_an_interim_response(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), action_result(2, 1, interim=True), action_result(3, 1))
    await remove(history, branch, 2)
    assert await answer_of(history, branch, 1) == 3
    await remove(history, branch, 3, 1)
    assert await history.ids(branch) == []


async def test_a_moved_message_keeps_its_link(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), action_result(2, 1), instruction(3))
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(1), index=2))
    assert await answer_of(history, branch, 1) == 2
    with pytest.raises(ActionAlreadyAnsweredError):
        await respond(history, branch, 1, 9)
    await remove(history, branch, 1)
    assert await request_of(history, branch, 2) is None


async def test_cleared_messages_leave_no_link_behind(history: History) -> None:
    branch = await history.create()
    await history.add(branch, action_result(2, 1), allow_unresolved=True)
    await history.call(pb.ClearMessagesRequest(branch_id=branch))
    await history.add(branch, call_action(1))
    assert await answer_of(history, branch, 1) is None
