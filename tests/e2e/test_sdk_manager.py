"""What the manager of ADR-0006 D3 does at its edges, through the SDK, against the real service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from antiphon_client import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Branch,
    HistoryClient,
    Instruction,
    Message,
)
from antiphon_client.errors import ActionAlreadyAnsweredError, ActionRequestUnknownError
from tests.support.pair import served_pair


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HistoryClient]:
    with (
        served_pair(tmp_path_factory.mktemp("pair")) as pair,
        HistoryClient(pair.history, timeout=20) as client,
    ):
        yield client


@pytest.fixture
def branch(history: HistoryClient) -> Branch:
    return Branch.create(history)


def test_the_raw_projection_folds_strips_and_filters_nothing(branch: Branch) -> None:
    request = ActionRequest.create("look", {"n": 1})
    messages = [
        Instruction.create("again"),
        Instruction.create("again"),
        Instruction.create(""),
        AssistantResponse.create(""),
        request,
        ActionResponse.create(request, output=None),
        AssistantResponse.create("kept", status="excluded"),
        Message({"routed": []}),
    ]
    branch.add(messages)
    branch.set_system("policy")
    assert branch.to_chat_msgs() == [
        {"role": "system", "content": "policy"},
        *(m.chat_msg for m in messages),
    ]
    assert [m and m["content"] for m in branch.to_chat_msgs([messages[2].id, messages[3].id])] == ["", ""]


def test_a_response_made_before_is_updated_added_and_linked(branch: Branch) -> None:
    """The ADR sets no reciprocal link here; the service owns the links and does."""
    request = ActionRequest.create("look", {})
    branch.add(request)
    made = ActionResponse.create(request, output="early", metadata={"k": 1})
    added = branch.add_message(action_response=made, action_output=0, channel="c", metadata={"l": 2})
    assert isinstance(added, ActionResponse)
    assert (added.id, added.output, added.channel) == (made.id, 0, "c")
    assert added.metadata == {"k": 1, "l": 2}
    assert branch.action_requests()[0].content.action_response_id == str(made.id)
    again = branch.add_message(action_response=added)
    assert (again.id, again.content.output) == (made.id, 0)
    with pytest.raises(ActionAlreadyAnsweredError):
        branch.add_message(action_request=request, action_output=1)


def test_a_request_given_beside_a_response_is_the_one_it_answers(branch: Branch) -> None:
    first, second = ActionRequest.create("f", {}), ActionRequest.create("g", {})
    branch.add([first, second])
    loose = ActionResponse({"function": "g"})
    branch.add_message(action_response=loose, action_request=second, action_output=[])
    assert [r.content.action_response_id for r in branch.action_requests()] == [None, str(loose.id)]
    absent = ActionResponse.create(ActionRequest.create("h", {}))
    with pytest.raises(ActionRequestUnknownError):
        branch.add_message(action_response=absent)
    for wrong in ({"guidance": "g"}, {"function": "f"}):
        with pytest.raises(TypeError):
            branch.add_message(action_response=loose, **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is not ActionResponse"):
        branch.add_message(action_response=first)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^Only one message type can be added at a time\.$"):
        branch.add_message(action_response=loose, instruction="x")


def test_falsy_inputs_select_no_kind(branch: Branch) -> None:
    added = branch.add_message(instruction="", assistant_response=None, system=None, action_request=None)
    assert isinstance(added, Instruction)
    assert added.content.instruction == ""


def test_the_factory_takes_context_under_both_names(branch: Branch) -> None:
    first = branch.add_message(instruction="q", prompt_context="one")
    second = branch.add_message(instruction="q", context={"k": 1})
    assert [m.content.prompt_context for m in (first, second)] == [["one"], [{"k": 1}]]
    with pytest.raises(ValueError, match="twice"):
        branch.add_message(instruction="q", prompt_context="one", context="two")


def test_typed_views_are_of_one_kind_each_and_in_order(branch: Branch) -> None:
    request = ActionRequest.create("f", {})
    messages = [
        Message("routed"),
        AssistantResponse.create("a"),
        request,
        Instruction.create("i"),
        ActionResponse.create(request, output=1),
        AssistantResponse.create("b"),
    ]
    branch.add(messages)
    branch.move(messages[5].id, 0)
    assert [m.response for m in branch.assistant_responses()] == ["b", "a"]
    assert [m.id for m in branch.actions()] == [messages[2].id, messages[4].id]
    assert [m.id for m in branch.action_requests()] == [messages[2].id]
    assert [m.id for m in branch.action_responses()] == [messages[4].id]
    assert [m.id for m in branch.instructions()] == [messages[3].id]
    last = branch.last_response()
    assert last is not None
    assert last.id == messages[1].id
