"""How a foreign message was written, where its records do not say it.

The importers of formats whose exporter is the compiler's projection keep it in
the record's metadata, and the projection to the same format reads it there. An
entry has, each only where it is needed::

    {
      "parts":   whether the content was a list (true) or a text (false), where
                 the projection would have written the other
      "message": difference of the message's members beside its content or parts;
                 stands with the first record of the message
      "block":   difference of the block of a call or a result
      "blocks":  {block key: [difference or null, ...]}: of the record's other
                 blocks, those of one key in their order
      "pieces":  [[length, difference or null], ...]: the texts that a system
                 text was joined of, in code points
    }

A difference is one of `residue`: from what the projection writes of the
record's fields to what was imported. A block is found by what it says, so that
one that was edited or left out passes nothing on to another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

PARTS: Final = "parts"
MESSAGE: Final = "message"
BLOCK: Final = "block"
BLOCKS: Final = "blocks"
PIECES: Final = "pieces"
JOINED: Final = "joined"
"""In the place of a difference, as ``{"joined": true}``: the block was part of the one before it."""

TEXT: Final = "text"
IMAGE: Final = "image"
THINKING: Final = "thinking"

_SEPARATOR: Final = "\n\n"
_DIGEST_LENGTH: Final = 16


def block_key(kind: str, value: str) -> str:
    """Return the key of a block.

    Args:
        kind: TEXT, IMAGE or THINKING.
        value: The text; the image's address or its base64; the signature.
    """
    return f"{kind}:{hashlib.sha256(value.encode()).hexdigest()[:_DIGEST_LENGTH]}"


def blocks_entry(found: Iterable[tuple[str, str, dict[str, Any] | None]]) -> dict[str, Any]:
    """Return the entry ``blocks`` of a record; {} for nothing to keep.

    Args:
        found: Kind, value and difference of each block, in order.
    """
    given = list(found)
    if not any(difference for _, _, difference in given):
        return {}
    entry: dict[str, list[Any]] = {}
    for kind, value, difference in given:
        entry.setdefault(block_key(kind, value), []).append(difference)
    return {key: differences for key, differences in entry.items() if any(differences)}


def join_pieces(texts: Iterable[str]) -> str:
    """Return one system text of several."""
    return _SEPARATOR.join(texts)


def split_pieces(text: str, lengths: Sequence[int]) -> list[str] | None:
    """Return the texts that a system text was joined of; None where it is another text by now."""
    pieces: list[str] = []
    start = 0
    for length in lengths:
        pieces.append(text[start : start + length])
        start += length + len(_SEPARATOR)
    return pieces if pieces and join_pieces(pieces) == text else None
