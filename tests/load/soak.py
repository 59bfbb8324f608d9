"""A mixed load on both services for as long as one likes.

    PYTHONPATH=.:clients/python python -m tests.load.soak --seconds 3600

Callers make branches, append, read, list, compile, fork, watch, send mail and
fetch it, and delete what they made. Meanwhile the services' memory, the length
of the write-ahead log and the time that appends take are noted.

Held to, once the first quarter has warmed up caches and pools:

- memory is flat: the last quarter's median is no more than 5 % and 16 MiB over the second quarter's;
- the write-ahead log stays within its bound;
- the p99 of appends drifts by less than 10 % from the second quarter to the last, by the clock or over the
  p99 of a bare echo (a server that does nothing) called beside them. A machine that is busy with other
  things slows both, and the ratio, taken window by window, is what the service does; both are told;
- nothing fails.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from antiphon.compiler.v1 import compiler_service_pb2 as compiler_pb
from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceStub
from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1.exchange_service_pb2_grpc import ExchangeServiceStub
from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceStub
from antiphon.message.v1.message_pb2 import (
    Address,
    AssistantResponseContent,
    GenericContent,
    InstructionContent,
    Message,
)
from antiphon_client.ids import new_id, new_ordered_id
from history_service.storage.sqlite.connection import READER_CACHE_KIB, WRITER_CACHE_KIB
from history_service.storage.sqlite.store import READER_THREADS
from tests.bench.echo import ECHO
from tests.figures.recording import parse_with_record, record_figure
from tests.load.process import MIB, file_bytes, resident_bytes
from tests.load.soak_verdict import Samples, judge
from tests.support.programs import program

CALLERS = 8
TURNS = 6
CALL_SECONDS = 60.0
SAMPLES = 120
"""Samples of memory and log that a run takes, at least every second apart."""


async def fill_page_caches(history: grpc.aio.Channel) -> None:
    """Write and read more than SQLite keeps of a database in memory, which it would else grow into later.

    The load itself takes hours to do it, as it deletes what it has made.
    """
    stub, branches = HistoryServiceStub(history), (new_id(), new_id())
    for branch, kib in zip(branches, (WRITER_CACHE_KIB, READER_CACHE_KIB), strict=True):
        await stub.CreateBranch(pb.CreateBranchRequest(branch_id=branch), timeout=CALL_SECONDS)
        turn = [Message(instruction=InstructionContent(instruction="x" * 16 * 1024))] * 64
        for _ in range(kib // 1024 * 3 // 2):
            request = pb.AddMessagesRequest(branch_id=branch, request_id=new_ordered_id(), messages=turn)
            await stub.AddMessages(request, timeout=CALL_SECONDS)
    for _ in range(3):
        await asyncio.gather(*[_read(history, branches[-1]) for _ in range(2 * READER_THREADS)])


async def _read(history: grpc.aio.Channel, branch: str) -> None:
    stub = HistoryServiceStub(history)
    # By a selection, which goes past the frames that the service keeps.
    order = [
        message_id
        async for frame in stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id=branch), timeout=CALL_SECONDS)
        for message_id in frame.order.message_ids
    ]
    request = pb.ReadSnapshotRequest(branch_id=branch)
    request.progression.message_ids.extend(order)
    async for _ in stub.ReadSnapshot(request, timeout=CALL_SECONDS):
        pass


class Soak:
    """The callers of a run."""

    def __init__(
        self, history: grpc.aio.Channel, compiler: grpc.aio.Channel, floor: grpc.aio.Channel, samples: Samples
    ) -> None:
        self._history = HistoryServiceStub(history)
        self._exchange = ExchangeServiceStub(history)
        self._compiler = CompilerServiceStub(compiler)
        self._echo: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = floor.unary_unary(ECHO)
        self._samples = samples
        self._started = time.perf_counter()

    async def run(self, seconds: float, seed: int) -> None:
        """Have all callers call until the time is over."""
        end = self._started + seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(self._echoes(end))
            for number in range(CALLERS):
                group.create_task(self._caller(random.Random(f"{seed}:{number}"), f"soak-{number}", end))

    async def _echoes(self, end: float) -> None:
        while time.perf_counter() < end:
            started = time.perf_counter()
            await self._echo(b"", timeout=CALL_SECONDS)
            self._note(self._samples.echoes, started)
            await asyncio.sleep(0.005)

    async def _caller(self, chance: random.Random, exchange: str, end: float) -> None:
        owners = new_id(), new_id()
        for owner in owners:
            request = exchange_pb.RegisterOwnerRequest(exchange_id=exchange, owner_id=owner)
            await self._called(self._exchange.RegisterOwner(request, timeout=CALL_SECONDS))
        while time.perf_counter() < end:
            try:
                await self._conversation(chance)
                await self._mail(exchange, *owners)
            except grpc.aio.AioRpcError as failure:
                self._samples.failures.append(f"{failure.code().name}: {failure.details()}")

    async def _conversation(self, chance: random.Random) -> None:
        """Make a branch, talk, look at it in many ways, and delete it with its fork."""
        branch, fork = new_id(), new_id()
        await self._ask("CreateBranch", pb.CreateBranchRequest(branch_id=branch))
        for _ in range(TURNS):
            await self._append(branch, "x" * chance.choice((100, 1000, 10_000)))
            await self._compile(branch)
        await self._ask("ListMessages", pb.ListMessagesRequest(branch_id=branch, page_size=50))
        await self._watch(branch)
        await self._ask("ForkBranch", pb.ForkBranchRequest(source_branch_id=branch, branch_id=fork))
        await self._append(fork, "y" * 100)
        async for _ in self._history.ReadSnapshot(
            pb.ReadSnapshotRequest(branch_id=fork), timeout=CALL_SECONDS
        ):
            pass
        for name in (branch, fork):
            await self._ask("DeleteBranch", pb.DeleteBranchRequest(branch_id=name, purge=True))

    async def _append(self, branch: str, text: str) -> None:
        turn = [
            Message(instruction=InstructionContent(instruction=text)),
            Message(assistant_response=AssistantResponseContent(assistant_response=text)),
        ]
        request = pb.AddMessagesRequest(branch_id=branch, request_id=new_ordered_id(), messages=turn)
        started = time.perf_counter()
        await self._ask("AddMessages", request)
        self._note(self._samples.appends, started)

    async def _compile(self, branch: str) -> None:
        request = compiler_pb.CompileRequest(
            instruction=Message(instruction=InstructionContent(instruction="And now?"))
        )
        request.branch.branch_id = branch
        await self._called(self._compiler.Compile(request, timeout=CALL_SECONDS))

    async def _watch(self, branch: str) -> None:
        """Watch a branch up to the present, then leave."""
        watch = self._history.WatchBranch(pb.WatchBranchRequest(branch_id=branch), timeout=CALL_SECONDS)
        async for frame in watch:
            if frame.HasField("caught_up"):
                break
        watch.cancel()
        self._samples.calls += 1

    async def _mail(self, exchange: str, sender: str, recipient: str) -> None:
        letter = Message(
            generic=GenericContent(value_json='"a letter"'),
            sender=Address(member_id=sender),
            recipient=Address(member_id=recipient),
        )
        calls: tuple[tuple[str, Any], ...] = (
            ("Send", exchange_pb.SendRequest(exchange_id=exchange, message=letter)),
            ("Collect", exchange_pb.CollectRequest(exchange_id=exchange, owner_id=sender)),
            ("Pop", exchange_pb.PopRequest(exchange_id=exchange, owner_id=recipient, sender_id=sender)),
        )
        for name, request in calls:
            await self._called(getattr(self._exchange, name)(request, timeout=CALL_SECONDS))

    async def _ask(self, name: str, request: Any) -> None:
        await self._called(getattr(self._history, name)(request, timeout=CALL_SECONDS))

    async def _called(self, call: Any) -> None:
        await call
        self._samples.calls += 1

    def _note(self, timed: list[tuple[float, float]], started: float) -> None:
        now = time.perf_counter()
        timed.append((now - self._started, now - started))


async def _sample(samples: Samples, pids: dict[str, int], log: Path, seconds: float) -> None:
    while True:
        for name, pid in pids.items():
            samples.memory.setdefault(name, []).append(resident_bytes(pid))
        samples.log_bytes.append(file_bytes(log))
        await asyncio.sleep(seconds)


async def soak(folder: Path, *, seconds: float, seed: int, mutant: str = "none") -> Samples:
    """Run both services under load and return what was noted."""
    store = folder / "history.sqlite3"
    samples = Samples()
    history_module = "history_service" if mutant == "none" else "tests.crash.mutant_service"
    # Small caches, so that what fills them is soon known.
    history_arguments = [
        *([] if mutant == "none" else [mutant]),
        "--listen", f"unix:{folder / 'h.sock'}",
        "--store", f"sqlite:{store}",
        "--snapshot-cache-bytes", str(4 * MIB),
    ]  # fmt: skip
    with (
        program(history_module, *history_arguments) as history,
        program(
            "compiler_service",
            "--listen", f"unix:{folder / 'c.sock'}",
            "--history", history.address,
            "--cache-bytes", str(4 * MIB),
        ) as compiler,
        program("tests.bench.echo", "--listen", f"unix:{folder / 'e.sock'}") as floor,
    ):  # fmt: skip
        pids = {"history": history.process.pid, "compiler": compiler.process.pid}
        async with (
            grpc.aio.insecure_channel(history.address) as history_channel,
            grpc.aio.insecure_channel(compiler.address) as compiler_channel,
            grpc.aio.insecure_channel(floor.address) as floor_channel,
        ):
            await fill_page_caches(history_channel)
            every = max(0.1, min(1.0, seconds / SAMPLES))
            sampling = asyncio.create_task(_sample(samples, pids, folder / "history.sqlite3-wal", every))
            try:
                await Soak(history_channel, compiler_channel, floor_channel, samples).run(seconds, seed)
            finally:
                sampling.cancel()
                await asyncio.wait((sampling,))
    return samples


def main() -> int:
    """Run from the command line; 0 when everything held."""
    parser = argparse.ArgumentParser(description="A mixed load for as long as one likes.")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--mutant", choices=["none", "leaky"], default="none")
    options = parse_with_record(parser)
    print(f"seed {options.seed}, {options.seconds:g} s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        samples = asyncio.run(
            soak(Path(folder), seconds=options.seconds, seed=options.seed, mutant=options.mutant)
        )
    verdicts = judge(samples, options.seconds)
    print("\n".join(map(str, verdicts)))
    held = all(verdict.held for verdict in verdicts)
    if options.record:
        found = "; ".join(f"{verdict.name}: {verdict.figures}" for verdict in verdicts)
        record_figure("soak", int(options.seconds), found, seconds=options.seconds, held=held)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
