"""Targets, their options and the keyword arguments beside what is projected."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.compiler.v1.target_pb2 import TargetOptions
from antiphon_client.errors import FieldInvalidError, ReservedKeyError, TargetUnknownError
from compiler_service.projection import TABLE, check_target, project
from tests.support.projection import TARGETS, conversation, project_for, projected, request, user

ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES = TARGETS
GIVEN = conversation(user("hi"), system="be")


class TestTargets:
    @pytest.mark.parametrize("name", ["", "openai", "OpenAI.chat", "openai.chat "])
    def test_an_unknown_one_is_refused(self, name: str) -> None:
        with pytest.raises(TargetUnknownError) as raised:
            check_target(CompileRequest(target=name), "")
        assert raised.value.metadata == {"target": name}

    def test_none_needs_no_options(self) -> None:
        check_target(CompileRequest(), "")
        with pytest.raises(FieldInvalidError) as raised:
            check_target(CompileRequest(target_options=TargetOptions()), "request.")
        assert [violation.field for violation in raised.value.violations] == ["request.target_options"]

    @pytest.mark.parametrize("target", TARGETS)
    def test_every_flag_of_a_row_is_taken_and_no_other(self, target: str) -> None:
        flags = TABLE.targets[target].flags
        check_target(request(target, options={"flags": flags}), "")
        with pytest.raises(FieldInvalidError) as raised:
            check_target(request(target, options={"flags": [*flags, "fast"]}), "request.")
        assert [violation.field for violation in raised.value.violations] == [
            f"request.target_options.flags[{len(flags)}]"
        ]

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"model": ""}, "model"),
            ({"response_format_name": "a b"}, "response_format_name"),
            ({"response_format_name": ""}, "response_format_name"),
        ],
    )
    def test_options_that_break_their_rules_are_refused(self, options: dict[str, Any], field: str) -> None:
        with pytest.raises(FieldInvalidError) as raised:
            check_target(request(CHAT, options=options), "")
        assert [violation.field for violation in raised.value.violations] == [f"target_options.{field}"]

    @pytest.mark.parametrize("target", [target for target in TARGETS if target != GEMINI])
    def test_the_model_is_in_the_body(self, target: str) -> None:
        assert project_for(target, GIVEN, options={"model": "m\n1"}).body["model"] == "m\n1"
        bare = project(GIVEN, CompileRequest(target=target, profile=compiler_service_pb2.PROFILE_NATIVE))
        assert "model" not in json.loads(bare.request_json)

    def test_gemini_has_the_model_in_the_address(self) -> None:
        assert "model" not in project_for(GEMINI, GIVEN).body


class TestKeywordArguments:
    @pytest.mark.parametrize("target", TARGETS)
    def test_are_kept_byte_for_byte(self, target: str) -> None:
        inner = '"seed" : 9007199254740993, "x":{"b":1.50,"a":"\\u00fc"}'
        outcome = projected(GIVEN, request(target, kwargs=f" {{ {inner} }} "), check=False)
        assert outcome.text.endswith(f",{inner}}}")

    @pytest.mark.parametrize("kwargs", ["", "{}", " { } "])
    def test_none_leave_no_trace(self, kwargs: str) -> None:
        assert project_for(CHAT, GIVEN, kwargs=kwargs).text == project_for(CHAT, GIVEN).text

    @pytest.mark.parametrize(
        ("target", "key"),
        [
            (ANTHROPIC, "messages"),
            (ANTHROPIC, "system"),
            (ANTHROPIC, "model"),
            (GEMINI, "contents"),
            (GEMINI, "systemInstruction"),
            (GEMINI, "system_instruction"),
            (OLLAMA, "messages"),
            (CHAT, "messages"),
            (CHAT, "model"),
            (RESPONSES, "input"),
            (RESPONSES, "instructions"),
        ],
    )
    def test_a_key_of_the_projection_is_reserved(self, target: str, key: str) -> None:
        with pytest.raises(ReservedKeyError) as raised:
            project_for(target, GIVEN, kwargs=json.dumps({"seed": 1, key: {}}))
        assert raised.value.metadata == {"key": key}
        assert str(raised.value) == f"provider_kwargs must not contain reserved key '{key}'"

    @pytest.mark.parametrize(
        ("target", "key"),
        [(ANTHROPIC, "system"), (GEMINI, "system_instruction"), (RESPONSES, "instructions")],
    )
    def test_the_key_of_system_text_is_reserved_also_without_one(self, target: str, key: str) -> None:
        with pytest.raises(ReservedKeyError) as raised:
            project_for(target, conversation(user("hi")), kwargs=json.dumps({key: {}}))
        assert raised.value.metadata == {"key": key}

    @pytest.mark.parametrize("target", TARGETS)
    def test_keys_for_tools_are_reserved_where_there_are_some(self, target: str) -> None:
        kwargs = '{"tools":[]}'
        assert project_for(target, GIVEN, kwargs=kwargs).body["tools"] == []
        with pytest.raises(ReservedKeyError):
            project_for(target, GIVEN, kwargs=kwargs, tools=['{"name":"f"}'])

    @pytest.mark.parametrize(
        ("target", "name", "own"),
        [
            ("gemini.generate_content", "max_tokens", "generationConfig.maxOutputTokens"),
            ("gemini.generate_content", "temperature", "generationConfig.temperature"),
            ("ollama.chat", "max_tokens", "options.num_predict"),
            ("ollama.chat", "temperature", "options.temperature"),
            ("openai.responses", "max_tokens", "max_output_tokens"),
            ("anthropic.messages", "stop", "stop_sequences"),
            ("openai.chat", "stop_sequences", "stop"),
        ],
    )
    def test_a_name_of_another_target_s_is_sent_and_told(self, target: str, name: str, own: str) -> None:
        plain = project_for(target, conversation(user("hi")))
        projected = project_for(target, conversation(user("hi")), kwargs=f'{{"{name}":0.50}}', check=False)
        assert f'"{name}":0.50' in projected.text
        assert projected.body == {**plain.body, name: 0.5}
        assert projected.about("KEYWORD_NAME_FOREIGN") == [((), f"{name} is {own}")]

    @pytest.mark.parametrize("target", TARGETS)
    def test_a_target_s_own_names_are_no_news(self, target: str) -> None:
        own = {own.partition(".")[0] for own in TABLE.targets[target].foreign_keywords.values()}
        own -= TABLE.targets[target].foreign_keywords.keys()
        assert own
        kwargs = json.dumps(dict.fromkeys(sorted(own), 1))
        projected = project_for(target, conversation(user("hi")), kwargs=kwargs, check=False)
        assert projected.about("KEYWORD_NAME_FOREIGN") == []

    def test_anthropic_limit_of_tokens(self) -> None:
        default = project_for(ANTHROPIC, GIVEN)
        assert default.body["max_tokens"] == TABLE.targets[ANTHROPIC].default_max_tokens
        assert default.about("DEFAULT_APPLIED") == [((), f"max_tokens {default.body['max_tokens']}")]
        given = project_for(ANTHROPIC, GIVEN, kwargs='{"max_tokens":9}')
        assert given.body["max_tokens"] == 9
        assert given.about("DEFAULT_APPLIED") == []

    @pytest.mark.parametrize(
        ("target", "kwargs", "key", "expected"),
        [
            (ANTHROPIC, '{"output_config":{"effort":"low"}}', "output_config", {"effort", "format"}),
            (RESPONSES, '{"text":{"verbosity":"low"}}', "text", {"verbosity", "format"}),
            (
                GEMINI,
                '{"generationConfig":{"temperature":0.5}}',
                "generationConfig",
                {"temperature", "responseMimeType", "responseSchema"},
            ),
        ],
    )
    def test_one_object_takes_what_both_say(
        self, target: str, kwargs: str, key: str, expected: set[str]
    ) -> None:
        schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
        kwargs = f'{{"metadata":{{}},{kwargs[1:]}' if target != GEMINI else kwargs
        assert set(project_for(target, GIVEN, kwargs=kwargs, schema=schema).body[key]) == expected

    @pytest.mark.parametrize(
        ("target", "kwargs", "key"),
        [
            (ANTHROPIC, '{"output_config":{"format":null}}', "output_config.format"),
            (RESPONSES, '{"text":{"format":{}}}', "text.format"),
            (GEMINI, '{"generationConfig":{"responseSchema":{}}}', "generationConfig.responseSchema"),
            (GEMINI, '{"generation_config":{}}', "generation_config"),
            (CHAT, '{"response_format":{}}', "response_format"),
            (OLLAMA, '{"format":"json"}', "format"),
        ],
    )
    def test_what_both_would_write_is_reserved(self, target: str, kwargs: str, key: str) -> None:
        schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
        with pytest.raises(ReservedKeyError) as raised:
            project_for(target, GIVEN, kwargs=kwargs, schema=schema)
        assert raised.value.metadata == {"key": key}


def test_texts_are_kept_exactly() -> None:
    said = '\x00\x1f\u2028\ud7ff\U0001f600"\\/\x7f é \\u0000'
    for target in TARGETS:
        outcome = projected(conversation(user(said), system=said), request(target))
        assert outcome.text.count("\U0001f600") == 2
        assert str(outcome.body).count(repr(said)[1:-1]) == 2


def test_digest_and_version() -> None:
    outcome = project(GIVEN, request(CHAT))
    assert outcome.digest() == hashlib.sha256(outcome.request_json.encode()).hexdigest()
    assert outcome.capability_version == TABLE.version
