"""Ten times as many callers as a history service serves at once.

    PYTHONPATH=.:clients/python python -m tests.load.flood --calls 64 --times 10 --seconds 20

Measures first what the service does for half as many callers as it serves at
once, then has ten times as many as that bound call without a rest and without
heeding RetryInfo.
The service's disk is slowed down, so that what it can do depends on the disk
and not on what this machine's processors leave to it and to its callers.
Held to: refusals are OVERLOADED and nothing else; memory grows by no more than
the bounds allow; every acknowledged message stands where its acknowledgement
said, and none of a refused write is there; neither reads nor writes are
starved; health is answered; a caller after the flood is served at once.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon.message.v1.message_pb2 import GenericContent, Message
from tests.crash.kills import START_SECONDS, Service
from tests.load.callers import CALL_SECONDS, READ, WRITE, Callers, Tally, order_of
from tests.load.process import MIB, MemoryWatch, resident_bytes
from tests.support.history import uuid_of

CHANNELS = 4
BRANCHES = 16
READ_BRANCH = uuid_of(1)
READ_MESSAGES = 4
PROBE_SECONDS = 0.05
RECOVERED_CALLS = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does.

    Attributes:
        calls: Calls that the service serves at once (``--inflight-calls``).
        times: How many times as many callers there are.
        inflight_mib: ``--inflight-bytes`` of the service, in MiB.
        cache_mib: ``--snapshot-cache-bytes`` of the service, in MiB.
        body_bytes: Size of each message.
        seconds: How long the flood lasts; half of it is measured before.
        seed: What the callers draw their calls from.
        mutant: The fault of the service.
    """

    calls: int = 64
    times: int = 10
    inflight_mib: int = 32
    cache_mib: int = 8
    body_bytes: int = 256 * 1024
    seconds: float = 20.0
    seed: int = 1
    mutant: str = "none"

    @property
    def growth_bytes(self) -> int:
        """How much the service's memory may grow by.

        What is in flight exists up to four times, as bytes, parsed, encoded and
        on its way; each caller beyond holds a flow-control window in the
        transport, which may take its whole request; the database's pages and the
        allocators' slack come on top.
        """
        callers = self.calls * self.times
        return (4 * self.inflight_mib + self.cache_mib + 96) * MIB + callers * max(64 * 1024, self.body_bytes)


