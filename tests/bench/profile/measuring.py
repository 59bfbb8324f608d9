"""What the server processes of a side do while its load runs: CPU time by part of the code, and waits."""

from __future__ import annotations

import contextlib
import re
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.bench.profile.parts import OTHER, part_of_stack, part_of_thread
from tests.bench.profile.processes import Clock, clocks, family
from tests.bench.profile.results import ThreadUse, Use
from tests.bench.profile.sampler import SAMPLER, name_file, stacks_file
from tests.bench.profile.stacks import read_stacks
from tests.bench.profile.waits import LOCK, LOCK_OF_PYTHON, watching

_NUMBERED = re.compile(r"(?:Thread)?[-_ ]?\d+(?: \((\w+)\))?$")
"""What tells threads of one kind apart in their names."""
_COMMITS = re.compile(r"^antiphon_store_commit_writes_(count|sum) (\S+)", re.MULTILINE)
"""How many groups of writes there were, and how many writes in all of them."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A thread's clock and how much it has written of its stacks."""

    clock: Clock
    written: int


class Probe:
    """Measures the processes of one side; each load in a `window` of its own, added up in ``use``."""

    def __init__(self, pids: Mapping[str, int], folder: Path, metrics: str | None = None) -> None:
        """Set up.

        Args:
            pids: The processes by name; those that they started count with them.
            folder: Where the samplers write.
            metrics: ``HOST:PORT`` where the store's figures are published; None for none.
        """
        self.use = Use()
        self._pids = pids
        self._folder = folder
        self._metrics = metrics

    @contextlib.contextmanager
    def window(self) -> Iterator[None]:
        """Measures what runs in the block."""
        commits, before = self._commits(), dict(self._read())
        with watching([(pid, thread) for _, pid, thread in before]) as asleep:
            begin, client = time.perf_counter(), time.process_time()
            yield
            seconds = time.perf_counter() - begin
            self.use.seconds += seconds
            self.use.client += time.process_time() - client
        after = dict(self._read())
        now = self._commits()
        self.use.commits += now["count"] - commits["count"]
        self.use.writes += now["sum"] - commits["sum"]
        for key, reading in after.items():
            use = self._add(key, before.get(key), reading, asleep.get(key[2], {}))
            if use is not None:
                use.lived += seconds

    def _add(
        self, key: tuple[str, int, int], before: _Reading | None, after: _Reading, asleep: Mapping[str, int]
    ) -> ThreadUse | None:
        """Add what a thread has done since; returns the use of its kind, None of the sampler's."""
        process, pid, thread = key
        named = name_file(self._folder, pid, thread)
        in_python = named.exists()
        name = _kind(named.read_text("utf-8") if in_python else after.clock.name)
        if name == SAMPLER:
            return None
        begin = before or _Reading(Clock("", 0, 0), 0)
        ran = after.clock.ran - begin.clock.ran
        use = self.use.threads.setdefault(f"{process}: {name}", ThreadUse())
        use.ran += ran
        use.waited += after.clock.waited - begin.clock.waited
        for cause, count in asleep.items():
            if cause == LOCK_OF_PYTHON and not in_python:
                cause = LOCK
            use.asleep[cause] = use.asleep.get(cause, 0) + count
        for part, share in self._shares(pid, thread, begin.written, after):
            use.parts[part] = use.parts.get(part, 0.0) + ran * share
        return use

    def _shares(self, pid: int, thread: int, begin: int, after: _Reading) -> Iterator[tuple[str, float]]:
        """Yields the shares of a thread's CPU time by part."""
        file = stacks_file(self._folder, pid, thread)
        if not file.exists():
            yield part_of_thread(after.clock.name), 1.0
            return
        with file.open("rb") as stacks:
            stacks.seek(begin)
            found = read_stacks(stacks.read(after.written - begin).decode())
        if not found:
            yield OTHER, 1.0
        for stack, count in found.items():
            yield part_of_stack(stack), count / found.total()

    def _read(self) -> Iterable[tuple[tuple[str, int, int], _Reading]]:
        for process, first in self._pids.items():
            for pid in family(first):
                label = process if pid == first else f"{process}'s worker"
                for thread, clock in clocks(pid).items():
                    file = stacks_file(self._folder, pid, thread)
                    written = file.stat().st_size if file.exists() else 0
                    yield (label, pid, thread), _Reading(clock, written)

    def _commits(self) -> Counter[str]:
        if self._metrics is None:
            return Counter()
        with urllib.request.urlopen(f"http://{self._metrics}/metrics") as page:
            found = _COMMITS.findall(page.read().decode())
        return Counter({name: int(float(value)) for name, value in found})


def _kind(name: str) -> str:
    """What threads of a kind are called, without their numbers."""
    return _NUMBERED.sub(lambda found: found[1] or "", name) or name
