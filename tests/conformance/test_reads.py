"""Reads: by id, lists in pages, snapshots in frames."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import (
    BranchDeletedError,
    MessageNotFoundError,
    PageTokenInvalidError,
    ProgressionInvalidError,
    SizeLimitExceededError,
)
from antiphon_client.limits import Limits
from tests.support.history import (
    History,
    action_result,
    assemble,
    assistant,
    call_action,
    instruction,
    numbers,
    running,
    summary,
    system,
    uuid_of,
)

pytestmark = pytest.mark.anyio

KINDS = {
    pb.MESSAGE_KIND_SYSTEM: [9],
    pb.MESSAGE_KIND_INSTRUCTION: [1, 4],
    pb.MESSAGE_KIND_ASSISTANT_RESPONSE: [2, 6],
    pb.MESSAGE_KIND_ACTION_REQUEST: [3],
    pb.MESSAGE_KIND_ACTION_RESPONSE: [5],
    pb.MESSAGE_KIND_GENERIC: [7],
    pb.MESSAGE_KIND_SUMMARY: [8],
}


async def mixed(history: History) -> str:
    """Make a branch with messages of every kind."""
    branch = await history.create()
    generic = instruction(7)
    generic.generic.value_json = "[1]"
    await history.add(branch, instruction(1), assistant(2), call_action(3), instruction(4))
    await history.add(branch, action_result(5, 3), assistant(6), generic, summary(8, 1, 4), system(9))
    return branch


async def page(history: History, branch: str, token: str = "", **fields: Any) -> pb.ListMessagesResponse:
    """Read one page."""
    request = pb.ListMessagesRequest(branch_id=branch, page_token=token, **fields)
    response: pb.ListMessagesResponse = await history.call(request)
    return response


def numbered(response: pb.ListMessagesResponse) -> list[int]:
    """Return a page's message numbers."""
    return numbers(message.id for message in response.messages)


async def test_messages_are_read_by_id_in_the_order_asked(history: History) -> None:
    branch = await mixed(history)
    request = pb.GetMessagesRequest(branch_id=branch, message_ids=[uuid_of(n) for n in (6, 1, 9, 6)])
    response = await history.call(request)
    assert response.revision == 3
    assert numbers(message.id for message in response.messages) == [6, 1, 9, 6]


async def test_all_missing_ids_are_listed_once(history: History) -> None:
    branch = await mixed(history)
    wanted = [uuid_of(n) for n in (1, 71, 72, 71, *range(100, 160))]
    with pytest.raises(MessageNotFoundError) as caught:
        await history.call(pb.GetMessagesRequest(branch_id=branch, message_ids=wanted))
    assert caught.value.metadata["missing_count"] == "62"
    assert caught.value.metadata["missing"].split(",")[:3] == [uuid_of(71), uuid_of(72), uuid_of(100)]
    assert len(caught.value.metadata["missing"].split(",")) == 50
    with pytest.raises(MessageNotFoundError):
        await history.get(branch, uuid_of(6), at=2)


async def test_a_reply_that_would_be_too_large_names_the_other_ways(history: History) -> None:
    branch = await mixed(history)
    size = len((await history.snapshot(branch, ids=[uuid_of(1)])).bodies[0])
    small = History(history.store, Limits(reply_bytes=2 * size + 12))
    request = pb.GetMessagesRequest(branch_id=branch, message_ids=[uuid_of(1)] * 2)
    assert len((await small.call(request)).messages) == 2
    request.message_ids.append(uuid_of(1))
    with pytest.raises(SizeLimitExceededError, match="use ListMessages or ReadSnapshot") as caught:
        await small.call(request)
    assert caught.value.metadata["limit_name"] == "reply_bytes"


async def test_lists_filter_by_kind_in_both_directions(history: History) -> None:
    branch = await mixed(history)
    order = [9, 1, 2, 3, 4, 5, 6, 7, 8]
    assert numbers(m.id for m in await history.messages(branch)) == order
    descending = await history.messages(branch, order=pb.ORDER_DESCENDING, page_size=3)
    assert numbers(m.id for m in descending) == order[::-1]
    for kind, expected in KINDS.items():
        for size in (1, 100):
            found = await history.messages(branch, kinds=[kind], page_size=size)
            assert numbers(m.id for m in found) == expected
            found = await history.messages(branch, kinds=[kind], page_size=size, order=pb.ORDER_DESCENDING)
            assert numbers(m.id for m in found) == expected[::-1]
    actions = [pb.MESSAGE_KIND_ACTION_RESPONSE, pb.MESSAGE_KIND_ACTION_REQUEST]
    for size in (1, 2):
        found = await history.messages(branch, kinds=actions, page_size=size)
        assert numbers(m.id for m in found) == [3, 5]


