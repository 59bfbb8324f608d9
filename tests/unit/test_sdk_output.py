"""What the command line writes for people."""

from __future__ import annotations

import pytest

from antiphon_client.cli.output import counted, error_text, time_text, visible
from antiphon_client.errors import BranchDeletedError


def test_control_characters_are_shown_and_text_stays() -> None:
    assert visible("a\x1b[2J\r\x07\x00b\u202ec") == "a\\x1b[2J\\r\\x07\\x00b\\u202ec"
    assert visible("tab\tline\nünïcode 👩\u200d👩 漢") == "tab\tline\nünïcode 👩\u200d👩 漢"


@pytest.mark.parametrize(("number", "text"), [(0, "0 entries"), (1, "1 entry"), (1306, "1,306 entries")])
def test_numbers_with_their_nouns(number: int, text: str) -> None:
    assert counted(number, "entry", "entries") == text


def test_errors_and_times() -> None:
    assert error_text(BranchDeletedError("gone")) == "BRANCH_DELETED: gone"
    assert error_text(ValueError("x")) == "x"
    assert error_text(RuntimeError()) == "RuntimeError"
    assert time_text(0.9) == "1970-01-01 00:00:00"
    assert time_text(None) == "-"
