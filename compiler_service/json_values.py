"""JSON values: reading texts that were checked before, and equality with types.

Action results are deduplicated by the equality of JSON values with types
(compiler rules, FOLDED step 2): ``true`` is not ``1``, ``1`` equals ``1.0``, and
the order of an object's keys does not matter.
"""

from __future__ import annotations

import json
from typing import Any

_DECODER = json.JSONDecoder()
_ENCODE = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False).encode


def parse_checked(text: str) -> Any:
    """Return the value of a JSON text that passed the JSON text rule when it was written."""
    # Few texts have white space around them, and looking for it costs 0.6 µs a text.
    try:
        value, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError:
        end = -1
    return value if end == len(text) else _DECODER.decode(text)


def equality_key(value: Any) -> str:
    """Return a text that two JSON values share exactly when they are equal.

    A text, because Python randomizes the hashes of texts but not those of
    numbers: a set of keys stays linear whatever the values are.

    Args:
        value: A parsed JSON value: finite numbers, text keys.

    Cost: linear in the value.
    """
    return _ENCODE(_with_exact_numbers(value))


def _with_exact_numbers(value: Any) -> Any:
    """Return the value with every float of integral value as that integer."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _with_exact_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_exact_numbers(item) for item in value]
    return value