async def test_the_last_response_is_one_page_of_one(history: History) -> None:
    branch = await mixed(history)
    last: dict[str, Any] = {
        "kinds": [pb.MESSAGE_KIND_ASSISTANT_RESPONSE],
        "order": pb.ORDER_DESCENDING,
        "page_size": 1,
    }
    assert numbered(await page(history, branch, **last)) == [6]
    # At a past revision too, and none where there is none.
    assert numbered(await page(history, branch, at_revision=2, **last)) == [2]
    first = await page(history, branch, at_revision=1, **last)
    assert (first.revision, list(first.messages), first.next_page_token) == (1, [], "")


async def test_pages_are_read_at_the_first_ones_revision(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n) for n in range(10)))
    for descending in (False, True):
        revision = (await history.branch(branch)).revision
        expected = numbers(await history.ids(branch))
        order = pb.ORDER_DESCENDING if descending else pb.ORDER_ASCENDING
        first = await page(history, branch, page_size=4, order=order)
        # The anchor goes, its neighbours move until keys are given anew, more comes.
        await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[first.messages[-1].id]))
        rest = [m for m in await history.ids(branch) if m != uuid_of(0)]
        for step in range(60):
            await history.call(
                pb.MoveMessageRequest(branch_id=branch, message_id=rest[step % len(rest)], index=3)
            )
        await history.add(branch, assistant(20 + revision), instruction(2, "anew"))
        second = await page(history, branch, first.next_page_token, page_size=3, order=order)
        third = await page(
            history, branch, second.next_page_token, page_size=100, order=order, at_revision=revision
        )
        assert {first.revision, second.revision, third.revision} == {revision}
        seen = numbered(first) + numbered(second) + numbered(third)
        assert seen == (expected[::-1] if descending else expected)
        assert (len(first.messages), len(second.messages)) == (4, 3)
        assert third.next_page_token == ""


async def test_a_page_also_ends_at_its_bytes_and_holds_one_message_at_least(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n, "x" * 1000) for n in range(5)))
    for page_bytes, count in ((1, 1), (2500, 2), (10**6, 5)):
        small = History(history.store, Limits(page_bytes=page_bytes))
        assert len((await page(small, branch)).messages) == count
        assert numbers(await small.ids(branch)) == [0, 1, 2, 3, 4]


async def test_a_page_says_what_the_branch_is_where_that_is_asked(history: History) -> None:
    branch = await history.create(metadata_json='{"a":1}', external_key="paged")
    await history.add(branch, *(instruction(n) for n in range(4)))
    first = await page(history, branch, page_size=3, with_branch=True)
    assert first.branch == await history.branch(branch)
    assert (first.branch.message_count, first.branch.metadata_json) == (4, '{"a":1}')
    await history.add(branch, system(9))
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(1)]))
    # Every page says it that is asked, at the revision that all of them are read at.
    later = await page(history, branch, first.next_page_token, with_branch=True)
    assert later.branch == first.branch == await history.branch(branch, at=2)
    now = await page(history, branch, with_branch=True)
    assert now.branch == await history.branch(branch)
    assert (now.branch.revision, now.branch.view_count, now.branch.system_message_id) == (4, 1, uuid_of(9))
    past = await page(history, branch, at_revision=1, with_branch=True)
    assert (past.branch, list(past.messages)) == (await history.branch(branch, at=1), [])
    for token in ("", first.next_page_token):
        assert not (await page(history, branch, token)).HasField("branch")


async def test_the_branch_counts_among_the_bytes_of_a_page(history: History) -> None:
    branch = await history.create(metadata_json='{"a":"' + "x" * 2000 + '"}')
    await history.add(branch, *(instruction(n, "x" * 1000) for n in range(5)))
    small = History(history.store, Limits(page_bytes=4500))
    assert len((await page(small, branch)).messages) == 4
    assert len((await page(small, branch, with_branch=True)).messages) == 2
    smaller = History(history.store, Limits(page_bytes=2000))
    assert len((await page(smaller, branch, with_branch=True)).messages) == 1


