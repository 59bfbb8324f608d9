"""Every write of a branch takes a request id of the caller's, so that it can be sent again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from antiphon_client import (
    ActionRequest,
    AsyncBranch,
    AsyncHistoryClient,
    Branch,
    Exchange,
    HistoryClient,
    Instruction,
    Message,
)
from antiphon_client.errors import RequestIdReusedError
from antiphon_client.ids import is_canonical_uuid, new_ordered_id
from antiphon_client.messages import ActionResponse, System
from tests.support.pair import Pair, running_pair, served_pair

REQUEST, OTHER = ActionRequest.create("f", {"n": 1}), ActionRequest.create("g", {})
KEPT = Instruction.create("kept")
ADDED = Instruction.create("added")
ANSWER = ActionResponse.create(OTHER, 1)
POLICY = System.create("policy")

WRITES: dict[str, Callable[[Any, str], Any]] = {
    "add": lambda branch, key: branch.add(ADDED, request_id=key),
    "respond": lambda branch, key: branch.respond(REQUEST, output=1, request_id=key),
    "set_system": lambda branch, key: branch.set_system(POLICY, request_id=key),
    "update_metadata": lambda branch, key: branch.update_metadata({"n": 1}, request_id=key),
    "remove": lambda branch, key: branch.remove(KEPT.id, request_id=key),
    "move": lambda branch, key: branch.move(KEPT.id, 0, request_id=key),
    "clear": lambda branch, key: branch.clear(request_id=key),
    "select_view": lambda branch, key: branch.select_view([KEPT.id], request_id=key),
    "clear_view": lambda branch, key: branch.clear_view(request_id=key),
    "commit_compaction": lambda branch, key: branch.commit_compaction(
        "in short", first_id=KEPT.id, last_id=KEPT.id, request_id=key
    ),
    "delete": lambda branch, key: branch.delete(request_id=key),
}
MADE: dict[str, dict[str, Any]] = {
    "an instruction": {"instruction": "x", "context": ["c"], "metadata": {"n": 1}},
    "a system": {"system": "policy"},
    "an assistant response": {"assistant_response": {"content": "x"}},
    "an action request": {"action_function": "h", "action_arguments": {"n": 1.0}},
    "an action's output": {"action_request": REQUEST, "action_output": 0},
    "a response made before": {"action_response": ANSWER},
    "a message made before": {"instruction": ADDED},
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def history(pair: Pair) -> Iterator[HistoryClient]:
    with HistoryClient(pair.history, timeout=20) as client:
        yield client


@pytest.fixture
def branch(history: HistoryClient) -> Branch:
    return Branch.create(history, messages=[KEPT, REQUEST, OTHER])


@pytest.mark.parametrize("owner", [Branch, AsyncBranch])
def test_every_write_is_among_those_tested(owner: type) -> None:
    """Whatever takes an expected revision is a write."""
    members = inspect.getmembers(owner, inspect.isfunction)
    writes = {name for name, method in members if "expected_revision" in inspect.signature(method).parameters}
    assert writes == {*WRITES, "add_message"}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_repeated_write_is_answered_as_before(branch: Branch, write: Callable[[Any, str], Any]) -> None:
    key = new_ordered_id()
    first, again = write(branch, key), write(branch, key)
    assert (first.replayed, again.replayed) == (False, True)
    assert (again.revision, again.placements) == (3, first.placements)


@pytest.mark.parametrize("fields", MADE.values(), ids=MADE)
def test_a_message_made_again_is_the_same_message(branch: Branch, fields: dict[str, Any]) -> None:
    key = new_ordered_id()
    heard: list[Message] = []
    branch.on_message_added.append(heard.append)
    first = branch.add_message(**fields, request_id=key)
    again = branch.add_message(**fields, request_id=key)
    assert first == again
    assert heard == [first, first]
    assert first.created_at is not None
    assert branch.record().revision == 3
    with pytest.raises(RequestIdReusedError):
        branch.add_message(instruction="something else", request_id=key)


def test_a_message_made_without_a_request_id_is_a_new_one(branch: Branch) -> None:
    assert branch.add_message(instruction="x").id != branch.add_message(instruction="x").id
    first = branch.add_message(instruction="x", request_id=new_ordered_id())
    assert first.id != branch.add_message(instruction="x", request_id=new_ordered_id()).id
    assert branch.add_message(instruction=ADDED, request_id=new_ordered_id()).id == ADDED.id


def test_a_systems_text_set_again_is_the_same_record(branch: Branch) -> None:
    key = new_ordered_id()
    first, again = (branch.set_system("policy", request_id=key) for _ in range(2))
    assert (first.replayed, again.replayed) == (False, True)
    assert again.message_ids == first.message_ids
    stored = branch.system()
    assert stored is not None
    assert (stored.id, stored.created_at is None) == (first.message_ids[0], False)
    assert branch.set_system("policy").message_ids != first.message_ids
    assert branch.set_system("policy").message_ids != branch.set_system("policy").message_ids


@pytest.mark.parametrize("system", ["policy", POLICY])
def test_a_time_that_changes_is_no_repeatable_request(branch: Branch, system: Any) -> None:
    key, revision = new_ordered_id(), branch.record().revision
    with pytest.raises(ValueError, match="give the time itself"):
        branch.add_message(system=system, system_datetime=True, request_id=key)
    assert branch.record().revision == revision
    fixed: dict[str, Any] = {"system": "policy", "system_datetime": "2025-01-01 00:00"}
    assert branch.add_message(**fixed, request_id=key) == branch.add_message(**fixed, request_id=key)
    assert branch.add_message(system="policy", system_datetime=True, request_id="").id != key


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_uuid_is_a_request_id(branch: Branch, write: Callable[[Any, Any], Any]) -> None:
    key = UUID(new_ordered_id())
    assert [write(branch, given).replayed for given in (key, str(key))] == [False, True]


@pytest.mark.parametrize("none", ["", None])
def test_the_empty_text_is_no_request_id(history: HistoryClient, none: str | None) -> None:
    created = [Branch.create(history, messages=[Instruction.create(text)], request_id=none) for text in "ab"]
    assert [len(list(branch.messages())) for branch in created] == [1, 1]
    branch = created[0]
    branch.add_message(instruction="first", request_id=none)
    branch.add_message(instruction="second", request_id=none)
    branch.add_message(assistant_response="third", request_id=none)
    assert branch.record().message_count == 4
    systems = [branch.set_system("policy", request_id=none).message_ids for _ in range(2)]
    assert systems[0] != systems[1]
    owner = uuid4()
    exchange = Exchange(history, new_ordered_id())
    exchange.register(owner, request_id=none)
    sent = [exchange.send(owner, owner, 1, request_id=none) for _ in range(2)]
    assert sent[0].id != sent[1].id
    assert sent[0].created_at is not None
    key = uuid4()
    again = [exchange.send(owner, owner, 2, request_id=given).id for given in (key, str(key))]
    assert again[0] == again[1]


def test_a_failed_repetition_leaves_the_branch_as_it_is(history: HistoryClient) -> None:
    key = new_ordered_id()
    branch = Branch.create(history, messages=[KEPT], external_key="kept", request_id=key)
    branch.add_message(instruction="later work")
    with pytest.raises(RequestIdReusedError) as caught:
        Branch.create(history, messages=[ADDED], external_key="kept", request_id=key)
    assert caught.value.__notes__ == [
        f"branch {branch.branch_id}, made by an earlier call with this request_id, stays"
    ]
    assert [message.content.instruction for message in branch.messages()] == ["kept", "later work"]
    again = Branch.create(history, messages=[KEPT], external_key="kept", request_id=key)
    assert again.branch_id == branch.branch_id


def test_creating_and_forking_again_give_the_same_branch(history: HistoryClient) -> None:
    key = new_ordered_id()
    messages = [Instruction.create("x" * 600_000) for _ in range(8)]  # in several batches
    made = [Branch.create(history, messages=messages, request_id=key)]
    revision = made[0].record().revision
    made.append(Branch.create(history, messages=messages, request_id=key))
    assert made[1].record().revision == revision > 2
    assert made[0].branch_id == made[1].branch_id
    assert [m.id for m in made[1].messages()] == [m.id for m in messages]
    forks = {made[0].fork(new_ids=True, request_id=made_id).branch_id for made_id in [new_ordered_id()] * 2}
    assert len(forks) == 1
    assert made[0].branch_id not in forks
    assert made[0].fork().branch_id != made[0].fork().branch_id


@pytest.mark.anyio
async def test_the_asyncio_branch_takes_them_alike(tmp_path: Path) -> None:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history, timeout=20) as history:
        first_key, fork_key = new_ordered_id(), new_ordered_id()
        branches = [
            await AsyncBranch.create(history, messages=[KEPT, REQUEST], request_id=first_key)
            for _ in range(2)
        ]
        branch = branches[0]
        assert branches[1].branch_id == branch.branch_id
        forks: list[UUID] = [(await branch.fork(request_id=fork_key)).branch_id for _ in range(2)]
        assert forks[0] == forks[1] != branch.branch_id
        key = new_ordered_id()
        added = [await branch.add_message(instruction="x", request_id=key) for _ in range(2)]
        assert added[0] == added[1]
        assert is_canonical_uuid(str(added[0].id))
        for write in WRITES.values():
            branch = await AsyncBranch.create(history, messages=[KEPT, REQUEST])
            key = new_ordered_id()
            first, again = await write(branch, key), await write(branch, key)
            assert (again.replayed, again.revision) == (True, first.revision)
