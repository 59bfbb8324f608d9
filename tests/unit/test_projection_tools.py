"""Tools, tool choice and response formats in every target's form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1 import compiler_service_pb2, target_pb2
from antiphon.compiler.v1.target_pb2 import ToolChoice
from antiphon_client.errors import FieldInvalidError
from tests.support.projection import TARGETS, Projected, conversation, project_for, user

ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES = TARGETS
AUTO, REQUIRED, NONE, FUNCTION = (
    target_pb2.TOOL_CHOICE_MODE_AUTO,
    target_pb2.TOOL_CHOICE_MODE_REQUIRED,
    target_pb2.TOOL_CHOICE_MODE_NONE,
    target_pb2.TOOL_CHOICE_MODE_FUNCTION,
)
UNKNOWN: Any = 77
GIVEN = conversation(user("hi"))
PARAMETERS = '{ "type":"object", "properties":{"b":{"type":"number","maximum":1e2},"a":{}} }'
BARE = f'{{"name":"look","description":"L\\u00f6ok","parameters":{PARAMETERS}}}'
WRAPPED = f'{{"type":"function","function":{BARE}}}'


def tool(parameters: Any, **fields: Any) -> str:
    return json.dumps({"type": "function", "function": {"name": "look", "parameters": parameters, **fields}})


def declared(target: str, projected: Projected) -> dict[str, Any]:
    """Return the one tool of a request, as its function."""
    first: dict[str, Any] = projected.body["tools"][0]
    if target in (CHAT, OLLAMA):
        return dict(first["function"])
    return dict(first["functionDeclarations"][0]) if target == GEMINI else first


def schema_of(target: str, projected: Projected) -> Any:
    return declared(target, projected).get("input_schema" if target == ANTHROPIC else "parameters")


class TestForms:
    @pytest.mark.parametrize("given", [BARE, WRAPPED], ids=["bare", "wrapped"])
    @pytest.mark.parametrize("target", TARGETS)
    def test_schema_and_description_are_kept_byte_for_byte(self, target: str, given: str) -> None:
        projected = project_for(target, GIVEN, tools=[given])
        assert PARAMETERS in projected.text
        assert '"L\\u00f6ok"' in projected.text
        assert declared(target, projected)["name"] == "look"
        assert projected.about("TOOL_DOWNGRADED") == []

    @pytest.mark.parametrize("target", TARGETS)
    def test_without_parameters(self, target: str) -> None:
        projected = project_for(target, GIVEN, tools=['{"name":"look"}'])
        nothing = None if target in (CHAT, GEMINI) else {"type": "object", "properties": {}}
        assert schema_of(target, projected) == nothing
        assert "description" not in declared(target, projected)

    @pytest.mark.parametrize("target", TARGETS)
    def test_input_schema_is_understood(self, target: str) -> None:
        projected = project_for(target, GIVEN, tools=[f'{{"name":"look","input_schema":{PARAMETERS}}}'])
        assert PARAMETERS in projected.text

    @pytest.mark.parametrize("target", TARGETS)
    def test_keys_it_does_not_know_are_left_out_and_noted(self, target: str) -> None:
        projected = project_for(target, GIVEN, tools=['{"name":"look","x-team":"a"}'])
        assert "x-team" not in projected.text
        assert projected.about("TOOL_DOWNGRADED") == [((), "look: left out x-team")]

    def test_notes_stay_short_whatever_the_names(self) -> None:
        given = json.dumps({"name": "n" * 5000, "k" * 5000: 1})
        projected = project_for(CHAT, GIVEN, tools=[given])
        assert {"NAME_MAPPED", "TOOL_DOWNGRADED"} <= projected.kinds
        assert all(len(detail) < 300 for _, _, detail in projected.notes)

    def test_anthropic_schema_is_an_objects(self) -> None:
        projected = project_for(ANTHROPIC, GIVEN, tools=['{"name":"look","parameters":{"properties":{}}}'])
        assert schema_of(ANTHROPIC, projected) == {"type": "object", "properties": {}}

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ("{}", "name"),
            ('{"name":""}', "name"),
            ('{"name":5}', "name"),
            ('{"type":"function","function":{"description":"x"}}', "function.name"),
            ('{"name":"f","description":5}', "description"),
            ('{"name":"f","parameters":"{}"}', "parameters"),
            ('{"type":"web_search_20250305","name":"web_search"}', "type"),
        ],
    )
    def test_what_is_no_tool_is_refused(self, given: str, field: str) -> None:
        with pytest.raises(FieldInvalidError) as raised:
            project_for(CHAT, GIVEN, tools=[BARE, given])
        assert [violation.field for violation in raised.value.violations] == [f"tool_schemas_json[1].{field}"]

    def test_two_tools_of_one_name_are_refused(self) -> None:
        with pytest.raises(FieldInvalidError) as raised:
            project_for(CHAT, GIVEN, tools=[BARE, WRAPPED])
        assert [violation.field for violation in raised.value.violations] == ["tool_schemas_json[1]"]

    @pytest.mark.parametrize("target", TARGETS)
    def test_folded_text_has_them_already(self, target: str) -> None:
        projected = project_for(
            target,
            GIVEN,
            tools=[BARE, "{}"],
            schema="{}",
            options={"tool_choice": ToolChoice(mode=REQUIRED)},
            profile=compiler_service_pb2.PROFILE_FOLDED,
        )
        assert set(projected.body) <= {"model", "messages", "contents", "input", "max_tokens"}
        assert projected.about("TOOL_CHOICE_DROPPED") == [((), "there are no tools")]


STRICT = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


class TestStrictTools:
    @pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC])
    @pytest.mark.parametrize("by", ["tool", "flag"])
    @pytest.mark.parametrize("given", [STRICT, OPEN], ids=["strict", "open"])
    def test_a_schema_that_survives_is_strict(self, target: str, by: str, given: Any) -> None:
        schema = tool(given, strict=True) if by == "tool" else tool(given)
        options = {} if by == "tool" else {"flags": ["strict_tools"]}
        projected = project_for(target, GIVEN, tools=[schema], options=options)
        assert declared(target, projected)["strict"] is True
        assert schema_of(target, projected) == STRICT
        assert projected.about("TOOL_DOWNGRADED") == []

    def test_a_schema_in_strict_form_is_kept_byte_for_byte(self) -> None:
        written = json.dumps(STRICT, indent=1)
        projected = project_for(
            CHAT, GIVEN, tools=[f'{{"name":"look","strict":true,"parameters":{written}}}']
        )
        assert written in projected.text

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ({"type": "object", "properties": {"a": {"type": "string"}}}, "property a is optional"),
            ({**STRICT, "properties": {"a": {"title": "x"}}}, "a schema that leaves its type open"),
            ({**STRICT, "additionalProperties": True}, "additional properties"),
            ({**STRICT, "properties": {"a": {"type": "object"}}}, "an object without properties"),
            ({**STRICT, "properties": {"a": {"type": "string", "oneOf": []}}}, "keyword oneOf"),
            ({**STRICT, "properties": {"a": {"type": "array", "items": {"not": {}}}}}, "keyword not"),
            (
                {**STRICT, "properties": {"a": {"anyOf": [{"patternProperties": {}}]}}},
                "keyword patternProperties",
            ),
            ({**STRICT, "properties": {"a": True}}, "a schema is no object"),
            ({**STRICT, "$defs": {"n": {"if": {}}}}, "keyword if"),
        ],
    )
    def test_one_that_does_not_is_sent_as_it_is(self, given: Any, reason: str) -> None:
        for target in (CHAT, RESPONSES):
            projected = project_for(
                target, GIVEN, tools=[tool(given, strict=True), tool(STRICT, name="b", strict=True)]
            )
            assert schema_of(target, projected) == given
            assert not declared(target, projected).get("strict")
            assert projected.body["tools"][1].get("function", projected.body["tools"][1])["strict"] is True
            assert projected.about("TOOL_DOWNGRADED") == [((), f"look: {reason}")]

    def test_annotations_go_and_numbers_stay_exact(self) -> None:
        given = {
            "$schema": "x",
            **OPEN,
            "properties": {"a": {"type": "integer", "default": 1, "maximum": 9007199254740993}},
        }
        projected = project_for(CHAT, GIVEN, tools=[tool(given, strict=True)])
        assert '"properties":{"a":{"type":"integer","maximum":9007199254740993}}' in projected.text
        assert "$schema" not in projected.text

    def test_anthropic_takes_optional_properties_and_no_circles(self) -> None:
        optional = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
        projected = project_for(ANTHROPIC, GIVEN, tools=[tool(optional, strict=True)])
        assert declared(ANTHROPIC, projected)["strict"] is True
        circle = {**STRICT, "$defs": {"n": {"$ref": "#/$defs/n"}}}
        projected = project_for(ANTHROPIC, GIVEN, tools=[tool(circle, strict=True)])
        assert projected.about("TOOL_DOWNGRADED") == [((), "look: it refers to itself")]
        assert project_for(CHAT, GIVEN, tools=[tool(circle, strict=True)]).about("TOOL_DOWNGRADED") == []

    @pytest.mark.parametrize("target", [GEMINI, OLLAMA])
    def test_others_have_no_strict_form(self, target: str) -> None:
        projected = project_for(target, GIVEN, tools=[tool(OPEN, strict=True)])
        assert "strict" not in projected.text
        assert projected.about("TOOL_DOWNGRADED") == [((), "look: the target has no strict form")]

    def test_responses_always_says_whether(self) -> None:
        assert declared(RESPONSES, project_for(RESPONSES, GIVEN, tools=[BARE]))["strict"] is False


class TestGeminiSchemas:
    @staticmethod
    def cleaned(schema: Any) -> tuple[Any, list[str]]:
        given = {
            "type": "object",
            "properties": {"p": schema},
            "$defs": {"d": {"type": "string"}, "c": {"items": {"$ref": "#/$defs/c"}}},
        }
        projected = project_for(GEMINI, GIVEN, tools=[tool(given)])
        notes = projected.about("TOOL_DOWNGRADED")
        lost = notes[0][1].removeprefix("look: left out ").split(", ") if notes else []
        return schema_of(GEMINI, projected)["properties"]["p"], lost

    @pytest.mark.parametrize(
        ("given", "expected", "lost"),
        [
            ({"type": ["string", "null"]}, {"type": "string", "nullable": True}, []),
            ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}, []),
            ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "string", "nullable": True}, []),
            (
                {"oneOf": [{"type": "string"}, {"type": "number"}]},
                {"anyOf": [{"type": "string"}, {"type": "number"}]},
                [],
            ),
            ({"allOf": [{"type": "string"}], "title": "T"}, {"type": "string", "title": "T"}, []),
            ({"allOf": [{}, {}]}, {}, ["allOf"]),
            ({"$ref": "#/$defs/d", "title": "T"}, {"type": "string", "title": "T"}, []),
            ({"$ref": "#/$defs/c"}, {"type": "array", "items": {}}, ["$ref"]),
            ({"$ref": "https://e.org/s"}, {}, ["$ref"]),
            ({"$ref": "#anchor"}, {}, ["$ref"]),
            ({"$ref": "#/$defs/none"}, {}, ["$ref"]),
            ({"$ref": 5}, {}, ["$ref"]),
            ({"const": "x"}, {"type": "string", "enum": ["x"]}, []),
            ({"enum": ["x"]}, {"type": "string", "enum": ["x"]}, []),
            ({"enum": [1, 2]}, {}, ["enum"]),
            ({"const": 1}, {}, ["const"]),
            ({"type": "integer", "enum": [1, 2]}, {"type": "integer"}, ["enum"]),
            ({"type": "string", "enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}, []),
            ({"type": "string", "format": "email"}, {"type": "string"}, ["format"]),
            ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}, []),
            ({"type": "number", "exclusiveMinimum": 0}, {"type": "number"}, ["exclusiveMinimum"]),
            (
                {"type": "object", "additionalProperties": False, "title": "T", "required": []},
                {"title": "T"},
                ["additionalProperties", "required", "type of an object without properties"],
            ),
            (
                {"type": "array", "items": {"type": "OBJECT"}},
                {"type": "array", "items": {}},
                ["type of an object without properties"],
            ),
            (
                {"type": "array", "items": [{}], "minItems": 1},
                {"type": "array", "items": {}, "minItems": 1},
                ["items"],
            ),
            ({"type": "array"}, {"type": "array", "items": {}}, []),
            ({"type": "array", "items": True}, {"type": "array", "items": {}}, []),
            ({"prefixItems": [{"type": "string"}]}, {"type": "array", "items": {}}, ["prefixItems"]),
            ({"items": {"type": "string"}}, {"type": "array", "items": {"type": "string"}}, []),
            ({"type": "string", "items": {}}, {"type": "string"}, ["items"]),
            ({"type": "string", "properties": {"q": {}}}, {"type": "string"}, ["properties"]),
            (
                {
                    "type": ["string", "array", "null"],
                    "items": {"type": "integer"},
                    "minLength": 1,
                    "maxItems": 3,
                    "title": "T",
                },
                {
                    "anyOf": [
                        {"type": "string", "minLength": 1},
                        {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
                    ],
                    "nullable": True,
                    "title": "T",
                },
                [],
            ),
            ({"type": "string", "default": None}, {"type": "string"}, []),
            (
                {"properties": {"q": {}}, "required": ["q", "z"]},
                {"type": "object", "properties": {"q": {}}, "required": ["q"]},
                ["required"],
            ),
            (True, {}, []),
            (False, {}, ["false"]),
        ],
    )
    def test_keep_what_gemini_takes(self, given: Any, expected: Any, lost: list[str]) -> None:
        assert self.cleaned(given) == (expected, lost)

    def test_references_that_multiply_come_to_an_end(self) -> None:
        doubled = {
            f"d{n}": {"type": "object", "properties": {side: {"$ref": f"#/$defs/d{n + 1}"} for side in "ab"}}
            for n in range(40)
        }
        given = {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": doubled}
        projected = project_for(GEMINI, GIVEN, tools=[tool(given)])
        assert len(projected.text) < 3_000_000
        assert projected.about("TOOL_DOWNGRADED") == [((), "look: left out $ref")]

    def test_an_object_without_properties_is_left_out(self) -> None:
        projected = project_for(GEMINI, GIVEN, tools=[tool({"type": "object", "properties": {}})])
        assert schema_of(GEMINI, projected) is None
        assert projected.about("TOOL_DOWNGRADED") == []
        projected = project_for(GEMINI, GIVEN, tools=[tool({"type": "object", "minProperties": 1})])
        assert projected.about("TOOL_DOWNGRADED") == [((), "look: left out parameters without properties")]


CHOICES: dict[str, list[Any]] = {
    # auto, required, none, the function
    CHAT: ["auto", "required", "none", {"type": "function", "function": {"name": "look"}}],
    RESPONSES: ["auto", "required", "none", {"type": "function", "name": "look"}],
    ANTHROPIC: [{"type": "auto"}, {"type": "any"}, {"type": "none"}, {"type": "tool", "name": "look"}],
    GEMINI: [
        {"functionCallingConfig": {"mode": "AUTO"}},
        {"functionCallingConfig": {"mode": "ANY"}},
        {"functionCallingConfig": {"mode": "NONE"}},
        {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}},
    ],
}


class TestToolChoice:
    @pytest.mark.parametrize("target", sorted(CHOICES))
    @pytest.mark.parametrize("mode", [AUTO, REQUIRED, NONE, FUNCTION])
    def test_is_the_targets_own(self, target: str, mode: Any) -> None:
        choice = ToolChoice(mode=mode, function_name="look" if mode == FUNCTION else None)
        projected = project_for(target, GIVEN, tools=[BARE], options={"tool_choice": choice})
        key = "toolConfig" if target == GEMINI else "tool_choice"
        assert projected.body[key] == CHOICES[target][mode - 1]
        assert projected.about("TOOL_CHOICE_DROPPED") == []
        assert key not in project_for(target, GIVEN, tools=[BARE]).body

    @pytest.mark.parametrize("parallel", [True, False])
    def test_parallel_calls(self, parallel: bool) -> None:
        options = {"tool_choice": ToolChoice(mode=AUTO, parallel_calls=parallel)}
        for target in (CHAT, RESPONSES):
            assert (
                project_for(target, GIVEN, tools=[BARE], options=options).body["parallel_tool_calls"]
                is parallel
            )
        body = project_for(ANTHROPIC, GIVEN, tools=[BARE], options=options).body
        assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": not parallel}
        projected = project_for(GEMINI, GIVEN, tools=[BARE], options=options)
        assert projected.about("TOOL_CHOICE_DROPPED") == [((), "parallel calls")]

    def test_anthropic_has_no_parallel_none(self) -> None:
        options = {"tool_choice": ToolChoice(mode=NONE, parallel_calls=True)}
        projected = project_for(ANTHROPIC, GIVEN, tools=[BARE], options=options)
        assert projected.body["tool_choice"] == {"type": "none"}
        assert projected.about("TOOL_CHOICE_DROPPED") == [((), "parallel calls where none may be made")]

    def test_ollama_has_none_but_can_leave_the_tools_out(self) -> None:
        projected = project_for(
            OLLAMA, GIVEN, tools=[BARE], options={"tool_choice": ToolChoice(mode=REQUIRED)}
        )
        assert "tools" in projected.body
        assert projected.about("TOOL_CHOICE_DROPPED") == [((), "the target has none")]
        projected = project_for(OLLAMA, GIVEN, tools=[BARE], options={"tool_choice": ToolChoice(mode=NONE)})
        assert "tools" not in projected.body
        assert len(projected.about("TOOL_CHOICE_DROPPED")) == 1

    def test_the_named_function_has_the_name_of_the_request(self) -> None:
        options = {"tool_choice": ToolChoice(mode=FUNCTION, function_name="fs.read")}
        projected = project_for(CHAT, GIVEN, tools=['{"name":"fs.read"}'], options=options)
        made = projected.action_names["fs.read"]
        assert projected.body["tool_choice"]["function"]["name"] == made
        assert projected.body["tools"][0]["function"]["name"] == made

    @pytest.mark.parametrize(
        ("choice", "field"),
        [
            (ToolChoice(), "mode"),
            (ToolChoice(mode=UNKNOWN), "mode"),
            (ToolChoice(mode=FUNCTION), "function_name"),
            (ToolChoice(mode=AUTO, function_name="look"), "function_name"),
            (ToolChoice(mode=FUNCTION, function_name="other"), "function_name"),
        ],
    )
    def test_what_is_no_choice_is_refused(self, choice: ToolChoice, field: str) -> None:
        with pytest.raises(FieldInvalidError) as raised:
            project_for(CHAT, GIVEN, tools=[BARE], options={"tool_choice": choice})
        assert [violation.field for violation in raised.value.violations] == [
            f"target_options.tool_choice.{field}"
        ]

    def test_a_call_cannot_be_required_without_tools(self) -> None:
        with pytest.raises(FieldInvalidError):
            project_for(CHAT, GIVEN, options={"tool_choice": ToolChoice(mode=REQUIRED)})
        projected = project_for(CHAT, GIVEN, options={"tool_choice": ToolChoice(mode=NONE)})
        assert projected.about("TOOL_CHOICE_DROPPED") == [((), "there are no tools")]


SCHEMA = (
    '{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}},'
    '"required":["n"],"additionalProperties":false}'
)
LOOSE = '{"type":"object","properties":{"n":{"type":"integer"}}, "minProperties":1}'


class TestResponseFormat:
    def test_strict_where_the_schema_survives(self) -> None:
        written = json.loads(SCHEMA)
        body = project_for(CHAT, GIVEN, schema=SCHEMA).body
        expected = {"name": "response", "schema": written, "strict": True}
        assert body["response_format"] == {"type": "json_schema", "json_schema": expected}
        body = project_for(RESPONSES, GIVEN, schema=SCHEMA, options={"response_format_name": "n-1"}).body
        assert body["text"] == {"format": {"type": "json_schema", **expected, "name": "n-1"}}

    def test_anthropic_strict(self) -> None:
        schema = '{"type":"object","properties":{"n":{"type":"integer"}}}'
        body = project_for(ANTHROPIC, GIVEN, schema=schema).body
        written = json.loads(schema) | {"additionalProperties": False}
        assert body["output_config"] == {"format": {"type": "json_schema", "schema": written}}

    @pytest.mark.parametrize("target", [CHAT, RESPONSES, OLLAMA])
    def test_schemas_are_kept_byte_for_byte(self, target: str) -> None:
        assert SCHEMA in project_for(target, GIVEN, schema=SCHEMA).text
        assert LOOSE in project_for(target, GIVEN, schema=LOOSE).text

    @pytest.mark.parametrize("target", [CHAT, RESPONSES])
    def test_weaker_where_it_does_not(self, target: str) -> None:
        projected = project_for(target, GIVEN, schema=LOOSE)
        form = (
            projected.body["response_format"]["json_schema"]
            if target == CHAT
            else projected.body["text"]["format"]
        )
        assert form["strict"] is False
        told = "keyword minProperties; sent without strict"
        assert projected.about("RESPONSE_FORMAT_DOWNGRADED") == [((), told)]

    def test_anthropic_has_no_weaker_form(self) -> None:
        projected = project_for(ANTHROPIC, GIVEN, schema=LOOSE)
        assert "output_config" not in projected.body
        told = "keyword minProperties; not sent: say the shape in the instruction"
        assert projected.about("RESPONSE_FORMAT_DOWNGRADED") == [((), told)]

    def test_gemini_cleans_it(self) -> None:
        projected = project_for(GEMINI, GIVEN, schema=SCHEMA)
        config = projected.body["generationConfig"]
        assert config["responseMimeType"] == "application/json"
        assert config["responseSchema"]["required"] == ["n"]
        assert projected.about("RESPONSE_FORMAT_DOWNGRADED") == [((), "left out additionalProperties")]

    @pytest.mark.parametrize(
        ("target", "key", "expected"),
        [
            (OLLAMA, "format", "json"),
            (GEMINI, "generationConfig", {"responseMimeType": "application/json"}),
            (ANTHROPIC, "output_config", None),
        ],
    )
    def test_an_example_asks_for_json(self, target: str, key: str, expected: Any) -> None:
        projected = project_for(target, GIVEN, example='{"n":1}')
        assert projected.body.get(key) == expected
        ((ids, told),) = projected.about("RESPONSE_FORMAT_DOWNGRADED")
        assert ids == ()
        assert told.startswith("an example is no schema; give a JSON Schema as the response format")
        assert ("not sent" in told) is (expected is None), "what is sent of it, if anything"

    @pytest.mark.parametrize("target", [CHAT, RESPONSES])
    def test_openai_is_shown_the_example(self, target: str) -> None:
        projected = project_for(target, GIVEN, example='{"n": 1.0}')
        assert '"schema":{"type":"object","examples":[{"n": 1.0}]},"strict":false' in projected.text
        assert len(projected.about("RESPONSE_FORMAT_DOWNGRADED")) == 1


KEYWORDS = st.sampled_from(
    [
        *("$ref", "$defs", "$schema", "type", "properties", "required", "additionalProperties", "items"),
        *("anyOf", "oneOf", "allOf", "not", "enum", "const", "format", "default", "minLength", "maximum"),
        *("nullable", "d"),
    ]
)
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, -1, 1.5, "", "string", "null", "object", "#", "#/$defs/d", "#/d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(KEYWORDS, VALUES, max_size=5))
def test_no_schema_is_too_odd(schema: dict[str, Any]) -> None:
    for target in TARGETS:
        flags = {"flags": ["strict_tools"]} if target in (CHAT, RESPONSES, ANTHROPIC) else {}
        # What is no JSON Schema may come out as none, so that types are not asked.
        project_for(
            target,
            GIVEN,
            tools=[tool(schema)],
            schema=json.dumps(schema),
            options=flags,
            check=target == GEMINI,
        )
