"""A response's display text beside its text blocks: which of the two says what."""

from __future__ import annotations

from collections.abc import Sequence

from compiler_service.texts import is_blank

_JOINS = ("", "\n", "\n\n")


def blocks_say(written: Sequence[str], text: str) -> bool:
    """Tell whether text blocks, blank ones or not, say what the display text says, whatever joins them.

    Args:
        written: The texts of the blocks, in order.
        text: The display text, not blank.
    """
    if len(written) == 1:
        return written[0] == text
    kept = [each for each in written if not is_blank(each)]
    return bool(kept) and any(text in (join.join(written), join.join(kept)) for join in _JOINS)
