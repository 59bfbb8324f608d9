"""``antiphon import`` of conversations in other formats than OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon_client import Branch, HistoryClient
from tests.support.cli import Cli
from tests.support.pair import Pair, served_pair
from tests.support.recorded_conversations import ANTHROPIC_BODIES, GEMINI_BODIES

ANTHROPIC = {"model": "m", "max_tokens": 5, **ANTHROPIC_BODIES["cached system"]}
GEMINI = GEMINI_BODIES["parallel calls of one name"]
OPENAI = {"messages": [{"role": "user", "content": "hi"}]}
THINKING = {"model": "m", "max_tokens": 5, **ANTHROPIC_BODIES["thinking"]}
TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]


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


def write(path: Path, *conversations: Any) -> str:
    path.write_text("".join(json.dumps(each) + "\n" for each in conversations), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("conversation", "name", "source"),
    [
        (ANTHROPIC, "anthropic", "anthropic.messages"),
        (ANTHROPIC_BODIES["thinking"], "anthropic", "anthropic.messages"),
        (ANTHROPIC_BODIES["thinking"]["messages"], "anthropic", "anthropic.messages"),
        ({"system": "be", "messages": TALK}, "anthropic", "anthropic.messages"),
        (GEMINI, "gemini", "gemini.generate_content"),
        (GEMINI["contents"], "gemini", "gemini.generate_content"),
        (OPENAI, "openai", "openai.chat"),
        (TALK, "openai", "openai.chat"),
    ],
)
def test_a_format_is_recognized_and_said(
    cli: Cli, history: HistoryClient, tmp_path: Path, conversation: Any, name: str, source: str
) -> None:
    outcome = cli("import", write(tmp_path / "it.json", conversation))
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[-2] == f"format: {name} (recognized)"
    record = Branch.open(history, external_key="it").record()
    assert record.metadata["imported_from"] == source


def test_a_format_that_is_given_is_used(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path / "it.json", TALK)
    outcome = cli("import", file, "--format", "anthropic")
    assert outcome.out.splitlines()[-2] == "format: anthropic (as given)"
    (line,) = cli("import", file, "--format", "anthropic", "--json").out.splitlines()
    assert json.loads(line)["format"] == "anthropic"


def test_a_conversation_of_another_format_is_an_error_with_its_path(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("import", write(tmp_path / "it.json", TALK), "--format", "gemini")
    assert outcome.code == 1
    assert "contents[0].parts: is required" in outcome.err


def test_lines_may_be_of_several_formats(cli: Cli, tmp_path: Path) -> None:
    file = write(
        tmp_path / "all.jsonl",
        {"id": "a", **ANTHROPIC},
        {"id": "b", **GEMINI},
        {"id": "c", **OPENAI},
        {"id": "d", **GEMINI},
    )
    assert cli("import", file).out.splitlines()[-2] == "format: anthropic, gemini, openai (recognized)"
    again = cli("import", file).out
    assert "imported 4 conversations (4 of them imported before)" in again


def test_the_system_text_beside_the_messages_is_the_branchs(
    cli: Cli, history: HistoryClient, tmp_path: Path
) -> None:
    assert cli("import", write(tmp_path / "it.json", ANTHROPIC)).code == 0
    system = Branch.open(history, external_key="it").system()
    assert system is not None
    assert system.content.system_message == "Long\n\ntext\n\nToday is Monday."
    # Another system text makes it another conversation.
    outcome = cli("import", write(tmp_path / "it.json", {**ANTHROPIC, "system": "other"}))
    assert "holds another conversation" in outcome.err


def test_what_an_export_cannot_say_is_told(cli: Cli, tmp_path: Path) -> None:
    cli("import", write(tmp_path / "talk.json", THINKING))
    outcome = cli("export", "talk")
    assert outcome.code == 0
    lines = outcome.err.splitlines()
    assert lines == [
        "antiphon: left out, as OpenAI's messages do not say it: reasoning (THINKING_DROPPED, 1 message): "
        "of anthropic",
        "antiphon: left out, as OpenAI's messages do not say it: signatures (SIGNATURE_DROPPED, 1 message): "
        "of thinking",
        "antiphon: left out, as OpenAI's messages do not say it: parts (PART_DROPPED, 1 message): "
        "anthropic redacted_thinking",
    ]
    assert "thinking" not in outcome.out
    file = tmp_path / "out.json"
    written = cli("export", "talk", "-o", str(file))
    assert (written.out, written.err) == ("", outcome.err)
    assert file.read_text() == outcome.out


@pytest.mark.parametrize(
    ("conversation", "source"), [(THINKING, "anthropic.messages"), (GEMINI, "gemini.generate_content")]
)
def test_forms_are_not_mixed_in_one_conversation(
    cli: Cli, tmp_path: Path, conversation: Any, source: str
) -> None:
    cli("import", write(tmp_path / "talk.json", conversation))
    outcome = cli("export", "talk", "--format", "conversation")
    assert (outcome.code, outcome.out) == (1, "")
    for way in (
        "antiphon export --format antiphon",
        f"antiphon compile talk --profile native --target {source} --request",
    ):
        assert way in outcome.err
    assert cli("export", "talk", "--format", "openai").code == 0


def test_a_conversation_of_openai_s_comes_back_quietly(cli: Cli, tmp_path: Path) -> None:
    cli("import", write(tmp_path / "talk.json", {**OPENAI, "model": "m"}))
    outcome = cli("export", "talk", "--format", "conversation")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == {**OPENAI, "model": "m"}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"input": []}, 'no "messages", as of OpenAI\'s chat and of Anthropic\'s Messages, and no '
         '"contents", as of Gemini ("input", of OpenAI\'s Responses, is not imported)'),
        ({"contents": "x"}, "contents is not an array of objects"),
        ({"contents": []}, "there are no contents"),
        ({"messages": "x"}, "messages is not an array of objects"),
        ({"id": "a"}, "as of Gemini\n"),
    ],
)  # fmt: skip
def test_what_is_no_conversation_is_told_by_its_own_names(
    cli: Cli, tmp_path: Path, entry: Any, told: str
) -> None:
    outcome = cli("import", write(tmp_path / "talk.json", entry))
    assert outcome.code == 1
    assert told in outcome.err
