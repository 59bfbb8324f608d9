"""The messages of a conversation: typed model, validation and rendering.

`Message` and its subclasses are what an application writes and reads;
`to_proto` and `from_proto` carry them over the wire without loss. The rules of
the wire form are in `antiphon_client.messages.validation`, the texts a model
sees in `antiphon_client.messages.rendering`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from antiphon_client._lazy import lazy_exports

if TYPE_CHECKING:
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


_MODULES = {
    "UNSET": "antiphon_client.messages.role",
    "ActionRequest": "antiphon_client.messages.actions",
    "ActionRequestContent": "antiphon_client.messages.contents",
    "ActionResponse": "antiphon_client.messages.actions",
    "ActionResponseContent": "antiphon_client.messages.contents",
    "Address": "antiphon_client.messages.address",
    "AssistantResponse": "antiphon_client.messages.assistant",
    "AssistantResponseContent": "antiphon_client.messages.contents",
    "Block": "antiphon_client.messages.blocks",
    "CacheControl": "antiphon_client.messages.blocks",
    "GenericContent": "antiphon_client.messages.contents",
    "ImageBlock": "antiphon_client.messages.blocks",
    "Instruction": "antiphon_client.messages.instruction",
    "InstructionContent": "antiphon_client.messages.contents",
    "JsonBlock": "antiphon_client.messages.blocks",
    "Message": "antiphon_client.messages.model",
    "MessageContent": "antiphon_client.messages.content_base",
    "MessageRole": "antiphon_client.messages.role",
    "MessageStatus": "antiphon_client.messages.role",
    "OpaqueBlock": "antiphon_client.messages.blocks",
    "Sendable": "antiphon_client.messages.model",
    "System": "antiphon_client.messages.system",
    "SystemContent": "antiphon_client.messages.contents",
    "TextBlock": "antiphon_client.messages.blocks",
    "ThinkingBlock": "antiphon_client.messages.blocks",
    "ToolCallBlock": "antiphon_client.messages.blocks",
    "UnknownBlock": "antiphon_client.messages.blocks",
    "UnknownMessage": "antiphon_client.messages.unknown",
    "from_proto": "antiphon_client.messages.proto_codec",
    "normalize_recipient": "antiphon_client.messages.address",
    "normalize_sender": "antiphon_client.messages.address",
    "to_proto": "antiphon_client.messages.proto_codec",
}

_load = lazy_exports(__name__, _MODULES)


def __getattr__(name: str) -> Any:
    if name == "RoledMessage":
        warnings.warn(
            "RoledMessage is an old name of Message and goes with version 1.0",
            DeprecationWarning,
            stacklevel=2,
        )
        return _load("Message")
    return _load(name)


def __dir__() -> list[str]:
    return list(__all__)
