"""The drift check sees every way in which committed stubs can differ from the protos."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scripts import protos


@pytest.fixture
def stubs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the committed stubs that a test may damage."""
    shutil.copytree(protos.STUBS / protos.PACKAGE, tmp_path / protos.PACKAGE)
    monkeypatch.setattr(protos, "STUBS", tmp_path)
    return tmp_path / protos.PACKAGE / "message" / "v1"


@pytest.mark.usefixtures("stubs")
def test_committed_stubs_are_what_the_protos_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert protos.check() == 0, capsys.readouterr().out


def test_drift_is_reported_by_file(stubs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stubs / "message_pb2.py").write_text("changed\n", "utf-8")
    (stubs / "progression_pb2.pyi").unlink()
    (stubs / "former_pb2.py").write_text("", "utf-8")
    assert protos.check() == 1
    report = capsys.readouterr().out
    assert "make proto" in report
    assert "message/v1/message_pb2.py: differs" in report
    assert "message/v1/progression_pb2.pyi: missing" in report
    assert "message/v1/former_pb2.py: left over" in report
