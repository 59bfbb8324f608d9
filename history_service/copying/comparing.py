"""Holding two ordered sequences of rows against each other, and hashing what is read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from history_service.copying import CopyError

Row = tuple[Any, ...]
Pair = tuple[Row, Row]
"""A row to be compared, and as it is to be written."""

_REPORTED = 500
"""Rows between two reports of progress."""


class Digest:
    """The number of rows read, and a SHA-256 over all of them in their order."""

    def __init__(self) -> None:
        """Begin with no rows."""
        self.rows = 0
        self._sha256 = hashlib.sha256()

    def of(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Pass rows on, and take them in."""
        update = self._sha256.update
        for row in rows:
            self.rows += 1
            # Of integers, bytes and None alone, whose text is the same in every Python.
            update(repr(row).encode())
            yield row

    def hexdigest(self) -> str:
        """Return the SHA-256 in hexadecimal digits."""
        return self._sha256.hexdigest()


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose rows are not the same.

    Attributes:
        wanted: The source's row as it is to be written; None where it has none.
        found: The destination's row; None where it has none.
    """

    wanted: Row | None
    found: Row | None


def differences(source: Iterator[Pair], destination: Iterator[Row], key_length: int) -> Iterator[Difference]:
    """Yield where two sides differ; reads each once, and holds one row of each.

    Args:
        source: Ordered by their first ``key_length`` columns, each key once.
        destination: Likewise.
        key_length: How many columns make the key.

    Raises:
        CopyError: A side is not in order, or has a key twice.
    """
    ours = _ascending(source, lambda pair: pair[0][:key_length], "source")
    theirs = _ascending(destination, lambda row: row[:key_length], "destination")
    pair, found = next(ours, None), next(theirs, None)
    while pair is not None or found is not None:
        ahead = pair is not None and (found is None or pair[0][:key_length] < found[:key_length])
        if pair is not None and ahead:
            yield Difference(pair[1], None)
            pair = next(ours, None)
        elif found is not None and (pair is None or found[:key_length] < pair[0][:key_length]):
            yield Difference(None, found)
            found = next(theirs, None)
        elif pair is not None and found is not None:
            if pair[0] != found:
                yield Difference(pair[1], found)
            pair, found = next(ours, None), next(theirs, None)


def _ascending(items: Iterator[Any], key_of: Callable[[Any], Row], side: str) -> Iterator[Any]:
    """Pass items on; a merge of what is out of order would take rows for missing ones."""
    last: Row | None = None
    for item in items:
        key = key_of(item)
        if last is not None and key <= last:
            raise CopyError(f"the {side} has rows out of order, or a key twice: {last!r}, {key!r}")
        last = key
        yield item


def counted(items: Iterator[Any], moved: Callable[[int], object]) -> Iterator[Any]:
    """Pass items on, and report how many they were from time to time and at the end."""
    unreported = 0
    for item in items:
        unreported += 1
        if unreported == _REPORTED:
            moved(unreported)
            unreported = 0
        yield item
    moved(unreported)
