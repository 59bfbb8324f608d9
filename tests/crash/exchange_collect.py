"""kill -9 of a process within and between the steps of the exchange's long writes.

    PYTHONPATH=.:clients/python python -m tests.crash.exchange_collect [--operation collect_all] [--every 1]

A child process makes a small exchange, begins a write that takes several steps
and kills itself at a chosen point: before one of the store's primitives, before
a commit, or after it and before the answer. The parent opens the file again: the
exchange must stand exactly as after the steps committed by then, and the same
request sent again must finish the write, with the same answer as if nothing had
happened.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.crash.kills import ROOT, BrokenPromiseError
from tests.support import exchange_scenes as scenes
from tests.support.exchange import Exchange
from tests.support.failpoints import CommitWriter, FailpointStore, Steps, commit_store

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
    first_id = 0xE000_0000_0000 + (os.getpid() << 24)
    try:
        yield Exchange(store, first_id=first_id, step_size=scenes.STEP_SIZE), store
    finally:
        await store.close()


async def child(path: Path, operation: str, point: str) -> None:
    """Make the scene, begin the operation, die at the point if it comes to it."""
    set_up, request = scenes.LONG_WRITES[operation]
    async with opened(path) as (exchange, store):
        await set_up(exchange)
        when, _, number = point.rpartition(":")
        steps = Steps(int(number), kill_self)
        if when in COMMITS:
            setattr(KilledWriter, when, staticmethod(lambda: steps.reach(when)))
        else:
            store.steps = steps
        await exchange.call(request)


@dataclass(frozen=True)
class Undisturbed:
    """An operation that was let run.

    Attributes:
        now: The clock while it ran.
        response: What it answered.
        states: The exchange before it and after each of its steps.
        names: Its primitives, and ``end`` after each step.
    """

    now: int
    response: Any
    states: list[Any]
    names: list[str]

    def left_at(self, point: str) -> Any:
        """Return the exchange as the steps committed before a point leave it."""
        when, _, number = point.rpartition(":")
        if when in COMMITS:
            return self.states[int(number) - (when == "before_commit")]
        return self.states[self.names[: int(number) - 1].count("end")]

    def points(self, every: int) -> list[str]:
        """Return every so-manieth primitive, and both sides of each commit."""
        commits = range(1, len(self.states))
        return [
            *(f":{number}" for number in range(1, len(self.names) + 1, every)),
            *(f"{when}:{number}" for when in COMMITS for number in commits),
        ]


async def undisturbed(folder: Path, operation: str) -> Undisturbed:
    """Run the operation to its end."""
    set_up, request = scenes.LONG_WRITES[operation]
    async with opened(folder / "undisturbed") as (exchange, store):
        await set_up(exchange)
        store.steps = Steps(0, kill_self)
        response, states = await scenes.states_of(exchange, store, request)
        return Undisturbed(exchange.clock.now, response, states, store.steps.names)


async def kill_at(folder: Path, operation: str, point: str, expected: Undisturbed) -> None:
    """Kill a child at a point and check what it left, and that the request finishes it.

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
    if done.returncode != -signal.SIGKILL:
        raise BrokenPromiseError(f"the child ended with {done.returncode}")
    _, request = scenes.LONG_WRITES[operation]
    async with opened(path) as (exchange, _):
        exchange.clock.now = expected.now
        left = await scenes.everything(exchange)
        if left != expected.left_at(point):
            raise BrokenPromiseError(f"killed at {point}, it left {left}")
        response = await exchange.call(request)
        if scenes.comparable(response) != scenes.comparable(expected.response):
            raise BrokenPromiseError(f"killed at {point} and repeated, it answers {response}")
        if await scenes.everything(exchange) != expected.states[-1]:
            raise BrokenPromiseError(f"killed at {point} and repeated, it leaves something else")
        if response.replayed is not (point == f"after_commit:{len(expected.states) - 1}"):
            raise BrokenPromiseError(f"killed at {point} and repeated, replayed is {response.replayed}")


async def kill_everywhere(folder: Path, operation: str, every: int) -> int:
    """Kill at every so-manieth primitive and around each commit; return how often."""
    expected = await undisturbed(folder, operation)
    points = expected.points(every)
    for point in points:
        await kill_at(folder, operation, point, expected)
    return len(points)


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="kill -9 within and between the steps of a long write.")
    parser.add_argument("--operation", choices=sorted(scenes.LONG_WRITES), default="collect")
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
