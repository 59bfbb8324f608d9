"""ForkBranch: what a fork holds, what it costs nobody, and that both sides go their own ways."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import (
    BranchDeletedError,
    BranchExistsError,
    BranchNotFoundError,
    FieldInvalidError,
    MessageNotFoundError,
    RequestIdReusedError,
    ReservedKeyError,
    RevisionInFutureError,
    SizeLimitExceededError,
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

KEEP, NEW = pb.FORK_IDS_KEEP, pb.FORK_IDS_NEW
SOURCE, FORK = uuid_of(1), uuid_of(2)


async def fork(history: History, source: str = SOURCE, target: int = 2, **fields: Any) -> Any:
    """Fork a branch; return the new one."""
    request = pb.ForkBranchRequest(source_branch_id=source, branch_id=uuid_of(target), **fields)
    return (await history.call(request)).branch


async def furnished(history: History) -> str:
    """Make a branch at revision 6: a system, two rounds with a call, a view, metadata."""
    branch = await history.create(1, external_key="source", metadata_json='{"a": 1.0}')
    await history.add(branch, system(10), instruction(11), call_action(12))
    await history.add(branch, action_result(13, 12), assistant(14))
    await history.add(branch, instruction(15, "one"))
    await history.call(
        pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(15), uuid_of(10), uuid_of(13)])
    )
    await history.add(branch, assistant(16), instruction(15, "another"))
    return branch


async def bodies(history: History, branch: str, at: int | None = None) -> list[bytes]:
    """Read the full order's bytes, whatever the view."""
    order = await history.ids(branch, at)
    return (await history.snapshot(branch, at=at, ids=order)).bodies


async def test_a_fork_holds_what_the_source_holds(history: History) -> None:
    source = await furnished(history)
    made = await fork(history)
    assert (made.branch_id, made.revision, made.oldest_revision) == (FORK, 1, 1)
    assert (made.lineage_id, made.message_count, made.view_count) == (source, 7, 4)
    assert made.system_message_id == uuid_of(10)
    assert made.metadata_json == '{"a": 1.0}'
    assert (made.forked_from.branch_id, made.forked_from.revision) == (source, 6)
    assert not made.forked_from.HasField("up_to_message_id")
    assert not made.HasField("external_key")
    assert not made.HasField("parent_branch_id")
    origin = await history.branch(source)
    assert not origin.HasField("forked_from")
    assert made.incarnation != origin.incarnation
    assert made.created_at.seconds > origin.created_at.seconds
    assert await history.branch(FORK) == made
    assert await bodies(history, FORK) == await bodies(history, source)
    assert await history.view(FORK) == await history.view(source)
    records = await history.store.read(lambda tx: tx.changes(_key(tx, FORK), 0, 10))
    assert [(record.revision, record.kind) for record in records] == [(1, 1)]


def _key(tx: Any, branch: str) -> Any:
    return tx.branch("", branch).key


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5, 6])
async def test_a_fork_at_a_revision_holds_what_was_true_then(history: History, at: int) -> None:
    source = await furnished(history)
    made = await fork(history, at_revision=at)
    past = await history.branch(source, at)
    assert made.forked_from.revision == at
    assert made.message_count == past.message_count
    assert made.HasField("view_count") is past.HasField("view_count")
    assert made.HasField("system_message_id") is past.HasField("system_message_id")
    assert await bodies(history, FORK) == await bodies(history, source, at)
    assert await history.view(FORK) == await history.view(source, at)


async def test_a_fork_takes_a_view_that_ended_and_messages_that_are_gone(history: History) -> None:
    source = await furnished(history)
    await history.call(pb.RemoveMessagesRequest(branch_id=source, message_ids=[uuid_of(13)]))
    await history.call(pb.ClearViewRequest(branch_id=source))
    await history.call(pb.ClearMessagesRequest(branch_id=source))
    await fork(history, at_revision=6)
    assert await bodies(history, FORK) == await bodies(history, source, 6)
    assert await history.view(FORK) == [uuid_of(n) for n in (15, 10, 13, 16)]
    assert (await history.get(FORK, uuid_of(12))).action_request.action_response_id == uuid_of(13)


