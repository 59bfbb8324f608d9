"""Folding a selection from its front, while the rest of it is not there yet.

What is settled does not depend on what follows (``stretch``), so it can be
compiled as it comes. The compilation proper takes it as it takes what an earlier
one has left, and its outcome is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter

from compiler_service.folded.digests import EMPTY_TRAIL
from compiler_service.folded.division import Held, cut_settled, settles, split_opening
from compiler_service.folded.history import FoldedHistory
from compiler_service.folded.settling import settle_alone
from compiler_service.state import FoldedRecord


class FrontFolder:
    """Takes the messages of a selection in order and compiles what is settled."""

    def __init__(self, start: int = 0) -> None:
        """Begin with nothing.

        Args:
            start: Index of the first message that it is to take; it follows an
                instruction that is kept where it is not the selection's first.
        """
        self._waiting: list[FoldedRecord] = []
        self._held: list[Held] = []
        self._next = start
        """Index of the first message after the opening and the stretches; 0 before the opening ends."""

    def take(self, messages: Sequence[FoldedRecord]) -> None:
        """Take the next messages. Cost: linear in those that become settled, and in these."""
        self._waiting += messages
        # Looked for among these only: of what waits already, nothing settles.
        if not any(map(settles, reversed(messages))):
            return
        if not self._next:
            opening, self._waiting = split_opening(self._waiting)
            self._next = len(opening)
        blocks, self._waiting = cut_settled(self._waiting)
        for block in blocks:
            self._held.append(Held(self._next, settle_alone(block)))
            self._next += len(block)

    def held(self) -> tuple[Held, ...]:
        """Return what is compiled."""
        return tuple(self._held)


class PartsFolder:
    """Takes parts of a selection, in order, and compiles what is settled in each.

    A part that does not go on where the former one ended follows an instruction
    that is kept; somebody else folds what lies between.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._folders: list[FrontFolder] = []
        self._end = -1

    def take(self, start: int, messages: Sequence[FoldedRecord]) -> None:
        """Take the messages from an index on. Cost: that of ``FrontFolder.take``."""
        if start != self._end:
            self._folders.append(FrontFolder(start))
        self._end = start + len(messages)
        self._folders[-1].take(messages)

    def held(self) -> tuple[Held, ...]:
        """Return what is compiled, in the selection's order."""
        return tuple(chain.from_iterable([folder.held() for folder in self._folders]))


def history_of(held: Iterable[Held]) -> FoldedHistory | None:
    """Return what is compiled of a selection, in any order, as a history; None for nothing."""
    ordered = sorted(held, key=attrgetter("start"))
    return FoldedHistory(tuple(ordered), EMPTY_TRAIL) if ordered else None
