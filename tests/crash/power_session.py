"""A session of clients writing over a disk that keeps a log of what reached it."""

from __future__ import annotations

import asyncio
import random
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from history_service.storage.memory import MemoryStore
from history_service.storage.sqlite import WriterLimits
from history_service.storage.sqlite.writer import GroupWriter
from tests.support.history import History, uuid_of
from tests.support.mutants import PATIENCE_SECONDS, store_with
from tests.support.powercut import Acknowledged, DiskLog, RecordingVfs

FILE = "history.sqlite3"
BRANCHES = 3
ROUNDS = 12
# Small, so that a short session sees the log copied and begun anew many times.
LIMITS = WriterLimits(checkpoint_pages=12, full_checkpoint_pages=48)


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


class Clients:
    """Writers of a few branches, each sending its next request once the last is answered."""

    def __init__(self, chance: random.Random) -> None:
        self.branches = [Branch(number) for number in range(BRANCHES)]
        self._chance = chance
        self._ids = 1000
        self._truth = History(MemoryStore())
        self._summaries: set[str] = set()

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
        plain = [message_id for message_id in movable if message_id not in self._summaries]
        if choice < 0.30 and plain:
            return pb.AddMessagesRequest(**common, messages=[self._message(self._chance.choice(plain))])
        if choice < 0.38 and plain:
            stretch = message_pb.SummaryContent(text=f"{self._ids}", first_id=plain[0], last_id=plain[-1])
            self._summaries.add(common["request_id"])
            # The request's id serves the summary too, lest the two services make different ones.
            return pb.CommitCompactionRequest(
                **common, summary=stretch, message_id=common["request_id"], view_message_ids=plain[1::2]
            )
        many = self._chance.choice((1, 1, 1, 2, 7))
        return pb.AddMessagesRequest(**common, messages=[self._message(self.next_id()) for _ in range(many)])

    def _message(self, message_id: str) -> message_pb.Message:
        # Generic, so that any message may replace any other; long ones fill pages of their own.
        filler = "x" * self._chance.choice((10, 200, 200, 6000))
        content = message_pb.GenericContent(value_json=f'"{self._ids} {filler}"')
        return message_pb.Message(id=message_id, generic=content)


async def state_of(history: History, branch_id: str, at: int | None = None) -> State:
    """Read a branch's state: its messages and its view."""
    messages = await history.messages(branch_id, at_revision=at)
    for message in messages:
        message.ClearField("created_at")
    view = await history.view(branch_id, at)
    return [
        *(message.SerializeToString(deterministic=True) for message in messages),
        *(() if view is None else (b"view", *(message_id.encode() for message_id in view))),
    ]


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
                branch.sent = await revision_of(history, branch)
            for _ in range(ROUNDS):
                writes = [_write_one(history, log, clients, branch) for branch in clients.branches]
                try:
                    await asyncio.gather(*writes)
                finally:
                    await pace.end_round()
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


async def revision_of(history: History, branch: Branch) -> int:
    """Read a branch's revision; 0 where there is no branch."""
    found = await history.store.read(lambda tx: tx.branch("", branch.branch_id))
    return 0 if found is None else found.revision
