"""A JSON Schema as Gemini's Schema object, with a list of what that leaves out.

References are replaced by what they name, a type's null becomes ``nullable``,
``const`` an ``enum`` of one, ``oneOf`` and several types an ``anyOf``; a type
that other keywords imply is spelled out, and so is that an array's items are
open; keywords the object does not have are left out, and ``type`` of an object
inside that names no properties, what would be nested too deep, and numbers
beyond a double. A schema that holds none of all this stays as it was written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from antiphon_client.json_text import dump_json_text
from compiler_service.json_values import parse_checked
from compiler_service.projection.gemini_bounds import Place, is_count, is_double
from compiler_service.projection.schema_refs import REF, Inlining, References

_TEXTS = ("title", "description", "format", "pattern")
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_NUMBERS = ("minimum", "maximum")
_TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))
_FORMATS = {
    "string": frozenset(("enum", "date-time")),
    "number": frozenset(("float", "double")),
    "integer": frozenset(("int32", "int64")),
}
_MOST_NODES = 10_000
"""Nodes after which references stay unresolved: a few of them can name a tree without end."""

_KEYWORDS_OF = {
    "array": frozenset(("items", "prefixItems", "minItems", "maxItems", "uniqueItems")),
    "object": frozenset(
        (
            "properties",
            "required",
            "propertyOrdering",
            "minProperties",
            "maxProperties",
            "additionalProperties",
        )
    ),
    "string": frozenset(("enum", "const", "format", "pattern", "minLength", "maxLength")),
    "number": frozenset(("format", "minimum", "maximum")),
    "integer": frozenset(("format", "minimum", "maximum")),
}
_OF_ONE_TYPE = frozenset().union(*_KEYWORDS_OF.values())
_COMBINED = ("anyOf", "oneOf", "allOf")

_NOTHING_LOST = frozenset(("$defs", "definitions", "$schema", "$id", "$comment", "examples"))


class CleanSchema(NamedTuple):
    """A schema as Gemini takes it.

    Attributes:
        text: Its JSON text.
        lost: Keywords left out, each once, in the order in which they are met.
    """

    text: str
    lost: tuple[str, ...]


def clean_schema(schema_text: str, inlining: Inlining | None = None) -> CleanSchema:
    """Return a schema in Gemini's form.

    Args:
        schema_text: JSON text of an object.
        inlining: The bound on what is put in place of references, where the
            request has other schemas too; None for one of its own.

    Cost: linear in the schema and in what is put in place of its references.
    """
    schema = parse_checked(schema_text)
    cleaner = _Cleaner(References(schema, inlining or Inlining()))
    cleaned = cleaner.clean(schema, Place())
    text = schema_text if cleaned == schema else dump_json_text(cleaned)
    return CleanSchema(text, tuple(cleaner.lost))


class _Cleaner:
    """One schema on its way."""

    def __init__(self, references: References) -> None:
        self.lost: dict[str, None] = {}
        self._references = references
        self._nodes = 0

    def clean(self, given: Any, place: Place) -> dict[str, Any]:
        """Return a clean copy of a node, which stands at a place."""
        if not isinstance(given, dict):
            if given is not True:
                self._lose("false")
            return {}
        self._nodes += 1
        node, path = self._without_ref(given, place.path)
        place = place._replace(path=path)
        node = _with_alternatives(node)
        result: dict[str, Any] = {}
        nullable = self._type(node, result, place)
        for key, value in node.items():
            if key == "type" or key in _NOTHING_LOST:
                continue
            if not self._keyword(key, value, result, place):
                self._lose(key)
        nullable = self._alternatives(result) or nullable
        if nullable:
            result["nullable"] = True
        if isinstance(result.get("required"), list):
            self._known_requirements(result)
        if _kind_of(result) == "array" and place.takes_list:
            result.setdefault("items", {})
        return result

    def _inner(self, given: Any, place: Place) -> dict[str, Any]:
        """Return a clean copy of a node within another; an object's that names no property is refused."""
        result = self.clean(given, place)
        if _kind_of(result) == "object" and not result.get("properties"):
            self._lose("type of an object without properties")
            return {
                key: value for key, value in result.items() if key not in ("type", *_KEYWORDS_OF["object"])
            }
        return result

    def _lose(self, keyword: str) -> None:
        self.lost[keyword] = None

    def _without_ref(
        self, node: dict[str, Any], path: tuple[str, ...]
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        while REF in node:
            ref = node[REF]
            rest = {key: value for key, value in node.items() if key != REF}
            named = self._references.named(ref, path) if self._nodes <= _MOST_NODES else None
            if not named:
                # A circle has no end; what stands in it is any value.
                self._lose(REF)
                return rest, path
            node, path = {**named, **rest}, (*path, ref)
        return node, path

    def _type(self, node: dict[str, Any], result: dict[str, Any], place: Place) -> bool:
        """Set the type; tell whether null is one of several."""
        given = node.get("type")
        if given is None:
            implied = _implied_type(node)
            if implied:
                result["type"] = implied
            return False
        if isinstance(given, str):
            self._one_type(given, result)
            return False
        kinds = [kind for kind in given if isinstance(kind, str)] if isinstance(given, list) else []
        others = [kind for kind in kinds if kind != "null"]
        if len(others) == 1:
            self._one_type(others[0], result)
        elif others and place.inner(2).is_possible:
            result["anyOf"] = [{"type": kind} for kind in others if kind.lower() in _TYPES]
        else:
            self._lose("type")
        return "null" in kinds and bool(others)

    def _one_type(self, kind: str, result: dict[str, Any]) -> None:
        if kind.lower() in _TYPES:
            result["type"] = kind
        else:
            self._lose("type")

    def _keyword(self, key: str, value: Any, result: dict[str, Any], place: Place) -> bool:
        """Take over one keyword; tell whether it has a place."""
        kind = _kind_of(result)
        if key == "format":
            return self._format(value, kind, result)
        if key in _TEXTS:
            return _take(key, value, isinstance(value, str), result)
        if key in _COUNTS:
            return _take(key, value, is_count(value), result)
        if key in _NUMBERS:
            return _take(key, value, is_double(value), result)
        if key in ("nullable",):
            return _take(key, value, isinstance(value, bool), result)
        if key in ("default", "example"):
            # A null default says nothing beside nullable.
            return _take(key, value, place.takes(value), result) or value is None
        if key in ("required", "propertyOrdering"):
            return _take(key, value, place.takes_list and _are_texts(value), result)
        if key in ("enum", "const"):
            texts = value if key == "enum" else [value]
            has_place = place.takes_list and kind in ("", "string")
            return _take("enum", texts, has_place and _are_texts(texts), result)
        if key == "items":
            has_place = kind in ("", "array") and (isinstance(value, dict) or value is True)
            inner = place.inner(1)
            has_place = has_place and inner.is_possible
            return _take(key, self._inner(value, inner) if has_place else None, has_place, result)
        if key == "properties":
            return kind in ("", "object") and self._properties(value, result, place.inner(2))
        return key in _COMBINED and self._combined(key, value, result, place)

    def _format(self, value: Any, kind: str, result: dict[str, Any]) -> bool:
        return _take("format", value, isinstance(value, str) and value in _FORMATS.get(kind, ()), result)

    def _properties(self, value: Any, result: dict[str, Any], place: Place) -> bool:
        if not isinstance(value, dict) or not place.is_possible:
            return False
        result["properties"] = {name: self._inner(schema, place) for name, schema in value.items()}
        return True

    def _combined(self, key: str, value: Any, result: dict[str, Any], place: Place) -> bool:
        inner = place.inner(0 if key == "allOf" else 2)
        if not isinstance(value, list) or not value or not inner.is_possible:
            return False
        if key != "allOf":
            if "anyOf" in result:
                return False
            result["anyOf"] = [self._inner(schema, inner) for schema in value]
            return True
        if len(value) > 1:
            return False
        for name, part in self.clean(value[0], inner).items():
            result.setdefault(name, part)
        return True

    def _alternatives(self, result: dict[str, Any]) -> bool:
        """Take null out of the alternatives; tell whether it was one."""
        given = result.get("anyOf")
        if not isinstance(given, list):
            return False
        others = [schema for schema in given if _kind_of(schema) != "null"]
        if len(others) == len(given) or not others:
            return False
        if len(others) == 1:
            del result["anyOf"]
            for name, part in others[0].items():
                result.setdefault(name, part)
        else:
            result["anyOf"] = others
        return True

    def _known_requirements(self, result: dict[str, Any]) -> None:
        """Keep the requirements of properties that are described: others are refused."""
        known = result.get("properties", {})
        required = [name for name in result["required"] if name in known]
        if len(required) < len(result["required"]):
            self._lose("required")
        if required:
            result["required"] = required
        else:
            del result["required"]


def _kind_of(node: dict[str, Any]) -> str:
    return str(node.get("type", "")).lower()


def _with_alternatives(node: dict[str, Any]) -> dict[str, Any]:
    """Return a node of several types as alternatives, each with the keywords that speak of its type."""
    kinds = node.get("type")
    if not isinstance(kinds, list) or any(key in node for key in _COMBINED):
        return node
    known = [kind for kind in kinds if isinstance(kind, str) and kind.lower() in _TYPES]
    if len([kind for kind in known if kind.lower() != "null"]) < 2:
        return node
    # A type said twice would double all that is inside, and so at every level.
    unlike: dict[str, str] = {}
    for kind in known:
        unlike.setdefault(kind.lower(), kind)
    alternatives = [
        {"type": kind, **{key: value for key, value in node.items() if key in _KEYWORDS_OF.get(name, ())}}
        for name, kind in unlike.items()
    ]
    shared = {key: value for key, value in node.items() if key != "type" and key not in _OF_ONE_TYPE}
    return {**shared, "anyOf": alternatives}


def _implied_type(node: dict[str, Any]) -> str:
    """Return the type that a node's other keywords imply; "" for none."""
    if isinstance(node.get("properties"), dict):
        return "object"
    if any(key in node for key in _COMBINED):
        return ""
    if "items" in node or "prefixItems" in node:
        return "array"
    return "string" if _are_texts(node.get("enum")) or isinstance(node.get("const"), str) else ""


def _take(key: str, value: Any, has_place: bool, result: dict[str, Any]) -> bool:
    if has_place and value is not None:
        result[key] = value
        return True
    return False


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)
