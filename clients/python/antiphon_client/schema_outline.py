"""The outline of an answer that a JSON Schema describes: what stands for its template where none is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon_client.json_text import dump_json_text

_ANY = "any"


def schema_outline(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object's outline: each property with what goes there, objects and lists spelled out.

    A reference within the document is followed, unless it leads to itself; of
    what the schema leaves open the outline says "any". A schema that is not an
    object's has an empty outline.
    """
    outlined = _outline(schema, schema, ())
    return outlined if isinstance(outlined, dict) else {}


def _outline(schema: Any, root: Mapping[str, Any], followed: tuple[str, ...]) -> Any:
    if not isinstance(schema, Mapping):
        return _ANY
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _referenced(reference, root, followed)
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        return {str(name): _outline(inner, root, followed) for name, inner in properties.items()}
    if schema.get("type") == "array":
        return [_outline(schema.get("items"), root, followed)]
    for name in ("anyOf", "oneOf"):
        if isinstance(schema.get(name), list):
            return _choice([_outline(each, root, followed) for each in schema[name]])
    if "const" in schema:
        return dump_json_text(schema["const"])
    if isinstance(schema.get("enum"), list):
        return " | ".join(map(dump_json_text, schema["enum"]))
    kind = schema.get("type", _ANY)
    return " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _referenced(reference: str, root: Mapping[str, Any], followed: tuple[str, ...]) -> Any:
    if reference in followed or not reference.startswith("#/"):
        return reference.rpartition("/")[2].lstrip("#") or _ANY
    found: Any = root
    for step in reference.removeprefix("#/").split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if isinstance(found, Mapping) else None
    return _outline(found, root, (*followed, reference))


def _choice(outlines: list[Any]) -> Any:
    """Return one outline of several: the one that is no name, as an optional object's, else their names."""
    spelled_out = [each for each in outlines if not isinstance(each, str)]
    if len(spelled_out) == 1:
        return spelled_out[0]
    return " | ".join("object" if isinstance(each, dict) else str(each) for each in outlines)
