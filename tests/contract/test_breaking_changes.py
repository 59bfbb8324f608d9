"""A change of the protos that would break somebody fails `make lint`; an addition passes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import protos

ROOT = protos.ROOT
MESSAGE = "antiphon/message/v1/message.proto"
HISTORY = "antiphon/history/v1/history_service.proto"
ERRORS = "antiphon/history/v1/errors.proto"

FIELD = """\
  // Grouping label for filters and displays. It never affects delivery.
  optional string channel = 6;
"""

BREAKING = {
    "a field removed": (MESSAGE, FIELD, "", 'field "6" with name "channel"'),
    "a field removed, its number reserved": (
        MESSAGE,
        FIELD,
        '  reserved 6;\n  reserved "channel";\n',
        'field "6" with name "channel"',
    ),
    "a field's type changed": (MESSAGE, "optional string channel = 6", "optional bytes channel = 6", "type"),
    "a field's presence removed": (MESSAGE, "optional string channel", "string channel", "cardinality"),
    "a field made repeated": (MESSAGE, "optional string channel", "repeated string channel", "cardinality"),
    "a number reused": (MESSAGE, "optional string channel = 6", "optional string topic = 6", '"topic"'),
    "a field given another number": (MESSAGE, "string channel = 6", "string channel = 60", '"channel"'),
    "a field put into a oneof": (
        MESSAGE,
        "  optional string thought_signature = 6;\n}",
        "  oneof proof {\n    // .\n    string thought_signature = 6;\n  }\n}",
        "oneof",
    ),
    "an enum value renamed": (MESSAGE, "ROLE_TOOL = 6", "ROLE_RESULT = 6", '"ROLE_RESULT"'),
    "an enum value removed": (
        MESSAGE,
        "  // Kept for audit; never compiled.\n  MESSAGE_STATUS_EXCLUDED = 2;\n",
        "",
        'enum value "2" on enum "MessageStatus"',
    ),
    "an RPC removed": (
        HISTORY,
        "  rpc ClearView(ClearViewRequest) returns (ClearViewResponse);\n",
        "",
        'RPC "ClearView"',
    ),
    "an RPC made a stream": (
        HISTORY,
        "rpc ClearView(ClearViewRequest) returns (ClearViewResponse)",
        "rpc ClearView(ClearViewRequest) returns (stream ClearViewResponse)",
        "ClearView",
    ),
    "an RPC's request replaced": (
        HISTORY,
        "rpc ClearView(ClearViewRequest)",
        "rpc ClearView(ClearMessagesRequest)",
        "ClearMessagesRequest",
    ),
    "a message renamed": (ERRORS, "message RevisionConflict {", "message Conflict {", '"RevisionConflict"'),
}
"""What is done: file, text, what it becomes, and a word of buf's complaint."""

ADDITIONS = {
    "a field": (MESSAGE, FIELD, f"{FIELD}  // News.\n  optional string news = 60;\n"),
    "a oneof's variant": (
        MESSAGE,
        "    GenericContent generic = 15;\n",
        "    GenericContent generic = 15;\n    // News.\n    GenericContent news = 16;\n",
    ),
    "an enum value": (MESSAGE, "ROLE_TOOL = 6;\n", "ROLE_TOOL = 6;\n  // News.\n  ROLE_NEWS = 7;\n"),
    "an RPC": (
        HISTORY,
        "  rpc ClearView(",
        "  rpc CloseView(ClearViewRequest) returns (ClearViewResponse);\n  // Again.\n  rpc ClearView(",
    ),
    "a comment": (MESSAGE, "// A tool result.", "// The result of a tool."),
    "nothing": (MESSAGE, "ROLE_TOOL", "ROLE_TOOL"),
}


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the protos and their releases that a test may change."""
    shutil.copytree(protos.PROTOS, tmp_path / "protos")
    monkeypatch.setattr(protos, "PROTOS", tmp_path / "protos")
    return tmp_path / "protos"


def change(root: Path, file: str, text: str, becomes: str) -> None:
    """Replace a text that is in a file once."""
    path = root / file
    before = path.read_text("utf-8")
    assert before.count(text) == 1, text
    path.write_text(before.replace(text, becomes), "utf-8")


@pytest.mark.parametrize("name", BREAKING)
def test_a_breaking_change_is_refused(copied: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    file, text, becomes, complaint = BREAKING[name]
    change(copied, file, text, becomes)

    protos.write_image(copied.parent / "still_compiles.binpb")
    assert protos.breaking() != 0

    assert complaint in capfd.readouterr().out


@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_passes(copied: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    change(copied, *ADDITIONS[name])

    assert protos.breaking() == 0, capfd.readouterr().out


def test_the_protos_as_they_stand_break_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert protos.breaking() == 0, capfd.readouterr().out


def test_the_last_release_is_that_of_the_greatest_version(copied: Path) -> None:
    """Held to the older of two releases, the protos would pass."""
    newest = protos.image_of(protos.releases()[-1])
    (copied / protos.RELEASES / "0.0.9.binpb").write_bytes(newest.read_bytes())
    change(copied, *ADDITIONS["a field"])
    protos.write_image(copied / protos.RELEASES / "100.9.0.binpb")
    change(copied, MESSAGE, "  // News.\n  optional string news = 60;\n", "")
    assert protos.releases()[-1] == "100.9.0"
    assert protos.breaking() != 0
    protos.image_of("100.9.0").rename(protos.image_of("0.0.10"))
    assert protos.releases()[:2] == ["0.0.9", "0.0.10"]
    assert protos.breaking() == 0


def test_without_a_release_there_is_no_pass(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(copied / protos.RELEASES)
    assert protos.breaking() != 0
    assert "no release" in capsys.readouterr().out


def test_lint_runs_the_command() -> None:
    told = subprocess.run(["make", "-n", "lint"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^\S*python scripts/protos\.py breaking$", told, re.M)
