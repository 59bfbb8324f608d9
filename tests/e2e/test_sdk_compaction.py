"""Windows and compactions through the SDK, against the real pair."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from antiphon_client import (
    ActionRequest,
    AssistantResponse,
    AsyncBranch,
    AsyncCompilerClient,
    AsyncHistoryClient,
    Branch,
    CompilerClient,
    HistoryClient,
    InlineSnapshot,
    Instruction,
    Message,
    Summary,
    System,
    TurnRequest,
)
from antiphon_client.errors import (
    BudgetImpossibleError,
    FieldInvalidError,
    RevisionConflictError,
)
from tests.support.pair import running_pair, served_pair


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HistoryClient, CompilerClient]]:
    with (
        served_pair(tmp_path_factory.mktemp("pair")) as pair,
        HistoryClient(pair.history) as history,
        CompilerClient(pair.compiler) as compiler,
    ):
        yield history, compiler


@pytest.fixture
def compiler(clients: tuple[HistoryClient, CompilerClient]) -> CompilerClient:
    return clients[1]


@pytest.fixture
def branch(clients: tuple[HistoryClient, CompilerClient]) -> Branch:
    """A branch of a system record and four rounds."""
    branch = Branch.create(clients[0])
    branch.add([System.create("be brief"), *talk(4)])
    return branch


def talk(rounds: int) -> list[Message]:
    return [
        message
        for number in range(rounds)
        for message in (Instruction.create(f"q{number}"), AssistantResponse.create(f"a{number}"))
    ]


def shown(branch: Branch) -> list[str]:
    """Return what is selected, in short."""
    return [
        message.kind if isinstance(message, System) else str(message.rendered) for message in _seen(branch)
    ]


def _seen(branch: Branch) -> tuple[Message, ...]:
    return branch.snapshot().messages


def test_a_branch_is_compacted_in_one_go(branch: Branch, compiler: CompilerClient) -> None:
    heard: list[str] = []

    def summarize(text: str) -> str:
        heard.append(text)
        return f"summary {len(heard)}"

    written = branch.compact(compiler, summarize, keep_messages=2)
    assert written is not None
    assert written.view_count == 4
    assert heard[0] == "\n\n".join(f"[User]\nq{n}\n\n[Assistant]\na{n}" for n in range(3))
    assert shown(branch)[:2] == ["system", "[Conversation summary]\nsummary 1"]
    assert len(shown(branch)) == 4
    assert branch.record().message_count == 10
    (record,) = [message for message in _seen(branch) if isinstance(message, Summary)]
    assert (record.id, record.role.value) == (written.message_ids[0], "user")
    assert UUID(record.content.first_id) == next(iter(branch.messages(kinds=("instruction",)))).id
    # A second one updates the summary, which it is given whole.
    branch.add(talk(1))
    again = branch.compact(compiler, summarize, keep_messages=2)
    assert again is not None
    assert again.message_ids == written.message_ids
    assert heard[1].startswith("[Previous summary]\nsummary 1\n\n[User]\n")
    assert [message.kind for message in branch.messages(kinds=("summary",))] == ["summary"]
    assert shown(branch)[1] == "[Conversation summary]\nsummary 2"
    assert branch.compact(compiler, summarize, keep_messages=2) is None
    assert len(heard) == 2


def test_what_is_added_while_the_summary_is_written_stays(branch: Branch, compiler: CompilerClient) -> None:
    late = talk(2)

    def summarize(text: str) -> str:
        branch.add(late)
        return "short"

    written = branch.compact(compiler, summarize, keep_messages=1)
    assert written is not None
    seen = [message.id for message in _seen(branch)]
    assert seen[-4:] == [message.id for message in late]
    assert written.view_count == len(seen) == 8
    assert written.message_ids[0] == seen[1]


def test_a_failing_or_empty_summary_changes_nothing(branch: Branch, compiler: CompilerClient) -> None:
    before = branch.record()

    def fail(text: str) -> str:
        raise OSError("the model is away")

    with pytest.raises(OSError, match="away"):
        branch.compact(compiler, fail, keep_messages=1)
    with pytest.raises(FieldInvalidError):
        branch.compact(compiler, lambda text: " \n", keep_messages=1)
    with pytest.raises(BudgetImpossibleError):
        branch.compact(compiler, lambda text: "short", keep_tokens=1)
    assert branch.record() == before


def test_of_two_compactions_at_once_one_wins(branch: Branch, compiler: CompilerClient) -> None:
    def summarize(text: str) -> str:
        assert branch.compact(compiler, lambda text: "the quick one", keep_messages=1) is not None
        return "the slow one"

    with pytest.raises(RevisionConflictError, match=r"another compaction was committed .*: plan again"):
        branch.compact(compiler, summarize, keep_messages=3)
    assert shown(branch)[1] == "[Conversation summary]\nthe quick one"
    assert branch.record().view_count == 4


def test_a_plan_names_what_it_keeps(branch: Branch, compiler: CompilerClient) -> None:
    ids = branch.progression()
    plan = compiler.plan_compaction(branch, keep_messages=1, pinned=[ids[2]])
    assert plan.kept == (ids[0], ids[1], ids[2], ids[7], ids[8])
    assert (plan.first_id, plan.last_id, plan.compacted_count) == (ids[3], ids[6], 4)
    assert (plan.history_revision, plan.summary_message_id) == (2, None)
    assert plan.incarnation == branch.record().incarnation
    assert plan.tokens_kept < plan.tokens_before
    early = compiler.plan_compaction(branch.branch_id, keep_messages=1, progression=ids[:5], at_revision=2)
    assert early.kept == (ids[0], ids[3], ids[4])
    idle = compiler.plan_compaction(branch, keep_messages=99)
    assert (idle.first_id, idle.last_id, idle.text, idle.kept) == (None, None, "", ids)


def test_a_window_is_a_progression(branch: Branch, compiler: CompilerClient) -> None:
    ids = branch.progression()
    whole = compiler.plan_window(branch, 10_000)
    assert (whole.progression, whole.dropped_count) == (ids, 0)
    ask = Instruction.create("and now?")
    plan = compiler.plan_window(
        branch, whole.tokens, instruction=ask, tool_schemas=[{"name": "look"}], pinned=[ids[1]]
    )
    assert 0 < plan.dropped_count < 8
    assert {ids[0], ids[1], ids[2], ids[8]} <= set(plan.progression)
    assert plan.tokens <= whole.tokens < plan.tokens_before
    compiled = compiler.compile_chat_request(branch, TurnRequest(ask, progression=plan.progression))
    assert len(compiled.messages) == len(plan.progression)
    with pytest.raises(BudgetImpossibleError) as caught:
        compiler.plan_window(branch, 1, progression=ids[:3])
    assert caught.value.metadata["budget"] == "1"
    messages = talk(3)
    inline = compiler.plan_window(InlineSnapshot(messages), 10_000)
    assert inline.progression == tuple(message.id for message in messages)
    assert (inline.history_revision, inline.incarnation) == (0, None)
    with pytest.raises(ValueError, match="at_revision"):
        compiler.plan_window(InlineSnapshot(messages), 10_000, at_revision=1)


def test_a_compaction_may_be_committed_by_hand(branch: Branch) -> None:
    ids = branch.progression()
    record = Summary.create(
        "so far", first_id=ids[1], last_id=ids[4], summary_ref="s3:1", metadata={"by": "me"}
    )
    written = branch.commit_compaction(record, kept=[ids[0], *ids[5:]], expected_revision=2)
    assert written.message_ids == (record.id,)
    (stored,) = [message for message in _seen(branch) if isinstance(message, Summary)]
    assert (stored.content, stored.metadata) == (record.content, {"by": "me"})
    updated = branch.commit_compaction("more", first_id=ids[1], last_id=ids[6], kept=ids[7:])
    assert updated.message_ids == (record.id,)
    named = branch.commit_compaction(
        "other", first_id=ids[1], last_id=ids[6], kept=ids[7:], message_id=uuid4(), planned_revision=4
    )
    assert named.message_ids != (record.id,)
    assert branch.progression() == (*named.message_ids, *ids[7:])
    branch.clear_view()
    assert branch.progression()[:9] == ids
    wrongs: list[Callable[[], object]] = [
        lambda: branch.commit_compaction("x"),
        lambda: branch.commit_compaction("x", first_id=ids[1]),
        lambda: branch.commit_compaction(record, first_id=ids[1], last_id=ids[2]),
        lambda: branch.commit_compaction(record, message_id=ids[1]),
    ]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="first_id and last_id"):
            wrong()


@pytest.mark.anyio
async def test_the_asyncio_client_compacts_too(tmp_path: Path) -> None:
    async with (
        running_pair(tmp_path) as pair,
        AsyncHistoryClient(pair.history) as history,
        AsyncCompilerClient(pair.compiler) as compiler,
    ):
        branch = await AsyncBranch.create(history)
        await branch.add(talk(3))
        request = ActionRequest.create("approve", {})
        await branch.add([Instruction.create("pay"), request])

        async def summarize(text: str) -> str:
            await asyncio.gather(*(branch.add(talk(1)) for _ in range(3)))
            return text[:10]

        written = await branch.compact(compiler, summarize, keep_messages=1)
        assert written is not None
        order = await branch.progression()
        assert order[0] == written.message_ids[0]
        assert request.id in order
        assert len(order) == written.view_count == 1 + 2 + 6
        await branch.respond(request, output=True)
        again = await branch.compact(compiler, lambda text: "plain", keep_messages=1)
        assert again is not None
        window = await compiler.plan_window(branch, 10_000)
        assert window.progression == await branch.progression()
