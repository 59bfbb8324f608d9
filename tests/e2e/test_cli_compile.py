"""``antiphon compile``, ``targets``, ``diff``, ``window`` and ``compact`` against the real pair."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon_client import (
    ActionRequest,
    AssistantResponse,
    Branch,
    CompilerClient,
    HistoryClient,
    Instruction,
    Summary,
    TurnRequest,
)
from antiphon_client.messages import ImageBlock, OpaqueBlock, TextBlock, ThinkingBlock
from tests.support.cli import Cli, command
from tests.support.pair import Pair, served_pair

NATIVE = ("--profile", "native")
ASKED = ("--instruction", "And now?")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def branch(pair: Pair) -> Iterator[Branch]:
    """A branch with a system record, a round with a call, and one without: revisions 1 to 6."""
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history, external_key="talk")
        branch.set_system("Be brief")
        branch.add([Instruction.create("What is up?"), AssistantResponse.create("Let me look.")])
        request = ActionRequest.create("look", {"at": "sky"}, provider_call_id="call-1")
        branch.add(request)
        branch.respond(request, output={"colour": "blue\x1b[31m"})
        branch.add(AssistantResponse.create("The sky."))
        yield branch


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pair: Pair, branch: Branch
) -> Cli:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return Cli(monkeypatch, capsys, pair.history, pair.compiler)


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text('[{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]')
    return str(path)


def seal(data: str) -> str:
    return f"sha256 {hashlib.sha256(data.encode()).hexdigest()[:12]}"


def compiled(cli: Cli, *arguments: str) -> dict[str, Any]:
    outcome = cli("compile", "talk", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def test_native_turns_for_people(cli: Cli) -> None:
    outcome = cli("compile", "talk", *NATIVE, *ASKED)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[:-1] == [
        "   -  system",
        "      Be brief",
        "   0  user",
        "      What is up?",
        "   1  assistant",
        "      Let me look.",
        '      call look {"at":"sky"}  [call-1]',
        "   2  tool",
        "      result of look  [call-1]",
        '      {"colour":"blue\\u001b[31m"}',
        "   3  assistant",
        "      The sky.",
        "   4  user",
        "      And now?",
    ]
    assert outcome.out.splitlines()[-1].startswith("sha256 of the compiled messages  ")


def test_every_kind_of_part_is_told(cli: Cli, pair: Pair) -> None:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history)
        image = ImageBlock(mime_type="image/png", data=b"\x89PNG\r\n\x1a\n")
        branch.add(Instruction.create(blocks=[TextBlock("see"), image]))
        opaque = OpaqueBlock("p", "m", "k", '{"x":1}')
        thinking = ThinkingBlock("why", "seal", "anthropic")
        branch.add(AssistantResponse.create("", blocks=[thinking, opaque]))
        branch.add(ActionRequest.create("f", {}, thought_signature="t"))
        name = str(branch.branch_id)
    shown = cli("compile", name, *NATIVE, *ASKED).out
    assert "      [image image/png, 8 bytes, sha256 " in shown
    assert f"[thinking, {seal('seal')}] why" in shown
    assert f"[p k, {seal(opaque.data_json)}]" in shown
    assert re.search(rf"call f {{}}  \[[0-9a-f-]{{36}}, {seal('t')}\]", shown)
    assert "failed of f, made by the compiler  [" in shown
    assert "note  RESULT_SYNTHESIZED (1 message): " in shown


def test_a_request_of_a_provider(cli: Cli, tools: str, tmp_path: Path) -> None:
    shape, kwargs = tmp_path / "shape.json", tmp_path / "kwargs.json"
    shape.write_text('{"type": "object", "properties": {}}')
    kwargs.write_text('{"seed": 1180591620717411303424, "temperature": 1.0}')
    arguments = (
        *NATIVE, *ASKED, "--target", "openai.chat", "--tools", tools, "--model", "m-1",
        "--tool-choice", "look", "--one-call", "--response-format", str(shape),
        "--response-format-name", "verdict", "--kwargs", str(kwargs), "--tokens", "estimate",
    )  # fmt: skip
    told = compiled(cli, *arguments)
    request = json.loads(told["provider_request_json"])
    assert (request["model"], request["parallel_tool_calls"]) == ("m-1", False)
    assert request["tool_choice"] == {"type": "function", "function": {"name": "look"}}
    assert request["response_format"]["json_schema"]["name"] == "verdict"
    assert request["seed"] == 2**70
    assert told["request_digest"] == hashlib.sha256(told["provider_request_json"].encode()).hexdigest()
    assert told["system_text"] == "Be brief"
    assert told["tokens"]["counter"] == "estimate"
    assert told["tokens"]["total"] > told["tokens"]["tools"] > 0
    shown = cli("compile", "talk", *arguments).out
    assert f"sha256 of the provider's request {told['request_digest']}" in shown
    assert f"capability table                 {told['capability_version']}" in shown
    assert f"{told['tokens']['total']} tokens by estimate, of these system text " in shown


def test_the_request_alone_is_printed_byte_for_byte(cli: Cli, pair: Pair, branch: Branch) -> None:
    arguments = (*NATIVE, *ASKED, "--target", "anthropic.messages", "--model", "m")
    told = compiled(cli, *arguments)
    outcome = cli("compile", "talk", *arguments, "--request")
    assert (outcome.code, outcome.out) == (0, told["provider_request_json"])
    addresses = ("--history", pair.history, "--compiler", pair.compiler)
    with command("compile", "talk", *arguments, "--request", *addresses) as process:
        printed = process.communicate(timeout=60)[0]
    assert hashlib.sha256(printed.encode()).hexdigest() == told["request_digest"]


SHAPE = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'


def test_a_schema_is_sent_as_one(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "shape.json"
    path.write_text(SHAPE)
    target = ("--target", "anthropic.messages", "--model", "m")
    outcome = cli("compile", "talk", *NATIVE, *ASKED, *target, "--response-schema", str(path), "--request")
    form = json.loads(outcome.out)["output_config"]["format"]
    assert (form["type"], outcome.err) == ("json_schema", "")
    assert form["schema"] == {**json.loads(SHAPE), "additionalProperties": False}
    folded = compiled(cli, *ASKED, "--response-schema", str(path))["messages"][-1]["content"]
    assert "ResponseSchema:" in folded
    assert r"{\"n\":\"integer\"}" in folded, "the outline made of it"


def test_an_example_that_looks_like_a_schema_is_told(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "shape.json"
    target = ("--target", "anthropic.messages", "--model", "m")
    for text in (SHAPE, '{"$schema": "x"}'):
        path.write_text(text)
        outcome = cli("compile", "talk", *NATIVE, *ASKED, *target, "--response-format", str(path))
        told = f"antiphon: {path} looks like a JSON Schema and is sent as an example: see --response-schema\n"
        assert (outcome.code, outcome.err) == (0, told)
        assert "give a JSON Schema as the response format; not sent" in outcome.out
    path.write_text('{"type": "rain", "properties": 3}')
    assert cli("compile", "talk", *ASKED, "--response-format", str(path)).err == ""
    both = ("--response-format", str(path), "--response-schema", str(path))
    assert cli("compile", "talk", *ASKED, *both).code == 2


def test_a_turn_is_compiled_within_a_budget(cli: Cli, pair: Pair) -> None:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history)
        for number in range(3):
            branch.add([Instruction.create(f"question {number} " * 20), AssistantResponse.create("a")])
        name = str(branch.branch_id)
        ids = [str(message.id) for message in branch.messages()]
    arguments = ("compile", name, *NATIVE, *ASKED)
    told = json.loads(cli(*arguments, "--budget", "150", "--json").out)
    window = told["window"]
    assert window["progression"] == ids[2:]
    assert window["dropped_count"] == 2
    assert len(told["messages"]) == 5
    shown = cli(*arguments, "--budget", "150").out.splitlines()[-1]
    assert shown.startswith("window: 4 messages kept, 2 left out; ")
    assert " of 150 tokens, " in shown
    assert "BUDGET_IMPOSSIBLE" in cli(*arguments, "--budget", "1").err

    chosen = ("--progression", ids[4], "--progression", ids[5])
    assert len(json.loads(cli(*arguments, *chosen, "--json").out)["messages"]) == 3
    fitted = json.loads(cli(*arguments, *chosen, "--budget", "150", "--json").out)["window"]
    assert (fitted["progression"], fitted["dropped_count"]) == (ids[4:], 0)
    assert "window" not in json.loads(cli(*arguments, "--json").out)


@pytest.mark.parametrize(("given", "profile"), [((), "folded"), (NATIVE, "native")])
def test_the_profile_stands_beside_the_digest(cli: Cli, given: tuple[str, ...], profile: str) -> None:
    told = compiled(cli, *given, *ASKED)
    line = f"sha256 of the compiled messages  {told['messages_digest']}, profile {profile}"
    assert told["profile"] == profile
    assert line in cli("compile", "talk", *given, *ASKED).out.splitlines()
    assert line in cli("compile", "talk", *given, *ASKED, "--explain").out.splitlines()


@pytest.mark.parametrize("target", ["anthropic.messages", "openai.chat"])
def test_a_request_without_a_model_is_told(cli: Cli, tmp_path: Path, target: str) -> None:
    kwargs = tmp_path / "kwargs.json"
    kwargs.write_text('{"model": "m"}')
    arguments = ("compile", "talk", *NATIVE, *ASKED, "--target", target, "--request")
    outcome = cli(*arguments)
    assert outcome.err == "antiphon: the request names no model: give --model, or 'model' in --kwargs\n"
    assert "model" not in json.loads(outcome.out), "the request is what it was"
    for named in (("--model", "m"), ("--kwargs", str(kwargs))):
        outcome = cli(*arguments, *named)
        assert (json.loads(outcome.out)["model"], outcome.err) == ("m", "")


def test_no_model_is_missed_where_none_belongs(cli: Cli) -> None:
    arguments = ("compile", "talk", *NATIVE, *ASKED)
    assert cli(*arguments, "--target", "gemini.generate_content").err == "", "it stands in the address"
    assert cli(*arguments).err == "", "there is no request"


def test_the_request_cannot_command_a_terminal(cli: Cli, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history)
        branch.add([Instruction.create("8-bit \x9b31m"), AssistantResponse.create("a")])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    arguments = (*NATIVE, *ASKED, "--target", "openai.chat", "--request")
    shown = cli("compile", str(branch.branch_id), *arguments).out
    assert "8-bit \\u009b31m" in shown
    assert shown.endswith("}\n")


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (("--tool-choice", "auto"), {"type": "auto"}),
        (("--tool-choice", "required"), {"type": "any"}),
        (("--tool-choice", "none"), {"type": "none"}),
        (("--tool-choice", "look"), {"type": "tool", "name": "look"}),
        (("--one-call",), {"type": "auto", "disable_parallel_tool_use": True}),
        (
            ("--tool-choice", "required", "--parallel-calls"),
            {"type": "any", "disable_parallel_tool_use": False},
        ),
    ],
)
def test_tool_choices(cli: Cli, tools: str, choice: tuple[str, ...], sent: dict[str, Any]) -> None:
    told = compiled(cli, *NATIVE, *ASKED, "--target", "anthropic.messages", "--tools", tools, *choice)
    assert json.loads(told["provider_request_json"])["tool_choice"] == sent


def test_signatures_can_be_left_out(cli: Cli, pair: Pair) -> None:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history)
        signed = [ThinkingBlock("why", "seal", "anthropic"), TextBlock("a")]
        branch.add([Instruction.create("q"), AssistantResponse.create("a", blocks=signed)])
        name = str(branch.branch_id)
    arguments = ("compile", name, *NATIVE, *ASKED, "--target", "anthropic.messages", "--request")
    assert '"seal"' in cli(*arguments).out
    assert '"seal"' not in cli(*arguments, "--strip-signatures").out


def test_without_an_instruction_native_goes_on(cli: Cli) -> None:
    told = compiled(cli, *NATIVE)
    assert told["instruction"] is None
    assert [message["role"] for message in told["messages"]] == ["user", "assistant", "tool", "assistant"]
    outcome = cli("compile", "talk")
    assert outcome.code == 2
    assert "--instruction" in outcome.err


def test_explain_is_a_table_of_the_report(cli: Cli, branch: Branch) -> None:
    outcome = cli("compile", "talk", *ASKED, "--explain", "--tokens", "estimate")
    assert outcome.code == 0
    title, moved, *rest = outcome.out.splitlines()
    (response,) = (message for message in branch.messages() if message.kind == "action_response")
    assert title.split() == ["NOTE", "MESSAGES", "WHY"]
    assert moved.split()[:2] == ["RESULTS_MOVED", str(response.id)]
    assert moved.index(str(response.id)) == title.index("MESSAGES")
    assert moved.index("action results go into") == title.index("WHY")
    assert any(line.startswith("ASSISTANTS_MERGED  ") for line in rest)
    assert "tokens by estimate" in rest[-2]
    assert "Let me look." not in outcome.out
    assert "\x1b" not in outcome.out


def test_explain_without_a_note_says_so(cli: Cli) -> None:
    outcome = cli("compile", "talk", *NATIVE, *ASKED, "--explain")
    assert outcome.out.splitlines()[0] == "nothing was dropped, moved, merged or changed"


def test_a_table_is_drawn_on_a_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "160")
    outcome = cli("compile", "talk", *ASKED, "--explain")
    assert "┃" in outcome.out
    assert "RESULTS_MOVED" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((*ASKED, "--profile", "raw"), "'raw' is not one of: folded, native"),
        ((*NATIVE, *ASKED, "--model", "m"), "--target"),
        ((*NATIVE, *ASKED, "--flag", "f"), "--target"),
        ((*NATIVE, *ASKED, "--one-call"), "--target"),
        ((*NATIVE, *ASKED, "--request"), "--target"),
        ((*NATIVE, *ASKED, "--json", "--explain"), "--json and --explain"),
        ((*NATIVE, *ASKED, "--target", "openai.chat", "--json", "--request"), "--request and --json"),
        ((*ASKED, "--budget", "0"), "--budget"),
        ((*ASKED, "--kwargs", "LIST"), "--kwargs"),
        ((*ASKED, "--response-format", "LIST"), "--response-format"),
    ],
)
def test_wrong_usage(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    path = tmp_path / "list.json"
    path.write_text("[]")
    outcome = cli("compile", "talk", *(str(path) if each == "LIST" else each for each in arguments))
    assert (outcome.code, outcome.out) == (2, "")
    assert named in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((*NATIVE, *ASKED, "--target", "nobody.chat"), "TARGET_UNKNOWN: "),
        ((*NATIVE, *ASKED, "--target", "openai.chat", "--flag", "f"), "FIELD_INVALID: "),
        ((*ASKED, "--tokens", "guess"), "FIELD_INVALID: "),
        ((*NATIVE, "--at-revision", "4"), "OPEN_CALLS: "),
    ],
)
def test_failures(cli: Cli, arguments: tuple[str, ...], line: str) -> None:
    outcome = cli("compile", "talk", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"antiphon: {line}")


def test_targets(cli: Cli, pair: Pair) -> None:
    outcome, printed = cli("targets"), cli("targets", "--json")
    assert (outcome.code, printed.code) == (0, 0)
    told = json.loads(printed.out)
    with CompilerClient(pair.compiler) as compiler:
        listed = compiler.list_targets()
    assert told["capability_version"] == listed.capability_version
    assert told["token_counters"] == list(listed.token_counters)
    assert [target["name"] for target in told["targets"]] == [target.name for target in listed.targets]
    assert [target["flags"] for target in told["targets"]] == [dict(each.flags) for each in listed.targets]
    assert told["targets"][0]["row"] == listed.targets[0].row
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["TARGET", "PROVIDER", "CACHE", "MARKS", "CONTINUES", "AN", "ANSWER"]
    assert lines[1].split() == ["anthropic.messages", "anthropic", "4", "yes"]
    assert lines[2].split() == ["gemini.generate_content", "gemini", "-", "no"]
    for target in listed.targets:
        for flag, meaning in target.flags.items():
            assert any(line.startswith(target.name) and flag in line and meaning in line for line in lines)
    assert lines[-2] == f"token counters    {', '.join(listed.token_counters)}"


def test_diff_of_equal_revisions(cli: Cli) -> None:
    outcome = cli("diff", "talk", "--at", "6", "--at", "6")
    assert outcome.code == 0
    assert outcome.out.startswith("the same: 4 turns, sha256 ")
    assert outcome.out.endswith(", profile native\n")
    assert cli("diff", "talk", "--at", "6").out == outcome.out, "the second is the branch as it stands"
    told = json.loads(cli("diff", "talk", "--at", "6", "--json").out)
    assert (told["profile"], told["is_same"], told["changes"]) == ("native", True, [])


def test_diff_of_different_revisions(cli: Cli) -> None:
    outcome = cli("diff", "talk", "--at", "5", "--at", "6")
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.splitlines() == [
        "--- talk at revision 5, profile native",
        "+++ talk at revision 6, profile native",
        "@@ -8,3 +8,5 @@",
        " tool",
        "       result of look  [call-1]",
        '       {"colour":"blue\\u001b[31m"}',
        "+assistant",
        "+      The sky.",
    ]
    backwards = cli("diff", "talk", "--at", "6", "--at", "5")
    assert backwards.code == 1
    assert "-assistant\n-      The sky.\n" in backwards.out
    printed = cli("diff", "talk", "--at", "5", "--json")
    told = json.loads(printed.out)
    assert (printed.code, told["is_same"], told["is_system_text_same"]) == (1, False, True)
    assert told["changes"] == [{"change": "insert", "before": [3, 3], "after": [3, 4]}]
    assert [told[side]["revision"] for side in ("before", "after")] == [5, 6]
    assert [told[side]["turns"] for side in ("before", "after")] == [3, 4]


def test_diff_shows_a_changed_text_and_system(cli: Cli, pair: Pair) -> None:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history)
        branch.set_system("Be brief")
        branch.add(question := Instruction.create("Is it\nraining?"))
        question.update(instruction="Is it\nsnowing?")
        branch.add(question)
        branch.set_system("Be kind")
        name = str(branch.branch_id)
    changed = cli("diff", name, "--at", "3", "--at", "4").out
    assert "-      raining?\n+      snowing?\n" in changed
    assert "       Is it\n" in changed
    system = cli("diff", name, "--at", "4")
    assert system.code == 1
    assert " system\n-      Be brief\n+      Be kind\n" in system.out
    told = json.loads(cli("diff", name, "--at", "4", "--json").out)
    assert (told["is_same"], told["is_system_text_same"], told["changes"]) == (False, False, [])


def test_diff_of_what_is_not_shown(cli: Cli, pair: Pair) -> None:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history)
        branch.add(question := Instruction.create("a\x07"))
        question.update(instruction="a\\x07")
        branch.add(question)
        name = str(branch.branch_id)
    outcome = cli("diff", name, "--at", "2", "--at", "3")
    assert (outcome.code, outcome.out.splitlines()[-1]) == (1, "different in what is not shown")


def test_diff_with_an_instruction_and_a_profile(cli: Cli, tools: str) -> None:
    arguments = ("--at", "5", "--at", "6", "--profile", "folded", *ASKED, "--tools", tools)
    outcome = cli("diff", "talk", *arguments)
    assert outcome.code == 1
    assert "+      The sky.\n" in outcome.out
    assert cli("diff", "talk", "--at", "4", *ASKED).code == 1, "open calls are made up for"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("talk", "--at", "99"), "antiphon: REVISION_IN_FUTURE: "),
        (("talk", "--at", "4"), "antiphon: OPEN_CALLS: "),
        (("nobody", "--at", "1"), "antiphon: BRANCH_NOT_FOUND: "),
        (("talk", "--at", "1", "--compiler", "unix:/nowhere/c.sock"), "antiphon: SERVICE_UNREACHABLE: "),
    ],
)
def test_diff_in_trouble_has_an_exit_code_of_its_own(cli: Cli, arguments: tuple[str, ...], line: str) -> None:
    outcome = cli("diff", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(line)


@pytest.mark.parametrize(
    ("revisions", "told"),
    [
        (("4", "99"), " (compiling revision 4); compare with an --instruction, "),
        (("6", "99"), " (compiling revision 99)\n"),
        (("6", "4"), " (compiling revision 4); "),
        (("1", "2"), "or another --at: nothing goes on from revision 1 as it stands\n"),
    ],
)
def test_diff_says_which_revision_is_in_trouble(cli: Cli, revisions: tuple[str, str], told: str) -> None:
    outcome = cli("diff", "talk", "--at", revisions[0], "--at", revisions[1])
    assert outcome.code == 2
    assert told in outcome.err
    assert outcome.err.count("compiling") == 1


def test_diff_without_a_service_is_about_no_revision(cli: Cli) -> None:
    outcome = cli("diff", "talk", "--at", "1", "--compiler", "unix:/nowhere/c.sock")
    assert "SERVICE_UNREACHABLE" in outcome.err
    assert "revision" not in outcome.err


@pytest.mark.parametrize("arguments", [(), ("--at", "1", "--at", "2", "--at", "3"), ("--at", "x")])
def test_diff_takes_one_or_two_revisions(cli: Cli, arguments: tuple[str, ...]) -> None:
    outcome = cli("diff", "talk", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert "--at" in outcome.err


def test_a_window(cli: Cli, branch: Branch, pair: Pair) -> None:
    with CompilerClient(pair.compiler) as compiler:
        whole = compiler.plan_window(branch, 10_000)
    outcome = cli("window", "talk", "--budget", "10000")
    assert outcome.code == 0
    first, *kept = outcome.out.splitlines()
    assert first == (
        f"revision 6: {len(whole.progression)} messages kept, 0 left out; "
        f"{whole.tokens} of 10,000 tokens, {whole.tokens_before} before"
    )
    assert [line.split()[-1] for line in kept] == [str(message_id) for message_id in whole.progression]
    assert kept[-1].startswith("   5  assistant response  ")
    told = json.loads(cli("window", "talk", "--budget", "10000", "--json").out)
    assert told["progression"] == [str(message_id) for message_id in whole.progression]
    assert (told["dropped_count"], told["history_revision"]) == (0, 6)


def test_a_window_counts_and_pins_what_it_is_told(cli: Cli, pair: Pair, tools: str) -> None:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history)
        first = Instruction.create("first " * 50)
        branch.add([first, AssistantResponse.create("a")])
        branch.add([Instruction.create("second " * 50), AssistantResponse.create("b")])
        branch.add([Instruction.create("third"), AssistantResponse.create("c")])
        name = str(branch.branch_id)

    def plan(*arguments: str) -> dict[str, Any]:
        outcome = cli("window", name, "--json", *arguments)
        assert outcome.code == 0, outcome.err
        told: dict[str, Any] = json.loads(outcome.out)
        return told

    small = plan("--budget", "40")
    assert (len(small["progression"]), small["dropped_count"]) == (2, 4)
    pinned = plan("--budget", "110", "--pin", str(first.id))
    assert str(first.id) in pinned["progression"]
    assert pinned["dropped_count"] == 2
    asked = plan("--budget", "1000", *ASKED, "--tools", tools)
    assert asked["tokens"] > plan("--budget", "1000", "--tokens", "estimate")["tokens"]
    assert plan("--budget", "1000", "--at-revision", "1")["history_revision"] == 1
    shown = cli("window", name, "--budget", "40").out
    assert shown.startswith("revision 4: 2 messages kept, 4 left out; ")
    impossible = cli("window", name, "--budget", "1")
    assert (impossible.code, impossible.out) == (1, "")
    assert impossible.err.startswith("antiphon: BUDGET_IMPOSSIBLE: ")
    assert cli("window", name, "--budget", "0").code == 2
    assert cli("window", name, "--budget", "5", "--pin", "x").code == 2


def test_a_compaction_is_planned_and_stored(
    cli: Cli, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HistoryClient(pair.history) as history:
        branch = Branch.create(history, external_key="long")
        for number in range(4):
            branch.add([Instruction.create(f"q{number}"), AssistantResponse.create(f"a{number}")])
        ids = [message.id for message in branch.messages()]
        outcome = cli("compact", "long", "--keep-messages", "2")
        assert outcome.code == 0
        first, second, *text = outcome.out.splitlines()
        assert first.startswith("revision 5: 6 messages to summarize, 2 messages stay; ")
        assert second == f"to summarize, from {ids[0]} to {ids[5]}:"
        assert any("q0" in line for line in text)
        assert [line.split()[-1] for line in text[-2:]] == [str(message_id) for message_id in ids[6:]]
        told = json.loads(cli("compact", "long", "--keep-messages", "2", "--json").out)
        assert (told["kept"], told["compacted_count"]) == ([str(each) for each in ids[6:]], 6)
        assert branch.record().view_count is None, "planning changes nothing"

        branch.add([Instruction.create("meanwhile"), AssistantResponse.create("so it is")])
        summary = tmp_path / "summary.txt"
        summary.write_text("They counted.")
        store = ("compact", "long", "--keep-messages", "2", "--at-revision", "5", "--summary")
        stored = cli(*store, str(summary))
        assert stored.code == 0, stored.err
        assert stored.out.startswith("revision 7: summary ")
        assert stored.out.endswith(" stands for 6 messages, 2 messages stay\n")
        view = list(branch.progression())
        assert (len(view), view[1:3]) == (5, ids[6:])

        again = cli(*store, str(summary))
        assert (again.code, again.out) == (1, "")
        assert again.err == (
            "antiphon: REVISION_CONFLICT: another compaction was committed since revision 5, at which this "
            "one was planned (the branch is at revision 7): plan again\n"
        )
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"They counted\r\non.")))
        later = ("compact", "long", "--keep-messages", "2", "--at-revision", "7", "--summary", "-", "--json")
        printed = cli(*later)
        assert printed.code == 0, printed.err
        told = json.loads(printed.out)
        assert (told["message_id"], told["revision"]) == (str(view[0]), 8)
        (stored_summary,) = (message for message in branch.messages() if isinstance(message, Summary))
        assert stored_summary.content.text == "They counted\r\non."
        with CompilerClient(pair.compiler) as compiler:
            turn = TurnRequest(Instruction.create("now"))
            assert "They counted" in str(compiler.compile(branch, turn).request.messages[0].content)


def test_nothing_to_compact(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("compact", "talk", "--keep-messages", "100")
    assert outcome.code == 0
    assert outcome.out.startswith("revision 6: nothing to compact, ")
    told = json.loads(cli("compact", "talk", "--keep-tokens", "100000", "--json").out)
    assert (told["first_id"], told["last_id"], told["text"]) == (None, None, "")
    summary = tmp_path / "summary.txt"
    summary.write_text("s")
    for arguments in (
        ("--keep-messages", "100", "--at-revision", "6", "--summary", str(summary)),
        ("--keep-messages", "1", "--summary", str(summary)),
        ("--keep-messages", "0"),
        (),
    ):
        assert cli("compact", "talk", *arguments).code == 2
