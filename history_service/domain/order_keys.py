"""Sparse order keys: where a row goes so that few other rows must change.

Keys are integers. Key 0 is the place of the system record, which nothing can
precede; every other row has a greater one. An append takes the greatest key
ever used plus a gap. A row between two others takes the middle; where no key
is left between them, the keys nearby are spread out again, all row versions
alike, so that past revisions keep their order. The window that is spread grows
until it is sparse enough for its size (local relabelling with a density bound
that falls with the window's size), which makes the cost of an insertion
constant but for a logarithm, on the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

SYSTEM_KEY = 0
GAP = 2**20

_FIRST_WINDOW_BITS = 6
_GROWTH = 1.5
"""A window twice as wide may hold this many times the keys."""


class Room(NamedTuple):
    """A relabelling that leaves keys free after one row."""

    new_keys: dict[int, int]
    """Old key to new key, for every key that changes."""

    def moved(self, key: int) -> int:
        """Return what became of a key."""
        return self.new_keys.get(key, key)


def between(low: int, high: int) -> int | None:
    """Return a key strictly between two, or None where there is none."""
    middle = (low + high) // 2
    return middle if low < middle < high else None


def make_room(after: int, keys_between: Callable[[int, int], list[int]]) -> Room:
    """Spread the keys around a key so that some are free right after it.

    Args:
        after: The key to make room after; ``SYSTEM_KEY`` itself never moves.
        keys_between: Returns the distinct keys in use in a closed interval,
            ascending.
    """
    bits = _FIRST_WINDOW_BITS
    while True:
        width = 1 << bits
        start = after & ~(width - 1)
        # The window leaves out the system's key and has room for one more row.
        low = max(start, SYSTEM_KEY + 1)
        keys = keys_between(low, start + width - 1)
        if len(keys) + 1 <= _GROWTH ** (bits - 2):
            # At least 10, by the bound just checked.
            step = (start + width - low) // (len(keys) + 1)
            return Room({key: low + step * (position + 1) - 1 for position, key in enumerate(keys)})
        bits += 1
