"""What a client asks: the body of a chat completion, read and put in the upstream's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from antiphon_client import TurnRequest
from antiphon_client.json_text import JsonTextError, parse_json_text
from antiphon_client.targets import TargetOptions, ToolChoice
from antiphon_gateway.alignment import ChatMessage
from antiphon_gateway.errors import invalid
from antiphon_gateway.settings import ANTHROPIC_MESSAGES, Target

_COMPILED: Final = frozenset(("messages", "model", "tools", "tool_choice", "parallel_tool_calls"))
"""What the compiler writes into the upstream's request."""

_OLDER: Final = ("functions", "function_call")
_FROM_CLIENTS: Final = ("user", "tool", "function", "system", "developer")

_ANTHROPIC_NAMES: Final = {
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stop": "stop_sequences",
    "stream": "stream",
}
"""Parameters that Anthropic's API has, and what it calls them."""

_WITHOUT_EFFECT: Final = frozenset(("n", "stream_options", "user", "store", "metadata", "safety_identifier"))
"""Parameters that change nothing of an answer; Anthropic's API does without them."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request for a chat completion.

    Attributes:
        messages: What the client says was said; the last one waits for an answer.
        model: The model asked.
        stream: Whether the answer is wanted as it comes.
        include_usage: Whether a stream is to end with its cost.
        turn: What the compiler is asked, beside the history.
        options: How it is to ask the model.
    """

    messages: list[ChatMessage]
    model: str
    stream: bool
    include_usage: bool
    turn: TurnRequest
    options: TargetOptions


def read_request(body: bytes, target: Target) -> ChatRequest:
    """Read the body of ``POST /v1/chat/completions``.

    Raises:
        GatewayError: It is none, or asks what the upstream or a kept conversation has no place for (400).
    """
    asked = _object(body)
    messages = _messages(asked.get("messages"))
    model = asked.get("model")
    if not isinstance(model, str) or not model:
        raise invalid("model must be the name of one", param="model")
    for name in _OLDER:
        if asked.get(name) is not None:
            raise invalid(f"{name} is the older form of tools, which is not taken", param=name)
    if asked.get("n") not in (None, 1):
        raise invalid("a conversation goes on with one answer: n must be 1", param="n")
    parameters = {name: value for name, value in asked.items() if name not in _COMPILED}
    if target == ANTHROPIC_MESSAGES:
        parameters = _anthropic_parameters(parameters)
    stream_options = asked.get("stream_options")
    return ChatRequest(
        messages=messages,
        model=model,
        stream=asked.get("stream") is True,
        include_usage=isinstance(stream_options, dict) and stream_options.get("include_usage") is True,
        turn=TurnRequest(None, tool_schemas=_tools(asked.get("tools")), provider_kwargs=parameters),
        options=TargetOptions(model=model, tool_choice=_tool_choice(asked)),
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        asked = parse_json_text(body.decode("utf-8"))
    except (UnicodeDecodeError, JsonTextError) as error:
        raise invalid(f"the body is no JSON: {error}") from None
    if not isinstance(asked, dict):
        raise invalid("the body must be an object")
    return asked


def _messages(given: Any) -> list[ChatMessage]:
    if not isinstance(given, list) or not given or not all(isinstance(each, dict) for each in given):
        raise invalid("messages must be a list of objects, with one at the least", param="messages")
    if given[-1].get("role") not in _FROM_CLIENTS:
        raise invalid("the last message must be one to answer", param=f"messages[{len(given) - 1}].role")
    return given


def _tools(given: Any) -> list[Mapping[str, Any]]:
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(tool, dict) for tool in given):
        raise invalid("tools must be a list of objects", param="tools")
    return given


def _tool_choice(asked: Mapping[str, Any]) -> ToolChoice | None:
    choice, parallel = asked.get("tool_choice"), asked.get("parallel_tool_calls")
    if not isinstance(parallel, bool | None):
        raise invalid("parallel_tool_calls must be true or false", param="parallel_tool_calls")
    match choice:
        case None if parallel is None:
            return None
        case None:
            return ToolChoice("auto", parallel_calls=parallel)
        case "auto" | "none" | "required":
            return ToolChoice(choice, parallel_calls=parallel)
        case {"type": "function", "function": {"name": str(name)}}:
            return ToolChoice("function", name, parallel)
    raise invalid("tool_choice must be auto, none, required or a function's name", param="tool_choice")


def _anthropic_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or name in _WITHOUT_EFFECT:
            continue
        if name == "response_format":
            parameters |= _anthropic_format(value)
        elif name in _ANTHROPIC_NAMES:
            as_list = name == "stop" and isinstance(value, str)
            parameters[_ANTHROPIC_NAMES[name]] = [value] if as_list else value
        else:
            raise invalid(f"{name} has no place in {ANTHROPIC_MESSAGES}", param=name)
    return parameters


def _anthropic_format(given: Any) -> dict[str, Any]:
    match given:
        case {"type": "text"}:
            return {}
        case {"type": "json_schema", "json_schema": {"schema": dict(schema)}}:
            return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    raise invalid(f"this response_format has no place in {ANTHROPIC_MESSAGES}", param="response_format")
