"""Dividing a selection: the opening, settled stretches, and what follows them.

The opening ends with the first instruction that is kept, into which the prefix
is folded; the tail begins after the last one. What lies between is settled, and
stretches of it that were compiled before are taken as they are, wherever they
stand now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from antiphon.message.v1.message_pb2 import Message
from compiler_service.folded.stretch import Stretch
from compiler_service.passes.screen import takes_part
from compiler_service.state import FoldedRecord, InstructionTurn

STRETCH_MESSAGES = 256
"""Messages that a settled stretch has at least, where there are as many; short ones are joined."""


class Held(NamedTuple):
    """A stretch compiled before, of messages that are in the selection unchanged.

    Attributes:
        start: Index of its first message in the selection.
        stretch: The stretch.
    """

    start: int
    stretch: Stretch


class Division(NamedTuple):
    """A selection, divided.

    Attributes:
        opening: The messages of the opening; none where no instruction is kept.
        settled: Settled stretches after it, in order: compiled before, or the messages.
        tail: The messages after them.
    """

    opening: Sequence[FoldedRecord]
    settled: list[Held | Sequence[FoldedRecord]]
    tail: Sequence[FoldedRecord]


def divide(messages: Sequence[FoldedRecord], held: Iterable[Held]) -> Division:
    """Divide a selection.

    Args:
        messages: The selection. Only what no held stretch covers is looked at.
        held: Stretches compiled before, in the selection's order.
    """
    opening: Sequence[FoldedRecord] | None = None
    settled: list[Held | Sequence[FoldedRecord]] = []
    fresh: list[FoldedRecord] = []
    at = 0
    for candidate in held:
        fresh += messages[at : candidate.start]
        at = candidate.start + candidate.stretch.length
        # A settled stretch follows an instruction.
        if opening is None and fresh and settles(fresh[-1]):
            opening, fresh = split_opening(fresh)
        if opening is not None and (not fresh or settles(fresh[-1])):
            settled += [*_blocks(fresh), candidate]
            fresh = []
        else:
            fresh += messages[candidate.start : at]
    fresh += messages[at:]
    if opening is None:
        opening, fresh = split_opening(fresh)
    blocks, tail = cut_settled(fresh)
    return Division(opening, [*settled, *blocks], tail)


def placed(start: int, stretches: Iterable[Stretch]) -> tuple[Held, ...]:
    """Return stretches that follow each other, from an index on."""
    held: list[Held] = []
    for stretch in stretches:
        held.append(Held(start, stretch))
        start += stretch.length
    return tuple(held)


def settles(message: FoldedRecord) -> bool:
    """Tell whether a message is an instruction that is kept."""
    if not isinstance(message, Message):
        return isinstance(message, InstructionTurn)
    return message.WhichOneof("content") == "instruction" and takes_part(message)


def split_opening(messages: list[FoldedRecord]) -> tuple[list[FoldedRecord], list[FoldedRecord]]:
    """Return the messages up to the first instruction that is kept, and the others."""
    end = settled_length(messages)
    return messages[:end], messages[end:]


def settled_length(messages: Iterable[FoldedRecord]) -> int:
    """Return how many messages there are up to the first instruction that is kept; 0 without one."""
    return next((index for index, message in enumerate(messages, 1) if settles(message)), 0)


def cut_settled(messages: list[FoldedRecord]) -> tuple[list[list[FoldedRecord]], list[FoldedRecord]]:
    """Return the messages after an opening in settled blocks, and those that no instruction settles."""
    end = next((index for index in range(len(messages), 0, -1) if settles(messages[index - 1])), 0)
    return _blocks(messages[:end]), messages[end:]


def _blocks(messages: list[FoldedRecord]) -> list[list[FoldedRecord]]:
    """Cut messages, of which the last settles, after instructions that are kept."""
    blocks: list[list[FoldedRecord]] = []
    start = 0
    for end, message in enumerate(messages, 1):
        if end == len(messages) or (end - start >= STRETCH_MESSAGES and settles(message)):
            blocks.append(messages[start:end])
            start = end
    return blocks
