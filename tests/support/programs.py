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
from tempfile import TemporaryFile
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
EXIT_SECONDS = 30
"""How long a program may take to end before a test gives up on it."""


NOTHING_READY = {f"ANTIPHON_{service}_READY_BYTES": "0" for service in ("HISTORY", "COMPILER")}
"""Tests start services by the hundred, which fetch no memory for their caches where nothing else is said."""


def _environment() -> dict[str, str]:
    """The tester's environment without settings of ours, with the repository importable."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANTIPHON_")}
    paths = os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")])
    return kept | NOTHING_READY | {"PYTHONPATH": paths}


def run_script(script: str) -> str:
    """Run Python code in an interpreter of its own, with the tester's packages; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


@dataclass
class Program:
    """A running service.

    Attributes:
        process: The process.
        ready: Its ready line, parsed.
        log: Its standard error.
    """

    process: subprocess.Popen[str]
    ready: dict[str, Any]
    log: IO[str]

    @property
    def address(self) -> str:
        """Where it listens."""
        return str(self.ready["address"])

    def end(self, *signals: int) -> tuple[int, str]:
        """Send signals, wait for the end, and return the exit code and standard error."""
        for number in signals:
            self.process.send_signal(number)
        code = self.process.wait(EXIT_SECONDS)
        self.log.seek(0)
        return code, self.log.read()


@contextmanager
def program(module: str, *arguments: str) -> Iterator[Program]:
    """Run a service until the context ends; it is serving when the context begins.

    Its log goes to a file: a pipe that nobody reads would fill and stop it.
    """
    with (
        TemporaryFile("w+", encoding="utf-8") as log,
        subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                process.wait(EXIT_SECONDS)
                log.seek(0)
                raise AssertionError(f"{module} ended with {process.returncode}: {log.read()}")
            yield Program(process, json.loads(line), log)
        finally:
            if process.poll() is None:
                process.kill()


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