@dataclass
class Outcome:
    """What a run found; ``faults`` says what must not be."""

    plan: Plan
    normal: Tally
    normal_seconds: float
    flood: Tally
    flood_seconds: float
    resident_before: int
    resident_peak: int
    health_asked: int = 0
    health_answered: int = 0
    lost: int = 0
    unasked: int = 0
    recovery_seconds: float = 0.0
    broken: list[str] = field(default_factory=list)

    def faults(self) -> list[str]:
        """Return what the run must not have found, whatever the machine's speed."""
        flood, found = self.flood, list(self.broken)
        if self.normal.refused:
            found.append(f"calls within capacity were refused: {dict(self.normal.refused)}")
        if flood.reasons() != {"OVERLOADED"}:
            found.append(f"refusals are {sorted(flood.reasons()) or 'none'}, not OVERLOADED")
        growth = self.resident_peak - self.resident_before
        if growth > self.plan.growth_bytes:
            found.append(f"memory grew by {growth // MIB} MiB, more than {self.plan.growth_bytes // MIB} MiB")
        found += [
            f"no {kind} was admitted in the flood" for kind in (READ, WRITE) if not flood.admitted[kind]
        ]
        if self.lost or self.unasked:
            found.append(
                f"{self.lost} acknowledged messages lost or moved, {self.unasked} refused ones there"
            )
        if self.health_answered < self.health_asked:
            found.append(f"health was answered {self.health_answered} of {self.health_asked} times")
        return found

    def ratio(self, kind: str) -> float:
        """Return how many times as long 99 % of the admitted calls of a kind took in the flood, at most."""
        before = self.normal.quantile(kind, 0.99)
        return self.flood.quantile(kind, 0.99) / before if before else 0.0

    def table(self) -> str:
        """Return the figures as a table."""
        normal, flood, plan = self.normal, self.flood, self.plan
        refused = flood.refused.total()
        offered = (flood.admitted_calls + refused) / self.flood_seconds
        capacity = normal.admitted_calls / self.normal_seconds
        rows: list[tuple[str, Any, Any]] = [
            ("", "capacity", f"{plan.times} x"),
            ("callers", plan.calls // 2, plan.calls * plan.times),
            ("calls offered /s", f"{capacity:.0f}", f"{offered:.0f}"),
            ("calls admitted /s", f"{capacity:.0f}", f"{flood.admitted_calls / self.flood_seconds:.0f}"),
            ("  of them writes", len(normal.admitted[WRITE]), len(flood.admitted[WRITE])),
            ("  of them reads", len(normal.admitted[READ]), len(flood.admitted[READ])),
            ("refused OVERLOADED", 0, refused),
            *(
                (
                    f"{kind} p50 / p99 ms",
                    f"{normal.quantile(kind, 0.5) * 1e3:.0f} / {normal.quantile(kind, 0.99) * 1e3:.0f}",
                    f"{flood.quantile(kind, 0.5) * 1e3:.0f} / {flood.quantile(kind, 0.99) * 1e3:.0f}"
                    f"  (p99 x {self.ratio(kind):.1f})",
                )
                for kind in (WRITE, READ)
            ),
            ("resident MiB", self.resident_before // MIB, f"{self.resident_peak // MIB} at most"),
            ("health answered", "", f"{self.health_answered} of {self.health_asked}"),
            ("acknowledged messages", _count(normal), _count(flood)),
            ("  lost or moved", "", self.lost),
            ("  refused ones there", "", self.unasked),
            (f"s until {RECOVERED_CALLS} writes in a row", "", f"{self.recovery_seconds:.2f}"),
        ]
        return "\n".join(f"{name:<28} {before!s:>16}  {after}" for name, before, after in rows)


def _count(tally: Tally) -> int:
    return sum(map(len, tally.acknowledged.values()))


async def flood(folder: Path, plan: Plan) -> Outcome:
    """Run a service, flood it, and hold it to its promises."""
    service = Service(
        folder, f"slow,{plan.mutant}",
        "--inflight-calls", str(plan.calls),
        "--inflight-bytes", str(plan.inflight_mib * MIB),
        "--snapshot-cache-bytes", str(plan.cache_mib * MIB),
    )  # fmt: skip
    async with service.running() as process, AsyncExitStack() as stack:
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1)]
        channels = [
            await stack.enter_async_context(grpc.aio.insecure_channel(service.address, options))
            for _ in range(CHANNELS)
        ]
        stub = pb_grpc.HistoryServiceStub(channels[0])
        branches = await _prepare(stub, plan)
        callers = Callers(channels, branches, READ_BRANCH, "x" * plan.body_bytes)
        # Reads and writes may each have three quarters of the places: half are within any draw.
        before = plan.calls // 2
        await callers.run(before, seconds=plan.seconds / 10, seed=plan.seed)  # warming up
        resident = resident_bytes(process.pid)
        normal, normal_seconds = await callers.run(before, seconds=plan.seconds / 2, seed=plan.seed)
        async with MemoryWatch(process.pid) as memory, _Health(service.address) as health:
            flooded, seconds = await callers.run(
                plan.calls * plan.times, seconds=plan.seconds, seed=plan.seed
            )
        outcome = Outcome(
            plan,
            normal,
            normal_seconds,
            flooded,
            seconds,
            resident,
            memory.peak,
            health.asked,
            health.answered,
        )
        outcome.recovery_seconds = await _recover(callers, stub, branches[0])
        await _read_back(stub, branches, outcome)
    return outcome


