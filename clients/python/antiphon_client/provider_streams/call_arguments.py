"""The text of a call's arguments as a model wrote it: an object, its repair, or why it is neither.

The repair adds nothing that the model did not write: it never closes a string,
an array or an object. So arguments that were cut stay broken, and are never
taken for whole.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from antiphon_client.json_text import JsonTextError, parse_json_text

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_BAD_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|(?P<bad>.))', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=[ \t\n\r]*[}\]])")
_SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\b": r"\b", "\f": r"\f"}


class Arguments(NamedTuple):
    """The arguments of a call.

    Attributes:
        object_json: JSON text of an object; "" for the empty one.
        other_text: The model's own text, where it is not that of an object.
        is_repaired: Whether ``object_json`` is the repair of that text.
        problem: Why the text is no JSON, even repaired; None where it is.
    """

    object_json: str
    other_text: str | None = None
    is_repaired: bool = False
    problem: str | None = None


def read_arguments(text: str) -> Arguments:
    """Read the text of a call's arguments; blank text is the empty object. Cost: linear in the text."""
    if not text.strip():
        return Arguments("", text)
    try:
        value = parse_json_text(text)
    except JsonTextError as error:
        repaired = repair(text)
        try:
            value = parse_json_text(repaired)
        except JsonTextError:
            return Arguments("", text, problem=str(error))
        if isinstance(value, dict):
            return Arguments(repaired, text, is_repaired=True)
    if isinstance(value, dict):
        return Arguments(text)
    return Arguments("", text)


def repair(text: str) -> str:
    """Return JSON text with three faults mended that models make and that leave its meaning plain.

    Within strings, control characters are escaped, and a backslash before a
    character that it cannot escape is doubled; outside, a comma before a
    closing bracket is left out.
    """
    pieces: list[str] = []
    start = 0
    for string in _STRING.finditer(text):
        pieces += (_TRAILING_COMMA.sub("", text[start : string.start()]), _mend_string(string[0]))
        start = string.end()
    pieces.append(_TRAILING_COMMA.sub("", text[start:]))
    return "".join(pieces)


def _mend_string(string: str) -> str:
    doubled = _BAD_ESCAPE.sub(lambda found: f"\\{found[0]}" if found["bad"] is not None else found[0], string)
    return _CONTROL.sub(_escape, doubled)


def _escape(control: re.Match[str]) -> str:
    return _SHORT_ESCAPES.get(control[0], f"\\u{ord(control[0]):04x}")
