"""Wrong requests get the documented reason and the path of the field at fault."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import (
    AntiphonError,
    FieldInvalidError,
    ReservedKeyError,
    SizeLimitExceededError,
)
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from tests.support.history import History, call_action, instruction, running, summary, system, uuid_of

pytestmark = pytest.mark.anyio

BRANCH = uuid_of(1)
NOT_A_UUID = ("", "x", "00000000-0000-4000-8000-00000000000A", uuid_of(1)[:-1], f" {uuid_of(1)}", "\0" * 36)


@pytest.fixture
async def history(anyio_backend: object, tmp_path: Path) -> AsyncIterator[History]:
    """A service with branch 1: a system record, an instruction, an action request."""
    async with running("memory", tmp_path) as service:
        await service.create(1)
        await service.add(BRANCH, system(9), instruction(1), call_action(2))
        yield service


async def send(history: History, request: Any) -> None:
    """Send any request."""
    if isinstance(request, pb.ReadSnapshotRequest):
        ids = list(request.progression.message_ids) if request.HasField("progression") else None
        at = request.at_revision if request.HasField("at_revision") else None
        await history.snapshot(request.branch_id, at=at, ids=ids)
    else:
        await history.call(request)


async def fields_at_fault(history: History, request: Any) -> list[str]:
    """Send a request that is FIELD_INVALID; return the paths of its violations."""
    with pytest.raises(FieldInvalidError) as caught:
        await send(history, request)
    error = caught.value
    assert error.metadata["violation_count"] == str(len(error.violations))
    assert all(violation.description for violation in error.violations)
    return [violation.field for violation in error.violations]


def add(*messages: message_pb.Message, **fields: Any) -> pb.AddMessagesRequest:
    """Make an AddMessagesRequest for branch 1."""
    return pb.AddMessagesRequest(branch_id=BRANCH, messages=messages, **fields)


BRANCH_REQUESTS: list[Any] = [
    pb.GetBranchRequest,
    pb.UpdateBranchRequest,
    pb.DeleteBranchRequest,
    lambda **fields: pb.AddMessagesRequest(messages=[instruction(3)], **fields),
    lambda **fields: pb.RespondToActionRequest(action_request_id=uuid_of(2), **fields),
    lambda **fields: pb.SetSystemRequest(system=message_pb.SystemContent(), **fields),
    lambda **fields: pb.RemoveMessagesRequest(message_ids=[uuid_of(1)], **fields),
    lambda **fields: pb.MoveMessageRequest(message_id=uuid_of(1), index=1, **fields),
    pb.ClearMessagesRequest,
    lambda **fields: pb.GetMessagesRequest(message_ids=[uuid_of(1)], **fields),
    pb.ListMessagesRequest,
    pb.SelectViewRequest,
    pb.ClearViewRequest,
    lambda **fields: pb.CommitCompactionRequest(summary=summary(0, 1, 2).summary, **fields),
    pb.ReadSnapshotRequest,
]


@pytest.mark.parametrize("make", BRANCH_REQUESTS)
async def test_every_request_checks_its_branch_id(history: History, make: Any) -> None:
    for text in NOT_A_UUID:
        assert await fields_at_fault(history, make(branch_id=text)) == ["branch_id"]


@pytest.mark.parametrize("make", BRANCH_REQUESTS)
async def test_every_request_checks_its_revision_and_request_id(history: History, make: Any) -> None:
    known = make(branch_id=BRANCH).DESCRIPTOR.fields_by_name
    revision = "expected_revision" if "expected_revision" in known else "at_revision"
    for value in (0, -1, -(2**63)):
        assert await fields_at_fault(history, make(branch_id=BRANCH, **{revision: value})) == [revision]
    if "request_id" in known:
        assert await fields_at_fault(history, make(branch_id=BRANCH, request_id="x")) == ["request_id"]
    assert (await history.branch(BRANCH)).revision == 2


async def test_all_violations_are_told_at_once(history: History) -> None:
    message = instruction(3)
    message.id = "x"
    message.metadata_json = "[]"
    request = add(instruction(4), message, expected_revision=0, request_id="y")
    request.branch_id = "z"
    assert await fields_at_fault(history, request) == [
        "branch_id",
        "expected_revision",
        "request_id",
        "messages[1].id",
        "messages[1].metadata_json",
    ]


@pytest.mark.parametrize("text", [*NOT_A_UUID])
async def test_creating_checks_every_id(history: History, text: str) -> None:
    request = pb.CreateBranchRequest(branch_id=text, parent_branch_id=text, request_id=text)
    expected = ["branch_id", "parent_branch_id"] + (["request_id"] if text else [])
    assert await fields_at_fault(history, request) == expected


async def test_external_keys_have_1_to_512_bytes(history: History) -> None:
    for key in ("", "x" * 513, "\u00e9" * 257):
        request = pb.CreateBranchRequest(external_key=key)
        assert await fields_at_fault(history, request) == ["external_key"]
    key = "\u00e9" * 255 + "\0x"
    created = await history.call(pb.CreateBranchRequest(external_key=key))
    assert created.branch.external_key == key


@pytest.mark.parametrize("make", [pb.CreateBranchRequest, pb.UpdateBranchRequest])
async def test_branch_metadata_is_an_object_without_the_reserved_key(history: History, make: Any) -> None:
    fields = {"branch_id": BRANCH} if make is pb.UpdateBranchRequest else {}
    for text in ("[]", "{", " ", '{"a":NaN}', '{"a":1,"a":2}', '{"a":"\\ud800"}', '{"a":1e999}'):
        assert await fields_at_fault(history, make(metadata_json=text, **fields)) == ["metadata_json"]
    for text in ('{"current_progression":null}', '{"a":{},"current\\u005fprogression":[]}'):
        with pytest.raises(ReservedKeyError) as caught:
            await history.call(make(metadata_json=text, **fields))
        assert caught.value.metadata["key"] == "current_progression"
        assert [violation.field for violation in caught.value.violations] == ["metadata_json"]
    await history.call(make(metadata_json='{"a":{"current_progression":1}}', **fields))
    large = '{"a":"' + "x" * DEFAULT_LIMITS.branch_metadata_bytes + '"}'
    with pytest.raises(SizeLimitExceededError) as size:
        await history.call(make(metadata_json=large, **fields))
    assert size.value.metadata["limit_name"] == "branch_metadata_bytes"
    assert size.value.metadata["actual"] == str(len(large))


async def test_a_batch_has_one_message_at_least_and_each_id_once_and_one_system(history: History) -> None:
    assert await fields_at_fault(history, add()) == ["messages"]
    assert await fields_at_fault(history, add(instruction(3), instruction(4), instruction(3))) == [
        "messages[2].id"
    ]
    assert await fields_at_fault(history, add(system(3), instruction(4), system(5))) == ["messages[2].system"]
    empty = message_pb.Message(id=uuid_of(3))
    assert await fields_at_fault(history, add(instruction(4), empty)) == ["messages[1].content"]


@pytest.mark.parametrize(
    "text",
    ["NaN", "[1,2", '{"a":1,"a":1}', '"\\ud800"', "[" * 101 + "]" * 101, "1e400", "1" * 4001, "[1]", "null"],
)
async def test_json_fields_follow_the_json_text_rule(history: History, text: str) -> None:
    message = call_action(3)
    message.action_request.arguments_json = text
    assert await fields_at_fault(history, add(instruction(4), message)) == [
        "messages[1].action_request.arguments_json"
    ]


async def test_sizes_and_counts_are_named(history: History) -> None:
    small = History(history.store, Limits(message_bytes=300, batch_messages=3, page_messages=3))
    four, large = [uuid_of(n) for n in range(4)], instruction(3, "x" * 300)
    requests: list[tuple[Any, str, str, str]] = [
        (add(*(instruction(n) for n in range(4))), "batch_messages", "3", "4"),
        (pb.RemoveMessagesRequest(branch_id=BRANCH, message_ids=four), "batch_messages", "3", "4"),
        (pb.GetMessagesRequest(branch_id=BRANCH, message_ids=four), "page_messages", "3", "4"),
        (add(instruction(4), large), "message_bytes", "300", str(large.ByteSize())),
    ]
    for request, name, limit, actual in requests:
        with pytest.raises(SizeLimitExceededError) as caught:
            await small.call(request)
        assert caught.value.metadata == {"limit_name": name, "limit": limit, "actual": actual}
    # What a response copies from its request counts too.
    message = call_action(5)
    message.action_request.arguments_json = '{"a":"' + "x" * 150 + '"}'
    await small.add(BRANCH, message)
    respond = pb.RespondToActionRequest(branch_id=BRANCH, action_request_id=uuid_of(5), error="y" * 100)
    with pytest.raises(SizeLimitExceededError) as caught:
        await small.call(respond)
    assert caught.value.metadata["limit_name"] == "message_bytes"


@pytest.mark.parametrize("make", [instruction, call_action], ids=["instruction", "action_request"])
async def test_a_stored_message_never_passes_the_limit(history: History, make: Any) -> None:
    """Whatever the service adds, what is stored can be read, answered and written again."""
    limit = 400
    small = History(history.store, Limits(message_bytes=limit))
    stored = 0
    for padding in range(100, limit):
        message = make(1000 + padding)
        message.metadata_json = '{"p":"' + "x" * padding + '"}'
        try:
            await small.add(BRANCH, message)
        except SizeLimitExceededError:
            continue
        if message.HasField("action_request"):
            await small.call(
                pb.RespondToActionRequest(branch_id=BRANCH, action_request_id=message.id, metadata_json="")
            )
        got = await small.call(pb.GetMessagesRequest(branch_id=BRANCH, message_ids=[message.id]))
        assert got.messages[0].ByteSize() <= limit
        await small.add(BRANCH, got.messages[0])
        stored += 1
    assert 0 < stored < limit - 100


async def test_responding_names_its_own_fields(history: History) -> None:
    request = pb.RespondToActionRequest(
        branch_id=BRANCH,
        action_request_id="x",
        message_id="y",
        output_json="nope",
        state=7,  # type: ignore[arg-type]
        metadata_json="[]",
    )
    request.blocks.add()
    assert set(await fields_at_fault(history, request)) == {
        "action_request_id",
        "message_id",
        "output_json",
        "state",
        "metadata_json",
        "blocks[0].block",
    }
    request = pb.RespondToActionRequest(branch_id=BRANCH, action_request_id=uuid_of(2), message_id="")
    assert await fields_at_fault(history, request) == ["message_id"]


async def test_setting_the_system_names_its_own_fields(history: History) -> None:
    request = pb.SetSystemRequest(branch_id=BRANCH, message_id="x", metadata_json="1")
    assert set(await fields_at_fault(history, request)) == {"system", "message_id", "metadata_json"}
    request = pb.SetSystemRequest(branch_id=BRANCH, message_id="", system=message_pb.SystemContent())
    assert await fields_at_fault(history, request) == ["message_id"]


async def test_lists_of_ids_are_checked_one_by_one(history: History) -> None:
    good, bad = uuid_of(1), "x"
    remove = pb.RemoveMessagesRequest(branch_id=BRANCH)
    assert await fields_at_fault(history, remove) == ["message_ids"]
    remove.message_ids.extend([good, bad, good])
    assert await fields_at_fault(history, remove) == ["message_ids[1]", "message_ids[2]"]
    get = pb.GetMessagesRequest(branch_id=BRANCH)
    assert await fields_at_fault(history, get) == ["message_ids"]
    get.message_ids.extend([good, bad])
    assert await fields_at_fault(history, get) == ["message_ids[1]"]
    select = pb.SelectViewRequest(branch_id=BRANCH, message_ids=[bad, good])
    assert await fields_at_fault(history, select) == ["message_ids[0]"]
    snapshot = pb.ReadSnapshotRequest(branch_id=BRANCH)
    snapshot.progression.message_ids.extend([good, bad])
    assert await fields_at_fault(history, snapshot) == ["progression.message_ids[1]"]


async def test_compacting_checks_its_summary_and_ids(history: History) -> None:
    request = pb.CommitCompactionRequest(branch_id=BRANCH)
    assert await fields_at_fault(history, request) == ["summary"]
    request.summary.text = " \n\t\u2003"
    request.message_id = ""
    request.metadata_json = "[]"
    request.view_message_ids.extend([uuid_of(1), "x"])
    request.planned_revision = 0
    assert sorted(await fields_at_fault(history, request)) == [
        "message_id",
        "metadata_json",
        "planned_revision",
        "summary.first_id",
        "summary.last_id",
        "summary.text",
        "view_message_ids[1]",
    ]
    small = History(history.store, Limits(message_bytes=300))
    with pytest.raises(SizeLimitExceededError) as caught:
        await small.compact(BRANCH, (1, 2), [], "x" * 200)
    assert caught.value.metadata["limit_name"] == "message_bytes"
    assert (await history.branch(BRANCH)).revision == 2


async def test_moving_checks_its_index_and_message(history: History) -> None:
    move = pb.MoveMessageRequest(branch_id=BRANCH, message_id="x", index=-1)
    assert await fields_at_fault(history, move) == ["message_id", "index"]
    move = pb.MoveMessageRequest(branch_id=BRANCH, message_id=uuid_of(1), index=2**62)
    assert await fields_at_fault(history, move) == ["index"]


async def test_listing_checks_kinds_order_and_page_size(history: History) -> None:
    request = pb.ListMessagesRequest(
        branch_id=BRANCH,
        kinds=[pb.MESSAGE_KIND_SYSTEM, 0, 77],  # type: ignore[list-item]
        order=9,  # type: ignore[arg-type]
        page_size=-1,
    )
    assert await fields_at_fault(history, request) == ["kinds[1]", "kinds[2]", "order", "page_size"]
    branches = pb.ListBranchesRequest(parent_branch_id="x", page_size=-1)
    assert await fields_at_fault(history, branches) == ["parent_branch_id", "page_size"]


async def test_no_refused_request_left_anything_behind(history: History) -> None:
    repeated = add(instruction(3), instruction(3))
    for request in (add(), repeated, pb.ClearViewRequest(branch_id=BRANCH, request_id="x")):
        with pytest.raises(AntiphonError):
            await history.call(request)
    assert (await history.branch(BRANCH)).revision == 2
