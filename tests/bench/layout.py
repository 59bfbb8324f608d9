"""How the SQLite layout behaves as branches grow: `python -m tests.bench.layout`.

In one process, without gRPC: the store and the service's own rules. Rates are of
durable commits of 64 appends each, in turns between the cases, so that a shared
machine troubles both alike; the figures that count are the ratios. What an append
writes is counted beside: the first 200 to a branch and the 200 around the length,
each a commit of its own, in a file that holds other branches too;
``tests/unit/test_sqlite_cost.py`` checks it.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import apsw

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.ids import new_id, new_ordered_ids
from antiphon_client.limits import DEFAULT_LIMITS
from history_service.domain import branches, forks, membership, retention
from history_service.domain.prepared import Stamper
from history_service.domain.writes import WriteCall, write_branch
from history_service.storage.port import WriteTransaction
from history_service.storage.sqlite import SqliteStore
from history_service.sweeping import sweep_branch
from tests.support.sqlite_writer import BRANCH, TEXT, CountingWriter

GROUP = 64
CALL = WriteCall("", "", b"", b"", 0)
STAMPER = Stamper(time.time_ns, new_id, new_ordered_ids, DEFAULT_LIMITS.message_bytes)


async def create(store: SqliteStore) -> str:
    """Make a branch."""
    request = pb.CreateBranchRequest(branch_id=new_id())
    await store.write(lambda tx: branches.create_branch(tx, "", request, STAMPER))
    return request.branch_id


def append(branch: str, count: int = 1) -> partial[bytes]:
    """What appends messages to a branch."""
    drafts = [
        message_pb.Message(instruction=message_pb.InstructionContent(instruction=TEXT)) for _ in range(count)
    ]
    rule = partial(membership.add_messages, batch=STAMPER.prepare_all(drafts), allow_unresolved=False)
    return partial(write_branch, call=CALL, branch_id=branch, expected_revision=None, rule=rule)


async def group(store: SqliteStore, targets: Sequence[str]) -> float:
    """Append one message to each target at once; return the seconds."""
    works = [append(branch) for branch in targets]
    begin = time.perf_counter()
    await asyncio.gather(*(store.write(work) for work in works))
    return time.perf_counter() - begin


async def compare(store: SqliteStore, cases: Sequence[Sequence[str]], rounds: int) -> list[float]:
    """Append to each case's branches in turns; return each case's appends a second."""
    seconds: list[list[float]] = [[] for _ in cases]
    for number in range(rounds):
        for case, targets in enumerate(cases):
            start = number * GROUP % max(1, len(targets))
            chosen = [targets[(start + place) % len(targets)] for place in range(GROUP)]
            seconds[case].append(await group(store, chosen))
    return [GROUP / statistics.median(times) for times in seconds]


async def run(folder: Path, rounds: int, length: int, interleaved: int) -> None:
    """Measure and print."""
    store = SqliteStore(str(folder / "history.sqlite3"))
    await store.start()
    try:
        await measure(store, rounds, length, interleaved)
    finally:
        await store.close()


async def measure(store: SqliteStore, rounds: int, length: int, interleaved: int) -> None:
    """Print a line for each figure."""
    short, long = [await create(store) for _ in range(2)]
    await store.write(append(short, 10))
    sizes = [_size(store)]
    for start in range(0, length, 500):
        await store.write(append(long, min(500, length - start)))
        sizes.append(_size(store))
    # Several short ones, as each grows with the rounds.
    shorts = [short, *[await create(store) for _ in range(rounds * GROUP // 1000)]]
    rates = await compare(store, [shorts, [long]], rounds)
    say(f"appends a second to a branch of 10 messages and more     {rates[0]:10,.0f}")
    say(f"appends a second to a branch of {length:,} messages          {rates[1]:10,.0f}")
    say(f"cost of the later append, times the earlier one's        {rates[0] / rates[1]:10.2f}")
    counted(Path(store.path).parent, length)
    growth = [(after - before) / 500 for before, after in itertools.pairwise(sizes)]
    quarter = max(1, len(growth) // 4)
    first, last = statistics.mean(growth[:quarter]), statistics.mean(growth[-quarter:])
    say(f"bytes the database grows an append, first quarter        {first:10,.0f}")
    say(f"bytes the database grows an append, last quarter         {last:10,.0f}")

    many = [await create(store) for _ in range(interleaved)]
    one = await create(store)
    warm = [many[start : start + GROUP] for start in range(0, interleaved, GROUP)]
    for targets in warm * 2:
        await group(store, targets)
    rates = await compare(store, [[one], many], rounds * 2)
    say(f"appends a second to one branch                           {rates[0]:10,.0f}")
    say(f"appends a second interleaved over {interleaved:,} branches         {rates[1]:10,.0f}")
    say(f"interleaved, times one branch                            {rates[1] / rates[0]:10.2f}")
    await fork_and_purge(store, long)


def counted(folder: Path, length: int) -> None:
    """Print what an append writes, early and late, and in a file that has nothing else."""
    writers = [CountingWriter(folder / name) for name in ("alone", "among")]
    try:
        writers[0].create()
        empty = writers[0].cost(BRANCH, 200)
        early, late = writers[1].early_and_late(length)
    finally:
        for writer in writers:
            writer.store.close()
    say(f"pages a commit writes, first appends to a branch         {early.pages:10.2f}")
    say(f"pages a commit writes, appends around number {length:,}      {late.pages:10.2f}")
    say(f"pages of the later append, times the earlier one's       {late.pages / early.pages:10.2f}")
    say(f"pages a commit writes, first appends to an empty file    {empty.pages:10.2f}")


async def fork_and_purge(store: SqliteStore, source: str) -> None:
    """Print what a fork and the purge of its source take."""
    before = _size(store)
    request = pb.ForkBranchRequest(source_branch_id=source, branch_id=new_id())

    def fork(tx: WriteTransaction) -> pb.ForkBranchResponse:
        return forks.fork_branch(tx, "", request, STAMPER, None)

    begin = time.perf_counter()
    made = (await store.write(fork)).branch
    took = time.perf_counter() - begin
    grown = _size(store) - before
    say(f"milliseconds to fork {made.message_count:,} messages                    {took * 1000:10.0f}")
    say(f"bytes the database grows a forked message                {grown / made.message_count:10,.0f}")
    for branch in (source, request.branch_id):
        purge = pb.DeleteBranchRequest(branch_id=branch, purge=True)
        begin = time.perf_counter()
        await store.write(partial(retention.delete_branch, call=CALL, request=purge, keep_until=0))
        await sweep_branch(store, "", branch, time.time_ns)
        took = time.perf_counter() - begin
        what = "its source" if branch == source else "the fork"
        say(f"milliseconds to purge {what:10}                         {took * 1000:10.0f}")


def _size(store: SqliteStore) -> int:
    """Bytes of the database once its log is copied into it, as pages in use."""
    connection = apsw.Connection(store.path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        pages: int = connection.pragma("page_count")
        size: int = connection.pragma("page_size")
        return pages * size
    finally:
        connection.close()


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.layout", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="groups of 64 appends a case")
    parser.add_argument("--length", type=int, default=10_000, help="messages of the long branch")
    parser.add_argument("--branches", type=int, default=1000, help="branches written to in turns")
    parser.add_argument("--folder", help="where the file is made; the system's temporary folder by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        asyncio.run(run(Path(folder), options.rounds, options.length, options.branches))
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
