"""What the kernel counts of processes and their threads, from ``/proc``; Linux only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Clock:
    """A thread's time since it began, in seconds.

    Attributes:
        name: The name that the kernel knows it by.
        ran: On a CPU.
        waited: Ready to run, and no CPU free.
    """

    name: str
    ran: float
    waited: float


def family(pid: int) -> Iterator[int]:
    """Yields a process and all that descend from it."""
    yield pid
    for children in (_PROC / str(pid) / "task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in children.read_text().split():
                yield from family(int(child))


def clocks(pid: int) -> dict[int, Clock]:
    """The clocks of a process's threads by their ids; nothing of one that has ended."""
    found = {}
    for task in (_PROC / str(pid) / "task").iterdir():
        with contextlib.suppress(OSError):
            ran, waited, _ = (task / "schedstat").read_text().split()
            name = (task / "comm").read_text().strip()
            found[int(task.name)] = Clock(name, int(ran) / 1e9, int(waited) / 1e9)
    return found
