"""Tools' schemas outside the strict form: a root that every provider takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.projection import TARGETS, Projected, conversation, project_for, user

ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES = TARGETS
WITH_PLAIN = (ANTHROPIC, CHAT, RESPONSES)
A = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "k": {"type": "string"}},
    "required": ["k", "a"],
}
B = {"type": "object", "properties": {"b": {"type": "integer"}, "k": {"type": "integer"}}, "required": ["k"]}


def sent(target: str, schema: Any) -> tuple[Any, list[str], Projected]:
    """Return the schema that is sent, what is said of it, and all."""
    written = schema if isinstance(schema, str) else json.dumps(schema)
    projected = project_for(
        target, conversation(user("hi")), tools=[f'{{"name":"f","parameters":{written}}}']
    )
    tool = projected.body["tools"][0]
    tool = tool.get("functionDeclarations", [tool.get("function", tool)])[0]
    details = [detail for _, detail in projected.about("TOOL_DOWNGRADED")]
    return tool.get("parameters", tool.get("input_schema")), details, projected


@pytest.mark.parametrize("target", WITH_PLAIN)
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"type": "object"}),
        ({"type": ["object", "null"], "title": "T"}, {"type": "object", "title": "T"}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
        (
            {"$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#/$defs/y"}, "y": A}},
            {**A, "$defs": {"x": {"$ref": "#/$defs/y"}, "y": A}},
        ),
        (
            {"allOf": [A, {"properties": {"b": {"type": "null"}}, "required": ["b"]}]},
            {
                "type": "object",
                "properties": {**A["properties"], "b": {"type": "null"}},  # type: ignore[dict-item]
                "required": ["k", "a", "b"],
            },
        ),
        (
            {"allOf": [A, B]},
            {
                "type": "object",
                "properties": {
                    "a": {"type": "string"},
                    "k": {"allOf": [{"type": "string"}, {"type": "integer"}]},
                    "b": {"type": "integer"},
                },
                "required": ["k", "a"],
            },
        ),
    ],
)
def test_a_root_that_means_the_same(target: str, given: Any, expected: Any) -> None:
    schema, details, _ = sent(target, given)
    if target != ANTHROPIC:
        expected = {"properties": {}, **expected}
    assert schema == expected
    assert details == []


@pytest.mark.parametrize("target", [*WITH_PLAIN, GEMINI])
@pytest.mark.parametrize("key", ["anyOf", "oneOf"])
def test_alternatives_at_the_root_become_one_object(target: str, key: str) -> None:
    root = {"type": "object", "properties": {"own": {"type": "boolean"}}, "required": ["own"]}
    schema, details, _ = sent(target, {**root, key: [A, {"$ref": "#/$defs/b"}], "$defs": {"b": B}})
    schema.pop("$defs", None)
    assert schema == {
        "type": "object",
        "properties": {
            "own": {"type": "boolean"},
            "a": {"type": "string"},
            "k": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "b": {"type": "integer"},
        },
        "required": ["own", "k"],
    }
    assert details == [f"f: left out {key} at the root"]


@pytest.mark.parametrize("target", WITH_PLAIN)
def test_nothing_is_required_where_an_alternative_is_no_object(target: str) -> None:
    schema, _, _ = sent(target, {"anyOf": [A, {"type": "null"}]})
    assert schema == {"type": "object", "properties": A["properties"]}


@pytest.mark.parametrize("target", [*WITH_PLAIN, GEMINI])
def test_another_types_root_stands_under_a_key(target: str) -> None:
    given = {"type": "array", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "string"}}}
    schema, details, _ = sent(target, given)
    items = {"type": "string"} if target == GEMINI else {"$ref": "#/$defs/x"}
    assert schema["properties"] == {"arguments": {"type": "array", "items": items}}
    assert (schema["type"], schema["required"]) == ("object", ["arguments"])
    assert schema.get("$defs") == (None if target == GEMINI else given["$defs"])
    assert details == ["f: the root is no object; it stands under arguments"]


@pytest.mark.parametrize("target", WITH_PLAIN)
@pytest.mark.parametrize(
    "given",
    [
        {"type": "array", "items": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}, "$id": "x", "x": {}},
        {"anyOf": [{"properties": {"a": {"$ref": "#/anyOf/1"}}}, {"properties": {"b": {}}}]},
    ],
)
def test_a_reference_never_dangles(target: str, given: Any) -> None:
    schema, details, projected = sent(target, given)
    assert schema["type"] == "object"
    assert "#/anyOf/1" not in projected.text
    assert details


@pytest.mark.parametrize("target", WITH_PLAIN)
@pytest.mark.parametrize(
    "given", [{"$ref": "#"}, {"$ref": "#/$defs/c", "$defs": {"c": {"$ref": "#/$defs/c"}}}, {"$ref": "#/none"}]
)
def test_a_reference_that_leads_nowhere_leaves_an_object(target: str, given: Any) -> None:
    schema, details, _ = sent(target, given)
    assert (schema["type"], "$ref" in schema) == ("object", False)
    assert details == ["f: left out $ref at the root"]


def test_a_circle_of_alternatives_comes_to_an_end() -> None:
    given = {"anyOf": [{"$ref": "#/$defs/c"}], "$defs": {"c": {"anyOf": [{"$ref": "#/$defs/c"}, A]}}}
    schema, _, _ = sent(CHAT, given)
    assert schema["properties"] == A["properties"]


def test_alternatives_that_multiply_come_to_an_end() -> None:
    defs: dict[str, Any] = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(400)}
    schema, _, _ = sent(CHAT, {"$ref": "#/$defs/d0", "$defs": {**defs, "d400": A}})
    assert (schema["type"], schema["properties"]) == ("object", {})


def test_a_part_of_what_all_demand_is_not_lost_silently() -> None:
    schema, details, _ = sent(CHAT, {"allOf": [A, {"minProperties": 1}, {"$ref": "#/none"}]})
    assert schema == A
    assert details == ["f: left out allOf at the root"]


@pytest.mark.parametrize("target", [CHAT, RESPONSES])
def test_openai_wants_items_of_every_array(target: str) -> None:
    given = {
        "type": "object",
        "properties": {
            "a": {"type": "array"},
            "b": {"anyOf": [{"type": ["array", "null"]}, {"type": "array", "items": {"type": "array"}}]},
        },
        "$defs": {"d": {"type": "array"}},
    }
    schema, details, _ = sent(target, given)
    assert schema == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {}},
            "b": {
                "anyOf": [
                    {"type": ["array", "null"], "items": {}},
                    {"type": "array", "items": {"type": "array", "items": {}}},
                ]
            },
        },
        "$defs": {"d": {"type": "array", "items": {}}},
    }
    assert details == []
    assert sent(ANTHROPIC, given)[0] == given


@pytest.mark.parametrize(("target", "leaves"), [(CHAT, False), (RESPONSES, False), (ANTHROPIC, True)])
def test_other_keywords_that_are_refused_at_the_root_go(target: str, leaves: bool) -> None:
    schema, details, _ = sent(target, {**A, "not": {"required": ["x"]}})
    assert ("not" in schema) == leaves
    assert details == ([] if leaves else ["f: left out not at the root"])


@pytest.mark.parametrize("target", TARGETS)
def test_a_root_that_is_taken_is_kept_byte_for_byte(target: str) -> None:
    written = '{ "type":"object","properties" : {"n":{"type":"integer","minimum":9007199254740993}} }'
    assert written in sent(target, written)[2].text


@pytest.mark.parametrize("target", WITH_PLAIN)
def test_what_is_added_leaves_the_rest_as_it_was_written(target: str) -> None:
    inner = '"properties" : {"n":{"type":"number","minimum":1.50}}'
    assert f'{{"type":"object",{inner}}}' in sent(target, f"{{ {inner} }}")[2].text


def test_a_strict_tool_whose_root_had_to_change_is_strict_in_the_changed_form() -> None:
    closed = {"properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    projected = project_for(
        CHAT,
        conversation(user("hi")),
        tools=[json.dumps({"name": "f", "strict": True, "parameters": closed})],
    )
    function = projected.body["tools"][0]["function"]
    assert function == {"name": "f", "parameters": {"type": "object", **closed}, "strict": True}
