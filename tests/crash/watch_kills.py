"""kill -9 of a watcher, again and again, while a branch is written to.

``python -m tests.crash.watch_kills --kills 100 --writes 10000``: the watcher is
``antiphon watch --json`` as a process of its own. After each kill the next one
begins after the token of the last whole line the former one printed. In the
end every revision must have been seen once, in order, without a gap.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from antiphon_client import AsyncBranch, AsyncHistoryClient, Instruction
from tests.support.cli import command
from tests.support.programs import program

_WRITERS = 8


@dataclass
class Observed:
    """What the watchers have printed.

    Attributes:
        revisions: The revision of every change, as it came.
        token: Where the next watcher begins.
        kills: Watchers killed.
        torn: Of those, how many left a line cut short.
    """

    revisions: list[int] = field(default_factory=list)
    token: str = "0"
    kills: int = 0
    torn: int = 0

    def take(self, line: str) -> bool:
        """Note a line; tell whether it was a whole one."""
        if not line.endswith("\n"):
            self.torn += bool(line)
            return False
        change = json.loads(line)
        self.revisions.append(change["revision"])
        self.token = change["token"]
        return True

    def gap(self, last: int) -> str:
        """Return what is wrong with the revisions up to the last one; empty when nothing is."""
        for expected, revision in enumerate(self.revisions, start=1):
            if revision != expected:
                return f"revision {revision} where {expected} was due"
        return "" if len(self.revisions) == last else f"{len(self.revisions)} of {last} changes seen"


def kill_after(observed: Observed, process: subprocess.Popen[str], lines: int) -> None:
    """Kill a watcher once it has printed some lines, and take those it still printed."""
    assert process.stdout is not None
    for _ in range(lines):
        line = process.stdout.readline()
        if not observed.take(line):
            error = process.stderr.read() if process.stderr is not None else ""
            raise AssertionError(f"the watcher ended by itself: {error}")
    process.kill()
    for line in process.stdout:
        observed.take(line)
    observed.kills += 1


async def watch_until_killed(
    observed: Observed, address: str, branch: AsyncBranch, *, lines: int, writes: int
) -> None:
    """Run a watcher during writes and kill it once it has printed some lines."""
    arguments = ("watch", str(branch.branch_id), "--json", "--after", observed.token)
    with command(*arguments, ANTIPHON_HISTORY_ADDRESS=address) as process:
        killing = asyncio.create_task(asyncio.to_thread(kill_after, observed, process, lines))
        try:
            await write(branch, writes)
        except BaseException:
            # It would wait for ever for lines that nobody writes.
            process.kill()
            await asyncio.gather(killing, return_exceptions=True)
            raise
        await killing


def watch_to_the_end(observed: Observed, address: str, branch_id: str) -> None:
    """Run a watcher up to the present."""
    arguments = ("watch", branch_id, "--json", "--no-follow", "--after", observed.token)
    with command(*arguments, ANTIPHON_HISTORY_ADDRESS=address) as process:
        out, error = process.communicate()
        assert process.returncode == 0, error
    for line in out.splitlines(keepends=True):
        observed.take(line)


async def write(branch: AsyncBranch, count: int) -> None:
    """Make so many revisions, several at a time."""

    async def writer(mine: int) -> None:
        for _ in range(mine):
            await branch.add(Instruction.create("hi"))

    shares = [count // _WRITERS + (number < count % _WRITERS) for number in range(_WRITERS)]
    await asyncio.gather(*map(writer, shares))


async def run(folder: Path, *, kills: int, writes: int, seed: int) -> tuple[Observed, int]:
    """Kill watchers during writes; return what they saw and the branch's last revision."""
    choose = random.Random(seed)
    observed = Observed()
    store = f"sqlite:{folder / 'history.sqlite3'}"
    listen = f"unix:{folder / 'h.sock'}"
    with program("history_service", "--listen", listen, "--store", store) as service:
        async with AsyncHistoryClient(service.address) as client:
            branch = await AsyncBranch.create(client)
            for number in range(kills):
                share = writes // kills + (number < writes % kills)
                # The watcher may die while writes go on, or long after.
                lines = choose.randint(1, share)
                await watch_until_killed(observed, service.address, branch, lines=lines, writes=share)
            await asyncio.to_thread(watch_to_the_end, observed, service.address, str(branch.branch_id))
            return observed, (await branch.record()).revision


def main() -> int:
    """Run from the command line; the exit code is 1 when a change was lost, repeated or misplaced."""
    parser = argparse.ArgumentParser(description="kill -9 of a watcher during writes.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--writes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        observed, last = asyncio.run(
            run(Path(folder), kills=options.kills, writes=options.writes, seed=options.seed)
        )
    fault = observed.gap(last)
    print(
        f"seed {options.seed}: {observed.kills} kills ({observed.torn} left a torn line), {last} revisions, "
        f"{len(observed.revisions)} changes seen in {time.monotonic() - started:.0f} s: "
        f"{fault or 'each once, in order, no gap'}"
    )
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())
