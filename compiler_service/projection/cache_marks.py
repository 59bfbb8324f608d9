"""Cache marks within a target's limit: the newest stay, a longer one never follows a shorter one.

Which marks stay depends on all that a request has, the parts' own and those of
imported forms, in the order in which they are written. So a request is written
once to see them, and only where some have to go, once more without those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from compiler_service.projection.capabilities import Row
from compiler_service.remarks import Remarks

WrittenT = TypeVar("WrittenT")

_REFUSED = -1


class MarkGate:
    """Asked about every mark of a request in the order in which they are written."""

    def __init__(self, row: Row, dropped: frozenset[int]) -> None:
        """Take the row and the numbers of the marks that go."""
        self._row = row
        self._dropped = dropped
        self._lengths: list[int] = []
        self._message_ids: list[str] = []

    def takes(self, type: Any, ttl: Any, message_id: str) -> bool:
        """Tell whether the next mark stays; type and time to live are whatever was kept of it."""
        self._lengths.append(self._length(type, ttl))
        self._message_ids.append(message_id)
        return len(self._lengths) - 1 not in self._dropped

    def beyond(self) -> frozenset[int]:
        """Return the numbers of the marks that have no place, from the last one backwards."""
        left, longest = self._row.cache_marks, 0
        beyond: set[int] = set()
        for number in reversed(range(len(self._lengths))):
            length = self._lengths[number]
            if left and length >= longest:
                left, longest = left - 1, length
            else:
                beyond.add(number)
        return frozenset(beyond)

    def message_ids(self, numbers: frozenset[int]) -> list[str]:
        """Return the messages of marks, in the order of the marks."""
        return [self._message_ids[number] for number in sorted(numbers)]

    def _length(self, type: Any, ttl: Any) -> int:
        if not isinstance(type, str) or type not in self._row.cache_types:
            return _REFUSED
        if ttl is None:
            return 0
        return self._row.cache_ttls.index(ttl) if ttl in self._row.cache_ttls else _REFUSED


def write_within_limit(row: Row, losses: Remarks, write: Callable[[MarkGate], WrittenT]) -> WrittenT:
    """Return what is written with the marks that a target takes.

    Args:
        row: The target's row.
        losses: Takes the marks that go.
        write: Writes a request, asking the gate about every mark; called once or
            twice, and says the same each time.
    """
    gate = MarkGate(row, frozenset())
    written = write(gate)
    beyond = gate.beyond()
    if not beyond:
        return written
    losses.add_all(notes_pb.COMPILE_NOTE_KIND_CACHE_MARK_DROPPED, gate.message_ids(beyond))
    return write(MarkGate(row, beyond))
