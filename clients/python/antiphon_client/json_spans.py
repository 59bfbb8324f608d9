"""Where the members of a JSON object, or the items of an array, stand in its text.

What others wrote is kept as they spelled it: the order of keys, the digits of
numbers, white space. So it is cut out of its text and never written anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_SPACE = re.compile(r"[ \t\n\r]*")
# Only where values end matters, so numbers need not be made.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


class Span(NamedTuple):
    """A member of an object or an item of an array; numbers are positions in the text.

    Attributes:
        key: The member's key, or the item's index.
        key_start: Where the key's text begins; of an item where the value does.
        key_end: Where it ends; of an item the same.
        start: Where the value begins.
        end: Where it ends.
    """

    key: str | int
    key_start: int
    key_end: int
    start: int
    end: int


def spans_of(text: str) -> Iterator[Span]:
    """Yield the members or items of a container, in order.

    Args:
        text: JSON text of an object or an array, valid by the JSON text rule.

    Cost: one pass over the text.
    """
    at = _skip(text, 0)
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    index = 0
    while text[at] not in "}]":
        key: str | int = index
        key_start = key_end = at
        if is_object:
            key, key_end = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, key_end) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield Span(key, key_start, key_end, at, end)
        index += 1
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    """Return the position of the next character that is no white space."""
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
