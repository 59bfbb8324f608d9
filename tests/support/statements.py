"""What a request to a provider says, statement by statement, whatever form the provider gives it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

Statement = tuple[str, ...]
"""("system" | "user" | "assistant" | "result", its text) or ("call", name, arguments)."""


def statements(target: str, body: dict[str, Any]) -> list[Statement]:
    """Return the statements of a request of texts, calls and results, in order."""
    return list(_READERS[target](body))


def _call(name: str, arguments: Any) -> Statement:
    value = json.loads(arguments) if isinstance(arguments, str) else arguments
    return ("call", name, json.dumps(value, sort_keys=True))


def _said(role: str, text: str | None) -> Iterator[Statement]:
    if text:
        yield role, text


def _openai_chat(body: dict[str, Any]) -> Iterator[Statement]:
    for message in body["messages"]:
        if message["role"] == "tool":
            yield "result", message["content"]
            continue
        yield from _said(message["role"], message["content"])
        for call in message.get("tool_calls") or ():
            yield _call(call["function"]["name"], call["function"]["arguments"])


def _openai_responses(body: dict[str, Any]) -> Iterator[Statement]:
    yield from _said("system", body.get("instructions"))
    for item in body["input"]:
        if item["type"] == "function_call":
            yield _call(item["name"], item["arguments"])
        elif item["type"] == "function_call_output":
            yield "result", item["output"]
        else:
            yield from _said(item["role"], item["content"])


def _anthropic(body: dict[str, Any]) -> Iterator[Statement]:
    for block in body.get("system", ()):
        yield from _said("system", block["text"])
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "tool_use":
                yield _call(block["name"], block["input"])
            elif block["type"] == "tool_result":
                yield "result", block["content"]
            else:
                yield from _said(message["role"], block["text"])


def _gemini(body: dict[str, Any]) -> Iterator[Statement]:
    for part in body.get("systemInstruction", {"parts": ()})["parts"]:
        yield from _said("system", part["text"])
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionCall" in part:
                yield _call(part["functionCall"]["name"], part["functionCall"]["args"])
            elif "functionResponse" in part:
                yield "result", part["functionResponse"]["response"]["result"]
            else:
                yield from _said("user" if content["role"] == "user" else "assistant", part["text"])


def _ollama(body: dict[str, Any]) -> Iterator[Statement]:
    for message in body["messages"]:
        if message["role"] == "tool":
            yield "result", message["content"]
            continue
        yield from _said(message["role"], message["content"])
        for call in message.get("tool_calls", ()):
            yield _call(call["function"]["name"], call["function"]["arguments"])


_READERS: dict[str, Callable[[dict[str, Any]], Iterator[Statement]]] = {
    "anthropic.messages": _anthropic,
    "gemini.generate_content": _gemini,
    "ollama.chat": _ollama,
    "openai.chat": _openai_chat,
    "openai.responses": _openai_responses,
}
