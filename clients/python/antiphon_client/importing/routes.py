"""Who sends the records of an import, and to whom."""

from __future__ import annotations

from typing import Final

from antiphon.message.v1 import message_pb2 as pb

_SYSTEM: Final = pb.Address(role=pb.ROLE_SYSTEM)
_ASSISTANT: Final = pb.Address(role=pb.ROLE_ASSISTANT)
_USER: Final = pb.Address(role=pb.ROLE_USER)


def route_from_system(record: pb.Message) -> None:
    """Let the system send a record to the model; of an instruction the compiler takes it for system text."""
    record.sender.CopyFrom(_SYSTEM)
    record.recipient.CopyFrom(_ASSISTANT)


def route_to_user(record: pb.Message) -> None:
    """Let the model's record go to the user."""
    record.recipient.CopyFrom(_USER)
