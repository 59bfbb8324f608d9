"""Membership and order: what is in a branch, and where."""

from __future__ import annotations

import random

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import (
    ContentKindFixedError,
    FieldInvalidError,
    MessageNotFoundError,
    SystemRecordFixedError,
)
from tests.support.history import (
    History,
    action_result,
    assistant,
    call_action,
    instruction,
    numbers,
    system,
    uuid_of,
)

pytestmark = pytest.mark.anyio


def places(response: pb.AddMessagesResponse) -> list[tuple[int, int]]:
    """Return (number, index) of each placement."""
    ids = numbers(placement.message_id for placement in response.placements)
    return list(zip(ids, [placement.index for placement in response.placements], strict=True))


async def move(history: History, branch: str, number: int, index: int) -> pb.MoveMessageResponse:
    """Move a message."""
    request = pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(number), index=index)
    response: pb.MoveMessageResponse = await history.call(request)
    return response


async def test_a_batch_keeps_its_order_whatever_its_ids_and_times(history: History) -> None:
    branch = await history.create()
    late, early = instruction(9), instruction(3)
    late.created_at.FromSeconds(2_000_000_000)
    early.created_at.FromSeconds(1_000_000_000)
    added = await history.add(branch, late, early, assistant(5))
    assert (added.revision, added.replayed) == (2, False)
    assert places(added) == [(9, 0), (3, 1), (5, 2)]
    assert numbers(await history.ids(branch)) == [9, 3, 5]


async def test_the_server_gives_ids_and_times_where_the_writer_gave_none(history: History) -> None:
    branch = await history.create()
    message = instruction(0)
    message.id = ""
    added = await history.add(branch, message, message)
    first, second = await history.messages(branch)
    assert [placement.message_id for placement in added.placements] == [first.id, second.id]
    assert first.id != second.id
    assert 0 < first.created_at.ToNanoseconds() <= history.clock.now
    history.clock.now = -(10**9)
    await history.add(branch, instruction(1))
    stored = await history.get(branch, uuid_of(1))
    assert stored.HasField("created_at")
    assert stored.created_at.seconds == 0


async def test_stored_messages_are_canonical_and_come_back_with_every_field(history: History) -> None:
    branch = await history.create()
    message = message_pb.Message(
        id=uuid_of(7),
        role=message_pb.ROLE_SYSTEM,
        sender=message_pb.Address(member_id=uuid_of(1)),
        recipient=message_pb.Address(broadcast=message_pb.Broadcast()),
        channel="",
        metadata_json='{ "b":1.0, "a":12345678901234567890 }',
        status=message_pb.MESSAGE_STATUS_INTERRUPTED,
        action_request=message_pb.ActionRequestContent(
            function="f\0", action_response_id=uuid_of(99), arguments_text="{'a'"
        ),
    )
    message.created_at.FromNanoseconds(1)
    await history.add(branch, message)
    stored = await history.get(branch, message.id)
    message.role = message_pb.ROLE_ACTION
    message.action_request.ClearField("action_response_id")
    assert stored == message
    snapshot = await history.snapshot(branch)
    assert snapshot.bodies == [message.SerializeToString(deterministic=True)]


async def test_a_known_id_is_replaced_at_its_index_and_keeps_its_time(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2), instruction(3))
    before = await history.get(branch, uuid_of(2))
    replaced = await history.add(branch, instruction(4), instruction(2, "anew"), assistant(5))
    assert places(replaced) == [(4, 3), (2, 1), (5, 4)]
    after = await history.get(branch, uuid_of(2))
    assert after.instruction.instruction == "anew"
    assert after.created_at == before.created_at
    assert numbers(await history.ids(branch)) == [1, 2, 3, 4, 5]
    assert (await history.branch(branch)).message_count == 5
    timed = instruction(2, "again")
    timed.created_at.FromSeconds(5)
    await history.add(branch, timed)
    assert (await history.get(branch, uuid_of(2))).created_at.seconds == 5


async def test_a_batch_of_replacements_tells_each_index(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n) for n in range(12)))
    await move(history, branch, 11, 2)
    order = [0, 1, 11, *range(2, 11)]
    again = [*reversed(range(12))]
    added = await history.add(branch, *(instruction(n, "anew") for n in again), system(99))
    assert places(added) == [*((n, order.index(n) + 1) for n in again), (99, 0)]
    assert numbers(await history.ids(branch)) == [99, *order]


