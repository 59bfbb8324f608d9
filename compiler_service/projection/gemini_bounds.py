"""How deep a schema for Gemini may be nested, and how large its numbers may be."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from antiphon_client.json_text import MAX_DEPTH

_MOST_LEVELS = 150
"""Schemas inside each other, after which the inner ones are left out."""

_LARGEST_NUMBER = sys.float_info.max
_LARGEST_COUNT = 2**63 - 1


class Place(NamedTuple):
    """Where a node stands.

    Attributes:
        path: References that led here.
        depth: JSON containers around what it becomes, itself counted.
        level: Schemas around it, itself counted.
    """

    path: tuple[str, ...] = ()
    depth: int = 1
    level: int = 1

    def inner(self, deeper: int) -> Place:
        """Return the place of a schema within, some containers deeper."""
        return Place(self.path, self.depth + deeper, self.level + 1)

    @property
    def is_possible(self) -> bool:
        """Whether JSON may be nested so deep, and so many schemas inside each other."""
        return self.depth <= MAX_DEPTH and self.level <= _MOST_LEVELS

    @property
    def takes_list(self) -> bool:
        """Whether the node may hold a list."""
        return self.depth < MAX_DEPTH

    def takes(self, value: Any) -> bool:
        """Tell whether the node may hold any value: its numbers are doubles, and it is not too deep."""
        return _is_value(value, self.depth)


def is_count(value: Any) -> bool:
    """Tell whether a value is a whole number that counts: of 64 bits, as the Schema object has it."""
    return type(value) is int and 0 <= value <= _LARGEST_COUNT


def is_double(value: Any) -> bool:
    """Tell whether a value is a number that a double can hold; an integer may be larger."""
    return type(value) in (int, float) and abs(value) <= _LARGEST_NUMBER


def _is_value(value: Any, depth: int) -> bool:
    if type(value) is int:
        return is_double(value)
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return depth < MAX_DEPTH and all(_is_value(each, depth + 1) for each in inside)
