"""Folded turns as a conversation that can be projected."""

from __future__ import annotations

from collections.abc import Iterable

from compiler_service.native.turns import Conversation, ImagePart, NativeTurn, Part, TextPart
from compiler_service.state import CompiledTurn


def folded_conversation(turns: Iterable[CompiledTurn]) -> Conversation:
    """Return the conversation of FOLDED turns: plain turns, the system text among them.

    A turn's empty text beside images, which stands for no text, is left out.
    """
    return Conversation(system_text=None, turns=tuple([_native(turn) for turn in turns]))


def _native(turn: CompiledTurn) -> NativeTurn:
    role, text, images, message_ids = turn
    message_id = message_ids[0] if message_ids else ""
    if not images:
        return NativeTurn(role, (TextPart(text, message_id),), message_ids, is_text=True)
    parts: list[Part] = [TextPart(text, message_id)] if text else []
    parts += [ImagePart("", None, image.url, image.detail, message_id) for image in images]
    return NativeTurn(role, tuple(parts), message_ids)
