"""Harnesses write down what they found, what was broken too, and nothing of a seeded fault."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import pytest

from tests.crash import power_cuts
from tests.figures.recording import command_line, parse_with_record

Recorded = list[tuple[tuple[Any, ...], dict[str, Any]]]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """What the power-cut harness would have written down."""
    calls: Recorded = []
    monkeypatch.setattr(power_cuts, "record_figure", lambda *given, **named: calls.append((given, named)))
    return calls


def run(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr(sys, "argv", ["power_cuts", "--cuts", "2", "--seed", "1", *options])
    return power_cuts.main()


def test_what_held_is_written_down_when_asked(monkeypatch: pytest.MonkeyPatch, recorded: Recorded) -> None:
    assert run(monkeypatch) == 0
    assert recorded == []
    assert run(monkeypatch, "--record") == 0
    ((row, count, found), named) = recorded[0]
    assert (row, count, named["held"]) == ("power_cuts", 2, True)
    assert found.startswith("2 power cuts over ")
    assert named["seconds"] > 0


def test_what_was_broken_is_written_down_as_that(monkeypatch: pytest.MonkeyPatch, recorded: Recorded) -> None:
    async def broken(*_: Any) -> power_cuts.Report:
        raise power_cuts.BrokenPromiseError("a write is lost")

    monkeypatch.setattr(power_cuts, "run", broken)
    assert run(monkeypatch, "--record") == 1
    ((_, _, found), named) = recorded[0]
    assert (found, named["held"]) == ("BROKEN: a write is lost", False)


def test_what_a_seeded_fault_shows_is_never_written_down(
    monkeypatch: pytest.MonkeyPatch, recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, "--record", "--mutant", "hasty")
    assert recorded == []
    assert "seeded fault" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mutant", "variant"])
def test_a_fault_goes_by_either_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(f"--{name}", default="none")
    monkeypatch.setattr(sys, "argv", ["it", "--record"])
    assert parse_with_record(parser).record
    parser = argparse.ArgumentParser()
    parser.add_argument(f"--{name}", default="none")
    monkeypatch.setattr(sys, "argv", ["it", "--record", f"--{name}", "bad"])
    with pytest.raises(SystemExit):
        parse_with_record(parser)


def test_a_command_is_written_down_as_it_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["/some/where/python3", "-m", "tests.it", "--times", "3"])
    assert command_line() == "python -m tests.it --times 3"
