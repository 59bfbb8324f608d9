"""The closed vocabularies of a message: role and status.

A role is fixed by the class of a message and never set by a caller
(ADR-0006 D1).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from antiphon.message.v1 import message_pb2 as pb


class MessageRole(StrEnum):
    """Who a record speaks for, or one side of its routing."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    UNSET = "unset"
    ACTION = "action"


UNSET: Final = MessageRole.UNSET
"""An address that names nobody: neither direct nor broadcast."""


class MessageStatus(StrEnum):
    """Whether a record takes part in compilation."""

    ACTIVE = "active"
    INTERRUPTED = "interrupted"
    EXCLUDED = "excluded"


ROLE_TO_PROTO: Final[dict[MessageRole, pb.Role.ValueType]] = {
    MessageRole.SYSTEM: pb.ROLE_SYSTEM,
    MessageRole.USER: pb.ROLE_USER,
    MessageRole.ASSISTANT: pb.ROLE_ASSISTANT,
    MessageRole.UNSET: pb.ROLE_UNSET,
    MessageRole.ACTION: pb.ROLE_ACTION,
}
ROLE_FROM_PROTO: Final[dict[int, MessageRole]] = {number: role for role, number in ROLE_TO_PROTO.items()}

STATUS_TO_PROTO: Final[dict[MessageStatus, pb.MessageStatus.ValueType]] = {
    MessageStatus.ACTIVE: pb.MESSAGE_STATUS_UNSPECIFIED,
    MessageStatus.INTERRUPTED: pb.MESSAGE_STATUS_INTERRUPTED,
    MessageStatus.EXCLUDED: pb.MESSAGE_STATUS_EXCLUDED,
}
STATUS_FROM_PROTO: Final[dict[int, MessageStatus]] = {
    number: status for status, number in STATUS_TO_PROTO.items()
}
