"""Minimal YAML: the text form of structured values in a prompt.

Block style, keys in insertion order, unlimited width, no aliases, ``|`` for
text with a newline, and everything empty left out: None, blank text and empty
containers, recursively (0 and False stay). Source: ADR-0007 and the compiler's
design, §Minimal YAML.

PyYAML with these settings is the reference, `emit_pyyaml`. `emit` gives the
same bytes some 20 to 60 times faster and hands what it does not cover to the
reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antiphon_client.minimal_yaml.fast import NotCoveredError, WrittenItem, emit_fast, write_entries
from antiphon_client.minimal_yaml.json_entries import JsonEntries
from antiphon_client.minimal_yaml.reference import emit_pyyaml, prune
from antiphon_client.minimal_yaml.scalars import BREAKS, SIMPLE_KEYS, is_common_text

__all__ = [
    "JsonEntries",
    "WrittenItem",
    "emit",
    "emit_entries",
    "emit_entry",
    "emit_pyyaml",
    "prune",
    "write_entries",
]


def emit(value: Any) -> str:
    """Return the minimal YAML of a value of JSON types, ending in a line break.

    A mapping or sequence with nothing left gives ``{}`` or ``[]``.

    Raises:
        yaml.YAMLError: The value holds a type that JSON does not have.

    Cost: some 4 µs for a short instruction, then about 1 ns a character of
    plain text and 0.5 µs for each key or item.
    """
    try:
        return emit_fast(value)
    except NotCoveredError:
        return emit_pyyaml(value)


def emit_entry(key: str, value: Any) -> str:
    """Return the minimal YAML of a mapping with one entry, as `emit` does; most texts take half the time."""
    simple = SIMPLE_KEYS[key]
    if type(value) is str and simple is not None and is_common_text(value):
        return f"{simple}: {value}\n"
    return emit({key: value})


def emit_entries(key: str, value: Any, items_key: str, items: Sequence[Any]) -> str:
    """Return the minimal YAML of a mapping with two entries, as `emit` does.

    Most texts with items that are written already take a third of the time.
    """
    simple, items_simple = SIMPLE_KEYS[key], SIMPLE_KEYS[items_key]
    if type(value) is not str or simple is None or items_simple is None or not is_common_text(value):
        return emit({key: value, items_key: items})
    pieces = [f"{simple}: {value}\n{items_simple}:\n"]
    for item in items:
        if type(item) is not WrittenItem or not item:
            return emit({key: value, items_key: items})
        pieces += ("- ", item[2:])
    last = pieces[-1]
    if last[-1] in BREAKS and last[-2] in BREAKS:
        # It leaves the document open.
        return emit({key: value, items_key: items})
    return "".join(pieces)
