"""Runs random programs in memory, on a store and on the model: `python -m tests.conformance.programs`.

A program is up to 25 writes, forks, trims, deletions, purges and restarts on a few
branches of one fork tree. Every answer, every readable revision of every branch
and every body left in the store must be the same in memory and in the store, in
clear or encrypted (``--store encrypted``), and what the model says.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from tests.figures.recording import parse_with_record, record_figure
from tests.support import postgres
from tests.support.history import STORES, on_postgres
from tests.support.history_programs import STEPS, AnyStep
from tests.support.history_runs import empty_folder, run_beside_memory
from tests.support.store_mutants import STORE_MUTANTS


def run_programs(kind: str, count: int, seed: int, *, shrink: bool = True) -> Counter[str]:
    """Run so many programs in memory and on a store; return what they were made of.

    Raises:
        AssertionError: They answer differently; it shows the smallest such program when ``shrink`` is set.
    """
    counted: Counter[str] = Counter()
    begin = time.monotonic()

    @seeded(seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(STEPS, min_size=10, max_size=25))
    def program(steps: Sequence[AnyStep]) -> None:
        with empty_folder(kind) as folder:
            run_beside_memory(kind, folder, steps)
        counted["programs"] += 1
        counted.update(f"{type(step).__name__.lower()} steps" for step in steps)
        if counted["programs"] % 500 == 0:
            sys.stderr.write(f"[{time.monotonic() - begin:5.0f} s] {counted['programs']} programs\n")

    program()
    return counted


def main() -> int:
    """Run the programs; a difference ends the run with the smallest program that shows it."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.programs", description=__doc__)
    parser.add_argument("--programs", type=int, default=5000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument(
        "--store", choices=STORES[1:], default="sqlite", help="the store beside memory (sqlite)"
    )
    parser.add_argument("--mutant", choices=["none", *STORE_MUTANTS], default="none")
    options = parse_with_record(parser)
    kind: str = options.store
    if on_postgres(kind):
        sys.stderr.write(f"{postgres.shared_server().version}\n")
    if options.mutant != "none":
        STORE_MUTANTS[options.mutant]()
    begin = time.monotonic()
    counted = run_programs(kind, options.programs, options.seed)
    for name, number in sorted(counted.items()):
        sys.stdout.write(f"{number:8,} {name}\n")
    seconds = time.monotonic() - begin
    sys.stdout.write(f"memory = {kind} = model in all of them; {seconds:.0f} s\n")
    if options.record:
        steps = counted.total() - counted["programs"]
        found = f"{counted['programs']:,} programs of {steps:,} steps, seed {options.seed}: all equal"
        record_figure(f"programs_{kind}", counted["programs"], found, seconds=seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
