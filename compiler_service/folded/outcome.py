"""The outcome of FOLDED: stretches, put together only as far as somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import overload

from compiler_service.folded.history import FoldedHistory
from compiler_service.folded.stretch import Stretch
from compiler_service.report import Note
from compiler_service.state import CompiledTurn
from compiler_service.turn_encoding import encode_notes


class TurnsOnDemand(Sequence[CompiledTurn]):
    """The turns of stretches, made when somebody looks at them: an encoded reply holds them without.

    Cost: its length a step for each stretch; making them one for each turn, every time.
    """

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        """Stand for the turns of stretches that follow each other."""
        self._stretches = stretches

    def __len__(self) -> int:
        return sum([len(stretch.rows) for stretch in self._stretches])

    @overload
    def __getitem__(self, index: int) -> CompiledTurn: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CompiledTurn]: ...
    def __getitem__(self, index: int | slice) -> CompiledTurn | Sequence[CompiledTurn]:
        return tuple(self)[index]

    def __iter__(self) -> Iterator[CompiledTurn]:
        return chain.from_iterable([stretch.turns for stretch in self._stretches])


@dataclass(frozen=True, slots=True)
class FoldedOutcome:
    """A history and a question, folded.

    Attributes:
        stretches: All stretches: the opening where there is one, the settled
            ones, and the tail.
        first_notes: The report's first notes, before those that every stretch
            has of its own.
        history: What can be used again.
        digest: The digest of the turns.
    """

    stretches: tuple[Stretch, ...]
    first_notes: tuple[Note, ...]
    history: FoldedHistory
    digest: str

    @property
    def turns(self) -> Sequence[CompiledTurn]:
        """The turns."""
        return TurnsOnDemand(self.stretches)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The report: first all notes of one pass, then all of the next. Cost: a reference each."""
        findings = [stretch.findings for stretch in self.stretches]
        return tuple(
            chain(
                self.first_notes,
                *[found.moved for found in findings],
                *[found.merged for found in findings],
                *[found.rendered for found in findings],
            )
        )

    def encoded_turns(self) -> Iterator[bytes]:
        """Yield the turns as they stand in an encoded reply, in pieces."""
        return (stretch.encoded_turns for stretch in self.stretches)

    def encoded_notes(self) -> Iterator[bytes]:
        """Yield the report likewise."""
        yield encode_notes(self.first_notes)
        for notes in zip(*[stretch.encoded_notes for stretch in self.stretches], strict=True):
            yield from notes
