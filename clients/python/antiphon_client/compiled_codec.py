"""Reading what the compiler answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from antiphon.compiler.v1 import compiled_message_pb2, compiler_service_pb2, target_pb2
from antiphon.message.v1 import content_block_pb2, message_pb2
from antiphon_client.json_text import parse_json_text
from antiphon_client.messages import Instruction, from_proto
from antiphon_client.messages.block_codec import DETAIL_FROM_PROTO, block_from_proto
from antiphon_client.messages.blocks import block_to_dict
from antiphon_client.messages.role import ROLE_FROM_PROTO
from antiphon_client.turn import (
    Compilation,
    CompiledChatRequest,
    CompiledMessage,
    CompiledRole,
    CompileNote,
    TokenCount,
    ToolRole,
)


def compilation(response: compiler_service_pb2.CompileResponse) -> Compilation:
    """Read a compilation.

    Raises:
        TypeError: What it says may be recorded is no instruction.
    """
    return Compilation(
        request=CompiledChatRequest(
            instruction=_instruction(response.instruction) if response.HasField("instruction") else None,
            messages=tuple(map(compiled_message, response.messages)),
            provider_kwargs=MappingProxyType(parse_json_text(response.provider_kwargs_json or "{}")),
        ),
        history_revision=response.history_revision,
        incarnation=UUID(response.incarnation) if response.incarnation else None,
        messages_digest=response.messages_digest,
        report=compile_notes(response.report),
        system_text=_optional(response, "system_text"),
        provider_request_json=_optional(response, "provider_request_json"),
        request_digest=_optional(response, "request_digest"),
        capability_version=_optional(response, "capability_version"),
        tokens=_tokens(response.tokens) if response.HasField("tokens") else None,
        action_names=_action_names(response.action_names),
    )


def compiled_message(message: compiled_message_pb2.CompiledMessage) -> CompiledMessage:
    """Read one compiled turn."""
    if message.HasField("parts"):
        return CompiledMessage(_role(message.role), [_part(part) for part in message.parts.parts])
    return CompiledMessage(_role(message.role), message.text)


def compile_notes(notes: Iterable[compiled_message_pb2.CompileNote]) -> tuple[CompileNote, ...]:
    """Read a report."""
    return tuple(
        CompileNote(
            kind=_note_kind(note.kind),
            message_ids=tuple(UUID(message_id) for message_id in note.message_ids),
            reason=note.reason,
        )
        for note in notes
    )


def _instruction(message: message_pb2.Message) -> Instruction:
    instruction = from_proto(message)
    if not isinstance(instruction, Instruction):
        raise TypeError("the compiler answered with no instruction")
    return instruction


def _role(role: message_pb2.Role.ValueType) -> CompiledRole:
    return ToolRole.TOOL if role == message_pb2.ROLE_TOOL else ROLE_FROM_PROTO[role]


def _part(part: compiled_message_pb2.Part) -> dict[str, Any]:
    kind = part.WhichOneof("part")
    if kind == "image_url":
        return _image_url(part.image_url)
    if kind == "tool_call":
        return _call(part.tool_call)
    if kind == "tool_result":
        return _result(part.tool_result)
    if kind is None:
        return {"type": "unknown"}  # of a newer compiler
    return block_to_dict(block_from_proto(content_block_pb2.ContentBlock(**{kind: getattr(part, kind)})))


def _image_url(image: compiled_message_pb2.ImageUrl) -> dict[str, Any]:
    address = {"url": image.url}
    detail = DETAIL_FROM_PROTO.get(image.detail)
    if detail is not None:
        address["detail"] = detail
    return {"type": "image_url", "image_url": address}


def _call(call: compiled_message_pb2.CompiledCall) -> dict[str, Any]:
    optional = {
        name: getattr(call, name) for name in ("arguments_text", "thought_signature") if call.HasField(name)
    }
    return {
        "type": "tool_call",
        "id": call.id,
        "name": call.name,
        "arguments_json": call.arguments_json,
        **optional,
        "message_id": call.message_id,
    }


def _result(result: compiled_message_pb2.CompiledResult) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "call_id": result.call_id,
        "name": result.name,
        "content": [block_to_dict(block_from_proto(block)) for block in result.content],
        "is_error": result.is_error,
        "is_synthesized": result.is_synthesized,
        "message_id": result.message_id or None,
    }


def _note_kind(kind: compiled_message_pb2.CompileNoteKind.ValueType) -> str:
    known = compiled_message_pb2.CompileNoteKind.DESCRIPTOR.values_by_number.get(kind)
    return str(kind) if known is None else known.name.removeprefix("COMPILE_NOTE_KIND_")


def _tokens(count: compiled_message_pb2.TokenCount) -> TokenCount:
    return TokenCount(count.counter, count.total, count.system, count.tools)


def _action_names(names: Iterable[target_pb2.ActionName]) -> Mapping[str, str]:
    return MappingProxyType({each.name: each.provider_name for each in names})


def _optional(message: Any, name: str) -> Any:
    return getattr(message, name) if message.HasField(name) else None
