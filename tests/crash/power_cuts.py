"""Power cuts at any moment of a working history service.

    PYTHONPATH=.:clients/python python -m tests.crash.power_cuts --cuts 1000 [--seed N] [--mutant M]

A session of writes runs over a disk that keeps a log (``tests.support.powercut``).
Then the power is cut at random entries of that log, and the service starts on
what is left: every acknowledged revision must be there and as it was, nothing
half there, nothing that was never asked; a repeated request must have exactly
one effect. The next session goes on from one of the surviving images, so that
cuts fall into recoveries, too.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from history_service.storage.memory import MemoryStore
from history_service.storage.sqlite import SqliteStore, WriterLimits
from history_service.storage.sqlite.writer import GroupWriter
from tests.support.history import History, uuid_of
from tests.support.mutants import PATIENCE_SECONDS, WRITERS, store_with
from tests.support.powercut import Acknowledged, DiskLog, Entry, RecordingVfs, Sync

FILE = "history.sqlite3"
BRANCHES = 3
ROUNDS = 12
CUTS_A_SESSION = 50
# Small, so that a short session sees the log copied and begun anew many times.
LIMITS = WriterLimits(checkpoint_pages=12, full_checkpoint_pages=48)


class BrokenPromiseError(AssertionError):
    """A write that was acknowledged is lost or changed, or one is there twice or in part."""


State = list[bytes]
"""The messages of a branch in order, without the times the server chose."""


@dataclass(frozen=True)
class Asked:
    """A client sends the request that makes a revision of a branch."""

    branch: int
    revision: int


@dataclass(frozen=True)
class Answered:
    """A client is told that the revision is made."""

    branch: int
    revision: int


@dataclass
class Branch:
    """What clients know of a branch.

    Attributes:
        number: Its place among the branches.
        requests: The requests that make revision 1, 2 and so on.
        states: The state at revision 1, 2 and so on, by a store that forgets nothing.
        sent: The last revision whose request this session has sent or found done.
    """

    number: int
    requests: list[Any] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    sent: int = 0

    @property
    def branch_id(self) -> str:
        """Its id."""
        return uuid_of(1 + self.number)


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


class Clients:
    """Writers of a few branches, each sending its next request once the last is answered."""

    def __init__(self, chance: random.Random) -> None:
        self.branches = [Branch(number) for number in range(BRANCHES)]
        self._chance = chance
        self._ids = 1000
        self._truth = History(MemoryStore())

    def next_id(self) -> str:
        """An id nobody has used."""
        self._ids += 1
        return uuid_of(self._ids)

    async def next_request(self, branch: Branch) -> Any:
        """Return the request for a branch's next revision: one that was lost, else a new one."""
        if branch.sent == len(branch.requests):
            await self._invent(branch)
        branch.sent += 1
        return branch.requests[branch.sent - 1]

    async def _invent(self, branch: Branch) -> None:
        if not branch.requests:
            request: Any = pb.CreateBranchRequest(branch_id=branch.branch_id, request_id=self.next_id())
        else:
            request = self._random_request(branch, await self._truth.ids(branch.branch_id))
        await self._truth.call(request)
        branch.requests.append(request)
        branch.states.append(await state_of(self._truth, branch.branch_id))

    def _random_request(self, branch: Branch, ids: list[str]) -> Any:
        common: dict[str, Any] = {"branch_id": branch.branch_id, "request_id": self.next_id()}
        movable = ids[1:]
        choice = self._chance.random()
        if choice < 0.08:
            return pb.SetSystemRequest(
                **common,
                message_id=self.next_id(),
                system=message_pb.SystemContent(system_message=f"policy {self._ids}"),
            )
        if choice < 0.16 and movable:
            return pb.RemoveMessagesRequest(**common, message_ids=[self._chance.choice(movable)])
        if choice < 0.24 and len(movable) > 1:
            index = self._chance.randrange(1, len(ids))
            return pb.MoveMessageRequest(**common, message_id=self._chance.choice(movable), index=index)
        if choice < 0.30 and movable:
            return pb.AddMessagesRequest(**common, messages=[self._message(self._chance.choice(movable))])
        many = self._chance.choice((1, 1, 1, 2, 7))
        return pb.AddMessagesRequest(**common, messages=[self._message(self.next_id()) for _ in range(many)])

    def _message(self, message_id: str) -> message_pb.Message:
        # Generic, so that any message may replace any other; long ones fill pages of their own.
        filler = "x" * self._chance.choice((10, 200, 200, 6000))
        content = message_pb.GenericContent(value_json=f'"{self._ids} {filler}"')
        return message_pb.Message(id=message_id, generic=content)