async def test_a_replacement_may_not_change_the_kind_and_nothing_of_its_batch_stays(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1))
    for message in (assistant(1), system(1)):
        with pytest.raises(ContentKindFixedError) as caught:
            await history.add(branch, instruction(2), message)
        assert caught.value.metadata["message_id"] == uuid_of(1)
    with pytest.raises(ContentKindFixedError):
        await history.system(branch, "policy", uuid_of(1))
    assert (await history.branch(branch)).revision == 2
    assert numbers(await history.ids(branch)) == [1]


async def test_two_branches_may_hold_one_id(history: History) -> None:
    first, second = await history.create(1), await history.create(2)
    await history.add(first, instruction(7, "here"))
    await history.add(second, assistant(7, "there"))
    assert (await history.get(first, uuid_of(7))).instruction.instruction == "here"
    assert (await history.get(second, uuid_of(7))).assistant_response.assistant_response == "there"


async def test_the_first_system_record_takes_index_0(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2))
    response = await history.system(branch, "policy", uuid_of(3))
    assert (response.revision, response.placement.index) == (3, 0)
    assert numbers(await history.ids(branch)) == [3, 1, 2]
    described = await history.branch(branch)
    assert (described.system_message_id, described.message_count) == (uuid_of(3), 3)


async def test_a_new_system_record_takes_the_former_ones_place_at_once(history: History) -> None:
    branch = await history.create()
    await history.system(branch, "first", uuid_of(1))
    await history.add(branch, instruction(2))
    await history.system(branch, "second", uuid_of(3))
    assert numbers(await history.ids(branch)) == [3, 2]
    assert numbers(await history.ids(branch, at=3)) == [1, 2]
    with pytest.raises(MessageNotFoundError):
        await history.get(branch, uuid_of(1))
    assert (await history.branch(branch)).message_count == 2


async def test_the_current_system_record_gets_a_new_version_under_its_id(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(2))
    await history.system(branch, "first", uuid_of(1), metadata_json='{"v": 1}')
    first = await history.get(branch, uuid_of(1))
    response = await history.system(branch, "second", uuid_of(1))
    again = await history.get(branch, uuid_of(1))
    assert (response.placement.message_id, response.placement.index) == (uuid_of(1), 0)
    assert (again.system.system_message, again.metadata_json) == ("second", "")
    assert again.created_at == first.created_at
    assert numbers(await history.ids(branch)) == [1, 2]
    assert (await history.get(branch, uuid_of(1), at=3)).metadata_json == '{"v": 1}'


async def test_a_system_record_in_a_batch_goes_to_index_0_too(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1))
    added = await history.add(branch, instruction(2), system(3), instruction(1, "anew"), instruction(4))
    assert places(added) == [(2, 2), (3, 0), (1, 1), (4, 3)]
    assert numbers(await history.ids(branch)) == [3, 1, 2, 4]
    added = await history.add(branch, system(5), instruction(6))
    assert places(added) == [(5, 0), (6, 4)]
    assert numbers(await history.ids(branch)) == [5, 1, 2, 4, 6]
    added = await history.add(branch, instruction(7), system(5, "anew"))
    assert places(added) == [(7, 5), (5, 0)]


async def test_a_former_system_records_id_is_free(history: History) -> None:
    branch = await history.create()
    await history.system(branch, "first", uuid_of(1))
    await history.add(branch, system(2), instruction(1))
    assert numbers(await history.ids(branch)) == [2, 1]
    assert numbers(await history.ids(branch, at=2)) == [1]


async def test_removing_takes_all_or_none(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n) for n in range(1, 6)))
    with pytest.raises(MessageNotFoundError) as caught:
        await history.call(
            pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(2), uuid_of(8), uuid_of(9)])
        )
    assert caught.value.metadata == {"missing": f"{uuid_of(8)},{uuid_of(9)}", "missing_count": "2"}
    removed = await history.call(
        pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(4), uuid_of(1)])
    )
    assert removed.revision == 3
    assert numbers(await history.ids(branch)) == [2, 3, 5]
    assert (await history.branch(branch)).message_count == 3
    await history.add(branch, assistant(4))
    assert numbers(await history.ids(branch)) == [2, 3, 5, 4]


