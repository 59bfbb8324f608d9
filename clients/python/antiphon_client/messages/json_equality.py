"""Exact equality of JSON values.

Python takes ``True`` for ``1``, ``1`` for ``1.0`` and ``0.0`` for ``-0.0``,
and looks past the order of keys. All of these are differences between JSON
texts, so none may hide a change of a value whose text is being kept.
"""

from __future__ import annotations

import math
from typing import Any


def same_json(first: Any, second: Any) -> bool:
    """Tell whether two JSON values have the same types, values and key order.

    Cost: linear in the smaller value.
    """
    if isinstance(first, dict):
        return isinstance(second, dict) and _same_dict(first, second)
    if isinstance(first, (list, tuple)):
        return (
            isinstance(second, (list, tuple))
            and len(first) == len(second)
            and all(map(same_json, first, second))
        )
    if type(first) is not type(second) or first != second:
        return False
    return not isinstance(first, float) or math.copysign(1.0, first) == math.copysign(1.0, second)


def _same_dict(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return (
        len(first) == len(second)
        and all(map(same_json, first, second))
        and all(map(same_json, first.values(), second.values()))
    )
