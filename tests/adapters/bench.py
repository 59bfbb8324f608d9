"""Loading a session of 1,000 items: ours beside the framework's own SQLite session.

Run it by `make adapters-bench`. The history service is a process of its own with a
SQLite store, as in use; the frameworks' sessions read their SQLite files in this
process, which is warm: all code is loaded, and both sides have loaded the session
before. Both load in turns, each in front every second time. What each side does is
said in `tests.adapters.bench_frameworks`; the scopes are

opened     a new client or engine: ours opens a channel beside one that is in use, so
           that gRPC shares its connection, as it does in any process; theirs opens its
           file and makes its tables if they are absent; both make a session object,
           load the session and close what they opened
first      the channel, engine or service is kept; a new session object of a client that
           holds nothing of the session; a session that has no engine opens its file
first of   as first, of a branch that the service has not read before: it is another copy
a branch   of the session each time, with nothing of it among the service's kept pages
again      the session object is kept, as from turn to turn of a conversation

The times are medians of all loads; beside their ratio stands that of the shortest
loads, which other work on the machine touches least. What is loaded is compared with
what was stored before anything is timed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from antiphon_client import AsyncHistoryClient
from tests.adapters.bench_frameworks import FRAMEWORKS, Load, Place, Sides

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 30.0


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    """Runs the history service on a SQLite store; gives its address."""
    address = f"unix:{folder}/h.sock"
    command = [
        sys.executable,
        "-m",
        "history_service",
        "--listen",
        address,
        "--store",
        f"sqlite:{folder}/h.db",
    ]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")])
    environment = {**os.environ, "PYTHONPATH": paths}
    with (folder / "service.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not (folder / "h.sock").exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((folder / "service.log").read_text())
            await asyncio.sleep(0.02)
        yield address
    finally:
        process.terminate()
        process.wait()


async def timed(load: Load) -> float:
    """Milliseconds that a load takes."""
    begin = time.perf_counter()
    await load()
    return (time.perf_counter() - begin) * 1e3


async def raced(theirs: Load, ours: Load, rounds: int) -> tuple[list[float], list[float]]:
    """Loads in turns and returns both sides' times."""
    gc.collect()
    gc.freeze()
    times: tuple[list[float], list[float]] = [], []
    for number in range(rounds):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            times[side].append(await timed((theirs, ours)[side]))
    return times


def row(name: str, beside: str, theirs: Sequence[float], ours: Sequence[float]) -> float:
    """Prints a row and returns the ratio of the medians."""
    medians = statistics.median(theirs), statistics.median(ours)
    ratio, least = medians[1] / medians[0], min(ours) / min(theirs)
    print(
        f"{name:<36} {beside:<23} {medians[0]:>7.2f} ms {medians[1]:>7.2f} ms {ratio:>7.2f} {least:>9.2f}",
        flush=True,
    )
    return ratio


async def run(options: argparse.Namespace) -> dict[str, float]:
    """Runs every contest and returns the ratios, each by what was loaded how, and beside what."""
    title = f"loading {options.items} items"
    print(f"{title:<36} {'beside':<23} {'theirs':>10} {'ours':>10} {'ratio':>7} {'shortest':>9}", flush=True)
    ratios: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        async with served(folder) as address, AsyncHistoryClient(address) as history:
            place = Place(folder, history, options.items, options.rounds)
            for framework in FRAMEWORKS:
                if not options.only or framework.__name__ in options.only:
                    async for sides in framework(place):
                        ratios |= await all_of(sides, options.rounds)
    return ratios


async def all_of(sides: Sides, rounds: int) -> dict[str, float]:
    """Runs the contests between two sides, a scope each; returns the ratios."""
    contests = {
        "opened": (sides.theirs_opened, sides.ours_opened),
        "first": (sides.theirs_first, sides.ours_first),
        "first of a branch": (sides.theirs_first, sides.ours_of_a_branch),
        "again": (sides.theirs_again, sides.ours_again),
    }
    ratios = {}
    for scope, loads in contests.items():
        times = await raced(*loads, rounds)
        name = f"{sides.name}, {scope}"
        ratios[f"{name}, beside {sides.theirs_name}"] = row(name, sides.theirs_name, *times)
    return ratios


def main() -> int:
    """Prints the table; a ratio over 1 is shown, and no failure."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.adapters.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--items", type=int, default=1000, help="items of the session, a multiple of 8")
    parser.add_argument("--rounds", type=int, default=31, help="loads of each side and scope")
    parser.add_argument("--only", action="append", metavar="FRAMEWORK", help="may be repeated")
    slower = [name for name, ratio in asyncio.run(run(parser.parse_args())).items() if ratio > 1]
    print(f"slower than the framework's own: {len(slower)}", *slower, sep="\n  ")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
