"""What references and depth may make of a schema: a bound, and a note where it is reached."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compiler_service.projection.schema_refs import MOST_INLINED_BYTES
from tests.support.projection import TARGETS, Projected, conversation, project_for, user

ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES = TARGETS
WITH_PLAIN = (ANTHROPIC, CHAT, GEMINI, RESPONSES)
LOST_REFERENCE = "look: left out $ref"


def tool(schema: Any, name: str = "look") -> str:
    return json.dumps({"name": name, "parameters": schema})


def projected(target: str, *schemas: Any) -> Projected:
    names = ["look", *[f"look{number}" for number in range(1, len(schemas))]]
    tools = [tool(schema, name) for schema, name in zip(schemas, names, strict=True)]
    return project_for(target, conversation(user("hi")), tools=tools)


def downgrades(request: Projected) -> list[str]:
    return [detail for _, detail in request.about("TOOL_DOWNGRADED")]


def properties_of(request: Projected, number: int = 0) -> dict[str, Any]:
    """Return the properties of one of Gemini's tools."""
    declaration = request.body["tools"][0]["functionDeclarations"][number]
    properties: dict[str, Any] = declaration["parameters"]["properties"]
    return properties


def naming(definition: Any, count: int) -> dict[str, Any]:
    """Return a schema of properties that all name one definition."""
    properties = {f"p{number}": {"$ref": "#/$defs/A"} for number in range(count)}
    return {"type": "object", "properties": properties, "$defs": {"A": definition}}


LONG = {"type": "string", "description": "x" * 50_000}


def test_what_references_name_is_put_in_their_place_up_to_a_bound() -> None:
    whole = projected(GEMINI, naming(LONG, 80))
    assert list(properties_of(whole).values()) == [LONG] * 80
    assert downgrades(whole) == []
    for count in (400, 1600):
        request = projected(GEMINI, naming(LONG, count))
        assert MOST_INLINED_BYTES < len(request.text) < MOST_INLINED_BYTES + 150_000
        found = list(properties_of(request).values())
        assert found.count(LONG) == MOST_INLINED_BYTES // len(json.dumps(LONG)) + 1
        assert found.count({}) == count - found.count(LONG)
        assert downgrades(request) == [LOST_REFERENCE]


def test_the_bound_is_that_of_all_schemas_of_a_request() -> None:
    many = [naming(LONG, 20) for _ in range(30)]
    request = projected(GEMINI, *many)
    assert len(request.text) < MOST_INLINED_BYTES + 200_000
    assert list(properties_of(request).values()) == [LONG] * 20
    assert list(properties_of(request, 29).values()) == [{}] * 20
    asked = project_for(
        GEMINI, conversation(user("hi")), tools=[tool(naming(LONG, 100))], schema=json.dumps(naming(LONG, 20))
    )
    assert asked.about("RESPONSE_FORMAT_DOWNGRADED") == [((), "left out $ref")]


@pytest.mark.parametrize("target", WITH_PLAIN)
def test_alternatives_that_name_large_schemas_are_bounded(target: str) -> None:
    """Two of them that say unlike things of a property stand in each other, again and again."""
    definitions = {
        name: {"type": "object", "properties": {f"p{n}": {"title": name * 10_000} for n in range(30)}}
        for name in "AB"
    }
    alternatives = [{"$ref": f"#/$defs/{'AB'[number % 2]}"} for number in range(40)]
    request = projected(target, {"type": "object", "allOf": alternatives, "$defs": definitions})
    assert len(request.text) < MOST_INLINED_BYTES + 1_200_000
    assert "look: left out allOf at the root" in downgrades(request)


def test_what_alternatives_say_stands_in_their_order() -> None:
    says_first = {"allOf": [{"required": ["a"]}, {"properties": {"a": {}}}]}
    request = projected(ANTHROPIC, says_first)
    assert list(request.body["tools"][0]["input_schema"]) == ["type", "required", "properties"]


@pytest.mark.parametrize("target", [ANTHROPIC, CHAT, RESPONSES])
def test_a_property_of_many_unlike_schemas(target: str) -> None:
    """Each stands in the next, until JSON may be nested no deeper."""

    def unlike(count: int, around: str) -> list[str]:
        schemas = [json.loads(around % number) for number in range(count)]
        alternatives = [{"properties": {"a": schema}} for schema in schemas]
        return downgrades(projected(target, {"type": "object", "allOf": alternatives}))

    assert unlike(49, '{"const":%d}') == []
    assert unlike(50, '{"const":%d}') == unlike(900, '{"const":%d}') == ["look: left out allOf at the root"]
    too_deep = unlike(49, '{"items":{"items":{"const":%d}}}')
    assert too_deep == ["look: left out parameters that would be nested too deep"]


