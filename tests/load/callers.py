"""Callers of a history service that call without a rest, and what becomes of their calls."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import grpc
import grpc.aio

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon.message.v1.message_pb2 import GenericContent, Message
from antiphon_client.ids import new_ordered_id
from antiphon_client.status import error_from_rpc

CALL_SECONDS = 60.0
READ, WRITE = "read", "write"


@dataclass
class Tally:
    """What callers were answered.

    Attributes:
        admitted: Seconds of each call answered OK, by kind.
        refused: Refusals, by kind and reason; a failure without a reason by its code.
        acknowledged: Messages acknowledged, by branch: id and index.
        rejected: Ids of messages whose write was refused.
    """

    admitted: dict[str, list[float]] = field(default_factory=lambda: {READ: [], WRITE: []})
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    acknowledged: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    rejected: set[str] = field(default_factory=set)

    @property
    def admitted_calls(self) -> int:
        """Calls answered OK."""
        return sum(map(len, self.admitted.values()))

    def reasons(self) -> set[str]:
        """Why calls were refused."""
        return {reason for _, reason in self.refused}

    def quantile(self, kind: str, share: float) -> float:
        """Return the seconds within which that share of a kind's admitted calls was answered; 0 for none."""
        times = sorted(self.admitted[kind])
        return times[min(len(times) - 1, int(len(times) * share))] if times else 0.0


class Callers:
    """Makes calls on a service and tallies them."""

    def __init__(self, channels: list[grpc.aio.Channel], branches: list[str], read: str, body: str) -> None:
        """Set up.

        Args:
            channels: Connections to share.
            branches: Where to append to.
            read: What to read.
            body: What each message holds.
        """
        self._stubs = [pb_grpc.HistoryServiceStub(channel) for channel in channels]
        self._branches = branches
        self._read = read
        self._content = GenericContent(value_json=f'"{body}"')

    async def run(self, count: int, *, seconds: float, seed: int) -> tuple[Tally, float]:
        """Have ``count`` callers call one after another; return what came of it and the seconds it took."""
        tally = Tally()
        started = time.perf_counter()
        end = started + seconds
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                chance = random.Random(f"{seed}:{number}")
                group.create_task(self._caller(number, chance, tally, end))
        return tally, time.perf_counter() - started

    async def _caller(self, number: int, chance: random.Random, tally: Tally, end: float) -> None:
        stub = self._stubs[number % len(self._stubs)]
        branch = self._branches[number % len(self._branches)]
        while time.perf_counter() < end:
            draw = chance.random()
            if draw < 0.5:
                await self.append(stub, branch, tally)
            elif draw < 0.7:
                await self._timed(READ, tally, lambda: self._get(stub))
            elif draw < 0.85:
                await self._timed(READ, tally, lambda: self._page(stub))
            else:
                await self._timed(READ, tally, lambda: self._snapshot(stub))

    async def append(self, stub: pb_grpc.HistoryServiceAsyncStub, branch: str, tally: Tally) -> bool:
        """Append one message; tell whether it was acknowledged."""
        message = Message(id=new_ordered_id(), generic=self._content)
        request = pb.AddMessagesRequest(branch_id=branch, request_id=new_ordered_id(), messages=[message])

        async def send() -> None:
            response = await stub.AddMessages(request, timeout=CALL_SECONDS)
            placed = tally.acknowledged.setdefault(branch, [])
            placed += [(placement.message_id, placement.index) for placement in response.placements]

        done = await self._timed(WRITE, tally, send)
        if not done:
            tally.rejected.add(message.id)
        return done

    async def _timed(self, kind: str, tally: Tally, call: Callable[[], Awaitable[None]]) -> bool:
        started = time.perf_counter()
        try:
            await call()
        except grpc.aio.AioRpcError as failure:
            error = error_from_rpc(failure)
            tally.refused[kind, failure.code().name if error is None else error.reason] += 1
            return False
        tally.admitted[kind].append(time.perf_counter() - started)
        return True

    async def _get(self, stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        await stub.GetBranch(pb.GetBranchRequest(branch_id=self._read), timeout=CALL_SECONDS)

    async def _page(self, stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        await stub.ListMessages(
            pb.ListMessagesRequest(branch_id=self._read, page_size=1000), timeout=CALL_SECONDS
        )

    async def _snapshot(self, stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        async for _ in stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id=self._read), timeout=CALL_SECONDS):
            pass


async def order_of(stub: pb_grpc.HistoryServiceAsyncStub, branch: str) -> list[str]:
    """Read a branch's message ids in order."""
    order: list[str] = []
    async for frame in stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id=branch), timeout=CALL_SECONDS):
        order.extend(frame.order.message_ids)
    return order
