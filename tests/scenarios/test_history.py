"""What goes wrong with conversations in the field, as input and right outcome, for the history service.

``docs/scenario-coverage.md`` names the test of every scenario, here or elsewhere.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import apsw
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import (
    BranchDeletedError,
    BranchExistsError,
    FieldInvalidError,
    RevisionConflictError,
    SizeLimitExceededError,
)
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.messages import UnknownMessage, from_proto, to_proto
from tests.support.history import (
    History,
    action_result,
    assistant,
    call_action,
    instruction,
    numbers,
    running,
    system,
    uuid_of,
)

pytestmark = pytest.mark.anyio


async def test_a_providers_id_used_again_in_a_later_round_pairs_by_our_ids(history: History) -> None:
    branch_id = await history.create()
    for request, answer, text in ((10, 11, '"A"'), (20, 21, '"B"')):
        call = call_action(request)
        call.action_request.provider_call_id = "call_0"
        result = action_result(answer, request, output=text)
        result.action_response.provider_call_id = "call_0"
        await history.add(branch_id, call, result, instruction(request + 5))
    for request, answer in ((10, 11), (20, 21)):
        asked = await history.get(branch_id, uuid_of(request))
        assert numbers([asked.action_request.action_response_id]) == [answer]
    assert (await history.get(branch_id, uuid_of(21))).action_response.output_json == '"B"'


async def test_the_text_of_json_comes_back_after_a_restart(store_kind: str, tmp_path: Path) -> None:
    arguments = '{"n": 1, "id":9007199254740993, "f":1.0e1}'
    output = '{"raw":"\\u00e9", "parsed":[1.0, -0.0, 1E2]}'
    async with running(store_kind, tmp_path) as history:
        branch_id = await history.create()
        call = call_action(1)
        call.action_request.arguments_json = arguments
        await history.add(branch_id, call, action_result(2, 1, output=output))
        before = (await history.snapshot(branch_id)).bodies
        assert arguments.encode() in before[0]
        assert output.encode() in before[1]
    if store_kind != "memory":
        async with running(store_kind, tmp_path) as history:
            assert (await history.snapshot(branch_id)).bodies == before


async def test_a_resent_append_is_done_once_and_equal_messages_stay_two(history: History) -> None:
    branch_id = await history.create()
    first = await history.add(branch_id, instruction(1, "yes"), request_id=uuid_of(900))
    again = await history.add(branch_id, instruction(1, "yes"), request_id=uuid_of(900))
    assert (again.revision, again.placements, again.replayed) == (first.revision, first.placements, True)
    for request_id in (901, 902):
        unnamed = instruction(0, "yes")
        unnamed.id = ""
        await history.add(branch_id, unnamed, request_id=uuid_of(request_id))
    assert [m.instruction.instruction for m in await history.messages(branch_id)] == ["yes"] * 3


async def test_of_two_writers_at_one_revision_one_wins(history: History) -> None:
    branch_id = await history.create()
    for number in range(1, 7):
        await history.add(branch_id, instruction(number))
    outcomes = await asyncio.gather(
        *(history.add(branch_id, instruction(n), expected_revision=7) for n in (10, 11)),
        return_exceptions=True,
    )
    lost = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert len(lost) == 1
    assert isinstance(lost[0], RevisionConflictError)
    assert lost[0].actual_revision == 8
    assert (await history.branch(branch_id)).revision == 8


async def test_an_append_after_a_windowed_read_keeps_the_rest(history: History) -> None:
    branch_id = await history.create()
    await history.add(branch_id, *(instruction(n) for n in range(1, 501)))
    request = pb.ListMessagesRequest(branch_id=branch_id, order=pb.ORDER_DESCENDING, page_size=20)
    window = (await history.call(request)).messages
    assert numbers(m.id for m in window) == list(range(500, 480, -1))
    await history.call(pb.SelectViewRequest(branch_id=branch_id, message_ids=[m.id for m in window]))
    await history.add(branch_id, instruction(501))
    assert numbers(await history.ids(branch_id)) == list(range(1, 502))


async def test_twenty_first_writers_of_a_fresh_store_make_one_history(history: History) -> None:
    async def first_access(number: int) -> str:
        try:
            created = await history.call(pb.CreateBranchRequest(external_key="chat"))
            branch_id: str = created.branch.branch_id
        except BranchExistsError as error:
            branch_id = error.metadata["branch_id"]
        await history.add(branch_id, instruction(number))
        return branch_id

    branches = await asyncio.gather(*(first_access(number) for number in range(1, 21)))
    assert len(set(branches)) == 1
    assert sorted(numbers(await history.ids(branches[0]))) == list(range(1, 21))
    assert (await history.branch(branches[0])).revision == 21


async def test_a_batch_with_a_bad_third_message_leaves_nothing_and_blocks_nobody(history: History) -> None:
    branch_id = await history.create()
    bad = message_pb.Message(generic=message_pb.GenericContent(value_json="{"))
    with pytest.raises(FieldInvalidError) as caught:
        await history.add(branch_id, instruction(1), instruction(2), bad)
    assert [v.field for v in caught.value.violations] == ["messages[2].generic.value_json"]
    assert (await history.branch(branch_id)).revision == 1
    await asyncio.wait_for(history.add(branch_id, instruction(3)), 20)
    assert numbers(await history.ids(branch_id)) == [3]


async def test_a_retried_model_call_keeps_the_users_turn(history: History) -> None:
    branch_id = await history.create()
    await history.add(branch_id, instruction(1, "U"))
    # The model call fails here; it is made again and answers.
    await history.add(branch_id, assistant(2, "A"))
    assert [m.WhichOneof("content") for m in await history.messages(branch_id)] == [
        "instruction",
        "assistant_response",
    ]


async def test_a_rejected_answer_stays_visible_and_so_do_its_calls(history: History) -> None:
    branch_id = await history.create()
    blocked = assistant(4, "blocked")
    await history.add(branch_id, instruction(1), call_action(2), action_result(3, 2), blocked)
    blocked.status = message_pb.MESSAGE_STATUS_EXCLUDED
    await history.add(branch_id, blocked)
    stored = await history.messages(branch_id)
    assert numbers(m.id for m in stored) == [1, 2, 3, 4]
    assert [m.status for m in stored[:3]] == [message_pb.MESSAGE_STATUS_UNSPECIFIED] * 3
    assert stored[3].status == message_pb.MESSAGE_STATUS_EXCLUDED
    assert stored[3].assistant_response.assistant_response == "blocked"


async def test_a_fork_and_its_source_never_see_each_other(history: History) -> None:
    source = await history.create()
    await history.add(source, *(instruction(n) for n in range(1, 6)))
    request = pb.ForkBranchRequest(source_branch_id=source, up_to_message_id=uuid_of(3))
    fork = (await history.call(request)).branch.branch_id
    assert numbers(await history.ids(fork)) == [1, 2, 3]
    await history.add(source, instruction(10), instruction(1, "edited in the source"))
    await history.add(fork, instruction(20), instruction(2, "edited in the fork"))
    texts = {
        branch: [m.instruction.instruction for m in await history.messages(branch)]
        for branch in (source, fork)
    }
    assert texts[source] == ["edited in the source", *(f"instruction {n}" for n in (2, 3, 4, 5, 10))]
    assert texts[fork] == ["instruction 1", "edited in the fork", "instruction 3", "instruction 20"]
    await history.call(pb.DeleteBranchRequest(branch_id=source, purge=True))
    assert [m.instruction.instruction for m in await history.messages(fork)] == texts[fork]


async def test_a_delayed_write_does_not_bring_a_deleted_history_back(history: History) -> None:
    branch_id = await history.create()
    await history.add(branch_id, instruction(1))
    await history.call(pb.DeleteBranchRequest(branch_id=branch_id))
    for late in (
        history.add(branch_id, instruction(2)),
        history.add(branch_id, instruction(2), expected_revision=2),
        history.create(),
        history.system(branch_id, "s"),
    ):
        with pytest.raises(BranchDeletedError):
            await late
    with pytest.raises(BranchDeletedError):
        await history.branch(branch_id)


async def test_nul_and_its_escape_stay_two_texts(store_kind: str, tmp_path: Path) -> None:
    texts = ["a\x00b", "a\\u0000b"]
    async with running(store_kind, tmp_path) as history:
        branch_id = await history.create()
        await history.add(
            branch_id,
            instruction(1, texts[0]),
            instruction(2, texts[1]),
            call_action(3),
            action_result(4, 3, output='"a\\u0000b"'),
        )
    if store_kind == "memory":
        return
    async with running(store_kind, tmp_path) as history:
        stored = await history.messages(branch_id)
        assert [m.instruction.instruction for m in stored[:2]] == texts
        assert stored[3].action_response.output_json == '"a\\u0000b"'


@pytest.mark.parametrize("text", ['{"v":NaN}', '{"v":Infinity}', '{"v":1e999}'])
async def test_numbers_that_are_none_are_refused_with_their_path(history: History, text: str) -> None:
    branch_id = await history.create()
    with pytest.raises(FieldInvalidError) as caught:
        await history.add(branch_id, call_action(1), action_result(2, 1, output=text))
    assert [v.field for v in caught.value.violations] == ["messages[1].action_response.output_json"]


async def test_an_output_over_the_limit_is_refused_and_a_long_history_is_streamed(history: History) -> None:
    branch_id = await history.create()
    with pytest.raises(SizeLimitExceededError) as caught:
        await history.add(branch_id, call_action(1), action_result(2, 1, output=f'"{"x" * 5_000_000}"'))
    assert caught.value.retry_after is None
    assert int(caught.value.metadata["actual"]) > int(caught.value.metadata["limit"])
    assert (await history.branch(branch_id)).revision == 1
    large = "x" * 2_900_000
    for number in range(1, 12):
        await history.add(branch_id, instruction(number, large))
    snapshot = await history.snapshot(branch_id)
    assert sum(map(len, snapshot.bodies)) > 30_000_000
    assert max(map(len, snapshot.frames)) < DEFAULT_LIMITS.message_bytes + 1024


async def test_a_second_system_replaces_the_first_with_a_revision_of_its_own(history: History) -> None:
    branch_id = await history.create()
    await history.add(branch_id, system(1), instruction(2), assistant(3))
    replaced = await history.add(branch_id, system(4), instruction(5))
    assert numbers(await history.ids(branch_id)) == [4, 2, 3, 5]
    assert numbers(await history.ids(branch_id, replaced.revision - 1)) == [1, 2, 3]


async def test_signatures_redacted_thinking_and_empty_texts_come_back_byte_for_byte(history: History) -> None:
    branch_id = await history.create()
    message = assistant(1)
    content = message.assistant_response
    content.assistant_response = ""
    content.blocks.add().thinking.signature = "c2ln+/=="
    content.blocks[0].thinking.thinking = ""
    opaque = content.blocks.add().opaque
    opaque.provider, opaque.model, opaque.kind = "anthropic", "m", "redacted_thinking"
    opaque.data_json = '{ "data":"QUJD" }'
    content.blocks.add().text.text = ""
    message.role, message.created_at.seconds = message_pb.ROLE_ASSISTANT, 1
    await history.add(branch_id, message)
    assert (await history.snapshot(branch_id)).bodies == [message.SerializeToString(deterministic=True)]


async def test_records_of_a_newer_version_come_back_whole_and_hide_nothing(tmp_path: Path) -> None:
    """A newer service wrote to the file: a kind we do not know, and a field we do not know."""
    async with running("sqlite", tmp_path) as history:
        branch_id = await history.create()
        await history.add(branch_id, instruction(1), instruction(2), instruction(3))
        old = (await history.snapshot(branch_id)).bodies
    unknown_field = b"\xa2\x06\x03new"  # field 100, three bytes
    envelope = message_pb.Message(id=uuid_of(2)).SerializeToString()
    newer = [old[0] + unknown_field, envelope + unknown_field, old[2]]
    connection = apsw.Connection(str(tmp_path / "history.sqlite3"))
    for before, after in zip(old, newer, strict=True):
        connection.execute("UPDATE message_body SET bytes = ? WHERE bytes = ?", (after, before))
    connection.close()
    async with running("sqlite", tmp_path) as history:
        assert (await history.snapshot(branch_id)).bodies == newer
        listed = await history.messages(branch_id)
        assert [m.SerializeToString(deterministic=True) for m in listed] == newer
        unknown = from_proto(listed[1])
        assert isinstance(unknown, UnknownMessage)
        assert to_proto(unknown).SerializeToString(deterministic=True) == newer[1]
        await history.add(branch_id, instruction(4))
        assert numbers(await history.ids(branch_id)) == [1, 2, 3, 4]


async def test_what_an_append_stores_does_not_grow_with_the_history(tmp_path: Path) -> None:
    """Bytes of the closed file per append, early and late; the pages in between are the index's."""
    file = tmp_path / "history.sqlite3"
    sizes: list[int] = []
    for start, end in ((1, 101), (101, 301), (301, 901), (901, 1101)):
        async with running("sqlite", tmp_path) as history:
            branch_id = await history.create() if start == 1 else uuid_of(1)
            await asyncio.gather(*(history.add(branch_id, instruction(n)) for n in range(start, end)))
        sizes.append(file.stat().st_size)
    early, late = (sizes[1] - sizes[0]) / 200, (sizes[3] - sizes[2]) / 200
    assert late <= 1.25 * early
