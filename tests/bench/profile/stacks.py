"""The stacks that the sampler wrote: read, and their files named by module path."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

Frame: TypeAlias = tuple[str, str]
"""A module's path, as ``history_service/servicer.py``, and the function's name."""
Stack: TypeAlias = tuple[Frame, ...]
"""Innermost frame first."""

_HEAD = "Stack (most recent call first):"
_FRAME = re.compile(r'  File "(?P<file>.*)", line \d+ in (?P<function>.*)')
_ROOTS = re.compile(r"^.*/(?:site-packages|dist-packages|clients/python|lib/python3\.\d+)/")
_OURS = re.compile(r"^.*/(?=(?:history_service|compiler_service|tests)/)")


def read_stacks(text: str) -> Counter[Stack]:
    """Counts the stacks of a sampler's file; one that is cut off at its end is left out."""
    return Counter(_stacks(text))


def module_path(file: str) -> str:
    """A file's path below the folder that its package is imported from."""
    return _OURS.sub("", _ROOTS.sub("", file))


def _stacks(text: str) -> Iterator[Stack]:
    for block in text.split(_HEAD)[1:]:
        if block.endswith("\n"):
            frames = (_FRAME.fullmatch(line) for line in block.splitlines())
            yield tuple((module_path(found["file"]), found["function"]) for found in frames if found)
