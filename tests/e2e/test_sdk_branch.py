"""A branch through the SDK against the real pair, blocking client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from antiphon_client import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Branch,
    HistoryClient,
    Instruction,
    MessageRole,
    System,
)
from antiphon_client.errors import (
    ActionAlreadyAnsweredError,
    BranchDeletedError,
    BranchExistsError,
    BranchNotFoundError,
    FieldInvalidError,
    MessageNotFoundError,
    ProgressionInvalidError,
    RequestIdReusedError,
    RevisionConflictError,
    RevisionInFutureError,
    SystemRecordFixedError,
)
from antiphon_client.ids import new_ordered_id
from tests.support.pair import Pair, served_pair


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
    return Branch.create(history)


def test_create_and_open_by_id_and_by_key(history: HistoryClient) -> None:
    made = Branch.create(history, external_key="key-1", metadata={"n": 2**70, "é": [1.0, None]})
    assert Branch.open(history, made.branch_id).branch_id == made.branch_id
    assert Branch.open(history, external_key="key-1").branch_id == made.branch_id
    record = made.record()
    assert record.metadata == {"n": 2**70, "é": [1.0, None]}
    assert (record.revision, record.message_count, record.external_key) == (1, 0, "key-1")
    with pytest.raises(BranchExistsError) as caught:
        Branch.create(history, external_key="key-1")
    assert caught.value.metadata["branch_id"] == str(made.branch_id)
    with pytest.raises(BranchNotFoundError):
        Branch.open(history, external_key="key")
    with pytest.raises(BranchNotFoundError):
        Branch.open(history, uuid4())
    for using in (Branch, Branch.open):
        with pytest.raises(
            FieldInvalidError, match="'key-1' is no UUID; a branch's own key goes in external_key"
        ):
            using(history, "key-1")
    with pytest.raises(ValueError, match="one of them"):
        Branch.open(history)


def test_add_one_and_many_and_read_back(branch: Branch) -> None:
    first = Instruction.create("Hello", context=["c"], image_detail="auto", metadata={"k": [1]})
    written = branch.add(first)
    assert (written.revision, written.message_ids, written.replayed) == (2, (first.id,), False)
    rest = [AssistantResponse.create("Hi"), Instruction.create("Again"), AssistantResponse.create("Yes")]
    assert [p.index for p in branch.add(rest).placements] == [1, 2, 3]
    assert [m.id for m in branch.messages(page_size=2)] == [first.id, *(m.id for m in rest)]
    assert next(m.id for m in branch.messages(page_size=1, descending=True)) == rest[-1].id
    stored = next(branch.messages())
    assert stored == first


def test_a_page_says_what_the_branch_is_where_that_is_asked(history: HistoryClient, branch: Branch) -> None:
    branch.add([Instruction.create("a"), Instruction.create("b")])
    page = history.list_messages(branch.branch_id, page_size=1, with_branch=True)
    assert page.branch == history.get_branch(branch.branch_id)
    assert page.branch is not None
    assert page.branch.message_count == 2
    assert history.list_messages(branch.branch_id).branch is None


def test_a_repeated_request_id_returns_the_first_answer(branch: Branch) -> None:
    message, request_id = Instruction.create("once"), new_ordered_id()
    first = branch.add(message, request_id=request_id)
    again = branch.add(message, request_id=request_id)
    assert (again.revision, again.placements, again.replayed) == (first.revision, first.placements, True)
    with pytest.raises(RequestIdReusedError):
        branch.add(Instruction.create("other"), request_id=request_id)


def test_expected_revision_guards_every_write(branch: Branch) -> None:
    message = Instruction.create("x")
    branch.add(message, expected_revision=1)
    request = ActionRequest.create("f", {})
    for write in (
        lambda: branch.add(Instruction.create("y"), expected_revision=1),
        lambda: branch.add_message(instruction="y", expected_revision=1),
        lambda: branch.set_system("s", expected_revision=1),
        lambda: branch.remove(message.id, expected_revision=1),
        lambda: branch.move(message.id, 0, expected_revision=1),
        lambda: branch.clear(expected_revision=1),
        lambda: branch.select_view([], expected_revision=1),
        lambda: branch.clear_view(expected_revision=1),
        lambda: branch.update_metadata({}, expected_revision=1),
        lambda: branch.respond(request.id, expected_revision=1),
        lambda: branch.delete(expected_revision=1),
    ):
        with pytest.raises(RevisionConflictError) as caught:
            write()
        assert (caught.value.expected_revision, caught.value.actual_revision) == (1, 2)
    assert branch.record().revision == 2


def test_the_factory_makes_each_kind(branch: Branch) -> None:
    system = branch.add_message(system="Be brief", system_datetime="2026-01-01")
    assert isinstance(system, System)
    assert system.content.system_datetime == "2026-01-01"
    instruction = branch.add_message(instruction="Do it", context={"a": 1}, guidance="Well", channel="c")
    assert isinstance(instruction, Instruction)
    assert (instruction.content.prompt_context, instruction.channel) == ([{"a": 1}], "c")
    request = branch.add_message(action_function="add", action_arguments={"a": 1})
    assert isinstance(request, ActionRequest)
    response = branch.add_message(action_request=request, action_output=0)
    assert isinstance(response, ActionResponse)
    assert (response.output, response.content.action_request_id) == (0, str(request.id))
    answer = branch.add_message(assistant_response="Done")
    assert isinstance(answer, AssistantResponse)
    assert isinstance(branch.add_message(), Instruction)
    kinds = [m.kind for m in branch.messages()]
    assert kinds == [
        "system",
        "instruction",
        "action_request",
        "action_response",
        "assistant_response",
        "instruction",
    ]


@pytest.mark.parametrize("output", [0, "", [], {}, False])
def test_falsy_outputs_are_outputs(branch: Branch, output: object) -> None:
    request = branch.add_message(action_function="f", action_arguments={})
    response = branch.add_message(action_request=request, action_output=output, instruction=None)
    assert isinstance(response, ActionResponse)
    assert response.output == output
    assert type(response.output) is type(output)


def test_the_factory_refuses_several_kinds(branch: Branch) -> None:
    request = ActionRequest.create("f", {})
    for fields in (
        {"instruction": "a", "assistant_response": "b"},
        {"instruction": "a", "system": "b"},
        {"assistant_response": "a", "action_function": "f"},
        {"instruction": "a", "action_request": request},
        {"instruction": "a", "action_output": 0},
    ):
        with pytest.raises(ValueError, match=r"^Only one message type can be added at a time\.$"):
            branch.add_message(**fields)
    with pytest.raises(ValueError, match="needs the action_request"):
        branch.add_message(action_output=1)
    with pytest.raises(TypeError, match="no field of an action's output"):
        branch.add_message(action_request=request, action_output=1, channel="c")
    for no_message in ("text", {"role": "user"}, None):
        with pytest.raises(TypeError, match="expected a Message, not"):
            branch.add(no_message)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no message has a field"):
        branch.add_message(instructoin="a")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no field of"):
        branch.add_message(assistant_response="a", guidance="b")
    with pytest.raises(ValueError, match="handle_context"):
        branch.add_message(instruction="a", handle_context="other")  # type: ignore[arg-type]
    assert branch.record().revision == 1


def test_the_factory_updates_a_message_it_is_given(branch: Branch) -> None:
    message = branch.add_message(instruction="Do it", context=["a"])
    again = branch.add_message(instruction=message, context=["b"], handle_context="extend", guidance="g")
    assert isinstance(again, Instruction)
    assert again.id == message.id
    assert (again.content.prompt_context, again.content.guidance) == (["a", "b"], "g")
    assert again.content.instruction == "Do it"
    assert branch.record().message_count == 1


def test_respond_links_both_sides_and_only_once(branch: Branch) -> None:
    request = ActionRequest.create("look", {"n": 1}, provider_call_id="call_1")
    branch.add([Instruction.create("q"), request])
    branch.respond(request, output="so far", interim=True)
    failed = branch.respond(request.id, error="broken")
    (asked,) = branch.action_requests()
    assert asked.content.action_response_id == str(failed.message_ids[0])
    interim, final = branch.action_responses()
    assert (interim.content.state, final.content.state) == ("interim", "final")
    assert (final.content.error, final.content.arguments) == ("broken", {"n": 1})
    assert final.content.provider_call_id == "call_1"
    with pytest.raises(ActionAlreadyAnsweredError):
        branch.respond(request, output=1)
    with pytest.raises(ValueError, match="not both"):
        branch.respond(request, output=1, error="x")
    assert [m.kind for m in branch.actions()] == ["action_request", "action_response", "action_response"]


def test_one_system_record(branch: Branch) -> None:
    assert branch.system() is None
    branch.add(Instruction.create("q"))
    branch.set_system("first")
    branch.set_system(System.create("second", metadata={"v": 2}))
    system = branch.system()
    assert system is not None
    assert (system.content.system_message, system.metadata) == ("second", {"v": 2})
    assert (system.sender, system.recipient) == (MessageRole.SYSTEM, MessageRole.ASSISTANT)
    assert [m.kind for m in branch.messages()] == ["system", "instruction"]
    with pytest.raises(SystemRecordFixedError):
        branch.remove(system.id)
    branch.clear()
    assert [m.id for m in branch.messages()] == [system.id]
    earlier = branch.system(at_revision=3)
    assert earlier is not None
    assert earlier.content.system_message == "first"


def test_typed_views_and_last_ones(branch: Branch) -> None:
    assert branch.last_response() is None
    assert branch.last_instruction() is None
    messages = [Instruction.create("1"), AssistantResponse.create("a"), Instruction.create("2")]
    branch.add(messages)
    assert [m.content.instruction for m in branch.instructions()] == ["1", "2"]
    assert [m.response for m in branch.assistant_responses()] == ["a"]
    last_instruction, last_response = branch.last_instruction(), branch.last_response()
    assert last_instruction is not None
    assert last_response is not None
    assert (last_instruction.id, last_response.id) == (messages[2].id, messages[1].id)
    assert branch.last_response(at_revision=1) is None


def test_views_remove_and_move(branch: Branch) -> None:
    messages = [Instruction.create(str(n)) for n in range(4)]
    ids = [m.id for m in messages]
    branch.add(messages)
    assert branch.progression() == tuple(ids)
    branch.select_view([ids[2], ids[0]])
    assert branch.progression() == (ids[2], ids[0])
    assert branch.record().view_count == 2
    branch.move(ids[3], 0)
    assert [m.id for m in branch.messages()] == [ids[3], ids[0], ids[1], ids[2]]
    branch.remove([ids[0]])
    assert branch.progression() == (ids[2],)
    branch.select_view([])
    assert branch.progression() == ()
    branch.clear_view()
    assert branch.progression() == (ids[3], ids[1], ids[2])
    assert branch.progression(at_revision=2) == tuple(ids)
    unknown = uuid4()
    with pytest.raises(ProgressionInvalidError) as caught:
        branch.select_view([unknown, ids[1], ids[1]])
    assert caught.value.metadata["missing"] == str(unknown)
    assert caught.value.metadata["duplicate"] == str(ids[1])
    with pytest.raises(MessageNotFoundError):
        branch.remove([ids[1], unknown])
    assert len(branch.progression()) == 3


def test_the_raw_projection(branch: Branch) -> None:
    messages = [System.create("s"), Instruction.create("q"), AssistantResponse.create("a")]
    branch.add(messages)
    branch.select_view([])
    whole = branch.to_chat_msgs()
    assert [m and m["role"] for m in whole] == ["system", "user", "assistant"]
    assert whole[2] == {"role": "assistant", "content": "a"}
    assert branch.to_chat_msgs([]) == []
    ids: list[UUID | str] = [messages[2].id, str(messages[1].id), messages[2].id]
    assert branch.to_chat_msgs(ids) == [whole[2], whole[1], whole[2]]
    unknown: list[list[UUID | str]] = [[uuid4()], ["no id"]]
    for bad in unknown:
        with pytest.raises(
            ValueError, match=r"^One or more messages in the requested progression are invalid\.$"
        ):
            branch.to_chat_msgs(bad)


def test_reads_at_a_revision_and_deletion(branch: Branch) -> None:
    branch.add(Instruction.create("q"))
    assert list(branch.messages(at_revision=1)) == []
    with pytest.raises(RevisionInFutureError):
        branch.record(at_revision=99)
    with pytest.raises(FieldInvalidError) as caught:
        branch.record(at_revision=0)
    assert [v.field for v in caught.value.violations] == ["at_revision"]
    branch.delete()
    with pytest.raises(BranchDeletedError):
        branch.record()


def test_a_snapshot_is_whole(branch: Branch) -> None:
    messages = [
        System.create("s"),
        *(Instruction.create("x" * 4000, image_detail="low") for _ in range(700)),
    ]
    branch.add(messages)
    snapshot = branch.snapshot()
    assert [m.id for m in snapshot.messages] == [m.id for m in messages]
    assert snapshot.system == messages[0]
    assert snapshot.branch.revision == 2
    part = branch.snapshot(progression=[messages[3].id])
    assert list(part.messages) == [messages[3]]
    assert len(branch.instructions()) == 700


def test_the_set_system_call_itself(history: HistoryClient, branch: Branch) -> None:
    record = System.create("s", metadata={"k": 1})
    written = history.set_system(branch.branch_id, record)
    assert (written.message_ids, written.placements[0].index) == ((record.id,), 0)
    stored = history.read_system(branch.branch_id)
    assert stored is not None
    assert (stored.content, stored.metadata) == (record.content, {"k": 1})


def test_listing_branches(history: HistoryClient) -> None:
    parent = Branch.create(history)
    made = [
        Branch.create(history, external_key=f"list-{n}", parent_branch_id=parent.branch_id) for n in range(3)
    ]
    assert [b.branch_id for b in history.branches(external_key_prefix="list-")] == [b.branch_id for b in made]
    assert {b.branch_id for b in history.branches(parent_branch_id=parent.branch_id)} == {
        b.branch_id for b in made
    }
    page = history.list_branches(external_key_prefix="list-", page_size=2)
    assert len(page.items) == 2
    rest = history.list_branches(external_key_prefix="list-", page_size=2, page_token=page.next_page_token)
    assert [b.external_key for b in rest.items] == ["list-2"]
    assert isinstance(page.items[0].branch_id, UUID)


def test_invalid_fields_name_their_path(branch: Branch, tmp_path: Path) -> None:
    wire_bad = Instruction.create("x")
    with pytest.raises(FieldInvalidError) as caught:
        branch.add([wire_bad, wire_bad])
    assert caught.value.domain == "antiphon.history"
    assert isinstance(caught.value, ValueError)
    assert caught.value.violations[0].field.startswith("messages[1]")
