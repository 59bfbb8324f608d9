"""What encryption at rest costs: `python -m tests.bench.encryption`.

In one process, without gRPC: the store and the service's own rules, over a file
in clear and an encrypted one in turns. Figures are computing time, of all
threads; those that count are the ratios, each the median over the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.ids import new_id
from history_service.domain import forks
from history_service.storage.port import BranchKey, ReadTransaction
from history_service.storage.sqlite import SqliteStore
from tests.bench.layout import GROUP, STAMPER, append, create, group
from tests.support.encryption import ring

PAGE = 512
PAGE_BYTES = 2**20
Step = Callable[[SqliteStore, str], Awaitable[object]]


async def appends(store: SqliteStore, branch: str) -> None:
    """Four commits of 64 appends of one message."""
    for _ in range(4):
        await group(store, [branch] * GROUP)


async def batch(store: SqliteStore, branch: str) -> None:
    """One append of 64 messages."""
    await store.write(append(branch, 64))


async def read_all(store: SqliteStore, branch: str) -> int:
    """Read a branch in the pages of a snapshot; what the service keeps in memory is not used."""
    key = BranchKey("", branch, branch)
    count, after = 0, None

    def page(tx: ReadTransaction, after: str | None) -> tuple[list[bytes], bool]:
        found = tx.read_messages(key, 2**40, view=None, after=after, limit=PAGE, max_bytes=PAGE_BYTES)
        return found.bodies, found.complete

    complete = False
    while not complete:
        bodies, complete = await store.read(partial(page, after=after))
        count += len(bodies)
        after = bodies[-1][2:38].decode() if bodies else after
    return count


async def fork(store: SqliteStore, branch: str) -> None:
    """Fork a branch, keeping ids."""
    request = pb.ForkBranchRequest(source_branch_id=branch, branch_id=new_id())
    await store.write(lambda tx: forks.fork_branch(tx, "", request, STAMPER, None))


async def compare(name: str, step: Step, cases: list[tuple[SqliteStore, str]], rounds: int) -> None:
    """Take a step on each case in turns; print the ratio of their computing times."""
    times: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        for place in (0, 1) if number % 2 else (1, 0):
            begin = time.process_time()
            await step(*cases[place])
            times[place].append(time.process_time() - begin)
    clear, sealed = (statistics.median(each[1:]) for each in times)
    ratio = statistics.median(b / a for a, b in zip(times[0][1:], times[1][1:], strict=True))
    say(f"{name:44} {1000 * clear:8.2f} ms {1000 * sealed:8.2f} ms {ratio:6.2f} x")


async def run(folder: Path, rounds: int, length: int) -> None:
    """Measure and print a line for each figure, then the files' sizes."""
    stores = [
        SqliteStore(str(folder / "clear.sqlite3")),
        SqliteStore(str(folder / "encrypted.sqlite3"), ring=ring()),
    ]
    for store in stores:
        await store.start()
    try:
        say(f"{'computing time':44} {'in clear':>11} {'encrypted':>11}  ratio")
        cases = [(store, await create(store)) for store in stores]
        await compare(f"{4 * GROUP} appends in commits of {GROUP}", appends, cases, rounds)
        await compare("an append of 64 messages", batch, cases, rounds)
        cases = [(store, await create(store)) for store in stores]
        for store, branch in cases:
            for _ in range(length // 500):
                await store.write(append(branch, 500))
        sizes = [Path(store.path).stat().st_size + _log(store) for store in stores]
        await compare(f"reading {length:,} messages from the store", read_all, cases, rounds)
        await compare(f"forking {length:,} messages", fork, cases, max(3, rounds // 4))
        ratio = sizes[1] / sizes[0]
        say(f"{'bytes of the files before the reads':44} {sizes[0]:11,} {sizes[1]:11,} {ratio:6.2f} x")
    finally:
        for store in stores:
            await store.close()


def _log(store: SqliteStore) -> int:
    return Path(f"{store.path}-wal").stat().st_size


def say(line: str) -> None:
    """Print a line."""
    print(line, flush=True)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="What encryption at rest costs.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--length", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder), options.rounds, options.length))
    return 0


if __name__ == "__main__":
    sys.exit(main())