async def test_up_to_a_message_takes_the_order_as_far_as_it(history: History) -> None:
    source = await furnished(history)
    made = await fork(history, up_to_message_id=uuid_of(14))
    assert made.forked_from.up_to_message_id == uuid_of(14)
    assert numbers(await history.ids(FORK)) == [10, 11, 12, 13, 14]
    assert await bodies(history, FORK) == (await bodies(history, source))[:5]
    assert numbers(await history.view(FORK) or []) == [10, 13]
    assert (made.message_count, made.view_count) == (5, 2)
    await history.add(FORK, instruction(20))
    assert numbers(await history.ids(FORK)) == [10, 11, 12, 13, 14, 20]
    assert numbers(await history.view(FORK) or []) == [10, 13, 20]


async def test_up_to_follows_the_order_not_the_time(history: History) -> None:
    source = await history.create(1)
    await history.add(source, instruction(1), instruction(2), instruction(3))
    await history.call(pb.MoveMessageRequest(branch_id=source, message_id=uuid_of(3), index=0))
    await fork(history, up_to_message_id=uuid_of(1))
    assert numbers(await history.ids(FORK)) == [3, 1]
    await fork(history, target=3, up_to_message_id=uuid_of(1), at_revision=2)
    assert numbers(await history.ids(uuid_of(3))) == [1]


async def test_a_view_of_which_nothing_is_taken_stays_selected_and_empty(history: History) -> None:
    source = await furnished(history)
    await history.call(pb.SelectViewRequest(branch_id=source, message_ids=[uuid_of(16)]))
    made = await fork(history, up_to_message_id=uuid_of(11))
    assert made.HasField("view_count")
    assert made.view_count == 0
    assert await history.view(FORK) == []


@pytest.mark.parametrize("ids", [KEEP, NEW])
@pytest.mark.parametrize("response_first", [False, True])
async def test_a_cut_pair_loses_its_link_in_the_copy_alone(
    history: History, ids: pb.ForkIds.ValueType, response_first: bool
) -> None:
    source = await history.create(1)
    await history.add(source, instruction(1), call_action(2), assistant(3), action_result(4, 2))
    await history.add(source, call_action(5), action_result(6, 5))
    if response_first:
        await history.call(pb.MoveMessageRequest(branch_id=source, message_id=uuid_of(4), index=0))
        await history.call(pb.MoveMessageRequest(branch_id=source, message_id=uuid_of(2), index=5))
    before = await bodies(history, source)
    await fork(history, ids=ids, up_to_message_id=uuid_of(3))
    kept = await history.messages(FORK)
    assert await bodies(history, source) == before
    assert len(kept) == 3
    for message in kept:
        assert not message.action_request.HasField("action_response_id")
        assert not message.action_response.HasField("action_request_id")
    linked = 4 if response_first else 2
    if ids == KEEP:
        whole = dict(zip(await history.ids(source), before, strict=True))
        for message_id, body in zip(await history.ids(FORK), await bodies(history, FORK), strict=True):
            assert (body == whole[message_id]) is (message_id != uuid_of(linked))
    if response_first:
        return
    # The request is open in the fork, and answered in the source.
    open_request = kept[1].id
    answer = pb.RespondToActionRequest(branch_id=FORK, action_request_id=open_request, output_json="1")
    response_id = (await history.call(answer)).placement.message_id
    assert (await history.get(FORK, open_request)).action_request.action_response_id == response_id
    assert (await history.get(source, uuid_of(2))).action_request.action_response_id == uuid_of(4)


