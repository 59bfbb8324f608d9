"""The judges of projections: what a provider's own types take, and that they refuse what is wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.provider_types import CHECKS

Change = Callable[[dict[str, Any]], None]

_IMAGE = {"type": "base64", "media_type": "image/png", "data": "aQ=="}
_SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}

RIGHT: dict[str, dict[str, Any]] = {
    "anthropic.messages": {
        "model": "m",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "s"}],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "u", "cache_control": {"type": "ephemeral"}}],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "", "signature": "x"},
                    {"type": "tool_use", "id": "c", "name": "f", "input": {"q": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c", "content": "r", "is_error": True},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aQ=="},
                    },
                ],
            },
        ],
        "tools": [{"name": "f", "input_schema": _SCHEMA}],
        "tool_choice": {"type": "any"},
    },
    "gemini.generate_content": {
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "u"}, {"inlineData": {"mimeType": "image/png", "data": "aQ=="}}],
            },
            {
                "role": "model",
                "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}}, "thoughtSignature": "aQ=="}],
            },
            {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"a": 1}}}]},
        ],
        "systemInstruction": {"parts": [{"text": "s"}]},
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": _SCHEMA}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {"responseMimeType": "application/json", "temperature": 0.5},
    },
    "ollama.chat": {
        "model": "m",
        "messages": [
            {"role": "user", "content": "u", "images": ["aQ=="]},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "f", "arguments": {"q": 1}}}],
            },
            {"role": "tool", "tool_name": "f", "content": "r"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": _SCHEMA}}],
        "format": "json",
    },
    "openai.chat": {
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://e.org/i", "detail": "low"}}],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "r"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": _SCHEMA, "strict": False}}],
        "tool_choice": "required",
    },
    "openai.responses": {
        "model": "m",
        "instructions": "s",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "u"}]},
            {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "r"},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": _SCHEMA, "strict": True}],
        "tool_choice": {"type": "function", "name": "f"},
    },
}


def _set(*path: Any) -> Change:
    """Return a change that sets the value at a path, all but its last item, to the last item."""

    def change(body: dict[str, Any]) -> None:
        *steps, last, value = path
        node: Any = body
        for step in steps:
            node = node[step]
        node[last] = value

    return change


def _remove(*path: Any) -> Change:
    def change(body: dict[str, Any]) -> None:
        *steps, last = path
        node: Any = body
        for step in steps:
            node = node[step]
        del node[last]

    return change


WRONG: dict[str, list[Change]] = {
    "anthropic.messages": [
        _remove("max_tokens"),
        _remove("messages"),
        _set("messages", 0, "role", "tool"),
        _set("messages", 1, "content", 0, "signature", None),
        _remove("messages", 1, "content", 0, "signature"),
        _set("messages", 1, "content", 1, "input", "{}"),
        _set("messages", 1, "content", 1, "arguments", {}),
        _set("messages", 2, "content", 0, "tool_call_id", "c"),
        _set("messages", 2, "content", 0, "content", [{"type": "input_text", "text": "r"}]),
        _set("messages", 2, "content", 1, "source", "media_type", "image/bmp"),
        _set("messages", 0, "content", 0, "cache_control", "ttl", "2h"),
        _set("tools", 0, "input_schema", "{}"),
        _set("tools", 0, "parameters", {}),
        _set("tool_choice", {"type": "tool"}),
        _set("temprature", 1),
    ],
    "gemini.generate_content": [
        _remove("contents"),
        _set("contents", 0, "content", "u"),
        _set("contents", 0, "parts", "u"),
        _set("contents", 0, "parts", 0, "type", "text"),
        _set("contents", 0, "parts", 1, "inlineData", "data", "not base64!"),
        _set("contents", 1, "parts", 0, "functionCall", "args", "{}"),
        _set("contents", 1, "parts", 0, "functionCall", "arguments", {}),
        _set("contents", 2, "parts", 0, "functionResponse", "response", "text"),
        _set("contents", 2, "parts", 0, "functionResponse", "result", {}),
        _set("tools", 0, "functionDeclarations", 0, "parameters", "patternProperties", {}),
        _set("tools", 0, "functionDeclarations", 0, "parameters", "properties", "q", "const", "x"),
        _set("tools", 0, "functionDeclarations", 0, "parameters", "type", ["object", "null"]),
        _set("toolConfig", "functionCallingConfig", "mode", "required"),
        _set("generationConfig", "responseJson", True),
        _set("messages", []),
    ],
    "ollama.chat": [
        _remove("model"),
        _set("messages", 0, "images", "aQ=="),
        _set("messages", 0, "images", [{"data": "aQ=="}]),
        _set("messages", 0, "content", [{"type": "text", "text": "u"}]),
        _set("messages", 1, "tool_calls", 0, "function", "arguments", "{}"),
        _set("messages", 1, "tool_calls", 0, "id", "c"),
        _set("messages", 2, "tool_call_id", "c"),
        _remove("messages", 2, "role"),
        _set("tools", 0, "function", "strict", True),
        _set("format", "yaml"),
        _set("tool_choice", "auto"),
    ],
    "openai.chat": [
        _remove("model"),
        _set("messages", 0, "text", "s"),
        _set("messages", 1, "content", 0, "image_url", "https://e.org/i"),
        _set("messages", 1, "content", 0, "image_url", "detail", "medium"),
        _set("messages", 2, "tool_calls", 0, "function", "arguments", {}),
        _remove("messages", 2, "tool_calls", 0, "type"),
        _set("messages", 2, "tool_calls", 0, "index", 0),
        _remove("messages", 3, "tool_call_id"),
        _set("messages", 3, "content", 1),
        _set("messages", 3, "is_error", True),
        _set("tools", 0, "name", "f"),
        _set("tools", 0, "function", "strict", "yes"),
        _set("tool_choice", "any"),
        _set("system", "s"),
    ],
    "openai.responses": [
        _remove("tools", 0, "strict"),
        _set("input", 0, "content", 0, "type", "text"),
        _set("input", 0, "role", "tool"),
        _remove("input", 1, "summary"),
        _set("input", 2, "arguments", {}),
        _remove("input", 2, "call_id"),
        _set("input", 2, "id", 1),
        _set("input", 3, "output", {"a": 1}),
        _set("input", 3, "content", "r"),
        _set("tools", 0, "function", {}),
        _set("tool_choice", {"type": "function", "function": {"name": "f"}}),
        _set("messages", []),
    ],
}


@pytest.mark.parametrize("target", sorted(RIGHT))
def test_types_take_what_is_right(target: str) -> None:
    assert CHECKS[target](RIGHT[target]) == []


CASES = [(target, number) for target in sorted(WRONG) for number in range(len(WRONG[target]))]


@pytest.mark.parametrize(("target", "number"), CASES)
def test_types_refuse_what_is_wrong(target: str, number: int) -> None:
    body = copy.deepcopy(RIGHT[target])
    WRONG[target][number](body)
    assert body != RIGHT[target]
    assert CHECKS[target](body) != []
