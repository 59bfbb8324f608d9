"""``antiphon branches``, ``log``, ``compile``, helps and failures."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import antiphon_client
from antiphon_client import ActionRequest, AssistantResponse, Branch, HistoryClient, Instruction
from tests.support.cli import PYTHONPATH, Cli, command
from tests.support.pair import Pair, served_pair

COMMANDS = (
    "serve",
    "import",
    "branches",
    "log",
    "fork",
    "trim",
    "delete",
    "add",
    "view",
    "compile",
    "diff",
    "window",
    "compact",
    "targets",
    "export",
    "watch",
    "demo",
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def branch(pair: Pair) -> Iterator[Branch]:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history, external_key="talk", metadata={"topic": "sky"})
        branch.set_system("Be brief\n" + "\n".join(f"rule {n}" for n in range(20)))
        branch.add([Instruction.create("What is up?"), AssistantResponse.create("The sky.\x1b[31m")])
        request = ActionRequest.create("look", {"at": "sky"})
        branch.add([request, ActionRequest.create("wait", {})])
        branch.respond(request, output={"colour": "blue"})
        yield branch


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pair: Pair, branch: Branch
) -> Cli:
    return Cli(monkeypatch, capsys, pair.history, pair.compiler)


def test_branches(cli: Cli, branch: Branch) -> None:
    outcome = cli("branches")
    assert outcome.code == 0
    assert outcome.out == f"{branch.branch_id}  talk  revision 5  6 messages\n"
    assert cli("branches", "--prefix", "x").out == ""
    (line,) = cli("branches", "--json").out.splitlines()
    record = json.loads(line)
    assert (record["branch_id"], record["external_key"]) == (str(branch.branch_id), "talk")
    assert (record["messages"], record["metadata"]) == (6, {"topic": "sky"})


def test_log_by_key_and_by_id(cli: Cli, branch: Branch) -> None:
    by_key, by_id = cli("log", "talk"), cli("log", str(branch.branch_id))
    assert by_key.code == 0
    assert by_key.out == by_id.out
    assert "   3  action request look  2" in by_key.out
    assert "action request wait  (no response)" in by_key.out
    assert '{"colour":"blue"}' in by_key.out
    assert "... 9 more lines" in by_key.out
    assert "rule 19" not in by_key.out
    assert "rule 19" in cli("log", "talk", "--full").out
    assert "look" not in cli("log", "talk", "--at-revision", "3").out


def test_stored_text_cannot_command_the_terminal(cli: Cli) -> None:
    outcome = cli("log", "talk")
    assert "\x1b" not in outcome.out
    assert "\\x1b[31m" in outcome.out


def test_json_cannot_command_the_terminal_either(cli: Cli, pair: Pair) -> None:
    text = "8-bit \x9b31m, \x7f, \u202e, \u2028 and 👩"
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history)
        branch.add(Instruction.create(text))
    outcome = cli("export", str(branch.branch_id).upper())
    assert json.loads(outcome.out) == [{"role": "user", "content": text}]
    assert "8-bit \\u009b31m, \\u007f, \\u202e, \\u2028 and 👩" in outcome.out


def test_an_output_without_unicode_gets_escapes(pair: Pair) -> None:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history)
        branch.add(Instruction.create("é 👩"))
    name, environment = str(branch.branch_id), {"PYTHONIOENCODING": "ascii"}
    with command("export", name, "--history", pair.history, **environment) as process:
        assert json.loads(process.communicate()[0]) == [{"role": "user", "content": "é 👩"}]
    with command("log", name, "--history", pair.history, **environment) as process:
        assert "      \\xe9 \\U0001f469\n" in process.communicate()[0]
    assert process.returncode == 0


def test_log_as_json(cli: Cli) -> None:
    kinds = [json.loads(line)["kind"] for line in cli("log", "talk", "--json").out.splitlines()]
    assert kinds == [
        "system",
        "instruction",
        "assistant_response",
        "action_request",
        "action_request",
        "action_response",
    ]


def test_compile_for_people_and_for_programs(cli: Cli, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text('{"tools": [{"type": "function", "function": {"name": "lamp"}}]}')
    arguments = ("compile", "talk", "--instruction", "And now?", "--tools", str(tools))
    shown, printed = cli(*arguments), cli(*arguments, "--json")
    assert (shown.code, printed.code) == (0, 0)
    compiled = json.loads(printed.out)
    assert [m["role"] for m in compiled["messages"]] == ["user", "assistant", "user"]
    assert "name: lamp" in compiled["messages"][-1]["content"]
    assert compiled["messages_digest"] in shown.out
    assert "note  RESULTS_MOVED" in shown.out
    assert compiled["history_revision"] == 5
    assert compiled["instruction"]["content"] == {"instruction": "And now?"} | {
        key: value for key, value in compiled["instruction"]["content"].items() if key == "image_detail"
    }
    earlier = json.loads(cli(*arguments, "--json", "--at-revision", "1").out)
    assert len(earlier["messages"]) == 1


@pytest.mark.parametrize(
    "text", ["[", '"x"', "[1]", '{"a": 1, "a": 2}', '{"tools": 5}', '{"tools": null}', '{"tools": [1]}']
)
def test_tools_that_are_none_are_wrong_usage(cli: Cli, tmp_path: Path, text: str) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(text)
    outcome = cli("compile", "talk", "--instruction", "x", "--tools", str(tools))
    assert outcome.code == 2
    assert "--tools" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["log", "nobody"], "BRANCH_NOT_FOUND: no branch has the id or external key 'nobody'"),
        (["export", "00000000-0000-4000-8000-000000000000"], "BRANCH_NOT_FOUND: "),
        (["log", "talk", "--at-revision", "99"], "REVISION_IN_FUTURE: "),
        (["fork", "talk", "--key", ""], "FIELD_INVALID: "),
        (
            ["compile", "talk", "--instruction", "x", "--target", "nobody"],
            "TARGET_UNKNOWN: unknown target 'nobody'; ListTargets names those there are; "
            '"antiphon targets" lists them\n',
        ),
        (
            ["branches", "--history", "unix:/nowhere/history.sock"],
            "SERVICE_UNREACHABLE: no history service at unix:/nowhere/history.sock; start one with ",
        ),
    ],
)
def test_a_failure_is_one_line_with_its_reason(cli: Cli, arguments: list[str], line: str) -> None:
    outcome = cli(*arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"antiphon: {line}")
    assert outcome.err.count("\n") == 1


def test_a_missing_service_says_how_to_start_one(cli: Cli, tmp_path: Path) -> None:
    left = tmp_path / "left.sock"
    with socket.socket(socket.AF_UNIX) as listener:  # a socket's file outlives a process that is killed
        listener.bind(str(left))
    for address in (f"unix:{tmp_path}/none.sock", f"unix:{left}"):
        assert cli("branches", "--history", address).err == (
            f"antiphon: SERVICE_UNREACHABLE: no history service at {address}; "
            'start one with "antiphon serve", or name another with --history\n'
        )
    missing = cli("compile", "talk", "--instruction", "x", "--compiler", f"unix:{tmp_path}/none.sock").err
    assert "no compiler service at" in missing
    assert missing.endswith("or name another with --compiler\n")


def test_a_wrong_service_is_named(cli: Cli, pair: Pair) -> None:
    outcome = cli("branches", "--history", pair.compiler)
    assert outcome.err.startswith(
        f"antiphon: TRANSPORT_FAILED: what answers at {pair.compiler} is no history service"
    )


def test_the_version(cli: Cli) -> None:
    assert cli("--version").out == f"antiphon {antiphon_client.__version__}\n"


INTERRUPTION = """
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "antiphon_client.cli":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
"""


def test_an_interruption_before_it_loads_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTION)
    with command("branches", PYTHONPATH=os.pathsep.join((str(tmp_path), PYTHONPATH))) as process:
        assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 130


def test_an_interruption_while_it_loads_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    with command("branches", PYTHONPATH=os.pathsep.join((str(tmp_path), PYTHONPATH))) as process:
        assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 130


@pytest.mark.parametrize(
    "arguments",
    [
        ["branches", "--history", "nonsense"],
        ["import", "missing.json"],
        ["compile", "talk"],
        ["export", "talk", "--format", "yaml"],
        ["unknown"],
    ],
)
def test_wrong_usage_is_exit_code_2(cli: Cli, arguments: list[str]) -> None:
    outcome = cli(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err


def test_a_format_that_is_none_is_refused_with_those_that_are(cli: Cli) -> None:
    assert "'yaml' is not one of: openai" in cli("export", "talk", "--format", "yaml").err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_examples(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    outcome = cli(name, "--help")
    assert outcome.code == 0
    assert "Examples:" in outcome.out
    assert f"antiphon {name}" in outcome.out


def test_the_help_lists_every_command(cli: Cli) -> None:
    outcome = cli("--help")
    assert outcome.code == 0
    assert all(f" {name} " in outcome.out for name in COMMANDS)


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "antiphon_client", "--help"],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "import" in done.stdout
