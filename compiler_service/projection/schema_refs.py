"""References within a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

REF = "$ref"

_MOST_REFS = 1000


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
        if isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        elif isinstance(node, dict) and key in node:
            node = node[key]
        else:
            raise LookupError(ref)
    return node


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


def followed(root: Any, node: dict[str, Any], path: tuple[str, ...]) -> Followed:
    """Replace a node's own reference by what that names, and that one's.

    A node's other keywords stand before those of what it names. Where a
    reference names nothing, or leads in a circle, only those others are left.

    Args:
        root: The document.
        node: The node.
        path: References that led here; they are not followed again.
    """
    is_whole = True
    while REF in node:
        ref = node[REF]
        node = {key: value for key, value in node.items() if key != REF}
        try:
            named = resolve(root, ref) if isinstance(ref, str) and ref not in path else None
        except LookupError:
            named = None
        if not isinstance(named, dict):
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
    """
    leads_to: dict[str, set[str]] = {}
    waiting = list(refs_in(root))
    while waiting:
        ref = waiting.pop()
        if len(leads_to) > _MOST_REFS:
            return True
        if ref not in leads_to:
            try:
                leads_to[ref] = set(refs_in(resolve(root, ref)))
            except LookupError:
                leads_to[ref] = set()
            waiting += leads_to[ref]
    # What leads nowhere is taken away until nothing is left, or only circles are.
    while True:
        ends = {ref for ref, others in leads_to.items() if not others}
        if not ends:
            return bool(leads_to)
        leads_to = {ref: others - ends for ref, others in leads_to.items() if ref not in ends}
