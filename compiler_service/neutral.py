"""Turns of either profile as they travel, so that one code writes and digests both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from antiphon.message.v1.message_pb2 import Role
from compiler_service.native.turns import ImagePart, NativeTurn, Part, TextPart
from compiler_service.state import CompiledTurn

AnyTurn: TypeAlias = CompiledTurn | NativeTurn

WireTurn: TypeAlias = tuple[Role.ValueType, str | None, tuple[Part, ...]]
"""A turn as it travels: its role, and its text, or None and its parts."""


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
