"""What FOLDED keeps of a compilation for later ones of the same branch."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from antiphon_client.snapshot_delta import KeptRun
from compiler_service.folded.digests import DigestTrail
from compiler_service.folded.division import Held


class FoldedHistory(NamedTuple):
    """The settled part of a selection, compiled. Nothing in it depends on a request.

    Attributes:
        held: The settled stretches, in order. Of a selection that was not
            compiled itself, those whose messages it has unchanged.
        trail: The digests on the way through the stretches of the last compilation.
    """

    held: tuple[Held, ...]
    trail: DigestTrail

    @property
    def memory_bytes(self) -> int:
        """Memory that it takes, estimated from above."""
        stretches = {id(s): s for s in (*[held.stretch for held in self.held], *self.trail.stretches)}
        return sum([stretch.memory_bytes for stretch in stretches.values()]) + self.trail.memory_bytes

    def moved(self, kept: Sequence[KeptRun]) -> FoldedHistory | None:
        """Return it for another selection; None if nothing of it is left.

        Args:
            kept: The runs of messages that the other selection has of this one's, in its order.
        """
        starts = [each.start for each in self.held]
        found: list[Held] = []
        for run in kept:
            end = run.start + run.length
            within = self.held[bisect_left(starts, run.start) : bisect_left(starts, end)]
            found += [
                Held(start - run.start + run.at, stretch)
                for start, stretch in within
                if start + stretch.length <= end
            ]
        return FoldedHistory(tuple(found), self.trail) if found else None