async def _prepare(stub: pb_grpc.HistoryServiceAsyncStub, plan: Plan) -> list[str]:
    """Make the branches, one of them with something to read."""
    names = [READ_BRANCH, *(uuid_of(100 + number) for number in range(BRANCHES))]
    for name in names:
        making = pb.CreateBranchRequest(branch_id=name)
        await stub.CreateBranch(making, timeout=START_SECONDS, wait_for_ready=True)
    content = GenericContent(value_json=f'"{"x" * plan.body_bytes}"')
    for _ in range(READ_MESSAGES):
        request = pb.AddMessagesRequest(branch_id=READ_BRANCH, messages=[Message(generic=content)])
        await stub.AddMessages(request, timeout=CALL_SECONDS)
    return names[1:]


class _Health:
    """Asks for the service's health now and then, on a connection of its own.

    Attributes:
        asked: How often it asked.
        answered: How often it was told SERVING.
    """

    def __init__(self, address: str) -> None:
        self._channel = grpc.aio.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.asked = 0
        self.answered = 0

    async def __aenter__(self) -> _Health:
        self._task = asyncio.create_task(self._ask())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        assert self._task is not None
        await self._task
        await self._channel.close()

    async def _ask(self) -> None:
        stub = health_pb2_grpc.HealthStub(self._channel)
        while not self._ended.is_set():
            self.asked += 1
            try:
                reply = await stub.Check(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS)
            except grpc.aio.AioRpcError:
                continue
            self.answered += reply.status == health_pb2.HealthCheckResponse.SERVING
            await asyncio.sleep(PROBE_SECONDS)


async def _recover(callers: Callers, stub: pb_grpc.HistoryServiceAsyncStub, branch: str) -> float:
    """Return the seconds until so many writes in a row were acknowledged, one after another."""
    started = time.perf_counter()
    tally, served = Tally(), 0
    while served < RECOVERED_CALLS:
        served = served + 1 if await callers.append(stub, branch, tally) else 0
    return time.perf_counter() - started


async def _read_back(stub: pb_grpc.HistoryServiceAsyncStub, branches: list[str], outcome: Outcome) -> None:
    """Hold the branches to what was acknowledged and to what was refused."""
    rejected = outcome.normal.rejected | outcome.flood.rejected
    for branch in branches:
        order = await order_of(stub, branch)
        if len(set(order)) != len(order):
            outcome.broken.append("a message is there twice")
        for tally in (outcome.normal, outcome.flood):
            for message_id, index in tally.acknowledged.get(branch, ()):
                outcome.lost += index >= len(order) or order[index] != message_id
        outcome.unasked += len(rejected.intersection(order))


def main() -> int:
    """Run from the command line; 0 when the service held."""
    parser = argparse.ArgumentParser(description="Ten times as many callers as are served at once.")
    usual = Plan()
    parser.add_argument("--calls", type=int, default=usual.calls)
    parser.add_argument("--times", type=int, default=usual.times)
    parser.add_argument("--seconds", type=float, default=usual.seconds)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--mutant", choices=["none", "boundless"], default="none")
    parser.add_argument("--ratio", type=float, default=20.0, help="bound of p99 in the flood over p99 before")
    parser.add_argument("--recovery", type=float, default=5.0, help="bound of the recovery in seconds")
    options = parser.parse_args()
    plan = Plan(
        calls=options.calls,
        times=options.times,
        seconds=options.seconds,
        seed=options.seed,
        mutant=options.mutant,
    )
    print(f"seed {plan.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(flood(Path(folder), plan))
    print(outcome.table())
    faults = outcome.faults()
    faults += [
        f"{kind} p99 grew by more than {options.ratio:g} times"
        for kind in (READ, WRITE)
        if outcome.ratio(kind) > options.ratio
    ]
    if outcome.recovery_seconds > options.recovery:
        faults.append(f"recovery took {outcome.recovery_seconds:.1f} s")
    print("\n".join(f"BROKEN: {fault}" for fault in faults) or "held")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
