"""The JSON text rule: strict RFC 8259, exact, never normalized.

Every field whose name ends in ``_json`` follows it (the wire contract, §JSON
text rule). A text is checked here and then kept byte for byte; it is parsed
only where its value is needed, with integers of any size exact.

Refused, beyond what RFC 8259 refuses: duplicate keys in one object, lone
surrogates (also written as escapes), nesting beyond 100, a number with a
fraction or exponent that overflows an IEEE double, and a number of more than
4,000 digits. An integer stays exact however large, so one beyond the range of a
double is legal. A byte order mark and data after the value are refused as RFC
8259 allows.

Cost: linear in the text; about 1 µs plus 20 ns a character.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

MAX_DEPTH = 100
"""Deepest nesting of a JSON text; ``[]`` has depth 1. The contract's own number, not a setting."""

_MAX_DIGITS = 4000

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# One escape at a time from the left: a whole pair is consumed as one match, so
# a match that begins with a surrogate and is no pair is a lone one.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F])|.)", re.DOTALL
)
# Possessive, and open strings go to the end, so that no text is scanned twice.
_STRING_PATTERN = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_STRING = re.compile(_STRING_PATTERN, re.DOTALL)
_STRING_OR_BRACKETS = re.compile(_STRING_PATTERN + r"|[\[{]+|[\]}]+", re.DOTALL)
_ALL_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


class JsonTextError(ValueError):
    """A text or value breaks the JSON text rule; the message says how and where."""


def parse_json_text(text: str) -> Any:
    """Return the value of a JSON text, integers exact.

    Raises:
        JsonTextError: The text breaks the rule.
    """
    if text.startswith("\ufeff"):
        raise JsonTextError("begins with a byte order mark")
    _refuse_lone_surrogates(text)
    _refuse_deep_nesting(text)
    decoder = _LONG_TEXT_DECODER if len(text) > _MAX_DIGITS else _DECODER
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        raise JsonTextError(f"not JSON: {_lower_first(error.msg)} at character {error.pos}") from None


def check_json_text(text: str, *, require_object: bool = False) -> None:
    """Check a JSON text and return nothing.

    Args:
        text: The text as it is to be kept.
        require_object: Also refuse every value that is not an object.

    Raises:
        JsonTextError: The text breaks the rule.
    """
    if text == "{}":
        return
    value = parse_json_text(text)
    if require_object and not isinstance(value, dict):
        raise JsonTextError(f"expected a JSON object, not {_kind(value)}")


def dump_json_text(value: Any) -> str:
    """Return the compact JSON text of a value, keys in insertion order.

    Non-ASCII characters stay as they are; tuples are written as arrays. The
    result always passes `check_json_text`.

    Raises:
        JsonTextError: The value holds NaN or an infinity, a key that is not
            text, a lone surrogate, a value of no JSON type, or is nested or
            written beyond the limits.
    """
    _refuse_unwritable(value, 0)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), check_circular=False)


def _object_of_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonTextError(f"duplicate key {_excerpt(key)}")
            seen.add(key)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise JsonTextError(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise JsonTextError(f"the number {_excerpt_number(text)} overflows a double")
    return value


def _bounded_float(text: str) -> float:
    _refuse_many_digits(text)
    return _finite_float(text)


def _bounded_int(text: str) -> int:
    _refuse_many_digits(text)
    return int(text)


def _refuse_many_digits(text: str) -> None:
    if len(text) > _MAX_DIGITS:
        digits = sum(map(str.isdigit, text))
        if digits > _MAX_DIGITS:
            raise JsonTextError(f"a number has {digits} digits, more than {_MAX_DIGITS}")


# A text no longer than the limit holds no number beyond it, so the common
# short text is spared a call for every integer.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object_of_unique_keys, parse_constant=_refuse_constant, parse_float=_finite_float
)
_LONG_TEXT_DECODER = json.JSONDecoder(
    object_pairs_hook=_object_of_unique_keys,
    parse_constant=_refuse_constant,
    parse_float=_bounded_float,
    parse_int=_bounded_int,
)


def _refuse_lone_surrogates(text: str) -> None:
    if not text.isascii():
        raw = _SURROGATE.search(text)
        if raw is not None:
            raise JsonTextError(f"lone surrogate at character {raw.start()}")
    if "\\u" in text and _SURROGATE_ESCAPE.search(text) is not None:
        for escape in _ESCAPE.finditer(text):
            if escape["lone"] is not None:
                raise JsonTextError(f"lone surrogate at character {escape.start()}")


def _refuse_deep_nesting(text: str) -> None:
    # The parser recurses, so depth is bounded before it runs. Fewer opening
    # brackets than the limit cannot nest beyond it, nor can brackets that
    # vanish when the innermost pairs are taken away that many times.
    if text.count("[") + text.count("{") <= MAX_DEPTH or _vanishes(text):
        return
    depth = 0
    for match in _STRING_OR_BRACKETS.finditer(text):
        run = match[0]
        if run[0] in "[{":
            depth += len(run)
            if depth > MAX_DEPTH:
                position = match.end() - (depth - MAX_DEPTH)
                raise JsonTextError(f"nested deeper than {MAX_DEPTH} at character {position}")
        elif run[0] != '"':
            depth -= len(run)


def _vanishes(text: str) -> bool:
    brackets = _STRING.sub("", text).encode().translate(_ALL_SQUARE, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        rest = brackets.replace(b"[]", b"")
        if len(rest) == len(brackets):
            break
        brackets = rest
    return not brackets


def _refuse_unwritable(value: Any, depth: int) -> None:
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value) is not None:
            raise JsonTextError(f"lone surrogate in {_excerpt(value)}")
    elif isinstance(value, dict):
        _refuse_depth(depth + 1)
        for key, item in value.items():
            if not isinstance(key, str):
                raise JsonTextError(f"a key must be text, not {type(key).__name__}")
            _refuse_unwritable(key, depth)
            _refuse_unwritable(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        _refuse_depth(depth + 1)
        for item in value:
            _refuse_unwritable(item, depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise JsonTextError(f"{value} is not JSON")
    elif isinstance(value, int):
        # Some 3.3 bits a digit; the exact power is compared only near the limit.
        if value.bit_length() > 3 * _MAX_DIGITS and abs(value) >= 10**_MAX_DIGITS:
            raise JsonTextError(f"a number has more than {_MAX_DIGITS} digits")
    elif value is not None:
        raise JsonTextError(f"a {type(value).__name__} is not a JSON value")


def _refuse_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise JsonTextError(f"nested deeper than {MAX_DEPTH}")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    return "text" if isinstance(value, str) else "an array"


def _excerpt(text: str, length: int = 40) -> str:
    shown = text if len(text) <= length else text[:length] + "…"
    return ascii(shown) if _SURROGATE.search(shown) else repr(shown)


def _excerpt_number(text: str, length: int = 40) -> str:
    return text if len(text) <= length else text[:length] + "…"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
