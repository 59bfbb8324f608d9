"""Runs a profile: `make profile WORK=append`, or `python -m tests.bench.profile --help`.

The row's load runs on the real services and on the floor, in turns, with a sampler
inside of each server; the tables say what CPU time each part of the code takes, and
what the threads wait for. Progress goes to standard error, tables to standard output.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import uvloop

from tests.bench.profile.results import RESULTS, write_profile
from tests.bench.profile.run import profile
from tests.bench.profile.tables import parts_table, summary, threads_table
from tests.bench.profile.works import WORKS
from tests.figures.profiles import PAGE, write_profiles_page
from tests.figures.recording import ROOT, command_line


def parse() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.profile", description=__doc__)
    parser.add_argument("works", nargs="+", choices=WORKS, metavar="WORK", help=f"what: {', '.join(WORKS)}")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long a turn takes (3)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each side (7)")
    parser.add_argument(
        "--record",
        action="store_true",
        help=f"write into {RESULTS.relative_to(ROOT)}, and {PAGE.relative_to(ROOT)} anew",
    )
    return parser.parse_args()


def main() -> int:
    """Profiles each work and prints its tables."""
    options = parse()
    if not Path("/proc/self/schedstat").exists():
        print("Profiles need Linux with the scheduler's counts, /proc/PID/schedstat.", file=sys.stderr)
        return 2
    begin = time.monotonic()
    for name in options.works:
        work = WORKS[name]

        def say(text: str, name: str = name) -> None:
            print(f"[{time.monotonic() - begin:5.0f} s] {name}: {text}", file=sys.stderr, flush=True)

        command = " ".join(word for word in command_line().split() if word == name or word not in WORKS)
        found = uvloop.run(
            profile(work, seconds=options.seconds, rounds=options.rounds, command=command, say=say)
        )
        print(f"\n## {work.title}\n\n{summary(work, found)}\n")
        print(f"{parts_table(work, found)}\n\n{threads_table(found)}", flush=True)
        if options.record:
            write_profile(name, found)
            write_profiles_page()
            say(f"written to {RESULTS.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
