"""A tool's JSON Schema as a provider takes it outside the strict form.

A function's arguments are always an object, and most providers refuse the whole
request where a root does not say so. What is only spelled out, and a root's
reference followed, loses nothing; a root of alternatives becomes one object that
takes what any of them takes, and another type's root stands under a key of an
object, as a call's arguments that are none do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from antiphon_client.json_text import JsonTextError, dump_json_text
from compiler_service.json_values import parse_checked
from compiler_service.projection.arguments import WRAPPER
from compiler_service.projection.capabilities import PlainSchemaRule
from compiler_service.projection.schema_refs import (
    DEFINITIONS,
    REF,
    Inlining,
    References,
    followed,
    is_dangling,
)
from compiler_service.projection.splicing import inside, write_object
from compiler_service.projection.tools import NO_PARAMETERS

_ALL, _ANY, _ONE = "allOf", "anyOf", "oneOf"
_ABOUT_THE_DOCUMENT = ("$schema", "$id", *DEFINITIONS)
_MERGED = frozenset(("type", "properties", "required", "title", "description", *DEFINITIONS))
_SCHEMA = ("items", "additionalProperties", "contains", "not", "if", "then", "else")
_SCHEMAS_BY_NAME = ("properties", "patternProperties", *DEFINITIONS)
_SCHEMA_LISTS = (_ALL, _ANY, _ONE, "items", "prefixItems")

_MOST_MEMBERS = 1000
"""Alternatives after which more are left out: a few references can name a tree without end."""

_LONGEST_PATH = 50
"""References in a row after which alternatives are left out."""


_MOST_CONFLICTS = 48
"""Schemas that one property is to meet at once, after which more are left out: each stands in the next."""


class PlainSchema(NamedTuple):
    """A schema's plain form.

    Attributes:
        text: Its JSON text.
        losses: What was lost, in words; empty where the meaning is the same.
    """

    text: str
    losses: tuple[str, ...]


def plain_form(schema_text: str, rule: PlainSchemaRule, inlining: Inlining | None = None) -> PlainSchema:
    """Return a schema in the plain form of a rule.

    Args:
        schema_text: JSON text of an object. Where nothing has to be changed, it
            is the result as it stands.
        rule: What the form takes.
        inlining: The bound on what is put in place of references, where the
            request has other schemas too; None for one of its own.
    """
    schema = parse_checked(schema_text)
    root = _Root(schema, rule, References(schema, inlining or Inlining()))
    plain = root.plain()
    if rule.array_items:
        plain = _with_items(plain)
    if plain == schema:
        return PlainSchema(schema_text, root.losses())
    try:
        if all(key in plain and plain[key] == value for key, value in schema.items()):
            added = {key: dump_json_text(value) for key, value in plain.items() if key not in schema}
            return PlainSchema(write_object(added, inside(schema_text)), root.losses())
        text = dump_json_text(plain)
    except JsonTextError:
        return PlainSchema(NO_PARAMETERS, ("left out parameters that would be nested too deep",))
    if any(is_dangling(plain, schema)):
        return PlainSchema(NO_PARAMETERS, ("left out parameters that refer to what cannot be at the root",))
    return PlainSchema(text, root.losses())


class _Root:
    """One schema's root on its way."""

    def __init__(self, schema: dict[str, Any], rule: PlainSchemaRule, references: References) -> None:
        self._schema = schema
        self._rule = rule
        self._references = references
        self._left_out: dict[str, None] = {}
        self._is_wrapped = False
        self._members_seen = 0

    def losses(self) -> tuple[str, ...]:
        """Return what was lost."""
        losses = [f"the root is no object; it stands under {WRAPPER}"] if self._is_wrapped else []
        if self._left_out:
            losses.append(f"left out {', '.join(self._left_out)} at the root")
        return tuple(losses)

    def plain(self) -> dict[str, Any]:
        """Return the schema with a root that the rule takes."""
        node, path, is_whole = followed(self._references, self._schema, ())
        if not is_whole:
            self._left_out[REF] = None
        if not _may_be_object(node):
            self._is_wrapped = True
            return self._wrapped()
        node = self._merged(node, path)
        if not isinstance(node.get("type"), str):
            node = {"type": "object", **{key: value for key, value in node.items() if key != "type"}}
        if "properties" in node and not isinstance(node["properties"], dict):
            self._left_out["properties"] = None
            del node["properties"]
        if self._rule.properties_at_root and "properties" not in node:
            node["properties"] = {}
        return node

    def _wrapped(self) -> dict[str, Any]:
        inner = {key: value for key, value in self._schema.items() if key not in _ABOUT_THE_DOCUMENT}
        lifted = {key: self._schema[key] for key in DEFINITIONS if key in self._schema}
        return {"type": "object", "properties": {WRAPPER: inner}, "required": [WRAPPER], **lifted}

    def _merged(self, node: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        """Return a copy of an object's node without the keywords that the rule refuses."""
        refused = [key for key in node if key in self._rule.refused_at_root]
        result = {key: value for key, value in node.items() if key not in refused}
        for key in refused:
            value = node[key]
            if key == _ALL and isinstance(value, list):
                self._take_all(self._members(value, path), len(value), result)
            elif key in (_ANY, _ONE) and isinstance(value, list):
                self._left_out[key] = None
                _take_any(self._members(value, path), len(value), result)
            else:
                self._left_out[key] = None
        return result

    def _members(self, given: list[Any], path: tuple[str, ...]) -> list[dict[str, Any]]:
        """Return what there is of objects' schemas in a list, each merged itself."""
        members: list[dict[str, Any]] = []
        for each in given:
            self._members_seen += 1
            if not isinstance(each, dict) or self._members_seen > _MOST_MEMBERS or len(path) > _LONGEST_PATH:
                continue
            node, inner, is_whole = followed(self._references, each, path)
            if is_whole and _may_be_object(node):
                members.append(self._merged(node, inner))
        return members

    def _take_all(self, members: list[dict[str, Any]], count: int, result: dict[str, Any]) -> None:
        """Join what all of several schemas say."""
        if len(members) < count:
            self._left_out[_ALL] = None
        known = dict(_properties(result))
        required = dict.fromkeys(_required(result))
        conflicts: Counter[str] = Counter()
        for member in members:
            if not set(member) <= _MERGED:
                self._left_out[_ALL] = None
            for name, schema in _properties(member).items():
                # Set as they come, so that they stand in the order in which members say something.
                result["properties"] = known
                if name not in known or known[name] == schema:
                    known[name] = schema
                    continue
                conflicts[name] += 1
                if conflicts[name] <= _MOST_CONFLICTS:
                    known[name] = {_ALL: [known[name], schema]}
                else:
                    self._left_out[_ALL] = None
            required.update(dict.fromkeys(_required(member)))
            if required:
                result["required"] = required
        if members and required:
            result["required"] = list(required)


def _take_any(members: list[dict[str, Any]], count: int, result: dict[str, Any]) -> None:
    """Join what any of several schemas takes; only what all of them require is required."""
    alternatives: dict[str, list[Any]] = {}
    for member in members:
        for name, schema in _properties(member).items():
            known = alternatives.setdefault(name, [])
            if schema not in known:
                known.append(schema)
    if alternatives:
        own = dict(_properties(result))
        for name, schemas in alternatives.items():
            own.setdefault(name, schemas[0] if len(schemas) == 1 else {_ANY: schemas})
        result["properties"] = own
    if members and len(members) == count:
        others = [set(_required(member)) for member in members[1:]]
        _require([name for name in _required(members[0]) if all(name in other for other in others)], result)


def _properties(node: dict[str, Any]) -> dict[str, Any]:
    properties = node.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(node: dict[str, Any]) -> list[str]:
    required = node.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _require(names: Iterable[str], node: dict[str, Any]) -> None:
    required = list(dict.fromkeys((*_required(node), *names)))
    if required:
        node["required"] = required


def _may_be_object(node: dict[str, Any]) -> bool:
    kind = node.get("type", "object")
    kinds = kind if isinstance(kind, list) else [kind]
    return any(isinstance(each, str) and each.lower() == "object" for each in kinds)


def _with_items(node: Any) -> Any:
    """Return a schema in which every array says what its items are: anything, where it is open."""
    if not isinstance(node, dict):
        return node
    result = dict(node)
    for key in _SCHEMA:
        if isinstance(node.get(key), dict):
            result[key] = _with_items(node[key])
    for key in _SCHEMAS_BY_NAME:
        if isinstance(node.get(key), dict):
            result[key] = {name: _with_items(schema) for name, schema in node[key].items()}
    for key in _SCHEMA_LISTS:
        if isinstance(node.get(key), list):
            result[key] = [_with_items(schema) for schema in node[key]]
    kind = node.get("type")
    if (kind == "array" or (isinstance(kind, list) and "array" in kind)) and "items" not in node:
        result["items"] = {}
    return result
