"""Power cuts at any moment of a working history service.

    PYTHONPATH=.:clients/python python -m tests.crash.power_cuts --cuts 1000 [--seed N] [--mutant M]

A session of writes runs over a disk that keeps a log (``tests.support.powercut``).
Then the power is cut at random entries of that log, and the service starts on
what is left: every acknowledged revision must be there and as it was, nothing
half there, nothing that was never asked; a repeated request must have exactly
one effect. The next session goes on from one of the surviving images, so that
cuts fall into recoveries, too; after some, a new store begins.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from history_service.storage.sqlite import SqliteStore
from tests.crash.power_session import (
    FILE,
    Answered,
    Asked,
    Branch,
    Clients,
    revision_of,
    run_session,
    state_of,
)
from tests.figures.recording import parse_with_record, record_figure
from tests.support.history import History
from tests.support.mutants import WRITERS
from tests.support.powercut import Acknowledged, DiskLog, Entry, Sync
from tests.support.progress import counted

CUTS_A_SESSION = 50

SESSIONS_A_STORE = 20
"""Sessions after which a new store begins: it grows with each, and so does what every cut has checked."""


class BrokenPromiseError(AssertionError):
    """A write that was acknowledged is lost or changed, or one is there twice or in part."""


@dataclass
class Report:
    """What a run did.

    Attributes:
        cuts: Power cuts simulated and recovered from.
        acknowledged: Acknowledged revisions that were looked for, over all cuts.
        entries: Writes, syncs and the like of all sessions.
    """

    cuts: int = 0
    acknowledged: int = 0
    entries: int = 0

    def __str__(self) -> str:
        return (
            f"{self.cuts} power cuts over {self.entries} disk operations: "
            f"{self.acknowledged} acknowledged revisions looked for, 0 lost, 0 changed, 0 doubled"
        )


async def check_image(folder: Path, clients: Clients, known: list[Any]) -> int:
    """Start the service on a surviving image and hold it to its promises.

    Args:
        folder: Where the image is.
        clients: Those who wrote.
        known: What they had asked and been answered when the power went.

    Returns:
        How many acknowledged revisions were looked for.

    Raises:
        BrokenPromiseError: A promise was broken.
    """
    store = SqliteStore(str(folder / FILE))
    await store.start()
    looked_for = 0
    try:
        history = History(store)
        for branch in clients.branches:
            asked, answered = _last_of(known, branch.number, Asked), _last_of(known, branch.number, Answered)
            there = await revision_of(history, branch)
            if not answered <= there <= asked:
                raise BrokenPromiseError(
                    f"branch {branch.number}: revision {answered} was acknowledged and {asked} asked for; "
                    f"the store is at {there}"
                )
            looked_for += answered
            for revision in range(max(1, there - 3), there + 1):
                await _expect(history, branch, revision)
            await _repeat_requests(history, branch, there, asked)
    finally:
        await store.close()
    _check_integrity(folder)
    return looked_for


def _last_of(known: list[Any], branch: int, kind: type[Asked] | type[Answered]) -> int:
    return max(
        (fact.revision for fact in known if isinstance(fact, kind) and fact.branch == branch), default=0
    )


async def _expect(history: History, branch: Branch, revision: int) -> None:
    if await state_of(history, branch.branch_id, revision) != branch.states[revision - 1]:
        raise BrokenPromiseError(f"branch {branch.number}: revision {revision} is not what was written")


async def _repeat_requests(history: History, branch: Branch, there: int, asked: int) -> None:
    """Send again what may not have been answered: the last one that is there, and those that are not."""
    for revision in range(max(1, there), asked + 1):
        response = await history.call(branch.requests[revision - 1])
        if response.replayed != (revision <= there):
            raise BrokenPromiseError(
                f"branch {branch.number}: replay of revision {revision} is {response.replayed}"
            )
        if await revision_of(history, branch) != revision:
            raise BrokenPromiseError(f"branch {branch.number}: a repeated request had another effect")
    if asked:
        await _expect(history, branch, asked)


def _check_integrity(folder: Path) -> None:
    connection = apsw.Connection(str(folder / FILE))
    try:
        result = connection.pragma("integrity_check")
    finally:
        connection.close()
    if result != "ok":
        raise BrokenPromiseError(f"the database is damaged: {result}")


def _moments(entries: list[Entry], chance: random.Random, count: int) -> list[int]:
    """Positions of cuts: half anywhere, half right before or after a sync or an answer."""
    edges = [
        position + offset
        for position, entry in enumerate(entries)
        if isinstance(entry, Sync) or (isinstance(entry, Acknowledged) and isinstance(entry.what, Answered))
        for offset in (0, 1)
    ]
    anywhere = range(len(entries) + 1)
    return [chance.choice(edges if number % 2 else anywhere) for number in range(count)]


async def run(
    cuts: int, seed: int, mutant: str, folder: Path, tell: Callable[[], object] = lambda: None
) -> Report:
    """Simulate power cuts and recover from each.

    Args:
        cuts: How many.
        seed: Decides everything.
        mutant: The writer's fault, or ``none``.
        folder: For the files; on a memory disk the run is faster.
        tell: Called after each cut.

    Raises:
        BrokenPromiseError: A promise was broken; the text names the cut.
    """
    chance = random.Random(seed)
    report = Report()
    session = 0
    while report.cuts < cuts:
        if session % SESSIONS_A_STORE == 0:
            clients, known = Clients(chance), list[Any]()
            image: dict[str, bytes] = {}
        session += 1
        live = _unpack(folder / f"session-{session}", image)
        log = DiskLog(image)
        await run_session(live, log, clients, WRITERS[mutant])
        report.entries += len(log.entries)
        for position in _moments(log.entries, chance, min(CUTS_A_SESSION, cuts - report.cuts)):
            image = log.image_at(position, chance)
            facts = known + log.acknowledged_at(position)
            place = _unpack(folder / f"cut-{session}", image)
            try:
                report.acknowledged += await check_image(place, clients, facts)
            except Exception as error:
                where = f"session {session}, cut at entry {position} of {len(log.entries)}"
                raise BrokenPromiseError(f"seed {seed}, {where}: {error!r}") from error
            report.cuts += 1
            tell()
            shutil.rmtree(place)
        shutil.rmtree(live)
        known = facts
    return report


def _unpack(folder: Path, image: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, content in image.items():
        (folder / name).write_bytes(content)
    return folder


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="Simulated power cuts under the history service.")
    parser.add_argument("--cuts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--mutant", choices=sorted(WRITERS), default="none")
    options = parse_with_record(parser)
    started = time.monotonic()
    print(f"seed {options.seed}", flush=True)
    memory_disk = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory_disk if memory_disk.is_dir() else None) as folder:
        try:
            with counted("power cuts", options.cuts) as tell:
                report = asyncio.run(run(options.cuts, options.seed, options.mutant, Path(folder), tell))
            held, found = True, str(report)
        except BrokenPromiseError as error:
            held, found = False, f"BROKEN: {error}"
    print(found)
    if options.record:
        record_figure("power_cuts", options.cuts, found, seconds=time.monotonic() - started, held=held)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