async def test_page_sizes_are_coerced(history: History) -> None:
    branch = await history.create()
    for start in (0, 1000):
        await history.add(branch, *(instruction(n) for n in range(start, start + 600)))
    assert len((await page(history, branch)).messages) == 100
    assert len((await page(history, branch, page_size=5000)).messages) == 1000
    assert len(await history.messages(branch, page_size=1000)) == 1200


async def test_a_token_of_another_list_is_refused(history: History) -> None:
    branch = await mixed(history)
    other = await history.create(2)
    await history.add(other, instruction(1), instruction(2))
    token = (await page(history, branch, page_size=1)).next_page_token
    assert numbered(await page(history, branch, token, page_size=2)) == [1, 2]
    both = [pb.MESSAGE_KIND_INSTRUCTION, pb.MESSAGE_KIND_ASSISTANT_RESPONSE]
    of_kinds = (await page(history, branch, page_size=1, kinds=both)).next_page_token
    # The same set of kinds is the same filter.
    assert numbered(await page(history, branch, of_kinds, kinds=[*reversed(both), *both])) == [2, 4, 6]
    others: list[tuple[str, dict[str, Any]]] = [
        (branch, {"kinds": [pb.MESSAGE_KIND_INSTRUCTION]}),
        (branch, {"order": pb.ORDER_DESCENDING}),
        (branch, {"at_revision": 2}),
        (other, {}),
    ]
    for where, fields in others:
        with pytest.raises(PageTokenInvalidError):
            await page(history, where, token, **fields)
    for damaged in (token[:-1], token[1:], token + "=", token.swapcase(), "x", "é"):
        with pytest.raises(PageTokenInvalidError):
            await page(history, branch, damaged)


async def test_a_token_is_of_one_incarnation(history: History, store_kind: str, tmp_path: Path) -> None:
    # As if the branch had been lost with its store and made again.
    folder = tmp_path / "another"
    folder.mkdir()
    async with running(store_kind, folder) as another:
        await another.create(2)
        for service in (history, another):
            await service.create(1)
            await service.add(uuid_of(1), instruction(1), instruction(2))
        former, present = await history.branch(uuid_of(1)), await another.branch(uuid_of(1))
        assert former.incarnation != present.incarnation
        token = (await page(history, uuid_of(1), page_size=1)).next_page_token
        with pytest.raises(PageTokenInvalidError):
            await page(another, uuid_of(1), token)


async def test_a_snapshot_of_a_selection_follows_the_selection(history: History) -> None:
    branch = await mixed(history)
    chosen = [uuid_of(n) for n in (7, 1, 9)]
    snapshot = await history.snapshot(branch, ids=chosen)
    assert numbers(snapshot.order) == [7, 1, 9]
    assert snapshot.header.system.id == uuid_of(9)
    empty = await history.snapshot(branch, ids=[])
    assert (empty.order, empty.header.message_count) == ([], 0)
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(2)]))
    assert numbers((await history.snapshot(branch, ids=chosen)).order) == [7, 1, 9]
    assert numbers((await history.snapshot(branch, at=2, ids=[uuid_of(4), uuid_of(1)])).order) == [4, 1]


async def test_a_selections_unknown_and_repeated_ids_are_all_listed(history: History) -> None:
    branch = await mixed(history)
    with pytest.raises(ProgressionInvalidError) as caught:
        await history.snapshot(branch, ids=[uuid_of(n) for n in (1, 50, 1, 51, 50)])
    assert caught.value.metadata == {
        "missing": f"{uuid_of(50)},{uuid_of(51)}",
        "missing_count": "2",
        "duplicate": f"{uuid_of(1)},{uuid_of(50)}",
        "duplicate_count": "2",
    }
    with pytest.raises(ProgressionInvalidError):
        await history.snapshot(branch, at=2, ids=[uuid_of(6)])


async def test_the_header_describes_the_branch_at_the_revision(history: History) -> None:
    branch = await mixed(history)
    snapshot = await history.snapshot(branch)
    assert snapshot.header.branch == await history.branch(branch)
    assert snapshot.header.system == await history.get(branch, uuid_of(9))
    past = await history.snapshot(branch, at=2)
    assert past.header.branch == await history.branch(branch, 2)
    assert not past.header.HasField("system")
    assert numbers(past.order) == [1, 2, 3, 4]
    assert not past.messages[2].action_request.HasField("action_response_id")