async def test_an_interim_response_loses_its_link_and_a_waiting_one_keeps_it(history: History) -> None:
    source = await history.create(1)
    await history.add(source, call_action(2), instruction(3), action_result(4, 2, interim=True))
    await history.add(source, action_result(5, 77), allow_unresolved=True)
    await history.call(pb.MoveMessageRequest(branch_id=source, message_id=uuid_of(2), index=3))
    for target, ids in ((2, KEEP), (3, NEW)):
        await fork(history, target=target, ids=ids, up_to_message_id=uuid_of(5))
        _, interim, waiting = await history.messages(uuid_of(target))
        assert not interim.action_response.HasField("action_request_id")
        assert waiting.action_response.action_request_id == uuid_of(77)
        await history.add(uuid_of(target), call_action(77))
        request = await history.get(uuid_of(target), uuid_of(77))
        assert request.action_request.action_response_id == waiting.id


@pytest.mark.parametrize("up_to", [5, 77])
async def test_a_response_waits_on_where_its_request_s_id_is_another_message_s(
    history: History, up_to: int
) -> None:
    source = await history.create(1)
    await history.add(source, action_result(5, 77), allow_unresolved=True)
    await history.add(source, instruction(77))
    for target, ids in ((2, KEEP), (3, NEW)):
        await fork(history, target=target, ids=ids, up_to_message_id=uuid_of(up_to))
        waiting = (await history.messages(uuid_of(target)))[0]
        assert waiting.action_response.action_request_id == uuid_of(77)


async def test_new_ids_clone_messages_and_map_links_view_and_system(history: History) -> None:
    source = await furnished(history)
    originals = await history.messages(source)
    made = await fork(history, ids=NEW)
    clones = await history.messages(FORK)
    named = {original.id: clone.id for original, clone in zip(originals, clones, strict=True)}
    assert not set(named) & set(named.values())
    assert len(set(named.values())) == len(named)
    assert made.system_message_id == named[uuid_of(10)]
    assert await history.view(FORK) == [named[i] for i in await history.view(source) or []]
    for original, clone in zip(originals, clones, strict=True):
        assert clone.metadata_json == f'{{"clone_from":"{original.id}"}}'
        assert clone.created_at.seconds > original.created_at.seconds
        expected = type(original)()
        expected.CopyFrom(original)
        expected.id, expected.metadata_json = named[original.id], clone.metadata_json
        expected.created_at.CopyFrom(clone.created_at)
        if original.HasField("action_request"):
            expected.action_request.action_response_id = named[uuid_of(13)]
        if original.HasField("action_response"):
            expected.action_response.action_request_id = named[uuid_of(12)]
        assert clone == expected
    # The service knows the links, not only the messages: removing a side clears the other.
    removal = pb.RemoveMessagesRequest(branch_id=FORK, message_ids=[named[uuid_of(13)]])
    await history.call(removal)
    request = await history.get(FORK, named[uuid_of(12)])
    assert not request.action_request.HasField("action_response_id")
    await history.system(FORK, "anew")
    assert (await history.branch(FORK)).message_count == 6


async def test_a_clone_s_metadata_keeps_its_text(history: History) -> None:
    source = await history.create(1)
    texts = [
        '{ "n" : 1.0e1, "clone_from" : {"deep": ["}"]} , "z": 12345678901234567890123 }',
        '{"a":"\\u0000 \U0001f600"}',
        " { } ",
    ]
    messages = [instruction(n, metadata_json=text) for n, text in enumerate(texts, start=1)]
    await history.add(source, *messages)
    await fork(history, ids=NEW)
    first, second, third = await history.messages(FORK)
    one, two, three = (uuid_of(n) for n in (1, 2, 3))
    assert first.metadata_json == (
        f'{{ "n" : 1.0e1, "clone_from" : "{one}" , "z": 12345678901234567890123 }}'
    )
    assert second.metadata_json == f'{{"a":"\\u0000 \U0001f600","clone_from":"{two}"}}'
    assert third.metadata_json == f' {{ "clone_from":"{three}"}} '


