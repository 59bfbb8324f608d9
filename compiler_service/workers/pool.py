"""The workers of the service."""

from __future__ import annotations

import asyncio
import os

from antiphon_client.edge.metrics import Figure
from compiler_service.workers.worker import FoldingWorker, Lease

MOST_WORKERS = 64
_MOST_BY_DEFAULT = 4


def default_workers() -> int:
    """Return how many workers there are where nothing else is said: none on one core."""
    return min(_MOST_BY_DEFAULT, len(os.sched_getaffinity(0)) - 1)


class FoldingWorkers:
    """Workers, each at the service of one call at a time. Belongs to one event loop."""

    def __init__(self, count: int) -> None:
        """Set up so many workers; nothing happens before ``start``."""
        self._workers = [FoldingWorker() for _ in range(count)]
        self._leases = self._refusals = 0

    async def start(self) -> None:
        """Start the processes, in the background: calls that come before they are ready do without."""
        for worker in self._workers:
            worker.start()

    async def close(self) -> None:
        """End the processes, and wait until they are gone."""
        await asyncio.gather(*[asyncio.to_thread(worker.close) for worker in self._workers])

    @property
    def process_ids(self) -> list[int]:
        """Ids of the processes that are there now."""
        found = [worker.process_id for worker in self._workers]
        return [process_id for process_id in found if process_id is not None]

    @property
    def free(self) -> int:
        """How many have nothing to do."""
        return sum([worker.is_free for worker in self._workers])

    def lease(self) -> Lease | None:
        """Take a free worker for a call, which finishes or abandons the lease; None where there is none."""
        for worker in self._workers:
            lease = worker.lease()
            if lease is not None:
                self._leases += 1
                return lease
        self._refusals += 1
        return None

    def figures(self) -> tuple[Figure, ...]:
        """Return what tells how much the workers are used."""
        return (
            Figure(
                "antiphon_folding_workers",
                "Worker processes that are there.",
                lambda: len(self.process_ids),
            ),
            Figure(
                "antiphon_folding_leases",
                "Snapshots that a worker took part in folding.",
                lambda: self._leases,
                is_count=True,
            ),
            Figure(
                "antiphon_folding_refusals",
                "Snapshots that no worker was free for.",
                lambda: self._refusals,
                is_count=True,
            ),
        )
