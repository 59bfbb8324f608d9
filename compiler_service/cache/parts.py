"""Parts of a snapshot that is on its way, and the one of two that folds in this process."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from antiphon_client.edge.offload import INLINE_BYTES
from compiler_service.folded.ahead import PartsFolder
from compiler_service.folded.division import STRETCH_MESSAGES, Held, settled_length
from compiler_service.folded.plain import read_records

LOOP_BYTES = 192 * 1024
"""Messages up to which the last ones are folded on the event loop, in bytes: mostly some 7 ms of it.

A thread would begin late: where the worker has one of two cores, a thread that is woken for
the other may wait behind the worker until the system next looks, which takes up to 4 ms.
"""

SLICE_BYTES, SLICE_MESSAGES = INLINE_BYTES, STRETCH_MESSAGES
"""What is folded there before other calls have a turn, at most; a larger message is a thread's.

That takes some 2 ms, up to 20 of what renders slowest. Smaller slices would make shorter
stretches, which are joined again.
"""

_LOOK_MESSAGES = 8
"""Messages that are read at once in search of one that settles."""


class Part(NamedTuple):
    """Messages of a snapshot that follow each other; nothing about them is verified.

    Attributes:
        start: Index of the first one.
        message_ids: Their ids, as the order names them.
        messages: The messages, encoded.
    """

    start: int
    message_ids: Sequence[str]
    messages: Sequence[bytes]

    @property
    def end(self) -> int:
        """Index of the message after the last one."""
        return self.start + len(self.messages)

    @property
    def size(self) -> int:
        """Bytes of the messages."""
        return sum(map(len, self.messages))

    def cut(self, index: int) -> tuple[Part, Part]:
        """Return the messages before an index in it, and the others."""
        ids, messages = self.message_ids, self.messages
        return (
            Part(self.start, ids[:index], messages[:index]),
            Part(self.start + index, ids[index:], messages[index:]),
        )

    def divided(self, size: int) -> tuple[Part, Part]:
        """Return its front, of so many bytes and up to the next message that settles, and the rest.

        The front is all of it where nothing settles.

        Raises:
            Exception: A message cannot be read.

        Cost: reading the messages from there to the one that settles.
        """
        sizes = list(accumulate(map(len, self.messages)))
        return self.cut(self._settled_from(bisect_left(sizes, size)))

    def slices(self) -> Iterator[Part]:
        """Yield it in slices, each within the bounds of one or of one message."""
        start = total = 0
        for index, message in enumerate(self.messages):
            if index > start and (total + len(message) > SLICE_BYTES or index - start == SLICE_MESSAGES):
                yield self.cut(start)[1].cut(index - start)[0]
                start, total = index, 0
            total += len(message)
        if self.messages:
            yield self.cut(start)[1]

    def _settled_from(self, index: int) -> int:
        """Return the index after the first message from ``index`` on that settles; the end without one."""
        for at in range(index, len(self.messages), _LOOK_MESSAGES):
            end = at + _LOOK_MESSAGES
            records = read_records(self.message_ids[at:end], self.messages[at:end], self.start + at)
            found = settled_length(records)
            if found:
                return at + found
        return len(self.messages)


class NearFolder:
    """Folds parts of one snapshot in this process, in a thread."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._folder = PartsFolder()
        self._work: asyncio.Future[bool] | None = None
        self._left: list[Part] = []
        self._is_sound = True
        self.size = 0
        """Bytes of all that was given to it."""

    @property
    def is_idle(self) -> bool:
        """Whether it has folded what was given to it."""
        return self._work is None or self._work.done()

    @property
    def is_sound(self) -> bool:
        """Whether all that it has folded could be."""
        if self._work is not None and self._work.done():
            self._is_sound = self._is_sound and self._work.result()
        return self._is_sound

    def take(self, part: Part) -> None:
        """Begin to fold a part, and what was left before; it is idle now."""
        self.leave(part)
        parts, self._left = self._left, []
        self._work = asyncio.get_running_loop().run_in_executor(None, self._fold, parts)

    def leave(self, part: Part) -> None:
        """Leave a part until the next one is taken, or until the end."""
        self.size += part.size
        self._left.append(part)

    async def wait(self) -> None:
        """Wait until it is idle."""
        if self._work is not None:
            await asyncio.wait([self._work])

    async def finish(self) -> tuple[Held, ...]:
        """Fold what was left, and return all that is compiled; it is idle now."""
        if self.is_sound:
            parts, self._left = self._left, []
            if _suit_the_loop(parts):
                await self._fold_here(parts)
            else:
                self._is_sound = await asyncio.to_thread(self._fold, parts)
        return self._folder.held()

    async def _fold_here(self, parts: Sequence[Part]) -> None:
        """Fold parts on the event loop, with a turn for others after every slice but the last."""
        slices = [each for part in parts for each in part.slices()]
        for number, each in enumerate(slices, 1):
            self._is_sound = self._is_sound and self._fold([each])
            if number < len(slices):
                await asyncio.sleep(0)

    def _fold(self, parts: Sequence[Part]) -> bool:
        """Fold parts; return whether they could be."""
        try:
            for start, message_ids, messages in parts:
                self._folder.take(start, read_records(message_ids, messages, start))
        except Exception:
            # Whatever it is: the snapshot is refused, or the compilation comes upon it
            # and reports it as it reports everything.
            return False
        return True


def _suit_the_loop(parts: Sequence[Part]) -> bool:
    """Tell whether parts are few enough, and each message small enough, to be folded on the event loop."""
    sizes = [len(message) for part in parts for message in part.messages]
    return sum(sizes) <= LOOP_BYTES and max(sizes, default=0) <= SLICE_BYTES
