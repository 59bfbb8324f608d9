"""A JSON Schema in a provider's strict form, where it survives there.

Normalizing only spells out what the strict form demands and the schema leaves
open: objects are closed, annotations that the form refuses go. What would
change which answers are valid (an optional property, an open object, a keyword
the form does not take) does not survive.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from antiphon_client.json_text import dump_json_text
from compiler_service.json_values import parse_checked
from compiler_service.projection.capabilities import StrictSchemaRule
from compiler_service.projection.schema_refs import is_recursive

_TYPING = frozenset(("$ref", "anyOf", "const", "enum", "properties", "type"))
"""Keywords that say of what type a value is."""


class StrictSchema(NamedTuple):
    """A schema's strict form: its text, or why there is none."""

    text: str | None
    reason: str = ""


class _NotStrictError(Exception):
    """The schema does not survive; says why."""


def strict_form(schema_text: str, rule: StrictSchemaRule) -> StrictSchema:
    """Return a schema in the strict form of a rule.

    Args:
        schema_text: JSON text of an object. Where nothing has to be changed, it
            is the result as it stands.
        rule: What the form takes.
    """
    schema = parse_checked(schema_text)
    try:
        if rule.object_root and ("anyOf" in schema or not _is_object(schema)):
            raise _NotStrictError("the root is no object")
        if not rule.recursive and is_recursive(schema):
            raise _NotStrictError("it refers to itself")
        normalized = _normalized(schema, rule)
    except _NotStrictError as error:
        return StrictSchema(None, str(error))
    return StrictSchema(schema_text if normalized == schema else dump_json_text(normalized))


def _normalized(node: Any, rule: StrictSchemaRule) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise _NotStrictError("a schema is no object")
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key in rule.keywords:
            result[key] = _normalized_value(key, value, rule)
        elif key not in rule.ignored:
            raise _NotStrictError(f"keyword {key}")
    if not rule.untyped and _TYPING.isdisjoint(node):
        raise _NotStrictError("a schema that leaves its type open")
    if _is_object(node):
        _close(result, rule)
    return result


def _normalized_value(key: str, value: Any, rule: StrictSchemaRule) -> Any:
    if key in ("properties", "$defs", "definitions"):
        if not isinstance(value, dict):
            raise _NotStrictError(f"{key} is no object")
        return {name: _normalized(schema, rule) for name, schema in value.items()}
    if key == "items":
        return _normalized(value, rule)
    if key == "anyOf":
        if not isinstance(value, list):
            raise _NotStrictError("anyOf is no list")
        return [_normalized(schema, rule) for schema in value]
    return value


def _is_object(node: dict[str, Any]) -> bool:
    kind = node.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in node


def _close(node: dict[str, Any], rule: StrictSchemaRule) -> None:
    """Close an object's schema in place."""
    if "properties" not in node:
        raise _NotStrictError("an object without properties")
    if node.setdefault("additionalProperties", False) is not False:
        raise _NotStrictError("additional properties")
    required = node.get("required", [])
    if not isinstance(required, list):
        raise _NotStrictError("required is no list")
    if rule.all_required:
        names = {name for name in required if isinstance(name, str)}
        for name in node["properties"]:
            if name not in names:
                raise _NotStrictError(f"property {name} is optional")
        node.setdefault("required", [])
