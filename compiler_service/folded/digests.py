"""The digest of the turns on the way through the stretches, so that it can go on where it stood."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from compiler_service.digest import begin_digest, rows_form
from compiler_service.folded.stretch import Stretch
from compiler_service.state import TurnRow

if TYPE_CHECKING:
    from hashlib import _Hash

_STATE_BYTES = 512
"""Memory of one state of a digest, at most."""


class DigestTrail(NamedTuple):
    """The states of a digest after the opening and after each settled stretch.

    Attributes:
        opening: The opening's turns.
        stretches: The stretches.
        states: One state more than there are stretches; never changed, only copied.
    """

    opening: tuple[TurnRow, ...]
    stretches: tuple[Stretch, ...]
    states: tuple[_Hash, ...]

    @property
    def memory_bytes(self) -> int:
        """Memory that it takes, estimated from above; the stretches are others' to count."""
        return len(self.states) * _STATE_BYTES + sum(4 * len(text) + 512 for _, text, _, _ in self.opening)

    def ending(self, tail: tuple[TurnRow, ...]) -> str:
        """Return the digest of opening, stretches and tail, in lower-case hexadecimal."""
        digest = self.states[-1].copy()
        digest.update(rows_form(tail))
        return digest.hexdigest()


def follow(
    former: DigestTrail | None, opening: tuple[TurnRow, ...], stretches: tuple[Stretch, ...]
) -> DigestTrail:
    """Return the trail of an opening and stretches.

    Cost: that of the turns from where it parts from the former trail.
    """
    if former is not None and (former.opening, former.stretches) == (opening, stretches):
        return former
    states: list[_Hash] = []
    if former is not None and former.opening == opening:
        known = zip(former.stretches, stretches, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], known))
        states += former.states[: same + 1]
    else:
        first = begin_digest()
        first.update(rows_form(opening))
        states.append(first)
    for stretch in stretches[len(states) - 1 :]:
        state = states[-1].copy()
        state.update(rows_form(stretch.rows))
        states.append(state)
    return DigestTrail(opening, stretches, tuple(states))


EMPTY_TRAIL = DigestTrail((), (), (begin_digest(),))
"""The trail before anything."""
