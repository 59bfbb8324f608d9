"""Forks, trims and purges through both clients and the command line, against the real pair."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from antiphon_client import (
    ActionRequest,
    AssistantResponse,
    AsyncBranch,
    AsyncHistoryClient,
    Branch,
    CompilerClient,
    HistoryClient,
    Instruction,
    TurnRequest,
)
from antiphon_client.errors import (
    BranchDeletedError,
    BranchExistsError,
    MessageNotFoundError,
    RevisionExpiredError,
    RevisionInFutureError,
)
from antiphon_client.ids import new_ordered_id
from tests.support.cli import Cli
from tests.support.pair import Pair, running_pair, served_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    with served_pair(folder, f"sqlite:{folder}/history.sqlite3") as pair:
        yield pair


@pytest.fixture(scope="module")
def history(pair: Pair) -> Iterator[HistoryClient]:
    with HistoryClient(pair.history, timeout=30) as client:
        yield client


@pytest.fixture
def branch(history: HistoryClient) -> Branch:
    branch = Branch.create(history, metadata={"topic": "sky"})
    branch.add([Instruction.create("What is up?"), AssistantResponse.create("The sky.")])
    request = ActionRequest.create("look", {"at": "sky"})
    branch.add(request)
    branch.respond(request, output={"colour": "blue"})
    return branch


def texts(branch: Branch, at: int | None = None) -> list[object]:
    return [message.rendered for message in branch.messages(at_revision=at)]


def test_a_fork_is_a_branch_of_its_own(branch: Branch) -> None:
    made = branch.fork(external_key=f"fork {uuid4()}")
    record = made.record()
    assert record.forked_from is not None
    assert (record.forked_from.branch_id, record.forked_from.revision) == (branch.branch_id, 4)
    assert record.forked_from.up_to_message_id is None
    assert (record.lineage_id, record.oldest_revision) == (branch.branch_id, 1)
    assert record.metadata == {"topic": "sky"}
    assert [m.id for m in made.messages()] == [m.id for m in branch.messages()]
    made.add(Instruction.create("only here"))
    branch.clear()
    assert len(texts(made)) == 5
    assert texts(branch) == []
    assert branch.record().forked_from is None


def test_a_fork_of_a_part_at_a_revision_with_new_ids(branch: Branch) -> None:
    first, answer, request, _ = branch.messages()
    branch.clear()
    made = branch.fork(at_revision=4, up_to=request.id, new_ids=True, metadata={}, branch_id=uuid4())
    record = made.record()
    assert record.forked_from is not None
    assert record.forked_from.up_to_message_id == request.id
    assert record.metadata == {}
    clones = list(made.messages())
    assert [m.metadata["clone_from"] for m in clones] == [str(m.id) for m in (first, answer, request)]
    assert isinstance(clones[2], ActionRequest)
    assert not clones[2].is_responded
    made.respond(clones[2], output=1)


def test_a_fork_is_refused(branch: Branch, history: HistoryClient) -> None:
    with pytest.raises(MessageNotFoundError):
        branch.fork(up_to=uuid4())
    with pytest.raises(RevisionInFutureError):
        branch.fork(at_revision=9)
    with pytest.raises(BranchExistsError):
        branch.fork(branch_id=branch.branch_id)
    request_id = new_ordered_id()
    made = history.fork_branch(branch.branch_id, request_id=request_id)
    again = history.fork_branch(branch.branch_id, request_id=request_id)
    assert (again.branch_id, made.replayed, again.replayed) == (made.branch_id, False, True)


def test_a_trim_drops_old_revisions(branch: Branch, history: HistoryClient) -> None:
    before = texts(branch, 3)
    assert branch.trim(3) == 3
    assert history.trim_history(branch.branch_id, 2) == 3
    assert branch.record().oldest_revision == 3
    assert texts(branch, 3) == before
    with pytest.raises(RevisionExpiredError) as caught:
        branch.snapshot(at_revision=2)
    assert caught.value.oldest_revision == 3
    with pytest.raises(RevisionInFutureError):
        branch.trim(5)


def test_a_purge_leaves_forks_whole(branch: Branch) -> None:
    made = branch.fork()
    held = texts(made)
    assert branch.delete().revision == 5
    with pytest.raises(BranchDeletedError):
        branch.delete()
    assert branch.delete(purge=True).revision == 5
    assert texts(made) == held


@pytest.mark.anyio
async def test_the_asyncio_client_forks_trims_and_purges(tmp_path: Path) -> None:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history) as history:
        branch = await AsyncBranch.create(history)
        await branch.add(Instruction.create("one"))
        await branch.add(AssistantResponse.create("two"))
        made = await branch.fork(at_revision=2)
        assert [m.rendered async for m in made.messages()] == ["Instruction: one"]
        assert await branch.trim(3) == 3
        await branch.delete(purge=True)
        assert (await made.record()).message_count == 1


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pair: Pair) -> Cli:
    return Cli(monkeypatch, capsys, pair.history, pair.compiler)


def test_the_fork_command(cli: Cli, branch: Branch, history: HistoryClient) -> None:
    key = f"fork-{uuid4()}"
    outcome = cli("fork", str(branch.branch_id), "--key", key)
    assert outcome.code == 0
    assert outcome.out.endswith(f"  {key}  revision 1  4 messages\n")
    first = next(iter(branch.messages()))
    outcome = cli("fork", key, "--new-ids", "--at-revision", "1", "--up-to", str(first.id), "--json")
    record = json.loads(outcome.out)
    assert (record["messages"], record["external_key"]) == (1, None)
    (clone,) = Branch(history, UUID(record["branch_id"])).messages()
    assert clone.metadata["clone_from"] == str(first.id)
    failed = cli("fork", key, "--key", key)
    assert (failed.code, failed.out) == (1, "")
    assert "BRANCH_EXISTS" in failed.err


def test_the_delete_command(cli: Cli, branch: Branch) -> None:
    name = str(branch.branch_id)
    assert cli("delete", name).out == f"{name}  deleted\n"
    failed = cli("delete", name)
    assert (failed.code, failed.out) == (1, "")
    assert "BRANCH_DELETED" in failed.err
    assert cli("delete", name, "--purge").out == f"{name}  purged\n"
    assert cli("delete", str(uuid4()), "--purge").code == 1


def test_a_dropped_revision_does_not_compile(pair: Pair, branch: Branch) -> None:
    turn = TurnRequest(Instruction.create("and?"))
    with CompilerClient(pair.compiler, timeout=30) as compiler:
        before = compiler.compile(branch, turn, at_revision=4)
        branch.clear()
        branch.trim(4)
        assert compiler.compile(branch, turn, at_revision=4).messages_digest == before.messages_digest
        with pytest.raises(RevisionExpiredError) as caught:
            compiler.compile(branch, turn, at_revision=3)
    assert (caught.value.oldest_revision, caught.value.domain) == (4, "antiphon.history")
