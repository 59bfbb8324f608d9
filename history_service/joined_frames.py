"""Frames of a snapshot joined for a caller that takes them so.

A frame costs either side of a gRPC stream some hand-overs between threads, which take
longer than the few frames of a short snapshot themselves.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from history_service import encoding


async def joined(frames: AsyncGenerator[bytes], most_bytes: int) -> AsyncGenerator[bytes]:
    """Yield frames joined, as many as fit; one that fits with no other comes as it is.

    Args:
        frames: The frames, encoded; closed at the end.
        most_bytes: Bytes of frames that are joined, at most.

    Cost: a copy of the frames. While a reader takes one, only the frame that comes after
    it is held.
    """
    waiting: list[bytes] = []
    size = 0
    async with aclosing(frames) as parts:
        async for frame in parts:
            if waiting and size + len(frame) + encoding.FIELD_OVERHEAD > most_bytes:
                yield _taken(waiting)
                size = 0
            waiting.append(frame)
            size += len(frame)
            del frame
    if waiting:
        yield _taken(waiting)


def _taken(waiting: list[bytes]) -> bytes:
    """Return frames as one, and let go of them: a slow reader shall not hold on to them."""
    one = waiting[0] if len(waiting) == 1 else encoding.joined_frames(waiting)
    waiting.clear()
    return one
