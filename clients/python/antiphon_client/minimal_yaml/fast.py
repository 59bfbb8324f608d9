"""The fast emitter: one walk that prunes and writes at once.

It writes the block structure that PyYAML's emitter gives with an indent of
two: a sequence under a key stays at the key's indent, a collection inside an
item or after ``? key`` begins on the same line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon_client.minimal_yaml.scalars import (
    BREAKS,
    READ_AS_VALUES,
    SIMPLE_KEYS,
    is_common_text,
    write_complex_key,
    write_float,
    write_text,
)

_INDENT = "  "


class NotCoveredError(Exception):
    """The value is not made of exact JSON types; the reference must write it."""


class WrittenItem(str):
    """An item of a sequence at a document's first level, written before: lines indented by two spaces.

    With nothing in it, it is an item of which nothing is left. The emitter puts its dash before it.
    """

    __slots__ = ()


def emit_fast(value: Any) -> str:
    """Return the minimal YAML of a mapping or sequence.

    Raises:
        NotCoveredError: The value, or something in it, is of another type
            than dict with text keys, list, tuple, str, int, float, bool and
            None, or the value itself is a scalar; or a WrittenItem stands deeper.
    """
    out: list[str] = []
    if type(value) is dict:
        if not _write_mapping(value, "", "", out):
            return "{}\n"
    elif type(value) in (list, tuple):
        if not _write_sequence(value, "", "", out):
            return "[]\n"
    else:
        raise NotCoveredError
    # A final text that keeps its trailing breaks leaves the document open.
    last = out[-1]
    if last[-1] in BREAKS and last[-2] in BREAKS:
        out.append("...\n")
    return "".join(out)


def write_entries(value: Mapping[str, Any], pad: str) -> str:
    """Return the entries of a mapping that are not empty, each line with its indent and line break.

    Args:
        value: The mapping.
        pad: Its indent.

    Raises:
        NotCoveredError: As `emit_fast` does.
    """
    out: list[str] = []
    _write_mapping(value, pad, pad, out)
    return "".join(out)


def _write_mapping(value: Mapping[str, Any], lead: str, pad: str, out: list[str]) -> bool:
    """Write the entries that are not empty; return whether there were any.

    Args:
        value: The mapping.
        lead: What comes before the first entry written.
        pad: What comes before the others: the mapping's indent.
        out: Where the pieces go.
    """
    start = lead
    written = False
    for key, item in value.items():
        if type(key) is not str:
            raise NotCoveredError
        simple = SIMPLE_KEYS[key]
        kind = type(item)
        # Most entries, at once: through the cases below a number takes twice as long. A name,
        # which most short texts are, is told in a quarter of the time of any common text.
        is_common: object
        if kind is str:
            is_common = (item.isidentifier() and item not in READ_AS_VALUES) or is_common_text(item)
        else:
            is_common = kind is int
        if is_common and simple is not None:
            out.append(f"{start}{simple}: {item}\n")
            start, written = pad, True
            continue
        if kind is str:
            if not item or item.isspace():
                continue
            text = write_text(item, pad + _INDENT)
        elif kind is dict or kind is list or kind is tuple:
            if _write_entry(key, simple, item, start, pad, out):
                start, written = pad, True
            continue
        elif item is None:
            continue
        else:
            text = write_number(item)
        if simple is None:
            out.append(f"{start}? {write_complex_key(key, pad + _INDENT)}{pad}: {text}")
        else:
            out.append(f"{start}{simple}: {text}")
        start, written = pad, True
    return written


def _write_entry(key: str, simple: str | None, item: Any, start: str, pad: str, out: list[str]) -> bool:
    """Write a key and its collection, or nothing if the collection is empty.

    Args:
        key: The key.
        simple: The key as `SIMPLE_KEYS` has it.
        item: The collection.
        start: What comes before the key.
        pad: The mapping's indent.
        out: Where the pieces go.
    """
    mark = len(out)
    if simple is None:
        inner = pad + _INDENT
        out.append(f"{start}? {write_complex_key(key, inner)}{pad}: ")
        first, rest = "", inner
    else:
        out.append(f"{start}{simple}:\n")
        first = rest = pad + _INDENT if type(item) is dict else pad
    write = _write_mapping if type(item) is dict else _write_sequence
    written = write(item, first, rest, out)
    if not written:
        # Taken back here rather than handed down in front of the first entry:
        # a long key copied for every empty item below it would be quadratic.
        del out[mark:]
    return written


def _write_sequence(value: Sequence[Any], lead: str, pad: str, out: list[str]) -> bool:
    """Write the items that are not empty; return whether there were any."""
    inner = pad + _INDENT
    start = lead
    written = False
    for item in value:
        kind = type(item)
        if kind is str:
            if is_common_text(item):
                out.append(f"{start}- {item}\n")
            elif not item or item.isspace():
                continue
            else:
                out.append(f"{start}- {write_text(item, inner)}")
        elif kind is dict:
            if not _write_mapping(item, f"{start}- ", inner, out):
                continue
        elif kind is list or kind is tuple:
            if not _write_sequence(item, f"{start}- ", inner, out):
                continue
        elif item is None:
            continue
        elif kind is WrittenItem and not pad:
            if not item:
                continue
            out.append(f"{start}- {item[2:]}")
        else:
            out.append(f"{start}- {write_number(item)}")
        start, written = pad, True
    return written


def write_number(value: Any) -> str:
    """Return a number or truth value with the line break that ends it.

    Raises:
        NotCoveredError: It is neither.
    """
    kind = type(value)
    if kind is bool:
        return "true\n" if value else "false\n"
    if kind is int:
        return f"{value}\n"
    if kind is float:
        return f"{write_float(value)}\n"
    raise NotCoveredError
