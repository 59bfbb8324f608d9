"""Which turns differ between two compilations."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeAlias

Change: TypeAlias = tuple[str, int, int, int, int]
"""What happened, as difflib says it; where it begins and ends before; and where after."""

_MOST_PAIRS = 1_000_000
"""Pairs of turns up to which difflib looks at all at once: it takes their square for turns that repeat."""

_MOST_PAIRS_BETWEEN = 10_000
"""The same, between two turns that are the same before and after."""


def changes(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Change]:
    """Return what changed between two lists of turns, in order.

    Of long lists the turns that occur once in each are matched first, as far as
    their order is the same, and then what lies between them. A long stretch
    between them is one change, but for what its ends have in common.

    Cost: the number of turns times its logarithm.
    """
    if len(before) * len(after) <= _MOST_PAIRS:
        return list(_by_difflib(before, after, 0, 0))
    found: list[Change] = []
    start = new_start = 0
    for end, new_end in (*_anchors(before, after), (len(before), len(after))):
        found += _between(before[start:end], after[new_start:new_end], start, new_start)
        start, new_start = end + 1, new_end + 1
    return found


def _by_difflib(
    before: Sequence[Hashable], after: Sequence[Hashable], start: int, new_start: int
) -> Iterator[Change]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, begin, end, new_begin, new_end in matcher.get_opcodes():
        if tag != "equal":
            yield tag, start + begin, start + end, new_start + new_begin, new_start + new_end


def _between(
    before: Sequence[Hashable], after: Sequence[Hashable], start: int, new_start: int
) -> Iterator[Change]:
    """Yield the changes of a stretch that begins at these places."""
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    most = shorter - head
    tail = next((n for n in range(most) if before[-1 - n] != after[-1 - n]), most)
    before, after = before[head : len(before) - tail], after[head : len(after) - tail]
    start, new_start = start + head, new_start + head
    if len(before) * len(after) <= _MOST_PAIRS_BETWEEN:
        yield from _by_difflib(before, after, start, new_start)
    else:
        yield "replace", start, start + len(before), new_start, new_start + len(after)


def _anchors(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the places of turns that occur once before and once after: the most whose order is the same."""
    counts, new_counts = Counter(before), Counter(after)
    places = {turn: place for place, turn in enumerate(after) if new_counts[turn] == 1}
    pairs = [
        (place, places[turn]) for place, turn in enumerate(before) if counts[turn] == 1 and turn in places
    ]
    # The longest rising row, by the least end that a row of each length can have.
    ends: list[int] = []
    last: list[int] = []
    former: list[int] = []
    for number, (_, new_place) in enumerate(pairs):
        length = bisect_left(ends, new_place)
        ends[length : length + 1] = [new_place]
        last[length : length + 1] = [number]
        former.append(last[length - 1] if length else -1)
    row: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        row.append(pairs[number])
        number = former[number]
    row.reverse()
    return row
