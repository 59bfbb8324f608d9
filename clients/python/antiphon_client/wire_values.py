"""What callers pass to the operations, and its wire form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias
from uuid import UUID

from antiphon.message.v1 import message_pb2
from antiphon_client.errors import FieldInvalidError
from antiphon_client.ids import new_ordered_id
from antiphon_client.json_text import dump_json_text
from antiphon_client.messages import Message, to_proto

Id: TypeAlias = UUID | str
"""An id as a UUID or as its canonical text."""

Kind: TypeAlias = Literal[
    "system",
    "instruction",
    "assistant_response",
    "action_request",
    "action_response",
    "summary",
    "generic",
]
"""A kind of message."""

AnyMessage: TypeAlias = Message | message_pb2.Message
"""A typed message, or one in its wire form."""


def branch_uuid(value: Id) -> UUID:
    """Return a branch's id.

    Raises:
        FieldInvalidError: It is no UUID, but perhaps an external key.
    """
    try:
        return UUID(str(value))
    except ValueError:
        text = f"{value!r} is no UUID; a branch's own key goes in external_key, as in Branch.open"
        raise FieldInvalidError.of("branch_id", text) from None


def id_text(value: Id | None) -> str | None:
    """Return an optional id as text."""
    return None if value is None else str(value)


def id_texts(values: Iterable[Id]) -> list[str]:
    """Return ids as texts."""
    return [str(value) for value in values]


def given_request_id(request_id: Id | None) -> str | None:
    """Return the request id of a caller's own as text; None and the empty text are none."""
    return str(request_id) if request_id else None


def request_id_text(request_id: Id | None) -> str:
    """Return the request id that a write is sent with: the caller's own, or a new one."""
    return given_request_id(request_id) or new_ordered_id()


def object_text(value: Mapping[str, Any] | None) -> str:
    """Return the JSON text of an object; nothing and {} are the empty text."""
    return dump_json_text(dict(value)) if value else ""


def wire_message(message: AnyMessage) -> message_pb2.Message:
    """Return a message in its wire form.

    Raises:
        TypeError: It is no message, typed or wire.
    """
    if isinstance(message, message_pb2.Message):
        return message
    if not isinstance(message, Message):
        raise TypeError(f"expected a Message, not {type(message).__name__}")
    return to_proto(message)
