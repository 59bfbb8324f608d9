"""``python -m tests.fuzz``: the full figure, for every service."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.pair import fuzz_compiler, fuzz_exchange, fuzz_history

_SERVICES = {"history": fuzz_history, "exchange": fuzz_exchange, "compiler": fuzz_compiler}


def main() -> int:
    """Fuzz every service, print what came of it, and return 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="requests a service (20,000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other requests (1)")
    parser.add_argument("--service", choices=_SERVICES, help="only this one")
    parser.add_argument("--store", default="memory:", help="the history service's store (memory:)")
    given = parser.parse_args()
    failed = False
    for name in [given.service] if given.service else _SERVICES:
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            report = asyncio.run(_SERVICES[name](Path(folder), given.count, given.seed, given.store))
        print(f"{name}: {report}\n  {time.monotonic() - started:.1f} s, seed {given.seed}", flush=True)
        try:
            report.check()
        except AssertionError as exc:
            print(f"{name}: FAILED: {exc}", file=sys.stderr, flush=True)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
