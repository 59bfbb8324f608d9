"""What a record cannot carry of a foreign message, as a difference that can be put back.

An imported message is written again from its record's own fields, by an exporter
or by the compiler's projection to the same format. Where the result is not the
original (a key we do not model, null instead of an empty text), the difference
travels in the record's metadata and is applied again then.

A part that replaces or drops something names the SHA-256 of what it replaces,
and is skipped once that has changed: of an edited record its new text is
written, never the imported one.

Form of a difference, an object with any of::

    {"set": {key: value}}         keys to add
    {"drop": {key: digest}}       keys to remove
    {"in": {key: difference}}     keys (or indexes) to go into
    {"was": digest, "now": value} this very value becomes another
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeAlias

from antiphon_client.messages.json_equality import same_json

Difference: TypeAlias = dict[str, Any]


def difference(produced: Any, original: Any) -> Difference | None:
    """Return what turns ``produced`` into ``original``, or None when nothing must.

    Both are JSON values. The order of keys is not a difference.
    """
    if isinstance(produced, dict) and isinstance(original, dict):
        return _difference_of_objects(produced, original)
    if isinstance(produced, list) and isinstance(original, list) and len(produced) == len(original):
        inner = {
            str(index): found
            for index, pair in enumerate(zip(produced, original, strict=True))
            if (found := difference(*pair)) is not None
        }
        return {"in": inner} if inner else None
    if same_json(produced, original):
        return None
    return {"was": _digest(produced), "now": original}


def apply(produced: Any, change: Any) -> Any:
    """Return ``produced`` with a difference applied where its places still exist.

    ``produced`` may be changed in place. Whatever is not a difference is ignored.
    """
    if not isinstance(change, dict):
        return produced
    if "now" in change:
        return change["now"] if change.get("was") == _digest(produced) else produced
    if isinstance(produced, dict):
        for key, digest in _items(change, "drop"):
            if key in produced and _digest(produced[key]) == digest:
                del produced[key]
        for key, inner in _items(change, "in"):
            if key in produced:
                produced[key] = apply(produced[key], inner)
        for key, value in _items(change, "set"):
            produced.setdefault(key, value)
    elif isinstance(produced, list):
        for key, inner in _items(change, "in"):
            if key.isdecimal() and int(key) < len(produced):
                produced[int(key)] = apply(produced[int(key)], inner)
    return produced


def _difference_of_objects(produced: dict[str, Any], original: dict[str, Any]) -> Difference | None:
    change: Difference = {}
    added = {key: value for key, value in original.items() if key not in produced}
    dropped = {key: _digest(value) for key, value in produced.items() if key not in original}
    inner = {
        key: found
        for key, value in produced.items()
        if key in original and (found := difference(value, original[key])) is not None
    }
    for name, part in (("set", added), ("drop", dropped), ("in", inner)):
        if part:
            change[name] = part
    return change or None


def _items(change: Difference, name: str) -> list[tuple[str, Any]]:
    part = change.get(name)
    return list(part.items()) if isinstance(part, dict) else []


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
