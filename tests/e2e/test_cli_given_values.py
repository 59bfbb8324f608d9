"""Numbers and files that a command is given and cannot use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon_client import AssistantResponse, Branch, HistoryClient, Instruction
from tests.support.cli import Cli
from tests.support.pair import Pair, served_pair

BEYOND = str(2**63)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        with HistoryClient(pair.history) as history:
            branch = Branch.create(history, external_key="talk")
            branch.add([Instruction.create("one"), AssistantResponse.create("two")])
            branch.add([Instruction.create("three"), AssistantResponse.create("four")])
        yield pair


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pair: Pair) -> Cli:
    return Cli(monkeypatch, capsys, pair.history, pair.compiler)


@pytest.mark.parametrize(
    "arguments",
    [
        ("window", "talk", "--budget"),
        ("compact", "talk", "--keep-tokens"),
        ("compact", "talk", "--keep-messages"),
        ("compile", "talk", "--instruction", "x", "--budget"),
        ("log", "talk", "--at-revision"),
        ("diff", "talk", "--at", "1", "--at"),
        ("trim", "talk", "--before"),
        ("watch", "talk", "--no-follow", "--after"),
        ("view", "talk", "--clear", "--expected-revision"),
    ],
)
def test_a_number_that_no_request_carries_is_wrong_usage(cli: Cli, arguments: tuple[str, ...]) -> None:
    outcome = cli(*arguments, BEYOND)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{BEYOND} is larger than {2**63 - 1}" in " ".join(outcome.err.replace("│", " ").split())


def test_the_largest_number_is_taken(cli: Cli) -> None:
    assert cli("window", "talk", "--budget", str(2**63 - 1)).code == 0


def test_a_summary_that_is_no_text_is_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "summary.txt"
    path.write_bytes(b"caf\xe9")
    outcome = cli("compact", "talk", "--keep-messages", "2", "--at-revision", "3", "--summary", str(path))
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"antiphon: {path}: 'utf-8' codec can't decode")
