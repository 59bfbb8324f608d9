"""The services as programs, the way an operator starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EXIT_SECONDS = 30
"""How long a program may take to end before a test gives up on it."""


def _environment() -> dict[str, str]:
    """The tester's environment without settings of ours, with the repository importable."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANTIPHON_")}
    return kept | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")])}


@dataclass
class Program:
    """A running service.

    Attributes:
        process: The process.
        ready: Its ready line, parsed.
    """

    process: subprocess.Popen[str]
    ready: dict[str, Any]

    @property
    def address(self) -> str:
        """Where it listens."""
        return str(self.ready["address"])

    def end(self, *signals: int) -> tuple[int, str]:
        """Send signals, wait for the end, and return the exit code and standard error."""
        for number in signals:
            self.process.send_signal(number)
        _, err = self.process.communicate(timeout=EXIT_SECONDS)
        return self.process.returncode, err


@contextmanager
def program(module: str, *arguments: str) -> Iterator[Program]:
    """Run a service until the context ends; it is serving when the context begins."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            _, err = process.communicate(timeout=EXIT_SECONDS)
            raise AssertionError(f"{module} ended with {process.returncode}: {err}")
        yield Program(process, json.loads(line))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def run_program(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a service that is expected to end by itself."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=EXIT_SECONDS,
        check=False,
    )
