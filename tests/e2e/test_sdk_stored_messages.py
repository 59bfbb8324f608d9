"""What a writer and its callbacks get when others change the branch right after the write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from antiphon.message.v1 import message_pb2
from antiphon_client import (
    ActionRequest,
    ActionResponse,
    AsyncBranch,
    AsyncHistoryClient,
    Branch,
    HistoryClient,
    Instruction,
    Message,
    System,
)
from antiphon_client.errors import BranchDeletedError, RevisionExpiredError
from antiphon_client.ids import new_ordered_id
from antiphon_client.messages import TextBlock
from antiphon_client.records import Written
from tests.support.meddling import meddle, meddle_async
from tests.support.pair import Pair, running_pair, served_pair

REQUEST = ActionRequest.create("look_up", {"n": 1.0})
FIRST, SECOND = Instruction.create("a"), Instruction.create("b", guidance={"n": 1.0})
FIRST_STORED, SECOND_STORED = (
    Instruction.create(**fields, image_detail="auto", id=message.id, created_at=message.created_at)
    for message, fields in (
        (FIRST, {"instruction": "a"}),
        (SECOND, {"instruction": "b", "guidance": {"n": 1.0}}),
    )
)
POLICY = System.create("policy")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def other(pair: Pair) -> Iterator[HistoryClient]:
    """Another client of the service."""
    with HistoryClient(pair.history, timeout=20) as client:
        yield client


def trim(other: HistoryClient, branch_id: UUID) -> None:
    """Write twice and drop every revision before."""
    other.add_messages(branch_id, [Instruction.create("later")])
    revision = other.add_messages(branch_id, [Instruction.create("latest")]).revision
    other.trim_history(branch_id, revision)


def remove_and_trim(other: HistoryClient, branch_id: UUID) -> None:
    """Leave nothing of what was there."""
    other.clear_messages(branch_id)
    other.set_system(branch_id, System.create("another"))
    trim(other, branch_id)


def purge(other: HistoryClient, branch_id: UUID) -> None:
    other.delete_branch(branch_id, purge=True)


def ids_of(outcome: Written | Message) -> list[UUID]:
    return [outcome.id] if isinstance(outcome, Message) else list(outcome.message_ids)


def answer(message: Message) -> tuple[Any, ...]:
    assert isinstance(message, ActionResponse)
    content = message.content
    return content.function, content.arguments, content.output, content.action_request_id, content.blocks


WRITES: dict[str, Callable[[Branch], Written | Message]] = {
    "add": lambda branch: branch.add([FIRST, SECOND]),
    "add_message": lambda branch: branch.add_message(instruction=SECOND),
    "set_system": lambda branch: branch.set_system(POLICY),
    "respond": lambda branch: branch.respond(REQUEST, output=0, blocks=[TextBlock("rich")]),
    "add_message, an output": lambda branch: branch.add_message(action_request=REQUEST, action_output=[]),
}
STORED = {"add": [FIRST_STORED, SECOND_STORED], "add_message": [SECOND_STORED], "set_system": [POLICY]}
ANSWERS = {
    "respond": ("look_up", {"n": 1.0}, 0, str(REQUEST.id), [TextBlock("rich")]),
    "add_message, an output": ("look_up", {"n": 1.0}, [], str(REQUEST.id), []),
}


@pytest.mark.parametrize("event", [trim, remove_and_trim, purge])
@pytest.mark.parametrize("write", WRITES)
def test_a_write_is_done_and_told_whatever_others_do_right_after_it(
    pair: Pair,
    other: HistoryClient,
    monkeypatch: pytest.MonkeyPatch,
    write: str,
    event: Callable[[HistoryClient, UUID], None],
) -> None:
    meddler = meddle(monkeypatch)
    with HistoryClient(pair.history, timeout=20) as history:
        heard: list[Message] = []
        branch = Branch.create(history, messages=[REQUEST], on_message_added=[heard.append])
        meddler.act = lambda: event(other, branch.branch_id)
        outcome = WRITES[write](branch)
        assert meddler.acted == 1
        assert [message.id for message in heard] == ids_of(outcome)
        if isinstance(outcome, Written):
            assert outcome.revision == 3
        else:
            assert heard == [outcome]
        if write in STORED:
            assert heard == STORED[write]
        else:
            assert [answer(message) for message in heard] == [ANSWERS[write]]
        if event is trim:
            assert heard == list(other.get_messages(branch.branch_id, ids_of(outcome)))
            with pytest.raises(RevisionExpiredError):
                branch.record(at_revision=3)
        elif event is purge:
            with pytest.raises(BranchDeletedError):
                branch.record()


def test_what_only_the_service_knew_is_left_out(
    pair: Pair, other: HistoryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    meddler = meddle(monkeypatch)
    with HistoryClient(pair.history, timeout=20) as history:
        heard: list[Message] = []
        branch = Branch.create(history, messages=[REQUEST], on_message_added=[heard.append])
        meddler.act = lambda: remove_and_trim(other, branch.branch_id)
        content = message_pb2.ActionRequestContent(function="f", action_response_id=new_ordered_id())
        unnamed = message_pb2.Message(action_request=content)
        written = branch.add(unnamed)
        assert unnamed == message_pb2.Message(action_request=content)
        meddler.act = lambda: purge(other, branch.branch_id)
        branch.add(REQUEST)
        named, again = heard
        assert (named.id, named.created_at) == (written.message_ids[0], None)
        assert named.content.action_response_id is None
        assert again == REQUEST
    with HistoryClient(pair.history, timeout=20) as history:
        heard.clear()
        branch = Branch.create(history, messages=[REQUEST], on_message_added=[heard.append])
        meddler.act = lambda: purge(other, branch.branch_id)
        branch.respond(REQUEST.id, error="no such thing", metadata={"n": 1})
        (told,) = heard
        assert isinstance(told, ActionResponse)
        assert (told.content.function, told.content.error) == ("", "no such thing")
        assert (told.created_at, told.metadata) == (None, {"n": 1})


def test_a_message_that_is_gone_leaves_the_others_as_they_are_stored(
    pair: Pair, other: HistoryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    meddler = meddle(monkeypatch)
    texts = [f"m{number}" for number in range(130)]
    gone = {"m3", *texts[10:120]}  # more than an error lists
    with HistoryClient(pair.history, timeout=20) as history:
        heard: list[Message] = []
        branch = Branch.create(history, on_message_added=[heard.append])

        def remove_some() -> None:
            held = other.get_branch(branch.branch_id)
            found = [m for m in Branch(other, held.branch_id).messages() if m.content.instruction in gone]
            revision = other.remove_messages(branch.branch_id, [m.id for m in found]).revision
            other.trim_history(branch.branch_id, revision)

        meddler.act = remove_some
        branch.add(
            [
                message_pb2.Message(instruction=message_pb2.InstructionContent(instruction=text))
                for text in texts
            ]
        )
        assert [message.content.instruction for message in heard] == texts
        assert {message.content.instruction for message in heard if message.created_at is None} == gone


@pytest.mark.anyio
@pytest.mark.parametrize("purged", [False, True])
async def test_the_asyncio_branch_does_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, purged: bool
) -> None:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history, timeout=20) as other:
        meddler = meddle_async(monkeypatch)
        async with AsyncHistoryClient(pair.history, timeout=20) as history:
            heard: list[Message] = []
            branch = await AsyncBranch.create(history, on_message_added=[heard.append])

            async def act() -> None:
                if purged:
                    await other.delete_branch(branch.branch_id, purge=True)
                else:
                    revision = (await other.clear_messages(branch.branch_id)).revision
                    await other.trim_history(branch.branch_id, revision)

            for write in (lambda: branch.add([FIRST, SECOND]), lambda: branch.add_message(instruction=FIRST)):
                meddler.act = act
                outcome = await write()
                assert [message.id for message in heard] == ids_of(outcome)
                assert heard == [FIRST_STORED, SECOND_STORED][: len(heard)]
                heard.clear()
                if purged:
                    break
            assert meddler.acted == (1 if purged else 2)
