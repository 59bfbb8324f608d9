"""A short soak, what its verdict sees, and its proof that it sees a leak.

``ANTIPHON_TEST_SOAK`` makes it longer. How long calls take is not held to anything here: the
machine may be busy with other tests.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.load.process import MIB
from tests.load.soak import soak
from tests.load.soak_verdict import LOG_BYTES, Samples, judge

SECONDS = float(os.environ.get("ANTIPHON_TEST_SOAK", "12"))


def broken(samples: Samples, seconds: float) -> list[str]:
    """What did not hold."""
    return [verdict.name for verdict in judge(samples, seconds) if not verdict.held]


@pytest.mark.anyio
async def test_a_short_soak_holds(tmp_path: Path) -> None:
    samples = await soak(tmp_path, seconds=SECONDS, seed=1)
    verdicts = judge(samples, SECONDS)
    assert [str(verdict) for verdict in verdicts if not verdict.held and not verdict.is_timing] == []
    assert samples.calls > 100
    assert len(samples.appends) > 10
    assert len(samples.echoes) > 10
    assert max(samples.log_bytes) > 0


@pytest.mark.anyio
async def test_the_soak_catches_a_leak(tmp_path: Path) -> None:
    samples = await soak(tmp_path, seconds=SECONDS, seed=1, mutant="leaky")
    assert "memory, history" in broken(samples, SECONDS)


def steady() -> Samples:
    """An hour in which nothing changes."""
    times = [(second / 10, 0.002 + second % 7 / 1000) for second in range(36_000)]
    return Samples({"history": [200 * MIB] * 120}, [4 * MIB] * 120, list(times), list(times), 1)


def test_a_steady_hour_holds() -> None:
    assert broken(steady(), 3600) == []


def test_what_is_taken_at_the_start_is_no_leak() -> None:
    samples = steady()
    samples.memory["history"] = [100 * MIB + number * 4 * MIB for number in range(25)] + [200 * MIB] * 95
    assert broken(samples, 3600) == []


def test_each_fault_is_named() -> None:
    growing, long_log, slower, failing = (steady() for _ in range(4))
    growing.memory["history"] = [200 * MIB + number * MIB // 2 for number in range(120)]
    long_log.log_bytes[60] = LOG_BYTES + 1
    slower.appends = [(at, took * (1 + at / 9000)) for at, took in slower.appends]
    failing.failures.append("UNAVAILABLE: gone")
    assert broken(growing, 3600) == ["memory, history"]
    assert broken(long_log, 3600) == ["write-ahead log"]
    assert broken(slower, 3600) == ["p99"]
    assert broken(failing, 3600) == ["calls"]


def test_a_slower_machine_is_no_drift() -> None:
    samples = steady()
    samples.appends = [(at, took * (1 + at / 3600)) for at, took in samples.appends]
    samples.echoes = [(at, took * (1 + at / 3600)) for at, took in samples.echoes]
    assert broken(samples, 3600) == []


def test_a_machine_that_gets_quieter_is_no_drift() -> None:
    samples = steady()
    samples.echoes = [(at, took / (1 + at / 3600)) for at, took in samples.echoes]
    assert broken(samples, 3600) == []


def test_a_burst_of_other_work_is_no_drift() -> None:
    samples = steady()
    samples.appends = [(at, took * (20 if 3000 < at < 3200 else 1)) for at, took in samples.appends]
    assert broken(samples, 3600) == []
