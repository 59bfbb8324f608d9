"""What threads wait for, seen from outside: the system call that each is asleep in, again and again.

A program of its own, so that neither the service nor the load waits for it. It reads
``/proc/PID/task/TID/syscall``, which a process may read of its children.
"""

from __future__ import annotations

import contextlib
import json
import platform
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

SECONDS = 0.005
LOCK_OF_PYTHON = "Python's lock"
LOCK = "work (queues)"
SYNC = "the disk"
EVENTS = "work (files and sockets)"
ELSE = "something else"
CAUSES = (LOCK_OF_PYTHON, SYNC, EVENTS, LOCK, ELSE)

_NUMBERS: Mapping[str, Mapping[str, frozenset[int]]] = {
    "x86_64": {
        "futex": frozenset((202,)),
        SYNC: frozenset((74, 75)),
        EVENTS: frozenset((0, 7, 45, 47, 232, 271, 281)),
    },
    "aarch64": {
        "futex": frozenset((98,)),
        SYNC: frozenset((82, 83)),
        EVENTS: frozenset((22, 63, 73, 207, 212)),
    },
}
"""The system calls' numbers by the machine's architecture."""


def cause(call: str, machine: str) -> str | None:
    """What a thread is asleep for; None while it runs or could run.

    Args:
        call: What the kernel says of it, ``/proc/PID/task/TID/syscall``.
        machine: The architecture, as `platform.machine` says it.
    """
    words = call.split()
    if not words or words[0] == "running":
        return None
    numbers = _NUMBERS.get(machine, {})
    number = int(words[0])
    if number in numbers.get("futex", ()):
        # Python waits for its lock with a timeout, to ask for it again, and for a queue without one.
        return LOCK if int(words[4], 16) == 0 else LOCK_OF_PYTHON
    return next((name for name in (SYNC, EVENTS) if number in numbers.get(name, ())), ELSE)


@contextlib.contextmanager
def watching(threads: Sequence[tuple[int, int]]) -> Iterator[dict[int, Counter[str]]]:
    """Watches threads, given as process and thread, while the block runs; fills the counts at its end.

    Where the kernel does not let itself be asked, the counts stay empty.
    """
    counts: dict[int, Counter[str]] = {}
    command = [sys.executable, "-m", "tests.bench.profile.waits", *(f"{pid}/{tid}" for pid, tid in threads)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as watcher:
        try:
            yield counts
        finally:
            said, _ = watcher.communicate()
            counts.update((int(thread), Counter(found)) for thread, found in json.loads(said or "{}").items())


def _watch(threads: Sequence[str]) -> dict[int, Counter[str]]:
    """Look at the threads until standard input ends."""
    machine = platform.machine()
    files = {}
    for thread in threads:
        pid, _, number = thread.partition("/")
        files[int(number)] = Path("/proc") / pid / "task" / number / "syscall"
    counts: dict[int, Counter[str]] = {tid: Counter() for tid in files}
    while not select.select([sys.stdin], [], [], SECONDS)[0]:
        for tid, file in files.items():
            # A thread may end; and a kernel may not let itself be asked.
            with contextlib.suppress(OSError):
                waiting = cause(file.read_text(), machine)
                if waiting is not None:
                    counts[tid][waiting] += 1
    return counts


if __name__ == "__main__":
    print(json.dumps(_watch(sys.argv[1:])))
