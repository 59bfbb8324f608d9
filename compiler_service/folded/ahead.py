"""Folding a selection from its front, while the rest of it is not there yet.

What is settled does not depend on what follows (``stretch``), so it can be
compiled as it comes. The compilation proper takes it as it takes what an earlier
one has left, and its outcome is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.message.v1.message_pb2 import Message
from compiler_service.folded.digests import EMPTY_TRAIL
from compiler_service.folded.division import Held, cut_settled, settles, split_opening
from compiler_service.folded.history import FoldedHistory
from compiler_service.folded.settling import settle_alone


class FrontFolder:
    """Takes the messages of a selection in order and compiles what is settled."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._waiting: list[Message] = []
        self._held: list[Held] = []
        self._next = 0
        """Index of the first message after the opening and the stretches; 0 before the opening ends."""

    def take(self, messages: Sequence[Message]) -> None:
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

    def history(self) -> FoldedHistory | None:
        """Return what is compiled; None for nothing."""
        return FoldedHistory(tuple(self._held), EMPTY_TRAIL) if self._held else None
