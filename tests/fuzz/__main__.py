"""``python -m tests.fuzz``: the full figure, for every service."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.figures.recording import parse_with_record, record_figure
from tests.fuzz.harness import Report
from tests.fuzz.pair import fuzz_compiler, fuzz_exchange, fuzz_history

_SERVICES = {"history": fuzz_history, "exchange": fuzz_exchange, "compiler": fuzz_compiler}

SERIES = 50_000
"""Requests of a series: it registers owners all the time, and an exchange takes 10,000."""


def main() -> int:
    """Fuzz every service, print what came of it, and return 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="requests a service (20,000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other requests (1)")
    parser.add_argument("--service", choices=_SERVICES, help="only this one")
    parser.add_argument("--store", default="memory:", help="the history service's store (memory:)")
    given = parse_with_record(parser)
    failed = False
    reports: list[Report] = []
    begin = time.monotonic()
    for name in [given.service] if given.service else _SERVICES:
        started = time.monotonic()
        report = _fuzz(name, given.count, given.seed, given.store)
        reports.append(report)
        print(f"{name}: {report}\n  {time.monotonic() - started:.1f} s, seed {given.seed}", flush=True)
        try:
            report.check()
        except AssertionError as exc:
            print(f"{name}: FAILED: {exc}", file=sys.stderr, flush=True)
            failed = True
    if given.record:
        _record(reports, held=not failed, seconds=time.monotonic() - begin)
    return int(failed)


def _fuzz(name: str, count: int, seed: int, store: str) -> Report:
    """Fuzz a service by as many series as it takes, each of another seed and on a service of its own."""
    total = Report()
    for number, start in enumerate(range(0, count, SERIES)):
        with tempfile.TemporaryDirectory() as folder:
            sent = min(SERIES, count - start)
            total.add(asyncio.run(_SERVICES[name](Path(folder), sent, seed + number, store)))
        print(f"{name}: {total.cases:,} of {count:,}", file=sys.stderr, flush=True)
    return total


def _record(reports: list[Report], *, held: bool, seconds: float) -> None:
    sent, past = (sum(getattr(report, name) for report in reports) for name in ("cases", "past_parsing"))
    failures = sum(len(report.failures) for report in reports)
    found = f"{sent:,} requests, {past / sent:.0%} past parsing, {failures} failures"
    record_figure("malformed_requests", sent, found, seconds=seconds, held=held)


if __name__ == "__main__":
    sys.exit(main())
