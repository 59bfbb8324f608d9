"""Folding a branch while it is on its way from the history service.

Two processes are at work then, not one after the other. Nothing that comes of it
is used before the snapshot is whole and verified.
"""

from __future__ import annotations

import asyncio

from antiphon_client.edge.offload import INLINE_BYTES
from antiphon_client.snapshot import ArrivedMessages, SnapshotAssembler, decode_run
from compiler_service.folded.ahead import FrontFolder
from compiler_service.folded.history import FoldedHistory


class FoldingAhead:
    """Folds what has come of one snapshot, in a thread; belongs to the call that reads it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._folder = FrontFolder()
        self._taken = 0
        self._work: asyncio.Future[bool] | None = None
        self._is_sound = True

    def look(self, assembler: SnapshotAssembler) -> None:
        """Take what has come since the last look, unless that is still being folded.

        The last messages are left to the compilation, which is about to begin;
        and so is what takes no longer than to hand it over.
        """
        if self._work is not None:
            if not self._work.done():
                return
            self._is_sound = self._is_sound and self._work.result()
        if not self._is_sound:
            return
        arrived = assembler.arrived(self._taken)
        if arrived.are_last or sum(map(len, arrived.messages)) <= INLINE_BYTES:
            return
        loop = asyncio.get_running_loop()
        self._work = loop.run_in_executor(None, self._fold, arrived, self._taken)
        self._taken += len(arrived.messages)

    async def history(self) -> FoldedHistory | None:
        """Return what is folded, of a snapshot that is whole; None for nothing."""
        if self._work is not None:
            await self._work
        return self._folder.history()

    def _fold(self, arrived: ArrivedMessages, start: int) -> bool:
        """Fold messages; return whether they could be."""
        try:
            self._folder.take(decode_run(arrived.message_ids, arrived.messages, start))
        except Exception:
            # Whatever it is: the snapshot is refused, or the compilation comes upon it
            # and reports it as it reports everything.
            return False
        return True
