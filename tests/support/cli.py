"""Running the command line, in this process or as one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from antiphon_client.cli import main

ROOT = Path(__file__).resolve().parents[2]
PYTHONPATH = os.pathsep.join((str(ROOT), str(ROOT / "clients" / "python")))
"""Lets a child process import the project, whether or not it is installed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str


class Cli:
    """Runs commands in this process against one pair."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], history: str, compiler: str
    ) -> None:
        monkeypatch.setenv("ANTIPHON_HISTORY_ADDRESS", history)
        monkeypatch.setenv("ANTIPHON_COMPILER_ADDRESS", compiler)
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Outcome:
        """Run one command."""
        self._monkeypatch.setattr(sys, "argv", ["antiphon", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self._capsys.readouterr()
        assert "Traceback" not in err
        return Outcome(int(end.value.code or 0), out, err)


@contextmanager
def command(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Start ``antiphon`` as a process; it is killed if it still runs at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "antiphon_client", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHONPATH, **environment},
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
