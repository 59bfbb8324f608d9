"""``antiphon import`` from pipes, of conversations without ids, and with what stands beside the messages."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon_client import Branch, HistoryClient, Instruction
from tests.support.cli import Cli, Outcome
from tests.support.pair import Pair, served_pair

TALK = [{"role": "user", "content": "hi\u2028\x00"}, {"role": "assistant", "content": "yes"}]
BESIDE: dict[str, Any] = {
    "model": "m-1",
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
    "temperature": 1.0,
    "big": 123456789012345678901234567890,
    "nothing": None,
    "metadata": {"messages": [], "id": 7, "é\u2028": [1e-7, True]},
    "": "",
    "openai_chat": {"conversation": 1},
    "current_progression": [],
}


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
        for branch in client.branches():
            client.delete_branch(branch.branch_id, purge=True)
        yield client


class Piped:
    """Runs ``antiphon import -`` with bytes on its standard input."""

    def __init__(self, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        self._cli = cli
        self._monkeypatch = monkeypatch

    def __call__(self, data: bytes, *options: str) -> Outcome:
        # A pipe cannot be read twice.
        read, write = os.pipe()
        writer = threading.Thread(target=_write, args=(write, data))
        writer.start()
        with open(read, "rb") as pipe:
            self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe))
            outcome = self._cli("import", "-", *options)
        writer.join()
        return outcome


def _write(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb") as pipe:
        pipe.write(data)


@pytest.fixture
def piped(cli: Cli, monkeypatch: pytest.MonkeyPatch, history: HistoryClient) -> Piped:
    return Piped(cli, monkeypatch)


def talk(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"question {number}"}]


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def ids(outcome: Outcome) -> list[str]:
    return [json.loads(line)["source_id"] for line in outcome.out.splitlines()]


def test_conversations_come_from_a_pipe(piped: Piped, cli: Cli) -> None:
    data = lines(*({"id": f"talk-{number}", "messages": talk(number)} for number in range(30)))
    first = piped(data)
    assert (first.code, first.err) == (0, "")
    assert first.out == (
        "format: openai (recognized)\n"
        "imported 30 conversations, 30 messages (stored as 30 records), 0 errors\n"
    )
    assert "(30 of them imported before)" in piped(data).out
    assert json.loads(cli("export", "talk-7").out) == talk(7)


def test_a_closed_standard_input_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    outcome = cli("import", "-")
    assert (outcome.code, outcome.out) == (1, "")
    assert "standard input is closed" in outcome.err


def test_one_document_comes_from_a_pipe(piped: Piped, cli: Cli) -> None:
    (one,) = ids(piped(json.dumps({"id": "one", "messages": TALK}, indent=2).encode(), "--json"))
    assert one == "one"
    (made,) = ids(piped(json.dumps(TALK, indent=1).encode(), "--json"))
    assert made.startswith("conversation-")
    assert json.loads(cli("export", made).out) == TALK


def test_a_branch_comes_from_a_pipe(piped: Piped, cli: Cli, history: HistoryClient) -> None:
    branch = Branch.create(history)
    branch.add([Instruction.create("x" * 5000) for _ in range(100)])
    file = io.BytesIO()
    branch.export(file)
    first = json.loads(piped(file.getvalue(), "--key", "copy", "--json").out)
    copy = Branch.open(history, external_key="copy")
    assert (str(copy.branch_id), first["messages"]) == (first["branch_id"], 100)
    assert list(copy.messages()) == list(branch.messages())
    assert "(imported before)" in piped(file.getvalue(), "--key", "copy").out
    copy.delete()
    assert "(imported before)" not in piped(file.getvalue(), "--key", "copy").out
    # Written by hand, with blanks, it is one as well.
    spaced = b'{ "format" : "antiphon.branch"' + file.getvalue()[len(b'{"format":"antiphon.branch"') :]
    outcome = piped(spaced)
    assert outcome.code == 1
    assert outcome.err.startswith("antiphon: standard input: FIELD_INVALID: line 102: end.sha256: ")


def test_what_is_wrong_in_a_pipe_is_told(piped: Piped) -> None:
    outcome = piped(lines({"id": "good", "messages": TALK}) + b"{}\n")
    assert outcome.err == (
        'antiphon: standard input, line 2: there is no "messages", as of OpenAI\'s chat and of '
        'Anthropic\'s Messages, and no "contents", as of Gemini\n'
    )


def test_a_file_that_is_a_pipe(cli: Cli, history: HistoryClient, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = lines(*({"id": f"fifo-{number}", "messages": talk(number)} for number in range(3)))
    writer = threading.Thread(target=lambda: path.write_bytes(data))
    writer.start()
    outcome = cli("import", str(path), "--json")
    writer.join()
    assert ids(outcome) == ["fifo-0", "fifo-1", "fifo-2"]


def test_files_that_are_not_there_and_one_called_like_standard_input(
    cli: Cli, history: HistoryClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("none", "."):
        outcome = cli("import", name)
        assert outcome.code == 2
        assert f"File '{name}' " in outcome.err
    Path("./-").write_text(json.dumps(TALK))
    assert ids(cli("import", "./-", "--json")) == ["-"]


def test_json_lines_without_ids(cli: Cli, piped: Piped, history: HistoryClient, tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    values = [{"messages": talk(1)}, talk(2), {"messages": talk(1)}, {"id": "named", "messages": talk(1)}]
    file.write_bytes(lines(*values))
    first = cli("import", str(file), "--json")
    assert (first.code, first.err) == (0, "")
    made = ids(first)
    assert made[2:] == [f"{made[0]}-2", "named"]
    assert all(name.startswith("conversation-") for name in made[:2])
    assert len(set(made)) == 4
    # Run again, from elsewhere, among others and in another order: nothing twice.
    again = piped(lines(talk(3), values[1], values[0], values[2]), "--json")
    assert ids(again)[1:] == [made[1], made[0], made[2]]
    assert {branch.external_key for branch in history.branches()} == {*made, ids(again)[0]}
    assert all(branch.revision == 2 for branch in history.branches())
    assert json.loads(cli("export", made[1]).out) == talk(2)


def test_an_interrupted_import_without_ids_is_completed(piped: Piped, history: HistoryClient) -> None:
    whole = [{"messages": talk(number // 2), "n": number // 4} for number in range(40)]
    first = piped(lines(*whole[:17]), "--json")
    outcome = piped(lines(*whole), "--json")
    assert ids(outcome)[:17] == ids(first)
    assert len(list(history.branches())) == 40


@pytest.mark.parametrize(
    "given",
    [
        {"id": "beside", "messages": TALK, **BESIDE},
        {"messages": TALK, **BESIDE},
        {"messages": TALK},
        {"id": "plain", "messages": TALK},
    ],
)
@pytest.mark.parametrize("name", ["one.json", "many.jsonl"])
def test_a_whole_conversation_comes_back_equal(
    cli: Cli, history: HistoryClient, tmp_path: Path, given: dict[str, Any], name: str
) -> None:
    file = tmp_path / name
    file.write_bytes(lines(given))
    (source_id,) = ids(cli("import", str(file), "--json"))
    out = tmp_path / "out.jsonl"
    assert cli("export", source_id, "--format", "conversation", "-o", str(out)).code == 0
    printed = cli("export", source_id, "--format", "conversation").out
    for text in (printed, out.read_text("utf-8")):
        assert text.count("\n") == 1
        back = json.loads(text)
        assert back == given
        assert [type(value) for value in sorted_values(back)] == [type(v) for v in sorted_values(given)]
    assert json.loads(cli("export", source_id).out) == TALK
    record = Branch.open(history, external_key=source_id).record()
    assert record.metadata["imported_from"] == "openai.chat"
    # What was exported is the same conversation.
    again = cli("import", str(out if "id" in given or name == "many.jsonl" else file))
    assert "1 of them imported before" in again.out


def sorted_values(conversation: dict[str, Any]) -> list[Any]:
    return [conversation[key] for key in sorted(conversation)]


def test_another_value_beside_the_messages_is_another_conversation(piped: Piped) -> None:
    assert piped(lines({"id": "one", "messages": TALK, "model": "a"})).code == 0
    assert "imported before" in piped(lines({"id": "one", "messages": TALK, "model": "a"})).out
    outcome = piped(lines({"id": "one", "messages": TALK, "model": "b"}))
    assert outcome.code == 1
    assert "'one' is branch" in outcome.err
    # Without ids they stand beside each other.
    made = ids(piped(lines(*({"messages": TALK, "model": model} for model in "ab")), "--json"))
    assert len(set(made)) == 2


def test_a_branch_written_otherwise_is_a_conversation_too(cli: Cli, history: HistoryClient) -> None:
    branch = Branch.create(history, external_key="written", metadata={"openai_chat": [1], "x": 1})
    branch.add(Instruction.create("hi"))
    unnamed = Branch.create(history)
    for name, called in (("written", "written"), (str(unnamed.branch_id), str(unnamed.branch_id))):
        conversation = json.loads(cli("export", name, "--format", "conversation").out)
        assert conversation["id"] == called
        assert sorted(conversation) == ["id", "messages"]
    past = json.loads(cli("export", "written", "--format", "conversation", "--at-revision", "1").out)
    assert past == {"id": "written", "messages": []}


def test_keys_beside_the_messages_that_cannot_be_kept_are_told(piped: Piped, history: HistoryClient) -> None:
    deep: Any = 1
    for _ in range(98):
        deep = [deep]
    outcome = piped(lines({"id": "deep", "messages": TALK, "x": deep}))
    assert outcome.code == 1
    assert outcome.err.startswith("antiphon: standard input, line 1: nested deeper than 100")
    outcome = piped(lines({"id": "large", "messages": TALK, "x": "y" * 2**19}))
    assert outcome.code == 1
    assert "line 1: SIZE_LIMIT_EXCEEDED: metadata_json" in outcome.err
    assert list(history.branches()) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"id": 7, "messages": [{"role": "user", "content": "x"}]}', "line 1: the id must be text"),
        ('{"id": "", "messages": [{"role": "user", "content": "x"}]}', "line 1: the id must be text"),
        ('{"id": null, "messages": [{"role": "user", "content": "x"}]}', "line 1: the id must be text"),
        ('{"id": "x", "message": []}', 'line 1: there is no "messages"'),
        ('{"id": "x", "messages": {}}', "line 1: messages is not an array of objects"),
        (
            '{\n "id": "x",\n "messages": [\n  {"role" "user"}\n ]\n}',
            "line 4: not JSON: expecting ':' delimiter",
        ),
        ('{\n "id": "x",\n "id": "x"\n}', "line 1: duplicate key 'id'"),
    ],
)
def test_errors_say_what_is_wrong(
    cli: Cli, history: HistoryClient, tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "talk.json"
    file.write_text(text)
    outcome = cli("import", str(file))
    assert outcome.code == 1
    assert outcome.err.startswith(f"antiphon: {file}, {told}")


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\n\t\n"])
def test_empty_input_is_an_error(cli: Cli, piped: Piped, tmp_path: Path, data: bytes) -> None:
    told = "nothing to import: the input is empty\n"
    outcome = piped(data)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == f"antiphon: standard input: {told}"
    for name in ("empty.json", "empty.jsonl"):
        file = tmp_path / name
        file.write_bytes(data)
        outcome = cli("import", str(file), "--json")
        assert (outcome.code, outcome.out, outcome.err) == (1, "", f"antiphon: {file}: {told}")


def test_what_looks_like_a_branch_file_and_is_none_is_one_error(
    cli: Cli, history: HistoryClient, tmp_path: Path
) -> None:
    branch = Branch.create(history)
    branch.add([Instruction.create("hi"), Instruction.create("ho")])
    branch.select_view([message.id for message in branch.messages()])
    path = tmp_path / "branch.jsonl"
    branch.export(path)
    whole = path.read_bytes()
    head, *rest = whole.splitlines(keepends=True)
    header = json.loads(head)
    turned = (
        json.dumps({"branch": header["branch"], "version": 1, "format": header["format"]}).encode() + b"\n"
    )
    for damaged in (
        b"\xef\xbb\xbf" + whole,
        b"\n" + whole,
        turned + b"".join(rest),
        head.replace(b"antiphon.branch", b"antiphon.brunch") + b"".join(rest),
        *(b"".join(rest[number:]) for number in range(len(rest))),
    ):
        path.write_bytes(damaged)
        outcome = cli("import", str(path))
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err == (
            f"antiphon: {path}: looks like a branch file, "
            'whose first bytes are {"format":"antiphon.branch"\n'
        )
    # A conversation may have such keys.
    path.write_bytes(lines({"format": "antiphon.x", "message": 1, "messages": talk(1)}))
    assert cli("import", str(path)).code == 0
    path.write_bytes(whole.replace(b"\n", b"\r\n"))
    assert cli("import", str(path)).err == (
        f"antiphon: {path}: FIELD_INVALID: line 1: data: not a JSON object that fills the line "
        "(it ends in CR; lines end in LF only)\n"
    )


def test_programs_are_told_what_was_made_and_whether_it_had_been_before(
    cli: Cli, history: HistoryClient, tmp_path: Path
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(said))
    first, again = (json.loads(cli("import", str(file), "--json").out) for _ in range(2))
    assert (first["messages"], first["records"], first["imported_before"]) == (2, 3, False)
    assert again == first | {"imported_before": True}
    path = tmp_path / "branch.jsonl"
    Branch.open(history, external_key="talk").export(path)
    first, again = (json.loads(cli("import", str(path), "--json").out) for _ in range(2))
    assert (first["messages"], first["imported_before"]) == (3, False)
    assert again == first | {"imported_before": True}


def test_a_wrong_branch_file_is_named(cli: Cli, history: HistoryClient, tmp_path: Path) -> None:
    path = tmp_path / "branch.jsonl"
    Branch.create(history).export(path)
    path.write_bytes(path.read_bytes()[:-1])
    outcome = cli("import", str(path))
    assert outcome.code == 1
    assert outcome.err == (
        f"antiphon: {path}: FIELD_INVALID: line 2: data: the file ends here, before its last line, `end`\n"
    )
