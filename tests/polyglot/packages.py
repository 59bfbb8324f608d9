"""The packages that a language's client needs: which are missing, and installing them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from tests.polyglot.languages import Language


@dataclass(frozen=True, slots=True)
class Needed:
    """What ``make packages`` would install.

    Attributes:
        debian: Packages of Debian.
        npm: Whether it installs packages of npm.
    """

    debian: tuple[str, ...]
    npm: bool


def needed(language: Language) -> Needed:
    """Read what a client's Makefile installs, without installing it."""
    told = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "-C", str(language.path), "packages"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    commands = [
        shlex.split(command)
        for line in told.replace("\\\n", " ").splitlines()
        for command in line.split("&&")
    ]
    debian = [
        name for words in commands if "apt-get" in words and "install" in words for name in _names(words)
    ]
    return Needed(tuple(debian), any("npm" in words for words in commands))


def _names(words: Sequence[str]) -> list[str]:
    return [word for word in words[words.index("install") + 1 :] if not word.startswith("-")]


def missing(language: Language) -> list[str]:
    """Return what is not installed, by name; ``npm's`` stands for all of npm's packages."""
    wanted = needed(language)
    names = [name for name in wanted.debian if not _is_installed(name)]
    if wanted.npm and not (language.path / "node_modules" / ".package-lock.json").exists():
        names.append("npm's")
    return names


def _is_installed(name: str) -> bool:
    if shutil.which("dpkg-query") is None:
        return False
    found = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${db:Status-Status}", name],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout == "installed"


def may_install(names: Sequence[str]) -> bool:
    """Whether this user may install them: Debian's need root."""
    return os.geteuid() == 0 or all(name == "npm's" for name in names)
