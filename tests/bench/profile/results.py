"""What a profile found, and the file that keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.figures.recording import ROOT

RESULTS = ROOT / "docs" / "figures" / "profiles.json"


@dataclass(slots=True)
class ThreadUse:
    """The time of threads of one kind, in seconds.

    Attributes:
        ran: On a CPU.
        waited: Ready to run, and no CPU free.
        lived: How long the loads took, for each of the threads.
        parts: CPU time by part of the code.
        asleep: How often they were found asleep, by what they waited for.
    """

    ran: float = 0.0
    waited: float = 0.0
    lived: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    asleep: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Use:
    """What the processes of a side used while its loads ran.

    Attributes:
        units: How often the work was done.
        seconds: How long the loads took.
        client: CPU time of the process that made the load.
        commits: Groups of writes that the store put on the disk, a sync each.
        writes: The writes in them.
        threads: By process and kind of thread, as ``history: MainThread``.
    """

    units: int = 0
    seconds: float = 0.0
    client: float = 0.0
    commits: int = 0
    writes: int = 0
    threads: dict[str, ThreadUse] = field(default_factory=dict)

    def parts(self) -> dict[str, float]:
        """CPU time by part of the code, in seconds a unit."""
        found: dict[str, float] = {}
        for thread in self.threads.values():
            for part, seconds in thread.parts.items():
                found[part] = found.get(part, 0.0) + seconds / self.units
        return found

    @property
    def cost(self) -> float:
        """CPU time of the processes, in seconds a unit."""
        return sum(thread.ran for thread in self.threads.values()) / self.units

    @property
    def rate(self) -> float:
        """Units a second."""
        return self.units / self.seconds


@dataclass(frozen=True, slots=True)
class Profile:
    """Both sides of a work, and what they were measured under.

    Attributes:
        ours: The services.
        floor: The floor.
        command: What was run.
        date: The day, ISO 8601.
        conditions: The machine, and how busy it was at the end.
        beside: What was measured beside, in the unit of the bench's row.
    """

    ours: Use
    floor: Use
    command: str
    date: str
    conditions: str
    beside: dict[str, float] = field(default_factory=dict)


def read_profiles(results: Path = RESULTS) -> dict[str, Profile]:
    """Returns the kept profiles by their works; none where there is no file."""
    if not results.exists():
        return {}
    kept: dict[str, Any] = json.loads(results.read_text("utf-8"))
    return {
        work: Profile(**{**found, "ours": _use(found["ours"]), "floor": _use(found["floor"])})
        for work, found in kept.items()
    }


def write_profile(work: str, profile: Profile, results: Path = RESULTS) -> None:
    """Keeps a profile in the place of the work's last."""
    kept = {**read_profiles(results), work: profile}
    document = {name: _rounded(asdict(found)) for name, found in sorted(kept.items())}
    results.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _use(kept: Mapping[str, Any]) -> Use:
    return Use(**{**kept, "threads": {name: ThreadUse(**use) for name, use in kept["threads"].items()}})


def _rounded(value: Any) -> Any:
    """The value with its times in whole 0.1 ms."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return round(value, 4) if isinstance(value, float) else value
