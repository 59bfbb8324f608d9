"""The bound on replies in memory.

A read's request is small and its reply may be megabytes, so the requests'
bytes say little about what a flood of reads takes. Two things bound it: only
so many reads are being answered at once, and a reply counts among the bytes in
flight until the transport has it.
"""

from __future__ import annotations

import asyncio

from antiphon_client.edge.call import DeadlinePassedError, deadline_passed

READS_AT_ONCE = 32
"""Unary reads being answered at once. A store reads a few at once, so more would only gather replies."""


class ReadTurns:
    """Lets so many reads be answered at once; the others, which the admission bounds, wait for a turn."""

    def __init__(self, turns: int = READS_AT_ONCE) -> None:
        """Allow ``turns`` at once."""
        self._turns = asyncio.Semaphore(turns)

    async def __aenter__(self) -> None:
        """Wait for a turn.

        Raises:
            DeadlinePassedError: It came after the caller's deadline.
        """
        await self._turns.acquire()
        if deadline_passed():
            self._turns.release()
            raise DeadlinePassedError

    async def __aexit__(self, *_: object) -> None:
        """End the turn."""
        self._turns.release()
