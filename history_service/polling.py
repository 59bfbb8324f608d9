"""Waking watches over a store that several processes write.

What another process commits sets no signal here. So one task asks the store,
once a round, how far everything that is watched has come, all in one read, and
sets the signals of what has moved: its cost grows with what is watched by one
key look-up each, not by a read each.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, TypeAlias

from antiphon_client.edge.logs import get_logger
from antiphon_client.errors import AntiphonError
from history_service.signals import Signals
from history_service.storage.port import HistoryStore, ReadTransaction

Reached: TypeAlias = tuple[dict[Any, int], dict[Any, int]]
"""How far each branch, and each inbox, has come, by the address of its signal."""

SHARED_POLL_SECONDS = 0.25
"""How late a watch sees what another process commits, where nothing else is said."""

_log = get_logger("history.poller")


class Poller:
    """Looks for what other processes commit, as long as the service runs; a resource of the server."""

    def __init__(self, store: HistoryStore, branches: Signals, inboxes: Signals, seconds: float) -> None:
        """Set up; nothing runs before ``start``.

        Args:
            store: The store, started before and closed after.
            branches: The signals of watched branches, by tenant and branch id.
            inboxes: The signals of watched inboxes, by exchange and owner.
            seconds: Between two rounds.
        """
        self._store = store
        self._signals = (branches, inboxes)
        self._seconds = seconds
        self._known: Reached = ({}, {})
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to look."""
        self._task = asyncio.create_task(self._run(), name="history-poller")

    async def close(self) -> None:
        """Stop."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def look(self) -> None:
        """Make one round.

        Raises:
            AntiphonError: The store cannot be read just now.
        """
        watched = [signals.addresses() for signals in self._signals]
        if not any(watched):
            return

        def ask(tx: ReadTransaction) -> Reached:
            return dict(tx.revisions(watched[0])), dict(tx.exchange.last_sequences(watched[1]))

        former, self._known = self._known, await self._store.read(ask)
        for signals, before, now in zip(self._signals, former, self._known, strict=True):
            for address, reached in now.items():
                # One that was not watched before is woken too: it may have looked before the last commit.
                if before.get(address) != reached:
                    signals.notify(address)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            try:
                await self.look()
            except AntiphonError as error:
                # Watches have their own look now and then, and tell their callers what it meets.
                _log.debug("poll_failed", reason=error.reason, message=error.message)
