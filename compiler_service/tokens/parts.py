"""How many tokens the parts of a turn are, whatever the provider makes of them."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.message.v1 import content_block_pb2
from compiler_service.native.turns import (
    CallPart,
    ImagePart,
    JsonPart,
    OpaquePart,
    Part,
    ResultPart,
    TextPart,
    ThinkingPart,
)
from compiler_service.texts import is_blank
from compiler_service.tokens.counter import TokenCounter

TURN_TOKENS = 4
"""Tokens of what frames a turn: its role and its ends."""
CALL_TOKENS = 8
"""Tokens of what frames a call, its id and the names of its fields; a result has as many."""
LOW_IMAGE_TOKENS = 85
"""Tokens of an image that is looked at closely no further."""
IMAGE_TOKENS = 765
"""Tokens of any other image: those of one of 1024 by 1024 pixels, as no image is ever opened."""


def part_tokens(part: Part, counter: TokenCounter) -> int:
    """Return the tokens of a part: its text, a call's name and arguments, a result's content.

    A signature is no text for the model and counts nothing; a part that only
    its issuer can read counts as the text that carries it.
    """
    match part:
        case TextPart():
            return counter.count(part.text)
        case JsonPart():
            return counter.count(part.value_json)
        case ThinkingPart():
            return counter.count(part.thinking)
        case ImagePart():
            low = part.detail == content_block_pb2.IMAGE_DETAIL_LOW
            return LOW_IMAGE_TOKENS if low else IMAGE_TOKENS
        case OpaquePart():
            return counter.count(part.data_json)
        case CallPart():
            arguments = part.arguments_json if part.arguments_text is None else part.arguments_text
            return CALL_TOKENS + counter.count(part.name) + counter.count(arguments)
        case ResultPart():
            return CALL_TOKENS + parts_tokens(part.content, counter)


def turn_tokens(parts: Iterable[Part], counter: TokenCounter) -> int:
    """Return the tokens of a turn: its parts, and what frames it."""
    return TURN_TOKENS + parts_tokens(parts, counter)


def system_text_tokens(text: str | None, counter: TokenCounter) -> int:
    """Return the tokens of a system text; 0 where there is none, or one that says nothing."""
    return 0 if text is None or is_blank(text) else turn_tokens((TextPart(text, ""),), counter)


def parts_tokens(parts: Iterable[Part], counter: TokenCounter) -> int:
    """Return the tokens of parts."""
    return sum(part_tokens(part, counter) for part in parts)
