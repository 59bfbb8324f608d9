"""Memory that a cache will need, fetched from the system before it does.

A process gets memory by the page, and waits for each: some microseconds, or tens of
them in a virtual machine whose host has to find one first. What a call leaves in a
cache is new memory until the cache is full. So part of it is fetched at the start, held
by blocks of no use, and let go of as the cache grows.
"""

from __future__ import annotations

MIB = 2**20

DEFAULT_READY_BYTES = 64 * MIB
"""What is fetched where nothing else is said."""

MOST_READY_BYTES = 64 * 1024 * MIB
"""More is taken for a mistake."""

SMALL_BYTES = 512
"""The largest object, with its head, that has its place in Python's own arenas."""

_KEPT_OF = 1024
"""Of so many small objects one stays, two in each of Python's arenas, which are given back when empty."""

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
        self._blocks = [b"\1" * MIB for _ in range(count - of_objects)]
        self._objects = [_objects() for _ in range(of_objects)]
        self._last = (len(self._blocks), of_objects)
        self._staying: list[bytes] = []
        self.grown_to(0)

    def __len__(self) -> int:
        """Return how many MiB still wait."""
        return len(self._blocks) + len(self._objects)

    def grown_to(self, size: int, of_objects: int = 0) -> None:
        """Let go of as much as a cache holds; what it held more of before is let go of already.

        Args:
            size: Bytes in the cache of what is no small object.
            of_objects: Bytes of small objects in it.

        Cost: up to some 100 µs for 1 MiB.
        """
        blocks, objects = self._last
        while self._blocks and (blocks - len(self._blocks)) * MIB < size + _FIRST_BYTES:
            self._blocks.pop()
        while self._objects and (objects - len(self._objects)) * MIB < of_objects + _FIRST_BYTES // 2:
            self._staying += self._objects.pop()[::_KEPT_OF]

    def end(self) -> None:
        """Let go of all: the cache is full, and what leaves it serves again."""
        self._blocks, self._objects, self._staying = [], [], []


def _objects() -> list[bytes]:
    """Return small objects of 1 MiB together."""
    return [bytes(SMALL_BYTES - b"".__sizeof__()) for _ in range(MIB // SMALL_BYTES)]
