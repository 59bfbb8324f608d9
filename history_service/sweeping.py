"""Erasing what branches have dropped, in steps between which other writers have their turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from antiphon_client.edge.logs import get_logger
from antiphon_client.errors import AntiphonError
from history_service.domain import retention
from history_service.storage.port import HistoryStore

SWEEP_SECONDS = 60.0
"""How late the sweeper notices that something is due."""
_FOUND_AT_ONCE = 100

_log = get_logger("history.sweeper")


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long things are kept that nobody asked to erase.

    Attributes:
        deleted_seconds: How long a deleted branch's bytes are kept.
        revisions: How many of a branch's newest revisions are kept at least; 0
            keeps all. Twice as many may be, as they are dropped in batches.
    """

    deleted_seconds: float = 30 * 86400.0
    revisions: int = 0

    @property
    def deleted_nanoseconds(self) -> int:
        """``deleted_seconds`` in the unit of the store's times."""
        return int(self.deleted_seconds * 10**9)


DEFAULT_KEEPING = Keeping()


async def sweep_branch(store: HistoryStore, tenant_id: str, branch_id: str, clock: Callable[[], int]) -> None:
    """Erase all that a branch has dropped and that is due, a step a write.

    Cut short, it goes on where it stopped: the branch stays due.

    Raises:
        AntiphonError: The store cannot write just now.
    """
    step = partial(retention.sweep, tenant_id=tenant_id, branch_id=branch_id, now=clock())
    while not await store.write(step):
        pass


class Sweeper:
    """Erases what has become due, as long as the service runs; a resource of the server."""

    def __init__(
        self,
        store: HistoryStore,
        clock: Callable[[], int] = time.time_ns,
        pause: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Set up; nothing runs before ``start``.

        Args:
            store: The store, started before and closed after.
            clock: Returns nanoseconds since the epoch.
            pause: Waits between two looks; None waits ``SWEEP_SECONDS``.
        """
        self._store = store
        self._clock = clock
        self._pause = pause or partial(asyncio.sleep, SWEEP_SECONDS)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to look, now and then."""
        self._task = asyncio.create_task(self._run(), name="history-sweeper")

    async def close(self) -> None:
        """Stop after the step under way. Cancelled, it waits no longer for that."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        # Not by awaiting the task: its cancellation could not be told from this call's own.
        await asyncio.wait((task,))
        if not task.cancelled():
            task.result()

    async def sweep_due(self) -> None:
        """Erase all that is due now.

        Raises:
            AntiphonError: The store cannot be used just now.
        """
        now = self._clock()
        while found := await self._store.read(lambda tx: tx.branches_to_sweep(now, _FOUND_AT_ONCE)):
            for branch in found:
                await sweep_branch(self._store, branch.key.tenant_id, branch.key.branch_id, lambda: now)

    async def _run(self) -> None:
        while True:
            try:
                await self.sweep_due()
            except AntiphonError as error:
                # What is due stays due; the next look takes it up.
                _log.warning("sweep_failed", reason=error.reason, message=error.message)
            await self._pause()
