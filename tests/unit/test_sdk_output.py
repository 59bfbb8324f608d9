"""What the command line writes for people."""

from __future__ import annotations

import pytest

from antiphon_client.cli.output import counted, error_text, time_text, visible
from antiphon_client.cli.timeline import timeline
from antiphon_client.errors import BranchDeletedError
from antiphon_client.messages import Instruction, UnknownMessage, to_proto


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
    assert time_text(253402300799.9999999) == "253402300800 s since 1970"


def test_a_record_of_a_newer_kind_does_not_hide_the_rest() -> None:
    unknown = UnknownMessage(to_proto(Instruction.create("x")).SerializeToString(), created_at=0.0)
    after = Instruction.create("after", created_at=0.0)
    assert list(timeline([unknown, after], None)) == [
        "   0  unknown  1970-01-01 00:00:00",
        "      [of a kind that this client does not know]",
        "   1  instruction  1970-01-01 00:00:00",
        "      after",
    ]
