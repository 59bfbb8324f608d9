"""Looking at branches and changing whole ones from the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from antiphon_client import AssistantResponse, Branch, HistoryClient, Instruction
from antiphon_client.errors import MessageNotFoundError
from antiphon_client.messages import Message
from tests.support.cli import Cli
from tests.support.pair import Pair, served_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pair: Pair) -> Cli:
    return Cli(monkeypatch, capsys, pair.history, pair.compiler)


@pytest.fixture
def history(pair: Pair) -> Iterator[HistoryClient]:
    with HistoryClient(pair.history) as client:
        yield client


@pytest.fixture
def branch(history: HistoryClient) -> Branch:
    branch = Branch.create(history)
    branch.add([Instruction.create("one"), AssistantResponse.create("two")])
    branch.add(Instruction.create("three"))
    return branch


@pytest.mark.parametrize("purge", [False, True])
def test_a_watch_tells_that_its_branch_was_deleted_before(cli: Cli, branch: Branch, purge: bool) -> None:
    branch.delete(purge=purge)
    outcome = cli("watch", str(branch.branch_id))
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[-1].split() == ["4", "deleted"]
    after = cli("watch", str(branch.branch_id), "--after", "4")
    assert (after.code, after.out) == (1, "")
    assert "BRANCH_DELETED" in after.err


def test_a_deleted_branch_has_its_id_only(cli: Cli, history: HistoryClient) -> None:
    branch = Branch.create(history, external_key="gone")
    assert cli("delete", "gone").out == f"{branch.branch_id}  deleted\n"
    for command in ("watch", "log", "delete"):
        outcome = cli(command, "gone")
        assert outcome.code == 1
        assert "'gone'; a deleted one is named by its id only" in outcome.err
    assert cli("delete", str(branch.branch_id), "--purge").out == f"{branch.branch_id}  purged\n"


def test_a_watch_shows_one_operation_a_line(cli: Cli, branch: Branch) -> None:
    lines = cli("watch", str(branch.branch_id), "--no-follow").out.splitlines()
    first, second, third = (message.id for message in branch.messages())
    assert lines == [
        "     1  created",
        f"     2  membership  +{first} at 0",
        f"                    +{second} at 1",
        f"     3  membership  +{third} at 2",
    ]


def test_the_trim_command(cli: Cli, branch: Branch) -> None:
    name = str(branch.branch_id)
    assert cli("trim", name, "--before", "2").out == f"{name}  oldest revision 2\n"
    told = json.loads(cli("trim", name, "--before", "3", "--json").out)
    assert told == {"branch_id": name, "oldest_revision": 3}
    assert branch.record().oldest_revision == 3
    # Trimmed that far before, it stays as it is.
    assert json.loads(cli("trim", name, "--before", "1", "--json").out) == told
    failed = cli("trim", name, "--before", "4")
    assert (failed.code, failed.out) == (1, "")
    assert "REVISION_IN_FUTURE" in failed.err
    assert "REVISION_EXPIRED" in cli("log", name, "--at-revision", "2").err
    for wrong in (("trim", name), ("trim", name, "--before", "0"), ("log", name, "--at-revision", "0")):
        assert cli(*wrong).code == 2


def test_a_branch_tells_programs_where_it_comes_from(cli: Cli, branch: Branch) -> None:
    last = next(iter(branch.messages()))
    made = json.loads(
        cli("fork", str(branch.branch_id), "--at-revision", "2", "--up-to", str(last.id), "--json").out
    )
    assert made["forked_from"] == {
        "branch_id": str(branch.branch_id),
        "revision": 2,
        "up_to_message_id": str(last.id),
    }
    branch.trim(3)
    told = {
        record["branch_id"]: record for record in map(json.loads, cli("branches", "--json").out.splitlines())
    }
    assert told[made["branch_id"]] == made
    source, record = told[str(branch.branch_id)], branch.record()
    assert (source["forked_from"], source["oldest_revision"], made["oldest_revision"]) == (None, 3, 1)
    assert (source["lineage_id"], source["incarnation"]) == (str(record.lineage_id), str(record.incarnation))
    assert made["incarnation"] != source["incarnation"]


def test_a_branch_without_a_key_has_its_columns(cli: Cli, branch: Branch) -> None:
    assert f"{branch.branch_id}  -  revision 3  3 messages\n" in cli("branches").out


def test_a_fork_up_to_what_is_no_message(cli: Cli, branch: Branch) -> None:
    name, stranger = str(branch.branch_id), uuid4()
    last = list(branch.messages())[-1].id
    wrong = cli("fork", name, "--up-to", "x")
    assert wrong.code == 2
    assert "--up-to" in wrong.err
    assert "message_id" not in wrong.err
    for missing, revision in ((stranger, ()), (last, ("--at-revision", "2"))):
        outcome = cli("fork", name, "--up-to", str(missing), *revision)
        assert outcome.code == 1
        at = revision[-1] if revision else "3"
        told = f"MESSAGE_NOT_FOUND: not in the branch at revision {at}: message {missing}\n"
        assert outcome.err == f"antiphon: {told}"


def test_a_refused_write_names_the_revision_it_found(branch: Branch) -> None:
    first, second = uuid4(), uuid4()
    told = f"^not in the branch at revision 3: message {first}"
    with pytest.raises(MessageNotFoundError, match=rf"{told} \(and 1 more\)$"):
        branch.remove([first, second])
    with pytest.raises(MessageNotFoundError, match=f"{told}$"):
        branch.move(first, 0)
    with pytest.raises(MessageNotFoundError, match=f"{told}$"):
        branch.commit_compaction("so far", first_id=first, last_id=first)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (Instruction.create("q: 1\n- 2"), "q: 1\n- 2"),
        (Instruction.create("q", images=["http://x/y.png"]), "q\n[image http://x/y.png]"),
        (Instruction.create("q", guidance="g"), "Guidance: g\nInstruction: q"),
        (Instruction.create("q", context=["c"]), "Instruction: q\nContext:\n- c"),
        (Instruction.create("q", plain_content="p"), "p"),
        (Instruction.create(guidance="g"), "Guidance: g"),
    ],
)
def test_the_log_shows_a_mere_text_as_it_is(
    cli: Cli, history: HistoryClient, message: Message, shown: str
) -> None:
    branch = Branch.create(history)
    branch.add(message)
    lines = cli("log", str(branch.branch_id)).out.splitlines()[2:]
    assert [line.removeprefix("      ") for line in lines] == shown.split("\n")


def test_an_export_that_cannot_be_written_names_the_file_that_was_asked_for(
    cli: Cli, branch: Branch, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "none" / "out.jsonl", tmp_path / "file" / "out.jsonl"):
        (tmp_path / "file").touch()
        outcome = cli("export", str(branch.branch_id), "--format", "antiphon", "-o", str(path))
        assert outcome.code == 1
        assert str(path) in outcome.err
        assert ".partial" not in outcome.err
    with pytest.raises(IsADirectoryError) as caught:
        branch.export(tmp_path / "folder")
    assert (caught.value.filename, caught.value.filename2) == (str(tmp_path / "folder"), None)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_help_says_what_a_name_may_be_and_where_settings_are(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    for name, told in (
        ("watch", "named by its id"),
        ("delete", "named by its id"),
        ("export", "while a view of some is selected"),
        ("serve", "python -m history_service --help"),
        ("demo", "What `antiphon import` takes"),
    ):
        assert told in " ".join(cli(name, "--help").out.split()), name
