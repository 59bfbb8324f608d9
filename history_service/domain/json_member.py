"""Setting one member of a JSON object's text and leaving the rest as it is written."""

from __future__ import annotations

import json
import re

_SPACE = re.compile(r"[ \t\n\r]*")
# Only where values end matters, so numbers need not be made.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


def set_member(text: str, key: str, value: str) -> str:
    """Return a JSON object's text with a member set to a text value.

    Args:
        text: The text of an object, valid by the JSON text rule.
        key: The member's key. A member of that key is replaced in its place; a
            new one comes last.
        value: Its new value; of characters that JSON need not escape.
    """
    found = _value_span(text, key)
    if found is not None:
        start, end = found
        return f'{text[:start]}"{value}"{text[end:]}'
    end = text.rindex("}")
    comma = "" if _is_empty(text) else ","
    return f'{text[:end]}{comma}"{key}":"{value}"{text[end:]}'


def _is_empty(text: str) -> bool:
    return text[_skip(text, _skip(text, 0) + 1)] == "}"


def _value_span(text: str, key: str) -> tuple[int, int] | None:
    """Return where the value of a member begins and ends; None if the object has no such member."""
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] == '"':
        name, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, start)
        if name == key:
            return start, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return None


def _skip(text: str, at: int) -> int:
    """Return the position of the next character that is no white space."""
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
