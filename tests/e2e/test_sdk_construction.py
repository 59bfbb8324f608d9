"""A branch made with messages: typed, dictionaries, piles (ADR-0006 D3), against the real service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from antiphon_client import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    AsyncBranch,
    AsyncHistoryClient,
    Branch,
    HistoryClient,
    Instruction,
    Message,
    System,
)
from antiphon_client.errors import ActionAlreadyAnsweredError, BranchDeletedError, FieldInvalidError
from antiphon_client.messages import to_proto
from antiphon_client.piles import pile_to_dict
from tests.support.pair import Pair, running_pair, served_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def history(pair: Pair) -> Iterator[HistoryClient]:
    with HistoryClient(pair.history, timeout=20) as client:
        yield client


@pytest.fixture
async def async_history(anyio_backend: object, tmp_path: Path) -> AsyncIterator[AsyncHistoryClient]:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history, timeout=20) as client:
        yield client


def conversation() -> list[Message]:
    request = ActionRequest.create("look", {"n": 2**60})
    return [
        Instruction.create("q", context=[1.0, {"k": None}], image_detail="auto", channel="c"),
        request,
        ActionResponse.create(request, output=[]),
        AssistantResponse.create("a", recipient=None, metadata={"m": [True]}),
        Message({"any": ["thing"]}, sender=uuid4(), recipient=uuid4()),
    ]


def test_messages_dictionaries_and_wire_records_in_one_list(history: HistoryClient) -> None:
    messages = conversation()
    given: list[Any] = [messages[0], messages[1].to_dict(), messages[2], to_proto(messages[3])]
    branch = Branch.create(history, messages=[*given, messages[4].to_dict()])
    stored = list(branch.messages())
    assert [m.id for m in stored] == [m.id for m in messages]
    assert [m.to_dict() for m in (stored[0], *stored[2:])] == [
        m.to_dict() for m in (messages[0], *messages[2:])
    ]
    assert stored[1].content.action_response_id == str(messages[2].id)


def test_entries_that_are_no_messages_are_ignored(history: HistoryClient) -> None:
    first, second = Instruction.create("1"), Instruction.create("2")
    branch = Branch.create(history, messages=[None, first, "text", 3, ["x"], uuid4(), second, object()])
    assert [m.id for m in branch.messages()] == [first.id, second.id]
    assert branch.record().revision == 2


@pytest.mark.parametrize("order", ["progression of ids", "progression", "absent"])
def test_a_pile_reads_back_in_its_order(history: HistoryClient, order: str) -> None:
    messages = [System.create("s"), *conversation()]
    pile = pile_to_dict(messages)
    assert pile["progression"]["order"] == [str(m.id) for m in messages]
    if order == "absent":
        del pile["progression"]
    else:
        pile["collections"].reverse()
        if order == "progression of ids":
            pile["progression"] = pile["progression"]["order"]
    branch = Branch.create(history, messages=pile)
    assert branch.progression() == tuple(m.id for m in messages)
    assert pile_to_dict(branch.messages())["collections"][3:] == pile_to_dict(messages)["collections"][3:]


def test_a_supplied_progression_orders_the_messages(history: HistoryClient) -> None:
    messages = [Instruction.create(str(n)) for n in range(3)]
    ids: list[UUID | str] = [messages[2].id, str(messages[0].id), messages[1].id]
    branch = Branch.create(history, messages=messages, progression=ids)
    assert [m.content.instruction for m in branch.messages()] == ["2", "0", "1"]


def test_a_system_record_given_beside_stands_for_any_other(history: HistoryClient) -> None:
    system = System.create("new", metadata={"k": 1})
    messages = [Instruction.create("q"), System.create("old")]
    branch = Branch.create(history, messages=messages, system=system)
    assert branch.system() == system
    assert [m.id for m in branch.messages()] == [system.id, messages[0].id]
    alone = Branch.create(history, system=system)
    assert alone.progression() == (system.id,)
    within = Branch.create(history, messages=messages)
    assert [m.kind for m in within.messages()] == ["system", "instruction"]


@pytest.mark.parametrize("wrong", ["text", {"system_message": "s"}, "", 0, Instruction.create("i")])
def test_a_system_that_is_none_is_a_value_error(history: HistoryClient, wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"^System message must be a System instance\.$"):
        Branch.create(history, external_key="no-system", system=wrong)
    assert history.find_branch("no-system") is None


def test_messages_at_fault_are_refused_before_there_is_a_branch(history: HistoryClient) -> None:
    message = Instruction.create("x")
    other = {"collections": [message.to_dict()], "progression": [str(uuid4())]}
    wrong: list[tuple[type[Exception], dict[str, Any]]] = [
        (ValueError, {"messages": [{"kind": "nonsense"}]}),
        (ValueError, {"messages": [System.create("a"), System.create("b")]}),
        (FieldInvalidError, {"messages": [message, message]}),
        (FieldInvalidError, {"messages": [to_proto(message), message.to_dict() | {"channel": "c"}]}),
        (ValueError, {"messages": [message], "progression": []}),
        (ValueError, {"messages": [message], "progression": [message.id, message.id]}),
        (ValueError, {"messages": other}),
        (ValueError, {"messages": {"collections": [message.to_dict()], "progression": {"order": 3}}}),
        (TypeError, {"messages": [{"kind": "instruction", "content": 3}]}),
    ]
    for error, fields in wrong:
        with pytest.raises(error):
            Branch.create(history, external_key="at-fault", **fields)
    assert history.find_branch("at-fault") is None


def test_more_messages_than_one_write_takes(history: HistoryClient) -> None:
    messages = [Instruction.create("x" * 3000) for _ in range(1500)]
    branch = Branch.create(history, messages=messages, system=System.create("s"))
    record = branch.record()
    assert record.message_count == 1501
    assert record.revision == 3
    assert branch.progression()[1:] == tuple(m.id for m in messages)


def test_a_half_made_branch_is_deleted(history: HistoryClient) -> None:
    """Two answers of one request, which only the service can see to be wrong."""
    request = ActionRequest.create("f", {})
    answers: list[Message] = [ActionResponse.create(request, output=n) for n in range(2)]
    with pytest.raises(ActionAlreadyAnsweredError):
        Branch.create(history, external_key="half", messages=[request, *answers])
    assert history.find_branch("half") is None
    branch_id = uuid4()
    with pytest.raises(ActionAlreadyAnsweredError):
        Branch.create(history, branch_id=branch_id, messages=[request, *answers])
    with pytest.raises(BranchDeletedError):
        Branch.open(history, branch_id)


@pytest.mark.anyio
async def test_the_asyncio_branch_is_made_alike(async_history: AsyncHistoryClient) -> None:
    messages = conversation()
    system = System.create("s")
    branch = await AsyncBranch.create(async_history, messages=pile_to_dict(messages), system=system)
    assert await branch.progression() == (system.id, *(m.id for m in messages))
    with pytest.raises(ValueError, match="System instance"):
        await AsyncBranch.create(async_history, system="s")  # type: ignore[arg-type]
