"""What a diagnosis finds: one line a check, and what to do about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, TypeAlias

Level: TypeAlias = Literal["ok", "warning", "failure"]

EXIT_CODES: dict[Level, int] = {"ok": 0, "warning": 1, "failure": 2}
"""What a program that looked for findings ends with, by the worst of them."""


class Finding(NamedTuple):
    """The outcome of one check.

    Attributes:
        check: What was looked at, as ``store.schema``.
        level: ``ok``, ``warning`` (works, but not as it should) or ``failure``.
        text: What was found; ids, figures and paths, never contents.
        advice: What to do; empty where nothing is to be done.
    """

    check: str
    level: Level
    text: str
    advice: str = ""


def exit_code(findings: Iterable[Finding]) -> int:
    """Return the exit code that the worst finding asks for; 0 for none."""
    return max((EXIT_CODES[finding.level] for finding in findings), default=0)


def timed(work: Callable[[], object]) -> float:
    """Do something and return how many seconds it took."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
