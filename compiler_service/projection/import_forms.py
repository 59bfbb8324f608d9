"""How an imported message was written, put back on what is written of its records.

What is kept, and what it is found by, is the importers' rule: see
`antiphon_client.importing.forms`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antiphon_client.importing.forms import (
    BLOCK,
    BLOCKS,
    IMAGE,
    JOINED,
    MESSAGE,
    PARTS,
    PIECES,
    TEXT,
    THINKING,
    block_key,
    split_pieces,
)
from antiphon_client.importing.residue import apply
from antiphon_client.json_text import dump_json_text
from compiler_service.json_values import parse_checked
from compiler_service.native.turns import ImagePart, Part, TextPart, ThinkingPart
from compiler_service.projection.images import source_of


class Forms:
    """The forms kept with one record; none where it was not imported.

    Attributes:
        has_parts: Whether the content was a list; None for as it is usual.
        message: Difference of the message's members beside its content.
        block: Difference of the block of a call or a result.
        blocks: Differences of blocks, by block key.
    """

    __slots__ = ("_pieces", "block", "blocks", "has_parts", "message")

    def __init__(self, entry: Any) -> None:
        found = entry if isinstance(entry, dict) else {}
        has_parts, blocks = found.get(PARTS), found.get(BLOCKS)
        self.has_parts: bool | None = has_parts if isinstance(has_parts, bool) else None
        self.message: Any = found.get(MESSAGE)
        self.block: Any = found.get(BLOCK)
        self.blocks: dict[str, list[Any]] = blocks if isinstance(blocks, dict) else {}
        self._pieces: Any = found.get(PIECES)

    def pieces(self, text: str) -> list[tuple[str, Any]]:
        """Return the texts that a system text was joined of, each with its difference."""
        if isinstance(self._pieces, list):
            given = [each for each in self._pieces if isinstance(each, list) and len(each) == 2]
            lengths = [length for length, _ in given if isinstance(length, int)]
            texts = split_pieces(text, lengths) if len(lengths) == len(self._pieces) else None
            if texts is not None:
                return [(piece, change) for piece, (_, change) in zip(texts, given, strict=True)]
        return [(text, None)]


class BlockForms:
    """The differences of the blocks of one message, taken in their order."""

    def __init__(self, blocks: dict[str, list[Any]]) -> None:
        self._blocks = blocks
        self._taken: dict[str, int] = {}

    def take(self, part: Part) -> Any:
        """Return the difference of the next block that says what a part says; None for none."""
        if not self._blocks:
            return None
        key = _key_of(part)
        differences = self._blocks.get(key)
        if not isinstance(differences, list):
            return None
        number = self._taken.get(key, 0)
        self._taken[key] = number + 1
        return differences[number] if number < len(differences) else None


_NO_BLOCKS = BlockForms({})


def block_forms(forms: Forms) -> BlockForms:
    """Return the differences of a message's blocks, to be taken."""
    return BlockForms(forms.blocks) if forms.blocks else _NO_BLOCKS


def message_forms(found: Sequence[Forms]) -> Forms:
    """Return the forms of the message of several results, which stand with one of them."""
    for forms in found:
        if forms.message is not None:
            return forms
    return found[0]


def is_joined(difference: Any) -> bool:
    """Tell whether a part was one with the part before it."""
    return isinstance(difference, dict) and difference.get(JOINED) is True


def with_difference(object_text: str, difference: Any) -> str:
    """Return an object's text with a difference applied. Cost: that of parsing it, where there is one."""
    if difference is None:
        return object_text
    return dump_json_text(apply(parse_checked(object_text), difference))


def with_member(object_text: str, member_text: str) -> str:
    """Return an object's text with one more member, of which the text is given."""
    inside = object_text[:-1]
    return f"{inside}{member_text}}}" if inside == "{" else f"{inside},{member_text}}}"


def _key_of(part: Part) -> str:
    if isinstance(part, TextPart):
        return block_key(TEXT, part.text)
    if isinstance(part, ThinkingPart):
        return block_key(THINKING, part.signature or "")
    if isinstance(part, ImagePart):
        source = source_of(part)
        return block_key(IMAGE, source.url or source.base64_text or "")
    return ""
