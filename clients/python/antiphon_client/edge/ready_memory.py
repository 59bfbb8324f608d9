"""Memory that a cache will need, fetched from the system before it does.

A process gets memory by the page, and waits for each: some microseconds, or tens of
them in a virtual machine whose host has to find one first. What a call leaves in a
cache is new memory until the cache is full. So part of it is fetched at the start, held
by blocks of no use, and let go of as the cache grows.
"""

from __future__ import annotations

from typing import Any

MIB = 2**20

DEFAULT_READY_BYTES = 64 * MIB
"""What is fetched where nothing else is said."""

MOST_READY_BYTES = 64 * 1024 * MIB
"""More is taken for a mistake."""

SMALL_BYTES = 512
"""The largest object, with its head, that has its place in Python's own arenas."""

_FIRST_BYTES = 4 * MIB
"""Let go of at once: calls need some beside what they leave."""


class ReadyMemory:
    """Blocks of memory that wait for a cache to grow. Belongs to one event loop."""

    def __init__(self, size: int, *, for_objects: bool = False) -> None:
        """Fetch it.

        Args:
            size: Bytes, in whole MiB; what is over counts for nothing.
            for_objects: Half of it is for small objects, which have their memory apart
                from larger ones'.

        Cost: some microseconds for every 4 KiB.
        """
        count = size // MIB
        of_objects = count // 2 if for_objects else 0
        self._blocks = _Stock([b"\1" * MIB for _ in range(count - of_objects)])
        self._objects = _Stock([_objects() for _ in range(of_objects)])
        self.give(_FIRST_BYTES - (_FIRST_BYTES // 2 if for_objects else 0), _FIRST_BYTES // 2)

    def __len__(self) -> int:
        """Return how many MiB still wait."""
        return len(self._blocks.waiting) + len(self._objects.waiting)

    def give(self, size: int, of_objects: int = 0) -> None:
        """Let go of as much as has come into the cache.

        Args:
            size: Bytes of what is no small object.
            of_objects: Bytes of small objects.

        Cost: some 50 µs for 1 MiB.
        """
        self._blocks.give(size)
        self._objects.give(of_objects)


class _Stock:
    """What waits, each of 1 MiB."""

    def __init__(self, waiting: list[Any]) -> None:
        self.waiting = waiting
        self._given = 0

    def give(self, size: int) -> None:
        self._given += size
        while self.waiting and self._given >= MIB:
            self.waiting.pop()
            self._given -= MIB


def _objects() -> list[bytes]:
    """Return small objects of 1 MiB together."""
    return [bytes(SMALL_BYTES - b"".__sizeof__()) for _ in range(MIB // SMALL_BYTES)]
