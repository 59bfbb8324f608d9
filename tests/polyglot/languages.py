"""The languages of the contract: where each client is, and the command of every step."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

STEPS = ("drift", "build", "tests", "example", "scenarios")
"""What is done for each language, in order, after its packages are there."""

_TARGETS = {
    "packages": "packages",
    "drift": "check",
    "build": "build",
    "tests": "test",
    "example": "example",
    "scenarios": "scenarios",
}


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a pair listens, HOST:PORT each."""

    history: str
    compiler: str

    def names(self) -> dict[str, str]:
        """Return the variables that the clients' READMEs name them by."""
        return {"ANTIPHON_HISTORY": self.history, "ANTIPHON_COMPILER": self.compiler}

    def environment(self) -> dict[str, str]:
        """Return those, and the ones that the Python SDK reads."""
        sdk = {"ANTIPHON_HISTORY_ADDRESS": self.history, "ANTIPHON_COMPILER_ADDRESS": self.compiler}
        return self.names() | sdk


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes:
        name: Its name.
        folder: Its client, below the repository.
        commands: Commands by step, for a language that has no Makefile of the common form; a step that is
            not there has nothing to do. None: the Makefile's targets.
    """

    name: str
    folder: str
    commands: Mapping[str, tuple[str, ...]] | None = None

    @property
    def path(self) -> Path:
        """The client's folder."""
        return ROOT / self.folder

    def command(self, step: str, addresses: Addresses, transcripts: Path) -> tuple[str, ...] | None:
        """Return the command of a step; None where there is nothing to do."""
        if self.commands is None:
            return self._make(step, addresses, transcripts)
        command = self.commands.get(step)
        if command is not None and step == "scenarios":
            given = ("--history", addresses.history, "--compiler", addresses.compiler)
            return (*command, *given, "--transcripts", str(transcripts))
        return command

    def _make(self, step: str, addresses: Addresses, transcripts: Path) -> tuple[str, ...]:
        command = ["make", "--no-print-directory", "--silent", "-C", str(self.path), _TARGETS[step]]
        if step in ("example", "scenarios"):
            command += [f"HISTORY={addresses.history}", f"COMPILER={addresses.compiler}"]
        if step == "scenarios":
            command.append(f"ARGS=--transcripts {shlex.quote(str(transcripts))}")
        return tuple(command)


PYTHON = Language(
    "python",
    "clients/python",
    {
        "drift": (sys.executable, "scripts/protos.py", "check"),
        "tests": (sys.executable, "-m", "pytest", "-q", "tests/unit/test_polyglot_runner.py"),
        "example": (sys.executable, "clients/python/examples/conversation.py"),
        "scenarios": (sys.executable, "-m", "tests.polyglot.runner"),
    },
)
"""The first, whose transcripts are what the others' are compared with."""

LANGUAGES = (
    PYTHON,
    Language("typescript", "clients/typescript"),
    Language("go", "clients/go"),
    Language("java", "clients/java"),
    Language("ruby", "clients/ruby"),
)
"""All of them, in the order of the table."""
