"""The settled stretches of a divided selection: those compiled before, and those made now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from compiler_service.folded import division as dividing
from compiler_service.folded.division import Division, Held
from compiler_service.folded.stretch import (
    Draft,
    Stretch,
    draft_stretch,
    dropped_interims,
    finish_stretch,
    join_stretches,
)
from compiler_service.passes.screen import Screened, screen_messages
from compiler_service.state import FoldedRecord


class Settled(NamedTuple):
    """A selection of which all but opening and tail is compiled.

    Attributes:
        opening: The opening.
        stretches: The settled stretches after it.
        tail: What follows them.
    """

    opening: Draft
    stretches: tuple[Stretch, ...]
    tail: Draft


class _Fresh(NamedTuple):
    messages: Sequence[FoldedRecord]
    screened: Screened


def settle(division: Division, messages: Sequence[FoldedRecord]) -> Settled:
    """Compile the settled messages that no stretch compiled before covers.

    Cost: linear in those messages. Where interim responses are selected, also
    in all action responses; a stretch is made again when one of its own is
    answered now, or is not any more.
    """
    opening, tail = _screened(division.opening), _screened(division.tail)
    pieces = [piece if isinstance(piece, Held) else _screened(piece) for piece in division.settled]
    found = [piece.stretch.findings if isinstance(piece, Held) else piece.screened for piece in pieces]
    answered: frozenset[str] = frozenset()
    if any(each.interims for each in (opening.screened, *found, tail.screened)):
        finals = [each.finals for each in (opening.screened, *found, tail.screened)]
        answered = frozenset(chain.from_iterable(finals))
    stretches = [
        _current(piece, messages, answered)
        if isinstance(piece, Held)
        else finish_stretch(draft_stretch(*piece, answered))
        for piece in pieces
    ]
    return Settled(
        opening=draft_stretch(*opening, answered),
        stretches=tuple(_without_short_ones(stretches)),
        tail=draft_stretch(*tail, answered),
    )


def settle_alone(messages: Sequence[FoldedRecord]) -> Stretch:
    """Compile settled messages as if no final response stood elsewhere; ``settle`` makes that good."""
    return finish_stretch(draft_stretch(*_screened(messages), frozenset()))


def _screened(messages: Sequence[FoldedRecord]) -> _Fresh:
    return _Fresh(messages, screen_messages(messages))


def _current(held: Held, messages: Sequence[FoldedRecord], answered: frozenset[str]) -> Stretch:
    """Return a stretch as it is with these answers."""
    findings = held.stretch.findings
    if tuple(dropped_interims(findings.interims, answered)) == findings.dropped:
        return held.stretch
    part = _screened(messages[held.start : held.start + held.stretch.length])
    return finish_stretch(draft_stretch(*part, answered))


def _without_short_ones(stretches: Iterable[Stretch]) -> Iterable[Stretch]:
    """Yield the stretches, neighbours joined that are short together."""
    group: list[Stretch] = []
    length = 0
    for stretch in stretches:
        if group and length + stretch.length > dividing.STRETCH_MESSAGES:
            yield _one(group)
            group, length = [], 0
        group.append(stretch)
        length += stretch.length
    if group:
        yield _one(group)


def _one(group: list[Stretch]) -> Stretch:
    return group[0] if len(group) == 1 else join_stretches(group)
