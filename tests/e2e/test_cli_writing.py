"""``antiphon add`` and ``view``, what ``log`` shows of them, and listings of nothing."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from antiphon_client import ActionRequest, AssistantResponse, Branch, HistoryClient, Instruction
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
    return Branch.create(history)


def test_each_kind_is_added(cli: Cli, branch: Branch) -> None:
    name = str(branch.branch_id)
    first = cli("add", name, "--instruction", "Where?")
    assert first.code == 0, first.err
    (question,) = branch.messages()
    assert first.out == f"revision 2: {question.id} at 0\n"
    told = json.loads(cli("add", name, "--response", "Here.", "--json").out)
    assert (told["revision"], told["index"]) == (3, 1)
    cli("add", name, "--system", "Be brief.")
    cli("add", name, "--system", "Be kind.")
    messages = list(branch.messages())
    assert [message.kind for message in messages] == ["system", "instruction", "assistant_response"]
    assert [str(message.rendered) for message in messages[2:]] == ["Here."]
    assert UUID(told["message_id"]) == messages[2].id
    system = branch.system()
    assert system is not None
    assert system.content.system_message == "Be kind."


def test_a_text_of_standard_input_is_kept_as_it_is(
    cli: Cli, branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " a\r\nb \u2028\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert cli("add", str(branch.branch_id), "--response", "-").code == 0
    (answer,) = branch.assistant_responses()
    assert answer.response == text
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in cli("add", str(branch.branch_id), "--response", "-").err


def test_a_guarded_write_is_refused(cli: Cli, branch: Branch) -> None:
    name = str(branch.branch_id)
    assert cli("add", name, "--instruction", "a", "--expected-revision", "1").code == 0
    for command in (
        ("add", name, "--instruction", "b", "--expected-revision", "1"),
        ("view", name, "--clear", "--expected-revision", "1"),
    ):
        outcome = cli(*command)
        assert (outcome.code, outcome.out) == (1, "")
        assert "REVISION_CONFLICT: branch is at revision 2, not at the expected 1" in outcome.err
    assert len(list(branch.messages())) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("add",),
        ("add", "--instruction", "a", "--response", "b"),
        ("view", "--clear", "--select", str(uuid4())),
        ("view", "--select", "x"),
        ("view", "--expected-revision", "1"),
    ],
)
def test_wrong_usage(cli: Cli, branch: Branch, arguments: tuple[str, ...]) -> None:
    outcome = cli(arguments[0], str(branch.branch_id), *arguments[1:])
    assert (outcome.code, outcome.out) == (2, "")
    assert branch.record().revision == 1


def test_a_view_is_selected_shown_marked_and_cleared(cli: Cli, branch: Branch) -> None:
    name = str(branch.branch_id)
    branch.add([Instruction.create("one"), AssistantResponse.create("two"), Instruction.create("three")])
    first, second, third = (str(message.id) for message in branch.messages())
    assert cli("view", name).out == "revision 2: no view, all of 3 messages\n"
    assert json.loads(cli("view", name, "--json").out)["view"] is None
    assert "*" not in cli("log", name).out

    selected = cli("view", name, "--select", third, "--select", first)
    assert selected.out.splitlines() == [
        "revision 3: a view of 2 of 3 messages",
        f"{third}  instruction",
        f"{first}  instruction",
    ]
    assert [str(message_id) for message_id in branch.progression()] == [third, first]
    assert json.loads(cli("view", name, "--json").out) == {
        "revision": 3,
        "messages": 3,
        "view": [third, first],
    }
    heads = [line for line in cli("log", name, "--ids").out.splitlines()[1:] if not line.startswith("      ")]
    assert [line[:6] for line in heads] == ["   0* ", "   1  ", "   2* "]
    assert [line.split()[-1] for line in heads] == [first, second, third]
    assert "*" not in cli("log", name, "--at-revision", "2").out, "there was no view then"

    assert cli("view", name, "--clear").out == "revision 4: no view, all of 3 messages\n"
    stranger = cli("view", name, "--select", str(uuid4()))
    assert "PROGRESSION_INVALID" in stranger.err


def test_a_turn_of_calls_alone_names_them(cli: Cli, branch: Branch) -> None:
    calls = [ActionRequest.create("look", {}), ActionRequest.create("wait", {})]
    branch.add([Instruction.create("q"), AssistantResponse.create(""), *calls])
    branch.add([AssistantResponse.create(""), AssistantResponse.create("done")])
    lines = cli("log", str(branch.branch_id)).out.splitlines()
    assert lines.count("      (calls look, wait)") == 1
    assert [line for line in lines if "(calls" in line] == ["      (calls look, wait)"]
    assert [line.split()[1] for line in lines[1:] if line[:4].strip()] == [
        "instruction",
        "assistant",
        "action",
        "action",
        "assistant",
        "assistant",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("branches", "--prefix", "nobody-"), "no branches with the prefix 'nobody-'"),
        (("mail", "dead-letters", "nowhere"), "no dead letters"),
        (("mail", "owners", "nowhere"), "no owners"),
    ],
)
def test_a_listing_of_nothing_says_so(cli: Cli, arguments: tuple[str, ...], told: str) -> None:
    outcome = cli(*arguments)
    assert (outcome.out, outcome.err) == ("", f"antiphon: {told}\n")
    assert cli(*arguments, "--json").err == ""


def test_the_help_fits_a_terminal_and_says_how_commands_end(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    compiling = cli("compile", "--help").out
    assert "ANTIPHON_HISTORY_ADDRESS" in compiling
    assert "ANTIPHON_COMPILER_ADDRESS" in compiling
    for command in (("compile",), ("watch",), ("add",), ("view",), ("mail", "owners"), ("serve",)):
        assert "Exit codes: 0 done, 1 failed, 2 wrong usage" in cli(*command, "--help").out
        assert "…" not in cli(*command, "--help").out, "nothing is cut"
    assert "Exit codes: 0 the same, 1 different, 2 trouble" in cli("diff", "--help").out
    paragraph = cli("watch", "--help").out.split("Changes name messages")[1].partition("Arguments")[0]
    lines = paragraph.strip().splitlines()[:-2]
    assert all(len(line.strip()) > 60 for line in lines[1:2]), "it is wrapped once, by the terminal"


def test_the_key_of_an_imported_branch_is_told(cli: Cli, branch: Branch, tmp_path: Path) -> None:
    branch.add(Instruction.create("q"))
    file = tmp_path / "branch.jsonl"
    branch.export(file)
    key = f"copy-{branch.branch_id}"
    told = cli("import", str(file), "--key", key).out
    assert told.endswith(f" {key}, 1 record\n")
    again = json.loads(cli("import", str(file), "--key", key, "--json").out)
    assert (again["external_key"], again["messages"], again["records"]) == (key, 1, 1)