@pytest.mark.parametrize("ids", [KEEP, NEW])
async def test_neither_side_sees_the_others_later_writes(history: History, ids: pb.ForkIds.ValueType) -> None:
    source = await furnished(history)
    await fork(history, ids=ids)
    at_source, at_fork = await bodies(history, source), await bodies(history, FORK)

    async def change(branch: str) -> None:
        order = await history.ids(branch)
        await history.add(branch, instruction(30))
        replacement = instruction(0, "edited")
        replacement.id = order[1]
        await history.add(branch, replacement)
        await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[order[2]]))
        await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=order[4], index=1))
        await history.system(branch, "policy anew")
        await history.call(pb.ClearViewRequest(branch_id=branch))
        await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json='{"b": 2}'))
        await history.call(pb.ClearMessagesRequest(branch_id=branch))

    described = await history.branch(FORK)
    await change(source)
    assert await bodies(history, FORK) == at_fork
    assert await history.branch(FORK) == described
    described = await history.branch(source)
    now = await bodies(history, source)
    await change(FORK)
    assert await bodies(history, source) == now
    assert await history.branch(source) == described
    assert await bodies(history, source, 6) == at_source
    assert await bodies(history, FORK, 1) == at_fork


async def test_a_fork_of_a_fork_is_of_the_same_lineage(history: History) -> None:
    source = await furnished(history)
    await fork(history)
    await history.add(FORK, instruction(40))
    made = await fork(history, source=FORK, target=3, ids=NEW)
    assert (made.lineage_id, made.forked_from.branch_id, made.forked_from.revision) == (source, FORK, 2)
    last = await fork(history, source=uuid_of(3), target=4)
    assert (last.lineage_id, last.message_count) == (source, 8)


async def test_key_metadata_and_id_of_a_fork(history: History) -> None:
    await furnished(history)
    made = await fork(history, external_key="fork", metadata_json='{"mine": true}')
    assert (made.external_key, made.metadata_json) == ("fork", '{"mine": true}')
    assert (await fork(history, target=3, metadata_json="")).metadata_json == ""
    request = pb.ForkBranchRequest(source_branch_id=SOURCE)
    made = (await history.call(request)).branch
    assert made.branch_id not in (SOURCE, FORK)
    await history.call(pb.UpdateBranchRequest(branch_id=SOURCE, metadata_json='{"later": 1}'))
    assert (await fork(history, target=5, at_revision=6)).metadata_json == '{"a": 1.0}'


async def test_a_fork_is_refused_for_what_is_wrong(history: History) -> None:
    await furnished(history)
    await history.create(9)
    await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(9)))
    refused: list[tuple[type[Exception], dict[str, Any]]] = [
        (BranchNotFoundError, {"source": uuid_of(77)}),
        (BranchDeletedError, {"source": uuid_of(9)}),
        (RevisionInFutureError, {"at_revision": 7}),
        (MessageNotFoundError, {"up_to_message_id": uuid_of(77)}),
        (MessageNotFoundError, {"up_to_message_id": uuid_of(13), "at_revision": 2}),
        (BranchExistsError, {"target": 1}),
        (BranchDeletedError, {"target": 9}),
        (BranchExistsError, {"external_key": "source"}),
        (ReservedKeyError, {"metadata_json": '{"current_progression": []}'}),
        (FieldInvalidError, {"metadata_json": "[]"}),
        (FieldInvalidError, {"external_key": ""}),
        (FieldInvalidError, {"at_revision": 0}),
        (FieldInvalidError, {"up_to_message_id": "x"}),
        (FieldInvalidError, {"ids": 3}),
        (FieldInvalidError, {"source": "x"}),
        (FieldInvalidError, {"request_id": "x"}),
        (SizeLimitExceededError, {"metadata_json": '{"a": "' + "x" * 2**19 + '"}'}),
    ]
    for ids in (KEEP, NEW):
        for error, fields in refused:
            with pytest.raises(error):
                await fork(history, **{"ids": ids, **fields})
    with pytest.raises(BranchNotFoundError):
        await history.branch(FORK)
    assert (await history.branch(SOURCE)).revision == 6


