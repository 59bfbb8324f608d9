"""Files given to a program: reading them, and noticing that they were replaced."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

Signature: TypeAlias = tuple[tuple[int, int, int], ...]
"""What tells one state of some files from another."""


class UnusableFileError(ValueError):
    """A file cannot be used; the text says which one and why, and quotes nothing of it."""


def signature(paths: Sequence[Path]) -> Signature | None:
    """Return the files' present state, or None where one is missing. Cost: a stat of each."""
    try:
        return tuple((found.st_mtime_ns, found.st_size, found.st_ino) for found in map(os.stat, paths))
    except OSError:
        return None


def read_file(path: Path) -> bytes:
    """Read a file whole.

    Raises:
        UnusableFileError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as exc:
        raise UnusableFileError(f"{path}: {exc.strerror}") from None
