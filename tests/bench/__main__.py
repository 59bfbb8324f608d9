"""Runs the benchmarks: `make bench`, or `python -m tests.bench --help`.

Server and load generator are two processes, as in use. Everything is compared with
something measured in the same run, in turns, since the figures of a shared machine
mean nothing alone. Progress goes to standard error, rows to standard output.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import uvloop

from tests.bench import append, compile, length, mailbox, projection, sessions, snapshot
from tests.bench.memory import keep_freed_memory
from tests.bench.report import HEADER, Absent, Row, format_row, write_json
from tests.bench.servers import ROOT, Servers, running
from tests.bench.table import with_table
from tests.figures.page import PAGE, write_page

GROUPS = ("append", "length", "snapshot", "compile", "projection", "mailbox", "sessions")
OF_PEERS = frozenset(("compile", "projection"))
FIGURES = ROOT / "docs" / "figures" / "bench.json"
README = ROOT / "README.md"


def parse() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a short run: rougher figures in about a minute, not written down",
    )
    parser.add_argument(
        "--only", choices=GROUPS, action="append", help="run this group only; may be repeated"
    )
    parser.add_argument("--profile", type=Path, metavar="DIR", help="draw a flame graph of each server here")
    parser.add_argument(
        "--out", type=Path, help=f"where the JSON goes; a whole run writes {FIGURES.relative_to(ROOT)}"
    )
    return parser.parse_args()


async def run(options: argparse.Namespace) -> tuple[list[Row], list[Absent]]:
    """Runs the chosen groups; returns their rows, and those that could not be measured."""
    begin = time.monotonic()
    chosen = options.only or GROUPS
    rows: list[Row] = []
    absent: list[Absent] = []

    def say(text: str) -> None:
        print(f"[{time.monotonic() - begin:5.0f} s] {text}", file=sys.stderr, flush=True)

    async def show(measured: AsyncIterator[Row | Absent]) -> None:
        async for row in measured:
            if isinstance(row, Absent):
                absent.append(row)
                print(row, flush=True)
            else:
                rows.append(row)
                print(format_row(row), flush=True)

    print(HEADER, flush=True)
    for group in [group for group in GROUPS if group in chosen]:
        folder = options.profile and options.profile / group
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        # Services of its own, so that a group finds the same whether others ran before it or not.
        async with running(append.reply_bytes(), folder) as servers:
            gc.collect()
            gc.freeze()
            await show(_measured(group, servers, say, is_quick=options.quick))
    say("done")
    return rows, absent


def _measured(
    group: str, servers: Servers, say: Callable[[str], None], *, is_quick: bool
) -> AsyncIterator[Row | Absent]:
    """The rows of a group, measured while they are read."""
    match group:
        case "append":
            seconds, rounds = (0.7, 3) if is_quick else (2.0, 7)
            return append.measure(servers, seconds=seconds, rounds=rounds, say=say)
        case "length":
            return length.measure(servers, rounds=200 if is_quick else 1_000, say=say)
        case "snapshot":
            return snapshot.measure(servers, rounds=5 if is_quick else 21, say=say)
        case "compile":
            return compile.measure(servers, rounds=1 if is_quick else 7, say=say)
        case "projection":
            return projection.measure(rounds=5 if is_quick else 31, say=say)
        case "mailbox":
            return mailbox.measure(servers, rounds=5 if is_quick else 31, say=say)
        case _:
            return sessions.measure(servers, rounds=3 if is_quick else 15, say=say)


def main() -> int:
    """Runs and writes the figures; a missed target is no failure, a wrong result is."""
    options = parse()
    if OF_PEERS.intersection(options.only or GROUPS) and not compile.PEER_PYTHON.exists():
        print(
            "The packages to compare with are not installed; run `make bench-peers` first.", file=sys.stderr
        )
        return 2
    keep_freed_memory()
    rows, absent = uvloop.run(run(options))
    # Rough figures do not take the place of those that are kept.
    out = options.out or (None if options.only or options.quick else FIGURES)
    if out:
        write_json(out, rows, absent, quick=options.quick)
        print(f"written to {out}", file=sys.stderr)
    if out == FIGURES:
        README.write_text(with_table(README.read_text("utf-8"), rows), "utf-8")
        write_page()
        print(f"its table is in {README.name}, all figures in {PAGE.relative_to(ROOT)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
