"""Turns of either profile as they travel, so that one code writes and digests both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from antiphon.message.v1.message_pb2 import Role
from compiler_service.native.turns import ImagePart, NativeTurn, Part, TextPart
from compiler_service.state import CompiledTurn, TurnRow

AnyTurn: TypeAlias = CompiledTurn | NativeTurn

WireTurn: TypeAlias = tuple[Role.ValueType, str | None, tuple[Part, ...]]
"""A turn as it travels: its role, and its text, or None and its parts."""


class TextColumns(NamedTuple):
    """Turns that are texts alone, by columns: what is done to all of one column at once is cheap."""

    roles: Sequence[Role.ValueType]
    texts: list[bytes]
    """The texts in UTF-8."""


def text_columns(rows: Sequence[TurnRow]) -> TextColumns | None:
    """Return turns of FOLDED by columns; None where there are none, or one has images."""
    if not rows:
        return None
    roles, texts, images, _ = zip(*rows, strict=True)
    return None if any(images) else TextColumns(roles, list(map(str.encode, texts)))


def wire_turns(turns: Iterable[AnyTurn]) -> Iterator[WireTurn]:
    """Yield turns as they travel."""
    for turn in turns:
        if isinstance(turn, CompiledTurn):
            if turn.images:
                yield turn.role, None, _folded_parts(turn)
            else:
                yield turn.role, turn.text, ()
            continue
        first = turn.parts[0]
        if turn.is_text and isinstance(first, TextPart):
            yield turn.role, first.text, ()
        else:
            yield turn.role, None, turn.parts


def _folded_parts(turn: CompiledTurn) -> tuple[Part, ...]:
    """Return the parts of a FOLDED turn with images: the text, which may be empty, comes first."""
    return TextPart(turn.text, ""), *[ImagePart("", None, url, detail, "") for url, detail in turn.images]
