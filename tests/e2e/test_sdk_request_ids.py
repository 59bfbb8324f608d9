"""Every write of a branch takes a request id of the caller's, so that it can be sent again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from antiphon_client import (
    ActionRequest,
    AsyncBranch,
    AsyncHistoryClient,
    Branch,
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
