"""kill -9 of a process between any two steps of Collect and CollectAll.

    PYTHONPATH=.:clients/python python -m tests.crash.exchange_collect [--operation collect_all] [--every 1]

A child process makes a small exchange, begins the operation and kills itself at
a chosen point: before one of the store's primitives, before the commit, or
after it and before the answer. The parent opens the file again: the exchange
must stand as before the operation or as after it, and the same request sent
again must finish it, with the same answer as if nothing had happened.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from antiphon.history.v1 import exchange_service_pb2 as pb
from tests.crash.kills import ROOT, BrokenPromiseError
from tests.support import exchange_scenes as scenes
from tests.support.exchange import START, Exchange, counts
from tests.support.failpoints import CommitWriter, FailpointStore, Steps, commit_store
from tests.support.history import uuid_of

OPERATIONS: dict[str, Callable[[], Any]] = {
    "collect": lambda: pb.CollectRequest(owner_id=uuid_of(1), request_id=scenes.REQUEST_ID),
    "collect_all": lambda: pb.CollectAllRequest(request_id=scenes.REQUEST_ID),
}
COMMITS = ("before_commit", "after_commit")
CHILD_SECONDS = 120.0


class KilledWriter(CommitWriter):
    """Its hooks are the child's."""


def kill_self() -> None:
    """Die at once."""
    os.kill(os.getpid(), signal.SIGKILL)


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[tuple[Exchange, FailpointStore]]:
    """The exchange of a file."""
    store = FailpointStore(commit_store(str(path), KilledWriter))
    await store.start()
    try:
        yield Exchange(store, first_id=0xE000_0000_0000 + (os.getpid() << 24)), store
    finally:
        await store.close()


async def child(path: Path, operation: str, point: str) -> None:
    """Make the scene, begin the operation, die at the point if it comes to it."""
    async with opened(path) as (exchange, store):
        await scenes.set_up(exchange)
        if point in COMMITS:
            setattr(KilledWriter, point, staticmethod(kill_self))
        else:
            store.steps = Steps(int(point), kill_self)
        await exchange.call(OPERATIONS[operation]())


Outcome = tuple[Any, Any, tuple[int, int, int]]
"""The exchange before the operation and after it, and what it counts."""


async def undisturbed(folder: Path, operation: str) -> Outcome:
    """Run the operation to its end."""
    async with opened(folder / "undisturbed") as (exchange, _):
        await scenes.set_up(exchange)
        before = await scenes.everything(exchange)
        counted = counts(await exchange.call(OPERATIONS[operation]()))
        return before, await scenes.everything(exchange), counted


async def kill_at(folder: Path, operation: str, point: str, expected: Outcome) -> bool:
    """Kill a child at a point and check what it left; false when it was over before it came to it.

    Raises:
        BrokenPromiseError: Something was lost, doubled or half done.
    """
    path = folder / f"{operation}-{point}"
    command = [sys.executable, "-m", "tests.crash.exchange_collect", "--child", str(path)]
    done = subprocess.run(
        [*command, "--operation", operation, "--point", point],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")])},
        timeout=CHILD_SECONDS,
        check=False,
    )
    if done.returncode not in (0, -signal.SIGKILL):
        raise BrokenPromiseError(f"the child ended with {done.returncode}")
    before, after, counted = expected
    async with opened(path) as (exchange, _):
        exchange.clock.now = START + 2 * 10**9
        left = await scenes.everything(exchange)
        finished = done.returncode == 0 or point == "after_commit"
        if operation == "collect" and left != (after if finished else before):
            raise BrokenPromiseError(f"killed at {point}, it left {left}")
        response = await exchange.call(OPERATIONS[operation]())
        if counts(response) != counted or await scenes.everything(exchange) != after:
            raise BrokenPromiseError(f"killed at {point} and repeated, it counts {counts(response)}")
        if operation == "collect" and response.replayed is not finished:
            raise BrokenPromiseError(f"killed at {point} and repeated, replayed is {response.replayed}")
    return done.returncode != 0


async def kill_everywhere(folder: Path, operation: str, every: int) -> int:
    """Kill at every so-manieth primitive and at the commits; return how often."""
    expected = await undisturbed(folder, operation)
    point, kills = 1, 0
    while await kill_at(folder, operation, str(point), expected):
        kills += 1
        point += every
    for commit in COMMITS:
        kills += await kill_at(folder, operation, commit, expected)
    return kills


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="kill -9 between the steps of a collection.")
    parser.add_argument("--operation", choices=sorted(OPERATIONS), default="collect")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--point", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        asyncio.run(child(options.child, options.operation, options.point))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            kills = asyncio.run(kill_everywhere(Path(folder), options.operation, options.every))
        except BrokenPromiseError as error:
            print(f"BROKEN: {error}")
            return 1
    print(f"{options.operation}: {kills} kills, 0 lost, 0 doubled, 0 half done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