@pytest.mark.parametrize("ids", [KEEP, NEW])
async def test_a_fork_asked_for_again_is_answered_as_before(
    history: History, ids: pb.ForkIds.ValueType
) -> None:
    source = await furnished(history)
    request = pb.ForkBranchRequest(source_branch_id=source, ids=ids, request_id=uuid_of(99))
    first = await history.call(request)
    await history.add(source, instruction(50))
    again = await history.call(request)
    assert again.replayed
    assert again.branch == first.branch
    await history.call(pb.DeleteBranchRequest(branch_id=source, purge=True))
    assert (await history.call(request)).branch == first.branch
    request.up_to_message_id = uuid_of(11)
    with pytest.raises(RequestIdReusedError):
        await history.call(request)


async def test_a_source_that_goes_on_meanwhile_is_cloned_at_one_revision(history: History) -> None:
    source = await furnished(history)
    store = history.store

    class Meddling:
        """Has the source changed between the reading of a fork and its writing."""

        read = store.read

        async def write(self, work: Any) -> Any:
            history.serve(store)
            await history.add(source, instruction(60))
            await history.call(pb.UpdateBranchRequest(branch_id=source, metadata_json='{"later": 1}'))
            await history.call(pb.ClearViewRequest(branch_id=source))
            return await store.write(work)

    history.serve(Meddling())  # type: ignore[arg-type]
    made = await fork(history, ids=NEW)
    assert (made.forked_from.revision, made.message_count, made.view_count) == (6, 7, 4)
    assert made.metadata_json == '{"a": 1.0}'
    assert (await history.branch(source)).revision == 9
    clones = await history.messages(FORK)
    assert [c.metadata_json for c in clones] == [
        f'{{"clone_from":"{message_id}"}}' for message_id in await history.ids(source, 6)
    ]


@pytest.mark.parametrize("at", [None, 6])
async def test_a_source_that_is_trimmed_meanwhile_is_cloned_all_the_same(
    history: History, at: int | None
) -> None:
    """What was read before the trim is whole; the fork never has to ask for the revision again."""
    source = await furnished(history)
    store = history.store

    class Trimming:
        """Has the cloned revision dropped between the reading of a fork and its writing."""

        read = store.read

        async def write(self, work: Any) -> Any:
            history.serve(store)
            removal = pb.RemoveMessagesRequest(branch_id=source, message_ids=[uuid_of(15), uuid_of(11)])
            await history.call(removal)
            await history.call(pb.UpdateBranchRequest(branch_id=source, metadata_json='{"later": 1}'))
            await history.call(pb.TrimHistoryRequest(branch_id=source, before_revision=8))
            return await store.write(work)

    originals = await history.ids(source)
    history.serve(Trimming())  # type: ignore[arg-type]
    made = await fork(history, ids=NEW, at_revision=at, up_to_message_id=uuid_of(15))
    assert (made.forked_from.revision, made.metadata_json, made.view_count) == (6, '{"a": 1.0}', 3)
    assert (await history.branch(source)).oldest_revision == 8
    clones = await history.messages(FORK)
    assert [c.metadata_json for c in clones] == [
        f'{{"clone_from":"{message_id}"}}' for message_id in originals[: originals.index(uuid_of(15)) + 1]
    ]


async def test_another_tenant_s_branch_is_not_there_to_fork(history: History) -> None:
    await furnished(history)
    for ids in (KEEP, NEW):
        with pytest.raises(BranchNotFoundError):
            await history.call(pb.ForkBranchRequest(source_branch_id=SOURCE, ids=ids), tenant_id="other")


async def test_an_empty_branch_can_be_forked(history: History) -> None:
    await history.create(1)
    for target, ids in ((2, KEEP), (3, NEW)):
        made = await fork(history, target=target, ids=ids)
        assert (made.message_count, made.HasField("view_count")) == (0, False)
        await history.add(uuid_of(target), system(1), instruction(2))
        assert numbers(await history.ids(uuid_of(target))) == [1, 2]
