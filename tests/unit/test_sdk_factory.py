"""Messages from keyword arguments (ADR-0006 D3)."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon_client import ActionRequest, AssistantResponse, Instruction, System
from antiphon_client.factory import build_message
from antiphon_client.messages import MessageRole


def test_kinds_are_chosen_by_truthy_fields() -> None:
    chosen: dict[type, dict[str, Any]] = {
        System: {"system": "s", "instruction": ""},
        AssistantResponse: {"assistant_response": "a", "instruction": None},
        ActionRequest: {"action_function": "f"},
        Instruction: {"instruction": "i", "assistant_response": ""},
    }
    for kind, fields in chosen.items():
        assert type(build_message(fields)) is kind
    assert type(build_message({})) is Instruction


def test_a_field_that_is_none_is_not_given() -> None:
    nothing = dict.fromkeys(("system", "assistant_response", "action_request", "channel", "metadata"))
    for given in ("q", Instruction.create("q")):
        message = build_message({**nothing, "instruction": given, "action_output": None})
        assert isinstance(message, Instruction)
        assert (message.content.instruction, message.metadata) == ("q", {})
    with pytest.raises(TypeError, match="'assistant_response' is no field of Instruction"):
        build_message({"assistant_response": ""})


def test_the_envelope_is_kept() -> None:
    message = build_message(
        {"instruction": "i", "sender": "user", "recipient": None, "channel": "c", "metadata": {"k": 1}}
    )
    assert (message.sender, message.recipient) == (MessageRole.USER, None)
    assert (message.channel, message.metadata) == ("c", {"k": 1})


def test_a_provider_s_answer_gives_its_text_and_is_kept() -> None:
    payload = {"choices": [{"message": {"content": "hello"}}]}
    message = build_message({"assistant_response": payload})
    assert isinstance(message, AssistantResponse)
    assert (message.response, message.metadata["model_response"]) == ("hello", payload)
    assert "model_response" not in build_message({"assistant_response": "hello"}).metadata


def test_a_given_message_is_updated_and_keeps_its_identity() -> None:
    request = ActionRequest.create("f", {"a": 1})
    again = build_message({"action_request": request, "action_arguments": {"b": 2}, "channel": "c"})
    assert again is request
    assert (request.function, request.arguments, request.channel) == ("f", {"b": 2}, "c")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"action_request": Instruction.create("x")}, TypeError),
        ({"system": "s", "guidance": "g"}, TypeError),
        ({"action_request": {"function": "f"}}, TypeError),
        ({"action_function": 3}, ValueError),
        ({"instruction": 3}, TypeError),
        ({"images": ["ftp://x/y"]}, ValueError),
        ({"nonsense": 1}, TypeError),
    ],
)
def test_wrong_fields_are_refused(fields: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        build_message(fields)
