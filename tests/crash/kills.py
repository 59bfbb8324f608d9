"""kill -9 of the history service while clients append.

    PYTHONPATH=.:clients/python python -m tests.crash.kills --kills 50 [--seed N] [--mutant hasty|--encrypted]

Clients of a real server process on a unix socket append to one branch and note
every acknowledgement. The process is killed at a random moment and started
again on the same file. Every acknowledged message must stand where its
acknowledgement said, once; revisions must be dense; a request whose answer
never came, sent again with its request_id, must have exactly one effect.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon.message.v1 import message_pb2 as message_pb
from tests.figures.recording import parse_with_record, record_figure
from tests.support.encryption import write_key_file
from tests.support.history import uuid_of
from tests.support.mutants import WRITERS

ROOT = Path(__file__).resolve().parents[2]
BRANCH = uuid_of(1)
CLIENTS = 6
START_SECONDS = 60.0
CALL_SECONDS = 30.0


class BrokenPromiseError(AssertionError):
    """A write that was acknowledged is lost or moved, or one is there twice."""


@contextmanager
def told_alone() -> Iterator[None]:
    """Raise a broken promise that tasks of a group have found by itself.

    Not in an ``except*``, from which some releases of Python 3.11 raise groups only.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        broken: BaseException | None = group.subgroup(BrokenPromiseError)
        if broken is None:
            raise
        while isinstance(broken, BaseExceptionGroup):
            broken = broken.exceptions[0]
        raise broken from None


@dataclass
class Knowledge:
    """What the clients know together.

    Attributes:
        placed: Index of each acknowledged message.
        revisions: Acknowledged revisions, the branch's creation first.
        unanswered: Per client, the request that was sent and not answered.
        sent: Messages of each request that was ever sent, by request id.
        acknowledged: Requests that were answered.
        replayed: Requests that were repeated and had been done before the kill.
    """

    placed: dict[str, int] = field(default_factory=dict)
    revisions: set[int] = field(default_factory=lambda: {1})
    unanswered: dict[int, Any] = field(default_factory=dict)
    sent: dict[str, list[str]] = field(default_factory=dict)
    acknowledged: int = 0
    replayed: int = 0

    def note(self, response: Any) -> None:
        """Note an acknowledgement."""
        if response.revision in self.revisions:
            raise BrokenPromiseError(f"revision {response.revision} was acknowledged twice")
        self.revisions.add(response.revision)
        self.acknowledged += 1
        self.replayed += response.replayed
        for placement in response.placements:
            self.placed[placement.message_id] = placement.index

    def so_far(self) -> Knowledge:
        """Return what is known by now, for a read that begins now."""
        return replace(self, placed=dict(self.placed), revisions=set(self.revisions))

    def summary(self, what: str, times: int) -> str:
        """Say what was found when every promise held after so many kills, or whatever it was."""
        return (
            f"{times} {what}: {self.acknowledged} acknowledged requests, {len(self.placed)} messages, "
            f"{self.replayed} done before and repeated after: 0 lost, 0 moved, 0 doubled"
        )


class Service:
    """A server process on a socket and a store, started and killed many times.

    Attributes:
        address: Where it listens.
    """

    def __init__(self, folder: Path, mutant: str, *arguments: str, store: str | None = None) -> None:
        self.address = f"unix:{folder / 'history.sock'}"
        self._log = folder / "service.log"
        module = ["history_service"] if mutant == "none" else ["tests.crash.mutant_service", mutant]
        store = store or f"sqlite:{folder / 'history.sqlite3'}"
        options = ["--listen", self.address, "--store", store, *arguments]
        self._command = [sys.executable, "-m", *module, *options]
        paths = [str(ROOT), str(ROOT / "clients" / "python")]
        self._environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """Run a process; it is dead at the end, whatever happens."""
        with self._log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *self._command, cwd=ROOT, env=self._environment, stdout=log, stderr=log
            )
        try:
            yield process
        finally:
            kill(process)
            await process.wait()

    @asynccontextmanager
    async def stub(self) -> AsyncIterator[pb_grpc.HistoryServiceAsyncStub]:
        """Connect to the process."""
        # A pool of its own: no connection outlives the process it went to.
        options = [
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.initial_reconnect_backoff_ms", 50),
            ("grpc.max_reconnect_backoff_ms", 200),
        ]
        async with grpc.aio.insecure_channel(self.address, options=options) as channel:
            yield pb_grpc.HistoryServiceStub(channel)

    def log_text(self) -> str:
        """What the processes printed last."""
        return self._log.read_text("utf-8", "replace")[-2000:] if self._log.exists() else ""


