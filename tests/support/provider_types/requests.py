"""For each target, what its provider's package says about a request's body."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import ollama._types as ollama_types
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as AnthropicParams
from google.genai import types as gemini_types
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming as ChatParams,
)
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming as ResponsesParams,
)

from tests.support.provider_types.walking import faults

_GEMINI_BODY: dict[str, Any] = {
    "contents": list[gemini_types.Content],
    "systemInstruction": gemini_types.Content,
    "tools": list[gemini_types.Tool],
    "toolConfig": gemini_types.ToolConfig,
    "generationConfig": gemini_types.GenerationConfig,
    "safetySettings": list[gemini_types.SafetySetting],
    "cachedContent": str,
}
"""Fields of generateContent's body; the package takes them apart itself, so that it has no type for it."""

_OLLAMA_FREE = (ollama_types.Tool.Function.Parameters,)
"""The package models a part of JSON Schema only; the server takes any."""

MODEL = "some-model"


def _anthropic(body: dict[str, Any]) -> list[str]:
    return faults(body, AnthropicParams)


def _openai_chat(body: dict[str, Any]) -> list[str]:
    return faults(body, ChatParams)


def _openai_responses(body: dict[str, Any]) -> list[str]:
    return faults(body, ResponsesParams)


def _gemini(body: dict[str, Any]) -> list[str]:
    found = [f"$.{key}: unknown key" for key in body if key not in _GEMINI_BODY]
    found += [] if "contents" in body else ["$.contents: missing"]
    for key, value in body.items():
        if key in _GEMINI_BODY:
            found += faults(value, _GEMINI_BODY[key], f"$.{key}")
    if not found:
        # What the walk takes, the package itself must take too.
        for content in body["contents"]:
            gemini_types.Content.model_validate(content)
        for tool in body.get("tools", ()):
            gemini_types.Tool.model_validate(tool)
    return found


def _ollama(body: dict[str, Any]) -> list[str]:
    found = faults(body, ollama_types.ChatRequest, free=_OLLAMA_FREE)
    for index, message in enumerate(body.get("messages", ())):
        # The request's type takes any mapping for a message.
        found += faults(_without_image_wrapper(message), ollama_types.Message, f"$.messages[{index}]")
    if not found:
        ollama_types.ChatRequest.model_validate(body)
    return found


def _without_image_wrapper(message: Any) -> Any:
    """Return a message with its images as the package holds them."""
    if not isinstance(message, dict) or not isinstance(message.get("images"), list):
        return message
    return {**message, "images": [{"value": image} for image in message["images"]]}


CHECKS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "anthropic.messages": _anthropic,
    "gemini.generate_content": _gemini,
    "ollama.chat": _ollama,
    "openai.chat": _openai_chat,
    "openai.responses": _openai_responses,
}


def check_request(target: str, request_json: str) -> dict[str, Any]:
    """Return a request's body; an AssertionError lists what its provider's types say against it."""
    body: dict[str, Any] = json.loads(request_json)
    found = CHECKS[target](body)
    assert not found, found
    return body
