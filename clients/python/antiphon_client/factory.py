"""One typed message from keyword arguments (the factories of ADR-0006 D3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from antiphon_client.messages import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Instruction,
    Message,
    System,
)

ONE_KIND = "Only one message type can be added at a time."


class MessageFields(TypedDict, total=False):
    """What a factory takes; which of them are given decides the kind.

    ``system``, ``assistant_response``, ``action_request`` (or
    ``action_function``) and ``instruction`` each take a value or a message of
    that kind, which is then updated with the other fields. With none of them it
    is an instruction. ``action_output``, unless None, answers ``action_request``;
    with an ``action_response`` it becomes that response's output instead. Fields
    of other kinds may be there as long as they hold nothing: None, or anything
    falsy in those that choose a kind.
    """

    instruction: Any
    context: Any
    prompt_context: Any
    handle_context: Literal["extend", "replace"]
    guidance: Any
    plain_content: str
    images: list[str]
    image_detail: Literal["low", "high", "auto"]
    assistant_response: Any
    system: Any
    system_datetime: Any
    action_request: Any
    action_function: Any
    action_arguments: Any
    action_output: Any
    action_response: ActionResponse
    sender: Any
    recipient: Any
    channel: str
    metadata: Mapping[str, Any]


_ENVELOPE = frozenset({"sender", "recipient", "channel", "metadata"})
_ALLOWED = frozenset(MessageFields.__annotations__)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind is chosen and made.

    Attributes:
        message_class: The kind.
        create: Makes a message from content fields and envelope fields.
        selectors: The fields that choose this kind when truthy; one may hold a message of it.
        content: A factory's field to the content's field.
    """

    message_class: type[Message]
    create: Callable[..., Message]
    selectors: tuple[str, ...]
    content: Mapping[str, str]

    def chosen(self, fields: Mapping[str, Any]) -> bool:
        return any(fields.get(name) for name in self.selectors)

    def build(self, fields: Mapping[str, Any]) -> Message:
        given = next((fields[name] for name in self.selectors if isinstance(fields.get(name), Message)), None)
        own = {name: value for name, value in fields.items() if value is not given and name not in _ENVELOPE}
        ignored: frozenset[str] = _SELECTORS if self.chosen(fields) else frozenset()
        foreign = sorted(
            name
            for name, value in own.items()
            if name not in self.content and value is not None and (value or name not in ignored)
        )
        if foreign:
            raise TypeError(f"{foreign[0]!r} is no field of {self.message_class.__name__}")
        content = {self.content[name]: value for name, value in own.items() if name in self.content}
        envelope = {name: fields[name] for name in _ENVELOPE if name in fields}
        if given is None:
            return self.create(**content, **envelope)
        if not isinstance(given, self.message_class):
            raise TypeError(f"{type(given).__name__} is not {self.message_class.__name__}")
        return _updated(given, content, envelope)


def _updated(message: Message, content: Mapping[str, Any], envelope: Mapping[str, Any]) -> Message:
    message.update(sender=envelope.get("sender"), recipient=envelope.get("recipient"), **content)
    message.channel = envelope.get("channel", message.channel)
    message.metadata.update(envelope.get("metadata") or {})
    return message


def _instruction(*, handle_context: str | None = None, **fields: Any) -> Instruction:
    message = Instruction.create(**fields)
    if handle_context is not None:
        message.update(handle_context=handle_context)  # nothing to extend yet: it only checks the word
    return message


def _assistant_response(*, assistant_response: Any, **envelope: Any) -> AssistantResponse:
    """Keep a text as it is; take the text out of a provider's answer, which stays in the metadata."""
    if isinstance(assistant_response, str):
        return AssistantResponse.create(assistant_response, **envelope)
    return AssistantResponse.from_response(assistant_response, **envelope)


_SYSTEM = _Kind(
    System, System.create, ("system",), {"system": "system_message", "system_datetime": "system_datetime"}
)
_ASSISTANT = _Kind(
    AssistantResponse,
    _assistant_response,
    ("assistant_response",),
    {"assistant_response": "assistant_response"},
)
_ACTION = _Kind(
    ActionRequest,
    ActionRequest.create,
    ("action_request", "action_function"),
    {"action_function": "function", "action_arguments": "arguments"},
)
_INSTRUCTION = _Kind(
    Instruction,
    _instruction,
    ("instruction",),
    {
        name: name
        for name in (
            "instruction",
            "context",
            "prompt_context",
            "handle_context",
            "guidance",
            "plain_content",
            "images",
            "image_detail",
        )
    },
)
_KINDS = (_SYSTEM, _ASSISTANT, _ACTION, _INSTRUCTION)
_SELECTORS = frozenset(name for kind in _KINDS for name in kind.selectors)


def check_one_kind(fields: Mapping[str, Any]) -> None:
    """Refuse fields of several kinds.

    Raises:
        ValueError: Several kinds are given.
        TypeError: A field is unknown.
    """
    unknown = sorted(fields.keys() - _ALLOWED)
    if unknown:
        raise TypeError(f"no message has a field {unknown[0]!r}")
    answers = is_answer(fields) and not _ACTION.chosen(fields)
    if answers + sum(kind.chosen(fields) for kind in _KINDS) > 1:
        raise ValueError(ONE_KIND)


def is_answer(fields: Mapping[str, Any]) -> bool:
    """Tell whether the fields are an action's outcome; falsy outputs are outputs."""
    return fields.get("action_output") is not None or fields.get("action_response") is not None


def updated_response(fields: Mapping[str, Any]) -> ActionResponse:
    """Return the ``action_response`` given, with the fields beside it; a request given is the one it answers.

    Raises:
        TypeError: It is no ActionResponse, or a field is another kind's.
    """
    response, request = fields["action_response"], fields.get("action_request")
    if not isinstance(response, ActionResponse):
        raise TypeError(f"{type(response).__name__} is not ActionResponse")
    envelope = {name: fields[name] for name in _ENVELOPE if name in fields}
    check_answer_fields(fields, {"action_response", *envelope})
    content = {} if fields.get("action_output") is None else {"output": fields["action_output"]}
    if request is not None:
        content["action_request_id"] = request
    _updated(response, content, envelope)
    return response


def check_answer_fields(fields: Mapping[str, Any], further: Collection[str]) -> None:
    """Refuse fields that no action's outcome has and that hold something.

    ``further`` are those this outcome has.

    Raises:
        TypeError: A field is another kind's.
    """
    own = {"action_request", "action_output", *further}
    foreign = sorted(name for name, value in fields.items() if value and name not in own)
    if foreign:
        raise TypeError(f"{foreign[0]!r} is no field of an action's output")


def build_message(fields: Mapping[str, Any]) -> Message:
    """Return the message that the fields describe; see :class:`MessageFields`.

    Raises:
        ValueError: Several kinds are given, or a field breaks its rule.
        TypeError: A field is unknown, of the wrong type, or of another kind of message.
    """
    check_one_kind(fields)
    kind = next((kind for kind in _KINDS if kind.chosen(fields)), _INSTRUCTION)
    return kind.build(fields)