class Run:
    """Kills, restarts and checks."""

    def __init__(
        self, folder: Path, seed: int, mutant: str, store: str | None = None, *, encrypted: bool = False
    ) -> None:
        self.known = Knowledge()
        self._chance = random.Random(seed)
        keys = ["--encryption-keys", str(write_key_file(folder / "history.keys"))] if encrypted else []
        self._service = Service(folder, mutant, *keys, store=store)
        self._ids = 1000
        self._deadly = 0
        self._doomed = asyncio.Event()

    async def kill_times(self, kills: int) -> None:
        """Run as many processes to their death and one more to a clean end.

        Raises:
            BrokenPromiseError: A promise was broken.
        """
        for _ in range(kills):
            async with self._service.running() as process, self._service.stub() as stub:
                await self._check(stub)
                await self._append_until_killed(stub, process)
        async with self._service.running() as process, self._service.stub() as stub:
            await self._check(stub)
            await self._end_cleanly(process)

    async def _end_cleanly(self, process: asyncio.subprocess.Process) -> None:
        process.send_signal(signal.SIGTERM)
        if await process.wait() != 0:
            raise BrokenPromiseError(f"SIGTERM ended with {process.returncode}: {self._service.log_text()}")

    async def _check(self, stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        """Hold a started service to what the clients know, then repeat what was not answered."""
        await self._create_branch(stub)
        try:
            await self._check_branch(stub)
        except grpc.aio.AioRpcError as error:
            raise BrokenPromiseError(f"{error.code()}: {error.details()}") from error

    async def _check_branch(self, stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        compare(self.known, *await read_order(stub))
        for client in sorted(self.known.unanswered):
            self.known.note(await stub.AddMessages(self.known.unanswered.pop(client), timeout=CALL_SECONDS))
        order, revision = await read_order(stub)
        compare(self.known, order, revision)
        if revision != 1 + len(self.known.sent) or len(order) != sum(map(len, self.known.sent.values())):
            raise BrokenPromiseError(
                f"{len(self.known.sent)} requests made revision {revision} and {len(order)} messages"
            )
        if self.known.revisions != set(range(1, revision + 1)):
            raise BrokenPromiseError("acknowledged revisions are not dense")

    async def _create_branch(self, stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        # The same request each time: the first makes the branch, the others are replays. It also
        # waits for the start; a socket that a killed process left behind refuses connections.
        request = pb.CreateBranchRequest(branch_id=BRANCH, request_id=uuid_of(2))
        try:
            await stub.CreateBranch(request, timeout=START_SECONDS, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            raise BrokenPromiseError(
                f"the service did not start: {error}\n{self._service.log_text()}"
            ) from error

    async def _append_until_killed(
        self, stub: pb_grpc.HistoryServiceAsyncStub, process: asyncio.subprocess.Process
    ) -> None:
        """Append until the process is dead."""
        await self._append_until(stub, partial(_kill_soon, process))

    async def _append_until(
        self, stub: pb_grpc.HistoryServiceAsyncStub, end: Callable[[float], Awaitable[None]]
    ) -> None:
        """Append until nobody is answered; ``end`` sees to that after so many seconds."""
        self._deadly = self.known.acknowledged + self._chance.randrange(1, 150)
        self._doomed.clear()
        delay = self._chance.uniform(0.0, 0.004)
        async with asyncio.timeout(CALL_SECONDS), asyncio.TaskGroup() as clients:
            for client in range(CLIENTS):
                clients.create_task(self._append(stub, client))
            await self._doomed.wait()
            await end(delay)

    async def _append(self, stub: pb_grpc.HistoryServiceAsyncStub, client: int) -> None:
        """Append until the service is gone; the request it left unanswered is kept."""
        while True:
            request = self._request()
            self.known.sent[request.request_id] = [message.id for message in request.messages]
            self.known.unanswered[client] = request
            try:
                response = await stub.AddMessages(request, timeout=CALL_SECONDS)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
                return
            del self.known.unanswered[client]
            self.known.note(response)
            if self.known.acknowledged >= self._deadly:
                self._doomed.set()

    def _request(self) -> Any:
        messages = [self._message() for _ in range(self._chance.choice((1, 1, 1, 3)))]
        return pb.AddMessagesRequest(branch_id=BRANCH, request_id=self._next_id(), messages=messages)

    def _message(self) -> message_pb.Message:
        content = message_pb.GenericContent(value_json=f'"{"x" * self._chance.choice((10, 300))}"')
        return message_pb.Message(id=self._next_id(), generic=content)

    def _next_id(self) -> str:
        self._ids += 1
        return uuid_of(self._ids)


def kill(process: asyncio.subprocess.Process) -> None:
    """Kill a process that still runs, with SIGKILL."""
    # Not Process.kill: it may reap the process before asyncio does, which then cannot tell how it ended.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def compare(known: Knowledge, order: list[str], revision: int) -> None:
    """Hold what a service has to what is known of it.

    Raises:
        BrokenPromiseError: Something acknowledged is lost or moved, or something is there twice or in part.
    """
    if len(set(order)) != len(order):
        raise BrokenPromiseError("a message is there twice")
    moved = [
        message_id
        for message_id, index in known.placed.items()
        if index >= len(order) or order[index] != message_id
    ]
    if moved:
        raise BrokenPromiseError(f"{len(moved)} acknowledged messages are lost or moved, as {moved[0]}")
    if revision < max(known.revisions):
        raise BrokenPromiseError(f"revision {max(known.revisions)} was acknowledged, {revision} is there")
    there = set(order)
    for message_ids in known.sent.values():
        if 0 < len(there.intersection(message_ids)) < len(message_ids):
            raise BrokenPromiseError("half a batch is there")
    if there.difference(*known.sent.values()):
        raise BrokenPromiseError("there are messages that nobody sent")


async def _kill_soon(process: asyncio.subprocess.Process, seconds: float) -> None:
    await asyncio.sleep(seconds)
    kill(process)


async def read_order(stub: pb_grpc.HistoryServiceAsyncStub) -> tuple[list[str], int]:
    """Read the branch's message ids in order, and its revision."""
    order: list[str] = []
    revision = 0
    async for frame in stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id=BRANCH), timeout=CALL_SECONDS):
        order.extend(frame.order.message_ids)
        if frame.HasField("header"):
            revision = frame.header.revision
    return order, revision


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="kill -9 of the history service during appends.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--mutant", choices=sorted(WRITERS), default="none")
    parser.add_argument("--encrypted", action="store_true", help="with encryption at rest")
    options = parse_with_record(parser)
    started = time.monotonic()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder), options.seed, options.mutant, encrypted=options.encrypted)
        try:
            asyncio.run(run.kill_times(options.kills))
            held, found = True, run.known.summary("kills", options.kills)
        except BrokenPromiseError as error:
            held, found = False, f"BROKEN: {error}"
    print(found)
    if options.record:
        record_figure("kills", options.kills, found, seconds=time.monotonic() - started, held=held)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
