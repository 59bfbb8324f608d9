"""What a soak noted, and what it is held to."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from history_service.storage.sqlite import WriterLimits
from tests.load.process import MIB

MEMORY_SHARE = 0.05
MEMORY_BYTES = 16 * MIB
DRIFT = 0.10
WINDOWS = 15
"""Windows of a quarter; its p99 is the median of theirs, so that a burst of other work spoils one only."""
PAGE_BYTES = 4096
_LIMITS = WriterLimits()
LOG_BYTES = (_LIMITS.full_checkpoint_pages + _LIMITS.checkpoint_pages) * (
    PAGE_BYTES + 24
) + _LIMITS.group_bytes
"""The write-ahead log's bound: when it is begun anew, one checkpoint's growth, and the last group."""


@dataclass
class Samples:
    """What a run noted, in the order of time.

    Attributes:
        memory: Bytes in use by each service, by its name.
        log_bytes: Lengths of the write-ahead log.
        appends: When an append ended, in seconds since the start, and the seconds it took.
        echoes: The same of echoes.
        calls: Calls answered.
        failures: What failed.
    """

    memory: dict[str, list[int]] = field(default_factory=dict)
    log_bytes: list[int] = field(default_factory=list)
    appends: list[tuple[float, float]] = field(default_factory=list)
    echoes: list[tuple[float, float]] = field(default_factory=list)
    calls: int = 0
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line of the outcome.

    Attributes:
        name: What was looked at.
        figures: What was found, in words.
        held: Whether it is as it must be.
        is_timing: Whether a busy machine can break it.
    """

    name: str
    figures: str
    held: bool
    is_timing: bool = False

    def __str__(self) -> str:
        return f"{'held  ' if self.held else 'BROKEN'}  {self.name:<18} {self.figures}"


def judge(samples: Samples, seconds: float) -> list[Verdict]:
    """Hold what was noted in so many seconds to what must be."""
    verdicts = [_memory(name, noted, seconds) for name, noted in sorted(samples.memory.items())]
    longest = max(samples.log_bytes, default=0)
    verdicts.append(
        Verdict(
            "write-ahead log",
            f"{longest / MIB:.1f} MiB at most, bound {LOG_BYTES // MIB}",
            longest <= LOG_BYTES,
        )
    )
    verdicts.append(_drift(samples, seconds))
    first = f", first: {samples.failures[0]}" if samples.failures else ""
    verdicts.append(
        Verdict("calls", f"{samples.calls}, {len(samples.failures)} failed{first}", not samples.failures)
    )
    return verdicts


def _memory(name: str, noted: Sequence[int], seconds: float) -> Verdict:
    quarter = max(1, len(noted) // 4)
    before = statistics.median(noted[quarter : 2 * quarter] or noted)
    after = statistics.median(noted[-quarter:])
    # From the middle of the second quarter to that of the last.
    slope = (after - before) / MIB / (seconds / 2 / 3600)
    figures = f"{before / MIB:.0f} -> {after / MIB:.0f} MiB ({slope:+.1f} MiB/h), {max(noted) // MIB} at most"
    return Verdict(f"memory, {name}", figures, after - before <= before * MEMORY_SHARE + MEMORY_BYTES)


def _drift(samples: Samples, seconds: float) -> Verdict:
    appends, echoes = _windows(samples.appends, seconds), _windows(samples.echoes, seconds)

    def quarter(part: int) -> tuple[float, float]:
        """The p99 of appends in a quarter, in seconds, and over that of echoes."""
        numbers = [number for number in range(WINDOWS * part, WINDOWS * (part + 1)) if appends[number]]
        raw = [_p99(appends[number]) for number in numbers]
        over = [_p99(appends[number]) / _p99(echoes[number]) for number in numbers if echoes[number]]
        return statistics.median(raw or [0.0]), statistics.median(over or [0.0])

    (before, early), (after, late) = quarter(1), quarter(3)
    raw, over = (later / first - 1 if first else 0.0 for first, later in ((before, after), (early, late)))
    figures = (
        f"append {before * 1e3:.1f} -> {after * 1e3:.1f} ms ({raw:+.0%}), "
        f"{early:.2f} -> {late:.2f} x a bare echo ({over:+.0%})"
    )
    return Verdict("p99", figures, min(raw, over) < DRIFT, is_timing=True)


def _windows(timed: Sequence[tuple[float, float]], seconds: float) -> list[list[float]]:
    """Sort what calls took into the windows in which they ended."""
    windows: list[list[float]] = [[] for _ in range(4 * WINDOWS)]
    for at, took in timed:
        # Calls that were under way when the time was over belong to the last window.
        windows[min(int(at / seconds * len(windows)), len(windows) - 1)].append(took)
    return windows


def _p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]