def chain(count: int) -> dict[str, Any]:
    """Return a schema of objects that are each a property of the one before."""
    definitions = {
        f"d{number}": {
            "type": "object",
            "properties": {"x": {"$ref": f"#/$defs/d{number + 1}"}, "y": {"type": "string"}},
        }
        for number in range(count)
    }
    return {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


@pytest.mark.parametrize("count", [60, 1000])
def test_references_that_lead_ever_deeper_come_to_an_end(count: int) -> None:
    request = projected(GEMINI, chain(count))
    node, levels = properties_of(request)["p"], 0
    while "x" in node.get("properties", {}):
        assert node["properties"]["y"] == {"type": "string"}
        node, levels = node["properties"]["x"], levels + 1
    # As deep as JSON may be: the root, the properties of each, and each itself.
    assert levels == 48
    assert len(downgrades(request)) == 1
    assert "properties" in downgrades(request)[0]


@pytest.mark.parametrize("keyword", ["allOf", "items", "anyOf", "nested allOf"])
def test_other_ways_to_lead_ever_deeper_come_to_an_end(keyword: str) -> None:
    def naming_next(number: int) -> dict[str, Any]:
        following: Any = {"$ref": f"#/$defs/d{number + 1}"}
        for _ in range(40 if keyword == "nested allOf" else 0):
            following = {"allOf": [following]}
        name = keyword.rpartition(" ")[2]
        return {name: following if name == "items" else [following], "title": str(number)}

    definitions = {f"d{number}": naming_next(number) for number in range(1000)}
    request = projected(
        GEMINI, {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions}
    )
    assert properties_of(request)["p"]["title"] == "0"
    assert len(downgrades(request)) == 1


def test_a_value_that_would_be_too_deep_is_left_out() -> None:
    schema = chain(46)
    schema["$defs"]["d45"]["properties"]["y"] = {"title": "t", "default": [[[[[1]]]]]}
    node = properties_of(projected(GEMINI, schema))["p"]
    for _ in range(45):
        node = node["properties"]["x"]
    assert node["properties"]["y"] == {"title": "t", "default": [[[[[1]]]]]}
    schema["$defs"]["d45"]["properties"]["y"]["default"] = [[[[[[1]]]]]]
    request = projected(GEMINI, schema)
    assert "default" in downgrades(request)[0]


@pytest.mark.parametrize("target", WITH_PLAIN)
def test_references_in_a_row_come_to_an_end(target: str) -> None:
    for count, is_whole in ((90, True), (3000, False)):
        definitions: dict[str, Any] = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(count)}
        definitions[f"d{count}"] = {"type": "object", "properties": {"a": {"type": "string"}}}
        request = projected(target, {"$ref": "#/$defs/d0", "$defs": definitions})
        assert (downgrades(request) == []) == is_whole


def test_a_type_said_twice_doubles_nothing() -> None:
    node: dict[str, Any] = {"type": "string"}
    for _ in range(24):
        node = {"type": ["object", "Object", "OBJECT", "string"], "properties": {"a": node}}
    request = projected(GEMINI, {"type": "object", "properties": {"p": node}})
    assert len(request.text) < 3000
    assert [each["type"] for each in properties_of(request)["p"]["anyOf"]] == ["object", "string"]


@pytest.mark.parametrize("target", WITH_PLAIN)
def test_an_index_of_many_digits_names_nothing(target: str) -> None:
    request = projected(target, {"$ref": f"#/anyOf/{'0' * 5000}", "anyOf": [{"type": "object"}]})
    assert downgrades(request)


@pytest.mark.parametrize(
    ("given", "kept", "lost"),
    [
        ({"type": "integer", "maximum": 10**400}, {"type": "integer"}, "maximum"),
        ({"type": "integer", "minimum": -(10**400)}, {"type": "integer"}, "minimum"),
        ({"type": "integer", "maximum": 10**300}, {"type": "integer", "maximum": 10**300}, ""),
        ({"type": "string", "maxLength": 2**63}, {"type": "string"}, "maxLength"),
        ({"type": "string", "maxLength": 2**63 - 1}, {"type": "string", "maxLength": 2**63 - 1}, ""),
        ({"type": "integer", "default": 10**400}, {"type": "integer"}, "default"),
        ({"title": "t", "example": {"a": [10**400]}}, {"title": "t"}, "example"),
        ({"title": "t", "default": [1.5, True, 2**70]}, {"title": "t", "default": [1.5, True, 2**70]}, ""),
    ],
)
def test_numbers_that_gemini_cannot_hold(given: Any, kept: Any, lost: str) -> None:
    schema = {"type": "object", "properties": {"p": given}}
    request = projected(GEMINI, schema)
    assert properties_of(request)["p"] == kept
    assert downgrades(request) == ([f"look: left out {lost}"] if lost else [])
    asked = project_for(GEMINI, conversation(user("hi")), schema=json.dumps(schema))
    assert asked.body["generationConfig"]["responseSchema"]["properties"]["p"] == kept
    assert bool(asked.about("RESPONSE_FORMAT_DOWNGRADED")) == bool(lost)
