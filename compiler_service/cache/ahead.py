"""Folding a branch while it is on its way from the history service.

Two processes are at work then, not one after the other; three where a worker is
free. Nothing that comes of it is used before the snapshot is whole and verified.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future
from typing import Self

from antiphon_client.edge import offload
from antiphon_client.snapshot import SnapshotAssembler
from compiler_service.cache.parts import NearFolder, Part
from compiler_service.folded.ahead import history_of
from compiler_service.folded.division import Held
from compiler_service.folded.history import FoldedHistory
from compiler_service.workers.pool import FoldingWorkers
from compiler_service.workers.worker import Lease

INLINE_BYTES = 8 * 1024
"""Messages up to which folding takes no longer than handing it over, in bytes: some 0.2 ms of it."""

WORKER_BYTES = offload.INLINE_BYTES
"""Messages from which on a worker is asked for, in bytes: those that have come, and a guess of the others."""

LEAD_BYTES = 256 * 1024
"""What a worker gets more than this process while the snapshot comes, in bytes.

To fold here holds up the frames that come, so the worker gets what comes first.
"""

FAR_SHARE = 0.5
"""The worker's part of all that both fold: it begins first, but its answer takes time too."""

LEAST_PATIENCE_SECONDS = 0.005
"""How long a worker is waited for at least; else as long as what was left to this process took to fold."""


class FoldingAhead:
    """Folds what has come of one snapshot; belongs to the call that reads it, as a context manager.

    Leaving the context lets go of what a worker was not told to finish.
    """

    def __init__(self, workers: FoldingWorkers | None = None) -> None:
        """Begin with nothing.

        Args:
            workers: Give one worker, if one is free; None for no workers.
        """
        self._workers = workers
        self._lease: Lease | None = None
        self._near = NearFolder()
        self._far_size = 0
        self._is_far = False
        """Whether the worker has had the last messages taken."""
        self._taken = 0
        self._answer: Future[tuple[Held, ...] | None] | None = None
        self._is_sound = True

    def look(self, assembler: SnapshotAssembler) -> None:
        """Take what has come since the last look, as far as it is somebody's turn.

        Without a worker the last messages are left to the compilation, which is about
        to begin; so is what takes no longer than to hand it over.
        """
        if self._answer is not None or not (self._is_sound and self._near.is_sound):
            return
        if self._lease is None and not self._near.is_idle:
            return
        message_ids, messages, are_last = assembler.arrived(self._taken)
        part = Part(self._taken, message_ids, messages)
        if self._lease is None and _size_with_rest(part, assembler) > WORKER_BYTES:
            self._lease = None if self._workers is None else self._workers.lease()
        try:
            if not are_last:
                self._take(part, self._size + _size_with_rest(part, assembler))
            elif self._lease is not None:
                self._take_last(part, self._lease)
        except Exception:
            # As where a part is folded.
            self._is_sound = False

    async def wait(self) -> None:
        """Wait until this process has folded what it was given while the snapshot came."""
        await self._near.wait()

    async def history(self) -> FoldedHistory | None:
        """Return what is folded, of a snapshot that is whole; None for nothing.

        It folds what is left to this process, and waits for the worker as long as that
        took: one that has not been given a core by then is done without, and gives itself
        back when it is ready.
        """
        await self.wait()
        begun = time.monotonic()
        held = await self._near.finish()
        if self._answer is not None:
            answer = asyncio.wrap_future(self._answer)
            patience = max(time.monotonic() - begun, LEAST_PATIENCE_SECONDS)
            if (await asyncio.wait([answer], timeout=patience))[0]:
                held += answer.result() or ()
        return history_of(held)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of what was not finished."""
        if self._lease is not None and self._answer is None:
            self._lease.abandon()

    @property
    def _size(self) -> int:
        """Bytes of all that was given to either."""
        return self._far_size + self._near.size

    def _take(self, part: Part, whole: int) -> None:
        """Give messages to whose turn it is, if that one can take them; ``whole`` is a guess of all bytes."""
        if part.size <= INLINE_BYTES:
            return
        share = int(whole * FAR_SHARE)
        is_far = self._lease is not None and self._far_size <= min(self._near.size + LEAD_BYTES, share)
        if not (self._near.is_idle or is_far is self._is_far):
            return
        if self._taken and is_far is not self._is_far:
            part = self._hand_over(part, 0)
            if is_far is not self._is_far:
                return
        self._is_far = is_far
        if is_far and self._far_size + part.size > share:
            # The rest of it can wait: to begin with it here would hold up what comes now.
            self._near.leave(self._taking(self._hand_over(part, share - self._far_size)))
        elif is_far:
            self._give_far(part)
        elif self._near.is_idle:
            self._near.take(self._taking(part))

    def _take_last(self, part: Part, lease: Lease) -> None:
        """Divide the last messages, so that each has had its share of all in the end."""
        far = int((self._size + part.size) * FAR_SHARE) - self._far_size
        rest = self._hand_over(part, far if self._is_far else part.size - far)
        if self._is_far:
            self._give_far(rest)
        else:
            self._near.leave(self._taking(rest))
        self._answer = lease.finish()

    def _hand_over(self, part: Part, size: int) -> Part:
        """Give about so many bytes to who has had those before; return the others, which are the other's."""
        front, rest = part.divided(size)
        if self._is_far:
            self._give_far(front)
        else:
            self._near.leave(self._taking(front))
        if rest.messages:
            self._is_far = not self._is_far
        return rest

    def _give_far(self, part: Part) -> None:
        """Give messages to the worker."""
        if part.messages and self._lease is not None:
            self._far_size += part.size
            self._lease.take(*self._taking(part))

    def _taking(self, part: Part) -> Part:
        """Note that a part is taken."""
        self._taken = part.end
        return part


def _size_with_rest(part: Part, assembler: SnapshotAssembler) -> int:
    """Guess the bytes of a part and of all that is to follow it, by the mean of the part."""
    count = len(part.messages)
    return part.size * (assembler.announced - part.start) // count if count else 0
