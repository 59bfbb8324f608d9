"""The messages of a conversation: typed model, validation and rendering.

`Message` and its subclasses are what an application writes and reads;
`to_proto` and `from_proto` carry them over the wire without loss. The rules of
the wire form are in `antiphon_client.messages.validation`, the texts a model
sees in `antiphon_client.messages.rendering`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from antiphon_client.messages.actions import ActionRequest, ActionResponse
from antiphon_client.messages.address import Address, normalize_recipient, normalize_sender
from antiphon_client.messages.assistant import AssistantResponse
from antiphon_client.messages.blocks import (
    Block,
    CacheControl,
    ImageBlock,
    JsonBlock,
    OpaqueBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    UnknownBlock,
)
from antiphon_client.messages.content_base import MessageContent
from antiphon_client.messages.contents import (
    ActionRequestContent,
    ActionResponseContent,
    AssistantResponseContent,
    GenericContent,
    InstructionContent,
    SystemContent,
)
from antiphon_client.messages.instruction import Instruction
from antiphon_client.messages.model import Message, Sendable
from antiphon_client.messages.proto_codec import from_proto, to_proto
from antiphon_client.messages.role import UNSET, MessageRole, MessageStatus
from antiphon_client.messages.system import System
from antiphon_client.messages.unknown import UnknownMessage

if TYPE_CHECKING:
    RoledMessage = Message

__all__ = [
    "UNSET",
    "ActionRequest",
    "ActionRequestContent",
    "ActionResponse",
    "ActionResponseContent",
    "Address",
    "AssistantResponse",
    "AssistantResponseContent",
    "Block",
    "CacheControl",
    "GenericContent",
    "ImageBlock",
    "Instruction",
    "InstructionContent",
    "JsonBlock",
    "Message",
    "MessageContent",
    "MessageRole",
    "MessageStatus",
    "OpaqueBlock",
    "Sendable",
    "System",
    "SystemContent",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallBlock",
    "UnknownBlock",
    "UnknownMessage",
    "from_proto",
    "normalize_recipient",
    "normalize_sender",
    "to_proto",
]


def __getattr__(name: str) -> Any:
    if name == "RoledMessage":
        warnings.warn(
            "RoledMessage is an old name of Message and will go in a later release",
            DeprecationWarning,
            stacklevel=2,
        )
        return Message
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