async def test_the_system_record_cannot_be_removed_or_moved_or_preceded(history: History) -> None:
    branch = await history.create()
    await history.add(branch, system(1), instruction(2), instruction(3))
    with pytest.raises(SystemRecordFixedError):
        await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(2), uuid_of(1)]))
    for number, index in ((1, 0), (1, 1), (3, 0)):
        with pytest.raises(SystemRecordFixedError):
            await move(history, branch, number, index)
    assert numbers(await history.ids(branch)) == [1, 2, 3]


async def test_moving_puts_a_message_at_the_index_it_says(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n) for n in range(6)))
    expected = list(range(6))
    for number, index in ((0, 5), (5, 0), (2, 3), (3, 1), (4, 4), (1, 0), (0, 2), (0, 2), (1, 5)):
        response = await move(history, branch, number, index)
        expected.remove(number)
        expected.insert(index, number)
        assert response.placement.index == index
        assert numbers(await history.ids(branch)) == expected
    assert (await history.branch(branch)).revision == 11
    await history.add(branch, instruction(9))
    one_by_one = await history.messages(branch, page_size=1)
    assert numbers(message.id for message in one_by_one) == [*expected, 9]


async def test_moving_refuses_what_is_not_there(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), instruction(2))
    with pytest.raises(MessageNotFoundError):
        await move(history, branch, 3, 0)
    with pytest.raises(FieldInvalidError) as caught:
        await move(history, branch, 1, 2)
    assert caught.value.violations[0].field == "index"


@pytest.mark.parametrize("with_system", [False, True])
async def test_many_moves_to_one_place_keep_every_revision_readable(
    history: History, with_system: bool
) -> None:
    branch = await history.create()
    count, first = 12, int(with_system)
    if with_system:
        await history.system(branch, "policy", uuid_of(99))
    await history.add(branch, *(instruction(n) for n in range(count)))
    revision = (await history.branch(branch)).revision
    expected = {revision: list(range(count))}
    order = list(range(count))
    # Gaps halve with each move, so that keys run out several times over.
    for step in range(90):
        number = order[-1] if step % 3 else order[count // 2]
        index = 0 if step < 60 else 5
        await move(history, branch, number, index + first)
        order.remove(number)
        order.insert(index, number)
        revision += 1
        expected[revision] = list(order)
    head = [99] if with_system else []
    for at in (*range(min(expected), revision, 13), revision):
        assert numbers(await history.ids(branch, at=at)) == [*head, *expected[at]]


@pytest.mark.parametrize("with_system", [False, True])
async def test_keys_given_anew_never_disturb_the_order(
    history: History, with_system: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without gaps nearly every move needs room, up to the end of the order.
    monkeypatch.setattr("history_service.domain.changeset.GAP", 1)
    monkeypatch.setattr("history_service.domain.membership.GAP", 1)
    branch = await history.create()
    order = [99] if with_system else []
    await history.add(branch, *([system(99)] if with_system else []), instruction(0), instruction(1))
    order += [0, 1]
    expected = {2: list(order)}
    generator = random.Random(7)
    for step in range(2, 100):
        if step % 4 == 0:
            await history.add(branch, instruction(step))
            order.append(step)
        else:
            number = generator.choice(order[with_system:])
            # Most moves go next to the end, where appends follow.
            index = generator.choice([len(order) - 1, len(order) - 2, int(with_system)])
            index = max(index, int(with_system))
            await move(history, branch, number, index)
            order.remove(number)
            order.insert(index, number)
        expected[step + 1] = list(order)
    for at in (*range(2, 101, 7), 100):
        listed = await history.messages(branch, at_revision=at, page_size=4)
        assert numbers(message.id for message in listed) == expected[at]


async def test_clearing_leaves_the_system_record_alone(history: History) -> None:
    branch = await history.create()
    await history.add(branch, system(1), instruction(2), call_action(3), action_result(4, 3))
    cleared = await history.call(pb.ClearMessagesRequest(branch_id=branch))
    assert cleared.revision == 3
    assert numbers(await history.ids(branch)) == [1]
    described = await history.branch(branch)
    assert (described.message_count, described.system_message_id) == (1, uuid_of(1))
    await history.add(branch, instruction(2))
    assert numbers(await history.ids(branch)) == [1, 2]
    assert numbers(await history.ids(branch, at=2)) == [1, 2, 3, 4]


async def test_clearing_a_branch_without_a_system_record_empties_it(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(2))
    await history.call(pb.ClearMessagesRequest(branch_id=branch))
    again = await history.call(pb.ClearMessagesRequest(branch_id=branch))
    assert again.revision == 4
    assert await history.ids(branch) == []
