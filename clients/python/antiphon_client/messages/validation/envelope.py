"""The envelope: identity, time, routing, status and the choice of content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from antiphon.message.v1 import content_block_pb2, message_pb2
from antiphon_client.errors import SizeLimitExceededError, Violation
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from antiphon_client.messages.validation.blocks import canonicalize_blocks
from antiphon_client.messages.validation.contents import (
    validate_action_request,
    validate_action_response,
    validate_assistant_response,
    validate_generic,
    validate_instruction,
    validate_summary,
)
from antiphon_client.messages.validation.fields import (
    EMPTY,
    REQUIRED,
    join,
    validate_json_field,
    validate_uuid,
)

# The bounds that google.protobuf.Timestamp documents: years 1 to 9999.
_FIRST_SECOND = -62_135_596_800
_LAST_SECOND = 253_402_300_799
_LAST_NANOSECOND = 999_999_999

_ADDRESS_ROLES = frozenset(
    (message_pb2.ROLE_SYSTEM, message_pb2.ROLE_USER, message_pb2.ROLE_ASSISTANT, message_pb2.ROLE_ACTION)
)
_STATUSES = frozenset(message_pb2.MessageStatus.values())

_ROLE_OF_KIND: dict[str | None, message_pb2.Role.ValueType] = {
    "system": message_pb2.ROLE_SYSTEM,
    "instruction": message_pb2.ROLE_USER,
    "assistant_response": message_pb2.ROLE_ASSISTANT,
    "action_request": message_pb2.ROLE_ACTION,
    "action_response": message_pb2.ROLE_ACTION,
    "summary": message_pb2.ROLE_USER,
    "generic": message_pb2.ROLE_UNSET,
}


def _accept_system(content: message_pb2.SystemContent, field: str, violations: list[Violation]) -> None:
    """A system record has no rule beyond its types: any text, the empty one too."""


_CONTENT_RULES: dict[str, Callable[[Any, str, list[Violation]], None]] = {
    "system": _accept_system,
    "instruction": validate_instruction,
    "assistant_response": validate_assistant_response,
    "action_request": validate_action_request,
    "action_response": validate_action_response,
    "summary": validate_summary,
    "generic": validate_generic,
}


def kind_of(message: message_pb2.Message) -> str | None:
    """Return the name of the content variant, such as ``instruction``.

    None means that there is no variant this code knows: no content at all, or
    a record of a newer kind, which must not be taken for generic.
    """
    return message.WhichOneof("content")


def role_of(message: message_pb2.Message) -> message_pb2.Role.ValueType:
    """Return the role that the content variant fixes (ADR-0006 D1).

    The message's own ``role`` field is not looked at. Without a known content
    the role is ROLE_UNSPECIFIED.
    """
    return _ROLE_OF_KIND.get(kind_of(message), message_pb2.ROLE_UNSPECIFIED)


def validate_message(
    message: message_pb2.Message, field: str, violations: list[Violation], limits: Limits = DEFAULT_LIMITS
) -> None:
    """Append a violation for every rule that a message to be written breaks.

    The message is not changed. Output-only fields (``role``, an action
    request's ``action_response_id``) are not looked at. Rules that need the
    branch, such as correlation, are the history service's.

    Args:
        message: The message as received.
        field: Its path, such as ``messages[3]``; "" where it is the root.
        violations: Where to append, in field order.
        limits: Gives ``message_bytes``.

    Raises:
        SizeLimitExceededError: The encoded message is larger than the limit.

    Cost: a few µs for a text message, else linear in JSON text and images.
    """
    size = message.ByteSize()
    if size > limits.message_bytes:
        raise SizeLimitExceededError.of(
            field or "message", limit_name="message_bytes", limit=limits.message_bytes, actual=size
        )
    if message.id:
        validate_uuid(message.id, join(field, "id"), violations)
    if message.HasField("created_at"):
        _validate_timestamp(message.created_at, join(field, "created_at"), violations)
    if message.HasField("sender"):
        validate_address(message.sender, join(field, "sender"), violations, sender=True)
    if message.HasField("recipient"):
        validate_address(message.recipient, join(field, "recipient"), violations)
    if message.metadata_json:
        validate_json_field(message.metadata_json, join(field, "metadata_json"), violations, True)
    if message.status not in _STATUSES:
        violations.append(Violation(join(field, "status"), f"unknown status {message.status}"))
    kind = message.WhichOneof("content")
    if kind is None:
        violations.append(Violation(join(field, "content"), REQUIRED))
    else:
        _CONTENT_RULES[kind](getattr(message, kind), join(field, kind), violations)


def validate_address(
    address: message_pb2.Address, field: str, violations: list[Violation], *, sender: bool = False
) -> None:
    """Append a violation unless the address is in one of its legal states.

    Args:
        address: A present address; an absent one is unset and legal.
        field: Its path.
        violations: Where to append.
        sender: The address is a sender, which cannot be broadcast.
    """
    state = address.WhichOneof("state")
    if state is None:
        violations.append(Violation(join(field, "state"), REQUIRED))
    elif state == "member_id":
        validate_uuid(address.member_id, join(field, "member_id"), violations)
    elif state == "role":
        if address.role not in _ADDRESS_ROLES:
            violations.append(Violation(join(field, "role"), "must be SYSTEM, USER, ASSISTANT or ACTION"))
    elif state == "name":
        if not address.name:
            violations.append(Violation(join(field, "name"), EMPTY))
    elif state == "broadcast" and sender:
        violations.append(Violation(join(field, "broadcast"), "a sender cannot be broadcast"))


def canonicalize_message(message: message_pb2.Message) -> str | None:
    """Resolve what a writer may leave open, in place; return its ``kind_of``.

    Afterwards equal meaning has equal bytes: the role is the content's, an
    action request has no link (links are the history service's to set), an
    unspecified image detail is AUTO (in a block: absent) and an unspecified
    response state is FINAL. ``id`` and ``created_at`` stay as they are. Texts
    are never touched. Expects a message that passed `validate_message`.
    """
    kind = message.WhichOneof("content")
    message.role = _ROLE_OF_KIND.get(kind, message_pb2.ROLE_UNSPECIFIED)
    if kind == "instruction":
        instruction = message.instruction
        if instruction.image_detail == content_block_pb2.IMAGE_DETAIL_UNSPECIFIED:
            instruction.image_detail = content_block_pb2.IMAGE_DETAIL_AUTO
        canonicalize_blocks(instruction.blocks)
    elif kind == "assistant_response":
        canonicalize_blocks(message.assistant_response.blocks)
    elif kind == "action_request":
        message.action_request.ClearField("action_response_id")
    elif kind == "action_response":
        response = message.action_response
        if response.state == message_pb2.ACTION_RESPONSE_STATE_UNSPECIFIED:
            response.state = message_pb2.ACTION_RESPONSE_STATE_FINAL
        canonicalize_blocks(response.blocks)
    return kind


def _validate_timestamp(timestamp: Timestamp, field: str, violations: list[Violation]) -> None:
    if not _FIRST_SECOND <= timestamp.seconds <= _LAST_SECOND:
        violations.append(Violation(join(field, "seconds"), "must lie in the years 1 to 9999"))
    if not 0 <= timestamp.nanos <= _LAST_NANOSECOND:
        violations.append(Violation(join(field, "nanos"), "must lie between 0 and 999,999,999"))
