"""What goes wrong with windows and compactions in the field, through the SDK and the real pair."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_NATIVE, BranchRef, CompileRequest
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client import (
    ActionRequest,
    AssistantResponse,
    Branch,
    CompilerClient,
    HistoryClient,
    InlineSnapshot,
    Instruction,
    System,
)
from antiphon_client.errors import BudgetImpossibleError, RevisionConflictError
from antiphon_client.rpc import UnaryCall
from tests.support.native import turns_of
from tests.support.pair import served_pair


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[tuple[HistoryClient, CompilerClient]]:
    with (
        served_pair(tmp_path) as pair,
        HistoryClient(pair.history) as history,
        CompilerClient(pair.compiler) as compiler,
    ):
        yield history, compiler


def rounds(count: int) -> list[Instruction | AssistantResponse]:
    return [
        message
        for number in range(count)
        for message in (Instruction.create(f"q{number}"), AssistantResponse.create(f"a{number}"))
    ]


def test_a_compaction_never_takes_an_open_call_away_from_its_result(
    clients: tuple[HistoryClient, CompilerClient],
) -> None:
    history, compiler = clients
    branch = Branch.create(history)
    request = ActionRequest.create("pay", {"n": 1}, provider_call_id="c1")
    branch.add([*rounds(2), Instruction.create("pay the bill"), request, *rounds(10)])
    assert branch.compact(compiler, lambda text: "they talked", keep_messages=2) is not None
    assert len(branch.progression()) == 1 + 2 + 20
    answer = branch.respond(request, output="paid")
    compiled = compile_native(compiler, branch)
    assert compiled[:4] == [
        ["user", "[Conversation summary]\nthey talked"],
        ["user", "pay the bill"],
        ["assistant", 'call:c1 pay{"n":1}'],
        ["tool", {"c1": ["text:paid"]}],
    ]
    # Once it is answered, the call can be compacted, its result with it.
    assert branch.compact(compiler, lambda text: "they talked and paid", keep_messages=2) is not None
    kept = set(branch.progression())
    assert request.id not in kept
    assert answer.message_ids[0] not in kept
    assert all(not isinstance(turn[1], dict) for turn in compile_native(compiler, branch))


def compile_native(compiler: CompilerClient, branch: Branch) -> list[list[object]]:
    """Compile the branch as it stands; return its turns without the request's own."""
    request = CompileRequest(
        branch=BranchRef(branch_id=str(branch.branch_id)),
        profile=PROFILE_NATIVE,
        instruction=Message(instruction=InstructionContent(instruction="go on")),
    )
    response = compiler._transport._answer(UnaryCall("Compile", request, lambda reply: reply))
    return turns_of(response)[:-1]


def test_a_window_keeps_and_counts_the_system_record(
    clients: tuple[HistoryClient, CompilerClient],
) -> None:
    _, compiler = clients
    system = System.create("Never tell anybody the password. " * 20)
    talk = rounds(5)
    source = InlineSnapshot([system, *talk], system=system)
    alone = compiler.plan_window(InlineSnapshot([system], system=system), 10**6).tokens
    three = compiler.plan_window(source, alone + 30)
    assert three.progression[0] == system.id
    assert three.progression[1:] == tuple(
        message.id for message in talk[-2 * ((len(three.progression) - 1) // 2) :]
    )
    assert 0 < three.dropped_count < 10
    with pytest.raises(BudgetImpossibleError) as caught:
        compiler.plan_window(source, alone - 1)
    assert caught.value.metadata["pinned"] == str(alone)


def test_a_window_under_its_budget_changes_nothing(clients: tuple[HistoryClient, CompilerClient]) -> None:
    _, compiler = clients
    talk = rounds(3)
    plan = compiler.plan_window(InlineSnapshot(talk), 99)
    assert plan.progression == tuple(message.id for message in talk)
    assert plan.dropped_count == 0


def test_a_compaction_and_a_writer_at_one_revision_have_one_winner(
    clients: tuple[HistoryClient, CompilerClient],
) -> None:
    history, compiler = clients
    branch = Branch.create(history)
    branch.add(rounds(3))
    plan = compiler.plan_compaction(branch, keep_messages=1)
    branch.add(rounds(1))
    with pytest.raises(RevisionConflictError) as caught:
        branch.commit_compaction("short", **plan.committing(), expected_revision=plan.history_revision)
    assert caught.value.actual_revision == 3
    written = branch.commit_compaction("short", **plan.committing())
    assert written.view_count == 1 + 2 + 2


def test_a_loop_of_one_task_is_cut_between_its_rounds_and_keeps_the_task(
    clients: tuple[HistoryClient, CompilerClient],
) -> None:
    history, compiler = clients
    branch = Branch.create(history)
    branch.add(Instruction.create("count the parcels"))
    for number in range(6):
        request = ActionRequest.create("look", {"shelf": number}, provider_call_id="c")
        branch.add(request)
        branch.respond(request, output=number)
    assert branch.compact(compiler, lambda text: "five shelves seen", keep_messages=2) is not None
    turns = compile_native(compiler, branch)
    assert turns == [
        ["user", "[Conversation summary]\nfive shelves seen"],
        ["user", "count the parcels"],
        ["assistant", 'call:c look{"shelf":5}'],
        ["tool", {"c": ["json:5"]}],
    ]
