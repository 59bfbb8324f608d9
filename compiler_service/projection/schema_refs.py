"""References within a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

REF = "$ref"
DEFINITIONS = ("$defs", "definitions")

MOST_INLINED_BYTES = 4 * 2**20
"""Bytes of JSON text after which a request's references stay: more than a unary reply may hold.

A reference of 20 bytes can name a text of megabytes, and a thousand of them a thousand of it.
"""

_MOST_REFS = 1000
_LONGEST_PATH = 100
_LONGEST_INDEX = 9


def resolve(root: Any, ref: str) -> Any:
    """Return what a reference names within the same document.

    Raises:
        LookupError: It names nothing there.
    """
    if ref != "#" and not ref.startswith("#/"):
        raise LookupError(ref)
    node = root
    for step in ref[1:].split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if _is_index(key) and isinstance(node, list) and int(key) < len(node):
            node = node[int(key)]
        elif isinstance(node, dict) and key in node:
            node = node[key]
        else:
            raise LookupError(ref)
    return node


def _is_index(key: str) -> bool:
    # Of too many digits Python makes no number.
    return key.isdecimal() and len(key) <= _LONGEST_INDEX


class Inlining:
    """How much may be put in place of references, in all of one request's schemas together."""

    def __init__(self, most_bytes: int = MOST_INLINED_BYTES) -> None:
        """Allow a number of bytes; the text that passes it is the last."""
        self._left = most_bytes

    @property
    def is_spent(self) -> bool:
        """Whether references stay from now on."""
        return self._left <= 0

    def spend(self, size: int) -> None:
        """Count a text that is put in place of a reference."""
        self._left -= size


class References:
    """The references within one document, followed as far as a request's bound allows."""

    def __init__(self, root: Any, inlining: Inlining) -> None:
        """Start with a parsed document, which is not changed while it is read."""
        self._root = root
        self._inlining = inlining
        self._sizes: dict[int, int] = {}

    def named(self, ref: Any, path: tuple[str, ...]) -> dict[str, Any] | None:
        """Return the object that is to stand in a reference's place; None where the reference cannot go.

        It names nothing or no object, leads in a circle or too far, or the bound
        is reached.

        Args:
            ref: What the keyword says.
            path: References that led here.
        """
        if not isinstance(ref, str) or ref in path or len(path) >= _LONGEST_PATH or self._inlining.is_spent:
            return None
        try:
            named = resolve(self._root, ref)
        except LookupError:
            return None
        if not isinstance(named, dict):
            return None
        self._inlining.spend(self._size_of(named))
        return named

    def _size_of(self, named: dict[str, Any]) -> int:
        """Return the bytes of an object's text; definitions are not taken along. Made once for each."""
        size = self._sizes.get(id(named))
        if size is None:
            taken = {key: value for key, value in named.items() if key not in DEFINITIONS}
            size = self._sizes[id(named)] = len(json.dumps(taken, ensure_ascii=False).encode())
        return size


class Followed(NamedTuple):
    """What a node says whose reference was followed.

    Attributes:
        node: The node, without a reference.
        path: References that led to it.
        is_whole: Whether every reference named something.
    """

    node: dict[str, Any]
    path: tuple[str, ...]
    is_whole: bool


def followed(references: References, node: dict[str, Any], path: tuple[str, ...]) -> Followed:
    """Replace a node's own reference by what that names, and that one's.

    A node's other keywords stand before those of what it names. Where a
    reference cannot go, only those others are left.

    Args:
        references: Those of the document.
        node: The node.
        path: References that led here; they are not followed again.
    """
    is_whole = True
    while REF in node:
        ref = node[REF]
        node = {key: value for key, value in node.items() if key != REF}
        named = references.named(ref, path)
        if named is None:
            is_whole = False
            continue
        node, path = {**named, **node}, (*path, ref)
    return Followed(node, path, is_whole)


def is_dangling(changed: Any, given: Any) -> Iterator[bool]:
    """Yield for every reference in a changed schema whether it named something before, and does no more."""
    for ref in refs_in(changed):
        try:
            resolve(given, ref)
        except LookupError:
            continue
        try:
            resolve(changed, ref)
        except LookupError:
            yield True


def refs_in(node: Any) -> Iterator[str]:
    """Yield every reference in a schema, those inside ``const``, ``enum`` and the like included."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == REF and isinstance(value, str):
                yield value
            yield from refs_in(value)
    elif isinstance(node, list):
        for item in node:
            yield from refs_in(item)


def is_recursive(root: Any) -> bool:
    """Tell whether a reference leads back to itself; one that names nothing leads nowhere.

    A schema of more than 1,000 references is taken for one that does.

    Cost: linear in the schema, however many references name one part of it.
    """
    if len(set(refs_in(root))) > _MOST_REFS:
        return True
    # A walk down from the root, through references as through keys. A part that
    # is met again while the walk is still below it stands in a circle.
    below: set[int] = set()
    done: set[int] = set()
    waiting: list[tuple[Any, bool]] = [(root, False)]
    while waiting:
        node, is_left = waiting.pop()
        if is_left:
            below.discard(id(node))
            done.add(id(node))
        elif id(node) in below:
            return True
        elif id(node) not in done:
            below.add(id(node))
            waiting.append((node, True))
            waiting += [(each, False) for each in _led_to(root, node)]
    return False


def _led_to(root: Any, node: Any) -> Iterable[Any]:
    """Return the objects and lists inside a node, and what its own reference names."""
    inside = node.values() if isinstance(node, dict) else node
    led_to = [each for each in inside if isinstance(each, dict | list)]
    if isinstance(node, dict) and isinstance(node.get(REF), str):
        try:
            named = resolve(root, node[REF])
        except LookupError:
            return led_to
        if isinstance(named, dict | list):
            led_to.append(named)
    return led_to
