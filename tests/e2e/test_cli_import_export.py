"""``antiphon import`` and ``antiphon export``: in, out, again, and after an interruption."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon_client import Branch, HistoryClient, Instruction
from antiphon_client.cli.importer import import_conversation
from antiphon_client.cli.sources import Conversation
from antiphon_client.transport_errors import TransportError
from tests.support.cli import ROOT, Cli, command
from tests.support.pair import Pair, served_pair


@pytest.fixture(scope="module")
def shared_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with served_pair(tmp_path) as pair:
        yield pair


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pair: Pair) -> Cli:
    return Cli(monkeypatch, capsys, pair.history, pair.compiler)


@pytest.fixture
def history(pair: Pair) -> Iterator[HistoryClient]:
    with HistoryClient(pair.history) as client:
        yield client


def talk(turns: int, word: str = "word") -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": f"{word} {n}"} for n in range(turns)]


def write_lines(path: Path, *conversations: Any) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in conversations), encoding="utf-8")
    return path


def test_every_real_conversation_comes_back_equal(
    shared_data: Path, shared_pair: Pair, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = Cli(monkeypatch, capsys, shared_pair.history, shared_pair.compiler)
    file = shared_data / "tau-airline" / "transcripts.jsonl"
    given = {
        entry["id"]: entry["messages"] for entry in map(json.loads, file.read_text("utf-8").splitlines())
    }
    imported = cli("import", str(file), "--json")
    assert (imported.code, imported.err) == (0, "")
    lines = [json.loads(line) for line in imported.out.splitlines()]
    assert [line["source_id"] for line in lines] == list(given)
    assert sum(line["messages"] for line in lines) == 1306
    for line in lines:
        exported = cli("export", line["branch_id"], "--format", "openai")
        assert json.loads(exported.out) == given[line["source_id"]]
    again = cli("import", str(file))
    assert again.out == (
        "format: openai (recognized)\n"
        "imported 50 conversations (50 of them imported before), "
        "1,306 messages (stored as 1,602 records), 0 errors\n"
    )


@pytest.mark.parametrize("name", ["conversation.json", "conversations.jsonl"])
def test_the_repository_s_examples_come_back_equal(cli: Cli, name: str) -> None:
    file = ROOT / "examples" / name
    text = file.read_text(encoding="utf-8")
    given = [json.loads(text)] if name.endswith(".json") else [json.loads(line) for line in text.splitlines()]
    assert cli("import", str(file)).code == 0
    for conversation in given:
        exported = cli("export", conversation["id"])
        assert (exported.code, json.loads(exported.out)) == (0, conversation["messages"])


def test_an_array_goes_by_the_file_s_name(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "my chat.json"
    file.write_text(json.dumps(talk(3), indent=2))
    (line,) = cli("import", str(file), "--json").out.splitlines()
    assert json.loads(line)["source_id"] == "my chat"
    assert json.loads(cli("export", "my chat").out) == talk(3)


def test_json_lines_are_recognized_without_their_suffix(cli: Cli, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "lines.txt", *({"id": str(n), "messages": talk(1)} for n in range(2)))
    assert "\nimported 2 conversations, 2 messages" in cli("import", str(file)).out


def test_an_array_of_conversations_is_told_the_form(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    file.write_text(json.dumps([{"id": "a", "messages": talk(1)}, {"id": "b", "messages": talk(1)}]))
    outcome = cli("import", str(file))
    assert outcome.code == 1
    assert "an array of conversations; write JSON lines" in outcome.err


def test_bad_lines_are_named_and_the_rest_is_imported(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "mixed.jsonl"
    good = json.dumps({"id": "good", "messages": talk(2)}).encode()
    lines = [
        good,
        b'{"id": "cut", "messages": [',
        b"",
        b'{"id": 4, "messages": [{"role": "user", "content": "x"}]}',
        b'{"id": "good", "messages": [{"role": "user", "content": "x"}]}',
        b'{"id": "bytes", "messages": [{"role": "user", "content": "\xff"}]}',
        b'{"id": "nan", "messages": [{"role": "user", "content": "x", "n": NaN}]}',
        b'{"id": "twice", "id": "twice", "messages": []}',
        b'{"id": "none", "messages": []}',
        b'{"id": "role", "messages": [{"role": "nobody", "content": "x"}]}',
        b'{"id": "shape", "messages": ["x"]}',
        b"3",
        json.dumps({"id": "x" * 513, "messages": talk(1)}).encode(),
        json.dumps({"id": "last", "messages": talk(3)}).encode(),
    ]
    file.write_bytes(b"\n".join(lines))
    outcome = cli("import", str(file))
    assert outcome.code == 1
    assert outcome.out == (
        "good: 2 messages (stored as 2 records)\nlast: 3 messages (stored as 3 records)\n"
        "format: openai (recognized)\n"
        "imported 2 conversations, 5 messages (stored as 5 records), 11 errors\n"
    )
    complaints = outcome.err.splitlines()
    assert [text.split(": ")[1].removeprefix(f"{file}, ") for text in complaints] == [
        f"line {n}" for n in (2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
    ]
    assert "stands on line 1 already" in outcome.err
    as_json = cli("import", str(file), "--json")
    assert as_json.code == 1
    assert [json.loads(line)["source_id"] for line in as_json.out.splitlines()] == ["good", "last"]


def test_a_killed_import_run_again_adds_nothing_twice(
    cli: Cli, history: HistoryClient, pair: Pair, tmp_path: Path
) -> None:
    file = write_lines(
        tmp_path / "many.jsonl", *({"id": f"talk-{n}", "messages": talk(20, f"talk {n}")} for n in range(300))
    )
    with command("import", str(file), "--json", ANTIPHON_HISTORY_ADDRESS=pair.history) as process:
        assert process.stdout is not None
        for _ in range(20):
            assert process.stdout.readline()
        process.kill()
        process.wait()
    assert 20 <= sum(1 for _ in history.branches()) < 300
    outcome = cli("import", str(file))
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1].startswith("imported 300 conversations (")
    assert "of them imported before), 6,000 messages" in outcome.out
    branches = list(history.branches())
    assert len(branches) == 300
    assert {(b.message_count, b.revision) for b in branches} == {(20, 2)}
    assert json.loads(cli("export", "talk-7").out) == talk(20, "talk 7")


class Interrupting:
    """A history client that loses its connection at one call of AddMessages, after the call has happened."""

    def __init__(self, history: HistoryClient, fatal_call: int) -> None:
        self._history = history
        self._calls_left = fatal_call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._history, name)

    def add_messages(self, *arguments: Any, **options: Any) -> Any:
        self._calls_left -= 1
        written = self._history.add_messages(*arguments, **options)
        if not self._calls_left:
            raise TransportError("connection lost")
        return written


def test_a_conversation_interrupted_between_requests_is_completed(history: HistoryClient) -> None:
    conversation = Conversation(1, "long", talk(2500))
    with pytest.raises(TransportError):
        import_conversation(Interrupting(history, 2), conversation)  # type: ignore[arg-type]
    branch = Branch.open(history, external_key="long")
    assert branch.record().message_count == 2000
    imported = import_conversation(history, conversation)
    assert (imported.records, imported.repeated) == (2500, False)
    record = branch.record()
    assert (record.message_count, record.revision) == (2500, 4)
    assert import_conversation(history, conversation).repeated
    assert branch.record().revision == 4


def test_large_conversations_are_cut_to_the_request_limit(history: HistoryClient) -> None:
    messages = talk(6, "é" * 500_000)
    imported = import_conversation(history, Conversation(1, "large", messages))
    branch = Branch.open(history, external_key="large")
    assert (imported.messages, branch.record().message_count, branch.record().revision) == (6, 6, 3)


def test_a_source_id_keeps_its_conversation(cli: Cli, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "a.jsonl", {"id": "one", "messages": talk(2)})
    assert cli("import", str(file)).code == 0
    write_lines(file, {"id": "one", "messages": talk(3)})
    outcome = cli("import", str(file))
    assert outcome.code == 1
    assert "line 1: 'one' is branch" in outcome.err
    assert "import this one under another id, or delete that branch first" in outcome.err
    assert json.loads(cli("export", "one").out) == talk(2)


def test_remarks_are_counted_and_shown_when_asked_for(cli: Cli, tmp_path: Path) -> None:
    messages = [*talk(2), {"role": "tool", "tool_call_id": "none", "content": "x"}]
    file = write_lines(tmp_path / "a.jsonl", {"id": "one", "messages": messages})
    outcome = cli("import", str(file))
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("(stored as 3 records), 1 note, 0 errors\n")
    shown = cli("import", str(file), "--notes")
    assert shown.err == f"antiphon: {file}, line 1: note: messages[2]: the result answers no open call\n"


def test_a_refused_conversation_leaves_no_branch(cli: Cli, history: HistoryClient, tmp_path: Path) -> None:
    messages = [*talk(1), {"role": "assistant", "content": "x" * (3 * 2**20)}]
    file = write_lines(tmp_path / "a.jsonl", {"id": "one", "messages": messages})
    outcome = cli("import", str(file))
    assert outcome.code == 1
    assert "line 1: SIZE_LIMIT_EXCEEDED: records[1]" in outcome.err
    assert list(history.branches()) == []
    write_lines(file, {"id": "one", "messages": talk(2)})
    assert cli("import", str(file)).code == 0


def test_a_deleted_branch_can_be_imported_again(cli: Cli, history: HistoryClient, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "a.jsonl", {"id": "one", "messages": talk(2)})
    for _ in range(3):
        assert cli("import", str(file)).code == 0
        branch = Branch.open(history, external_key="one")
        assert branch.record().message_count == 2
        branch.delete()


def test_what_was_added_after_the_import_stays_and_is_exported(
    cli: Cli, history: HistoryClient, tmp_path: Path
) -> None:
    file = write_lines(tmp_path / "a.jsonl", {"id": "one", "messages": talk(2)})
    cli("import", str(file))
    branch = Branch.open(history, external_key="one")
    branch.add(Instruction.create("and now?"))
    branch.select_view([])
    cli("import", str(file))
    assert json.loads(cli("export", "one").out) == [*talk(2), {"role": "user", "content": "and now?"}]
    assert json.loads(cli("export", "one", "--at-revision", "2").out) == talk(2)
