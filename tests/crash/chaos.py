"""Everything at once: kills, pauses, full disks and cut connections while clients append.

    PYTHONPATH=.:clients/python python -m tests.crash.chaos --lives 20 [--seed N] [--mutant hasty]

Clients of a real server process append to one branch through a line that can
be cut, and send again what was not answered, under the same request id. Each
life of the process has a few faults, drawn from the seed, and ends with kill -9:

    pause   SIGSTOP, and SIGCONT a little later
    full    the process may write no more, as on a full disk; meanwhile what was
            acknowledged is read, and health is asked
    cut     all connections of the clients end without a word

Held to what ``tests.crash.kills`` holds a service to: nothing acknowledged is
lost or moved, no request has two effects, revisions are dense. A refusal may be
STORE_BUSY or a broken connection, and nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon_client.status import error_from_rpc
from tests.crash.kills import (
    BRANCH,
    CALL_SECONDS,
    CLIENTS,
    BrokenPromiseError,
    Run,
    compare,
    kill,
    read_order,
    told_alone,
)
from tests.support.mutants import WRITERS
from tests.support.severed import Line, line_to

FAULTS = ("pause", "full", "cut")
MUTANTS = sorted({*WRITERS, "forgetful"})
_ALLOWED_BYTES = 4096
"""Length of the process's files while its disk is full: less than its log has, so that no commit fits."""
_PAUSE_SECONDS = 0.005
"""Between two tries of a client."""
LIFE_SECONDS = 120.0
REFUSAL_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a life.

    Attributes:
        kind: One of ``FAULTS``.
        after: Acknowledgements before it, since the fault before.
        seconds: How long it lasts, where it lasts.
    """

    kind: str
    after: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.kind} {self.seconds:.2f} s after {self.after}"


def draw_life(chance: random.Random) -> list[Fault]:
    """Draw the faults of one life; the kill comes after the last."""
    return [
        Fault(chance.choice(FAULTS), chance.randrange(1, 40), chance.uniform(0.02, 0.3))
        for _ in range(chance.randrange(1, 5))
    ]


class ChaosRun(Run):
    """Lives with faults, restarts and checks.

    Attributes:
        struck: How often each kind of fault came.
        refused: How often a client was refused, by the condition that the store named.
        broken: How often a client lost its connection.
        lives: The faults drawn so far, by life.
    """

    def __init__(self, folder: Path, seed: int, mutant: str) -> None:
        super().__init__(folder, seed, mutant)
        self._folder = folder
        self._faults = random.Random(f"{seed}:faults")
        self._refusal = asyncio.Event()
        self._progress = asyncio.Event()
        self._ended = False
        self.struck: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.broken = 0
        self.lives: list[list[Fault]] = []

    async def _append_until_killed(
        self, stub: pb_grpc.HistoryServiceAsyncStub, process: asyncio.subprocess.Process
    ) -> None:
        life = draw_life(self._faults)
        self.lives.append(life)
        self._ended = False
        async with (
            asyncio.timeout(LIFE_SECONDS),
            self._line() as (line, cut_stub),
            asyncio.TaskGroup() as clients,
        ):
            for client in range(CLIENTS):
                clients.create_task(self._append(cut_stub, client))
            for fault in life:
                await self._acknowledged(fault.after)
                await self._strike(fault, stub, process, line)
                self.struck[fault.kind] += 1
            await self._acknowledged(self._faults.randrange(1, 40))
            self._ended = True
            kill(process)

    @asynccontextmanager
    async def _line(self) -> AsyncIterator[tuple[Line, pb_grpc.HistoryServiceAsyncStub]]:
        options = [
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.initial_reconnect_backoff_ms", 20),
            ("grpc.min_reconnect_backoff_ms", 20),
            ("grpc.max_reconnect_backoff_ms", 100),
        ]
        async with (
            line_to(self._service.address, self._folder) as line,
            grpc.aio.insecure_channel(line.address, options=options) as channel,
        ):
            yield line, pb_grpc.HistoryServiceStub(channel)

    async def _strike(
        self,
        fault: Fault,
        stub: pb_grpc.HistoryServiceAsyncStub,
        process: asyncio.subprocess.Process,
        line: Line,
    ) -> None:
        if fault.kind == "cut":
            line.cut()
        elif fault.kind == "pause":
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(fault.seconds)
            process.send_signal(signal.SIGCONT)
        else:
            self._refusal.clear()
            with full_disk(process.pid):
                await self._refused_one()
                await self._read(stub)
                await asyncio.sleep(fault.seconds)

    async def _refused_one(self) -> None:
        """Wait for a write to be refused; with no commit possible one must be, if not at once."""
        try:
            async with asyncio.timeout(REFUSAL_SECONDS):
                await self._refusal.wait()
        except TimeoutError:
            raise BrokenPromiseError("no write was refused while the disk was full") from None

    async def _read(self, stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        """Read while nothing can be written: what was acknowledged before is there, and health is good."""
        before = self.known.so_far()
        try:
            compare(before, *await read_order(stub))
            await stub.GetBranch(pb.GetBranchRequest(branch_id=BRANCH), timeout=CALL_SECONDS)
            async with grpc.aio.insecure_channel(self._service.address) as channel:
                health = health_pb2_grpc.HealthStub(channel)
                reply = await health.Check(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise BrokenPromiseError(f"a read while the disk was full: {error.details()}") from error
        if reply.status != health_pb2.HealthCheckResponse.SERVING:
            raise BrokenPromiseError("health is not SERVING while the disk is full")

    async def _acknowledged(self, more: int) -> None:
        """Wait for some more acknowledgements."""
        wanted = self.known.acknowledged + more
        while self.known.acknowledged < wanted:
            self._progress.clear()
            await self._progress.wait()

    async def _append(self, stub: pb_grpc.HistoryServiceAsyncStub, client: int) -> None:
        """Append until the end of the life; what is not answered is sent again as it was."""
        while not self._ended:
            request = self.known.unanswered.get(client)
            if request is None:
                request = self._request()
                self.known.sent[request.request_id] = [message.id for message in request.messages]
                self.known.unanswered[client] = request
            try:
                response = await stub.AddMessages(request, timeout=CALL_SECONDS)
            except grpc.aio.AioRpcError as error:
                self._note_refusal(error)
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            del self.known.unanswered[client]
            self.known.note(response)
            self._progress.set()

    def _note_refusal(self, failure: grpc.aio.AioRpcError) -> None:
        error = error_from_rpc(failure)
        if error is not None and error.reason == "STORE_BUSY":
            self.refused[error.metadata.get("condition", "")] += 1
            self._refusal.set()
        elif error is None and failure.code() is grpc.StatusCode.UNAVAILABLE:
            self.broken += 1
        else:
            raise BrokenPromiseError(f"a write was refused with {failure.code()}: {failure.details()}")

    def summary(self) -> str:
        """What happened, in a line."""
        known = self.known
        faults = ", ".join(f"{self.struck[kind]} {kind}" for kind in FAULTS)
        refusals = ", ".join(f"{count} {condition}" for condition, count in sorted(self.refused.items()))
        return (
            f"{len(self.lives)} kills, {faults}: {known.acknowledged} acknowledged requests, "
            f"{len(known.placed)} messages, {known.replayed} answered again, {self.broken} broken calls, "
            f"refusals: {refusals or 'none'}; 0 lost, 0 moved, 0 doubled"
        )


@contextmanager
def full_disk(pid: int) -> Iterator[None]:
    """Let a process write no more for a while; it is told what a quota's end is told like."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (_ALLOWED_BYTES, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


async def chaos(folder: Path, *, lives: int, seed: int, mutant: str = "none") -> ChaosRun:
    """Run as many lives.

    Raises:
        BrokenPromiseError: A promise was broken.
    """
    run = ChaosRun(folder, seed, mutant)
    with told_alone():
        await run.kill_times(lives)
    return run


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="Kills, pauses, full disks and cut connections.")
    parser.add_argument("--lives", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--mutant", choices=sorted(MUTANTS), default="none")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = asyncio.run(
                chaos(Path(folder), lives=options.lives, seed=options.seed, mutant=options.mutant)
            )
        except BrokenPromiseError as error:
            print(f"BROKEN: {error}")
            return 1
    for number, life in enumerate(run.lives, start=1):
        print(f"life {number}: {'; '.join(map(str, life))}; kill")
    print(run.summary())
    return 0


if __name__ == "__main__":
    sys.exit(main())