async def state_of(history: History, branch_id: str, at: int | None = None) -> State:
    """Read a branch's state."""
    messages = await history.messages(branch_id, at_revision=at)
    for message in messages:
        message.ClearField("created_at")
    return [message.SerializeToString(deterministic=True) for message in messages]


class Pace:
    """Keeps clients and writer in step, so that the threads' timing decides nothing."""

    def __init__(self) -> None:
        self._answers_seen = threading.Event()
        self._writer_idle = threading.Event()

    async def end_round(self) -> None:
        """Let the writer copy its log now that every client has its answer; wait until it has."""
        self._answers_seen.set()
        await asyncio.to_thread(self._writer_idle.wait, PATIENCE_SECONDS)
        self._writer_idle.clear()

    def writer_of(self, writer_type: type[GroupWriter]) -> type[GroupWriter]:
        """A writer that keeps step and puts each round of ``BRANCHES`` works into one commit."""
        pace = self

        class RoundWriter(writer_type):  # type: ignore[misc, valid-type]
            def _run_group(self, group: list[Any]) -> None:
                self._works_to_come = BRANCHES - 1
                super()._run_group(group)

            def _take_queued(self) -> Any:
                if self._works_to_come == 0:
                    return None
                self._works_to_come -= 1
                return self._queue.get(timeout=PATIENCE_SECONDS)

            def _checkpoint(self) -> None:
                pace._answers_seen.wait(PATIENCE_SECONDS)
                pace._answers_seen.clear()
                super()._checkpoint()
                pace._writer_idle.set()

        return RoundWriter


async def run_session(folder: Path, log: DiskLog, clients: Clients, writer: type[GroupWriter]) -> None:
    """Let the clients write for some rounds, over a disk that keeps its log; then close the store."""
    vfs = RecordingVfs(f"recording-{folder.name}", log)
    try:
        pace = Pace()
        store = store_with(pace.writer_of(writer), str(folder / FILE), limits=LIMITS, vfs=vfs.name)
        await store.start()
        try:
            history = History(store)
            for branch in clients.branches:
                branch.sent = await _revision(history, branch)
            for _ in range(ROUNDS):
                await asyncio.gather(
                    *(_write_one(history, log, clients, branch) for branch in clients.branches)
                )
        finally:
            await store.close()
    finally:
        vfs.unregister()


async def _write_one(history: History, log: DiskLog, clients: Clients, branch: Branch) -> None:
    request = await clients.next_request(branch)
    revision = branch.sent
    log.add(Acknowledged(Asked(branch.number, revision)))
    await history.call(request)
    log.add(Acknowledged(Answered(branch.number, revision)))


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
            there = await _revision(history, branch)
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


async def _revision(history: History, branch: Branch) -> int:
    found = await history.store.read(lambda tx: tx.branch("", branch.branch_id))
    return 0 if found is None else found.revision


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
        if await _revision(history, branch) != revision:
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


async def run(cuts: int, seed: int, mutant: str, folder: Path) -> Report:
    """Simulate power cuts and recover from each.

    Args:
        cuts: How many.
        seed: Decides everything.
        mutant: The writer's fault, or ``none``.
        folder: For the files; on a memory disk the run is faster.

    Raises:
        BrokenPromiseError: A promise was broken; the text names the cut.
    """
    chance = random.Random(seed)
    clients = Clients(chance)
    report = Report()
    image: dict[str, bytes] = {}
    known: list[Any] = []
    session = 0
    while report.cuts < cuts:
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
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    memory_disk = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory_disk if memory_disk.is_dir() else None) as folder:
        try:
            report = asyncio.run(run(options.cuts, options.seed, options.mutant, Path(folder)))
        except BrokenPromiseError as error:
            print(f"BROKEN: {error}")
            return 1
    print(
        f"{report.cuts} power cuts over {report.entries} disk operations: "
        f"{report.acknowledged} acknowledged revisions looked for, 0 lost, 0 changed, 0 doubled"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