@pytest.mark.parametrize("selection", ["order", "view", "chosen"])
async def test_frames_are_bounded(history: History, selection: str) -> None:
    branch = await history.create()
    sizes = [10, 2000, 10, 10, 900, 10, 10, 5000, 10, 30, 50, 70, 90, 110]
    messages = [instruction(n, "x" * size) for n, size in enumerate(sizes)]
    await history.add(branch, *messages[:5])
    ids = await history.ids(branch)
    if selection == "view":
        # What comes now enters the view one after another.
        await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=ids))
    await history.add(branch, *messages[5:])
    ids = await history.ids(branch)
    for frame_bytes in (90, *range(300, 1500, 41)):
        small = History(history.store, Limits(frame_bytes=frame_bytes, snapshot_batch_messages=4))
        snapshot = await small.snapshot(branch, ids=ids if selection == "chosen" else None)
        assert snapshot.order == ids
        # The header always goes as one frame.
        for frame in map(pb.ReadSnapshotResponse.FromString, snapshot.frames[1:]):
            single = len(frame.batch.messages) == 1 or len(frame.order.message_ids) == 1
            assert frame.ByteSize() <= frame_bytes or single
            assert len(frame.batch.messages) <= 4
            assert frame.HasField("footer") or frame.order.message_ids or frame.batch.messages


@pytest.mark.parametrize("selection", ["order", "view"])
async def test_a_snapshot_is_of_one_revision_whatever_happens_between_its_frames(
    history: History, selection: str
) -> None:
    branch = await history.create()
    await history.add(branch, system(99), *(instruction(n) for n in range(20)))
    if selection == "view":
        view = [uuid_of(n) for n in (99, *range(19, -1, -1))]
        await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=view))
    before = await history.snapshot(branch)
    small = History(history.store, Limits(frame_bytes=400, snapshot_batch_messages=3))
    frames = []
    async for frame in small.frames(branch):
        frames.append(frame)
        step = len(frames)
        living = await history.ids(branch)
        if len(living) > 4:
            gone = living[1 + step % (len(living) - 1)]
            await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[gone]))
        living = await history.ids(branch)
        for _ in range(12):
            await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=living[-1], index=2))
        await history.add(branch, system(1000 + step), instruction(2000 + step), instruction(3, f"{step}"))
        if step == 9:
            await history.call(pb.ClearViewRequest(branch_id=branch))
        if step == 12:
            await history.call(pb.ClearMessagesRequest(branch_id=branch))
    assert len(frames) > 10
    during = assemble(frames)
    assert (during.order, during.bodies) == (before.order, before.bodies)
    after = await history.snapshot(branch, at=before.header.revision)
    assert (after.order, after.bodies, after.header) == (before.order, before.bodies, before.header)


@pytest.mark.parametrize("deleted", [False, True])
async def test_a_reader_may_leave_a_snapshot_early(history: History, deleted: bool) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n) for n in range(9)))
    small = History(history.store, Limits(snapshot_batch_messages=2))
    async with aclosing(small.frames(branch)) as frames:
        kinds = []
        async for frame in frames:
            kinds.append(pb.ReadSnapshotResponse.FromString(frame).WhichOneof("frame"))
            if kinds[-1] == "batch":
                # The next batch is being read by now, or cannot be any more.
                if deleted:
                    await history.call(pb.DeleteBranchRequest(branch_id=branch))
                break
    assert kinds == ["header", "order", "batch"]
    # The store serves on, and closes at the end of this test.
    assert (await history.create(2)) == uuid_of(2)


async def test_a_snapshot_ends_when_its_branch_is_deleted(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *(instruction(n, "x" * 3000) for n in range(4)))
    parts = History(history.store, Limits(frame_bytes=4096))

    frames: list[bytes] = []

    async def read() -> None:
        async for frame in parts.frames(branch):
            if not frames:
                await history.call(pb.DeleteBranchRequest(branch_id=branch))
            frames.append(frame)

    with pytest.raises(BranchDeletedError):
        await read()
    # What was read where it was opened comes yet: the order and the first batch.
    assert len(frames) == 3
