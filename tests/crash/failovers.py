"""Loss of the primary of three PostgreSQL servers while clients append.

    PYTHONPATH=.:clients/python python -m tests.crash.failovers --failovers 10 [--seed N] [--variant laggard]

Clients append over two history services and send again, under the same request
id, what was not answered. At a random moment the primary is stopped at once and
stays down; the standby that has most is promoted, the other one follows it, and
the former primary comes back as a standby, rewound or cloned anew. Before it is
lost, the primary has lost none, one or both of its standbys: with one the other
has more, with both its last commits are on no other server.

Held to what ``tests.crash.kills`` holds a service to, and what was read just
before the loss must be there after it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

import grpc
import grpc.aio

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from tests.crash.chaos import ChaosRun
from tests.crash.kills import (
    BRANCH,
    CALL_SECONDS,
    CLIENTS,
    BrokenPromiseError,
    Service,
    compare,
    read_order,
    told_alone,
)
from tests.figures.recording import parse_with_record, record_figure
from tests.support import postgres
from tests.support.history import uuid_of
from tests.support.postgres_cluster import Cluster, Node
from tests.support.progress import counted

REPLICAS = 2
VARIANTS = ("none", "asynchronous", "laggard", "unfenced")
"""How the three are run: as the recipe says, or with a fault that must be caught:
commits that wait for no standby, the promotion of the standby that has least, or
a former primary that somebody starts again as it was."""
ROUND_SECONDS = 120.0
_PAUSE_SECONDS = 0.02


class Recovery(NamedTuple):
    """How one failover went.

    Attributes:
        cut: How many standbys the primary had lost before.
        rewound: Whether the former primary was rewound, not cloned.
        promoted: Seconds from the loss until the standby was promoted.
        first: Seconds from the loss until a write was answered.
        every: Seconds from the loss until every replica had answered one.
    """

    cut: int
    rewound: bool
    promoted: float
    first: float
    every: float

    def __str__(self) -> str:
        return (
            f"{self.cut} standbys cut off before; promoted after {self.promoted:.2f} s, "
            f"first write answered after {self.first:.2f} s, by every replica after {self.every:.2f} s; "
            f"the former primary was {'rewound' if self.rewound else 'cloned'}"
        )


class FailoverRun(ChaosRun):
    """Failovers and checks.

    Attributes:
        recoveries: The failovers so far.
    """

    def __init__(self, folder: Path, seed: int, variant: str, cluster: Cluster) -> None:
        """Set up; the cluster runs already."""
        super().__init__(folder, seed, "none")
        self._cluster = cluster
        self._lagging = variant == "laggard"
        self._unfenced = variant == "unfenced"
        self._services = []
        for number in range(REPLICAS):
            (folder / str(number)).mkdir()
            self._services.append(Service(folder / str(number), "none", store=cluster.url(number)))
        self._stubs: list[pb_grpc.HistoryServiceAsyncStub] = []
        self.recoveries: list[Recovery] = []

    async def fail_over_times(self, cuts: list[int], tell: Callable[[Recovery], None]) -> None:
        """Lose the primary as many times, with so many standbys cut off before each.

        Raises:
            BrokenPromiseError: A promise was broken.
        """
        async with self._replicas() as processes:
            for stub in self._stubs:
                await self._check(stub)
            for cut in cuts:
                await self._round(cut)
                tell(self.recoveries[-1])
            for process in processes:
                await self._end_cleanly(process)

    @asynccontextmanager
    async def _replicas(self) -> AsyncIterator[list[asyncio.subprocess.Process]]:
        async with AsyncExitStack() as stack:
            processes = [await stack.enter_async_context(service.running()) for service in self._services]
            self._stubs = [await stack.enter_async_context(service.stub()) for service in self._services]
            yield processes

    async def _round(self, cut: int) -> None:
        self._ended = False
        async with asyncio.timeout(ROUND_SECONDS), asyncio.TaskGroup() as clients:
            for client in range(CLIENTS):
                clients.create_task(self._append(self._stubs[client % REPLICAS], client))
            await self._acknowledged(self._chance.randrange(10, 100))
            await self._cut_off(cut)
            seen, revision = await read_order(self._chance.choice(self._stubs))
            await self._lose_primary(cut)
            await self._acknowledged(self._chance.randrange(10, 50))
            self._ended = True
        for stub in self._stubs:
            compare(self.known, *await read_order(stub))
        order, revision_now = await read_order(self._stubs[0])
        if order[: len(seen)] != seen or revision_now < revision:
            raise BrokenPromiseError("what was read before the loss is not there after it")
        for stub in self._stubs:
            await self._check(stub)

    async def _cut_off(self, count: int) -> None:
        """Let the primary lose so many standbys, and go on for a moment."""
        lost = self._chance.sample(self._cluster.standbys, count)
        await asyncio.gather(*(asyncio.to_thread(node.follow, None) for node in lost))
        if count < len(self._cluster.standbys):
            await self._acknowledged(self._chance.randrange(1, 50))
        else:
            await asyncio.sleep(self._chance.uniform(0.1, 0.5))

    async def _lose_primary(self, cut: int) -> None:
        former = self._cluster.primary
        await asyncio.to_thread(former.stop, "immediate")
        lost = time.monotonic()
        other = await asyncio.to_thread(self._promote)
        promoted = time.monotonic() - lost
        if self._unfenced:
            await asyncio.to_thread(former.start)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(asyncio.to_thread(self._follow, other))
            await self._acknowledged(1)
            first = time.monotonic() - lost
            for stub in self._stubs:
                compare(self.known.so_far(), *await read_order(stub))
                tasks.create_task(self._until_written(stub))
        every = time.monotonic() - lost
        if self._unfenced:
            await asyncio.to_thread(former.stop, "immediate")
        rewound = self._chance.random() < 0.5
        await asyncio.to_thread(self._cluster.rejoin, former, rewind=rewound)
        await asyncio.to_thread(self._cluster.until_followed)
        self.recoveries.append(Recovery(cut, rewound, promoted, first, every))

    def _promote(self) -> Node:
        """Promote the standby that has most; return the other one."""
        by_position = sorted(self._cluster.standbys, key=Node.log_position, reverse=not self._lagging)
        self._cluster.promote(by_position[0])
        return by_position[1]

    def _follow(self, other: Node) -> None:
        """Let the other standby follow the new primary, which it cannot where it has more."""
        if self._lagging:
            other.stop("immediate")
            self._cluster.rejoin(other, rewind=False)
        else:
            other.follow(self._cluster.primary)

    async def _until_written(self, stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        """Return when a service has answered a write, if one that was done before."""
        request = pb.CreateBranchRequest(branch_id=BRANCH, request_id=uuid_of(2))
        while True:
            with contextlib.suppress(grpc.aio.AioRpcError):
                await stub.CreateBranch(request, timeout=CALL_SECONDS)
                return
            await asyncio.sleep(_PAUSE_SECONDS)


@contextmanager
def running_cluster(variant: str) -> Iterator[Cluster]:
    """Run the three servers.

    Raises:
        NoServerError: There is no server to be had.
    """
    cluster = Cluster(postgres.find_binaries(), waits=variant != "asynchronous")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


async def fail_over(
    cuts: list[int], *, seed: int, variant: str = "none", tell: Callable[[Recovery], None] = lambda _: None
) -> FailoverRun:
    """Run on servers of its own.

    Args:
        cuts: For each failover, how many standbys the primary loses before: 0 to 2.
        seed: Of what is left to chance.
        variant: One of ``VARIANTS``.
        tell: Called after each failover.

    Raises:
        BrokenPromiseError: A promise was broken.
        NoServerError: There is no server to be had.
    """
    with running_cluster(variant) as cluster, tempfile.TemporaryDirectory(dir="/tmp") as folder:
        run = FailoverRun(Path(folder), seed, variant, cluster)
        with told_alone():
            await run.fail_over_times(cuts, tell)
        return run


def _run_with_progress(failovers: int, seed: int, variant: str) -> FailoverRun:
    with counted("failovers", failovers) as advance:

        def tell(recovery: Recovery) -> None:
            print(f"failover {advance()}: {recovery}", flush=True)

        return asyncio.run(
            fail_over([number % 3 for number in range(failovers)], seed=seed, variant=variant, tell=tell)
        )


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="Loss of the primary of three PostgreSQL servers.")
    parser.add_argument("--failovers", type=int, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--variant", choices=VARIANTS, default="none")
    options = parse_with_record(parser)
    started = time.monotonic()
    print(f"seed {options.seed}", flush=True)
    try:
        run = _run_with_progress(options.failovers, options.seed, options.variant)
        held, found = True, _summary(run)
    except BrokenPromiseError as error:
        held, found = False, f"BROKEN: {error}"
    print(found)
    if options.record:
        record_figure("failovers", options.failovers, found, seconds=time.monotonic() - started, held=held)
    return 0 if held else 1


def _summary(run: FailoverRun) -> str:
    """Say what was found when every promise held."""
    first = [recovery.first for recovery in run.recoveries]
    return (
        f"{run.known.summary('failovers', len(first))}; {run.refused.total()} refusals; first write answered"
        f" {statistics.median(first):.2f} s after the loss (median), {max(first):.2f} s (longest)"
    )


if __name__ == "__main__":
    sys.exit(main())
