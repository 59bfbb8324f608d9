"""One turn's request and what it compiles to (ADR-0007 D1, D3, D4).

The classes are frozen: their fields cannot be reassigned. What a compiled
request holds was read from the wire and shares no container with the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from uuid import UUID

from antiphon.compiler.v1 import compiled_message_pb2
from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon.message.v1 import message_pb2, progression_pb2
from antiphon_client.json_text import dump_json_text
from antiphon_client.messages import Instruction, MessageRole, to_proto
from antiphon_client.messages.block_codec import DETAIL_FROM_PROTO
from antiphon_client.messages.role import ROLE_FROM_PROTO
from antiphon_client.response_format import ResponseFormat, response_format_to_proto


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """One retrieved text with its source. It is data, and never recorded."""

    provider_name: str
    content: str


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What one model call adds to the history.

    Attributes:
        instruction: The turn's instruction. It is copied, never changed.
        progression: The messages to retain, in order; None leaves the choice to
            the branch (its view, else its order), an empty tuple retains none.
        tool_schemas: The tools of this call: a list of schemas, a single schema,
            or a wrapper ``{"tools": [...]}``.
        response_format: A mapping, or a pydantic model class or instance.
        structure: Name of the structure the answer is asked in; any text means
            JSON. Types are refused: they cannot cross a wire.
        context_blocks: Retrieved context, in order.
        provider_kwargs: Keyword arguments of the model call, JSON values, handed
            back in the compiled request; the key ``messages`` is reserved.
    """

    instruction: Instruction
    progression: Sequence[UUID | str] | None = None
    tool_schemas: Sequence[Mapping[str, Any]] | Mapping[str, Any] = ()
    response_format: ResponseFormat | None = None
    structure: str | None = None
    context_blocks: tuple[ContextBlock, ...] = ()
    provider_kwargs: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class CompiledMessage:
    """One provider-neutral turn: text, or text and image parts."""

    role: MessageRole
    content: str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CompiledChatRequest:
    """What a model is sent, and what may be recorded of it.

    Attributes:
        instruction: The record-ready instruction: the only one a caller may add
            to the history; it holds nothing of this call alone.
        messages: The turns, in order.
        provider_kwargs: The request's keyword arguments, read-only.
    """

    instruction: Instruction
    messages: tuple[CompiledMessage, ...]
    provider_kwargs: Mapping[str, Any]

    @property
    def provider_messages(self) -> list[dict[str, Any]]:
        """The turns as ``{"role", "content"}`` dictionaries (ADR-0007 D4)."""
        return [{"role": message.role.value, "content": message.content} for message in self.messages]


@dataclass(frozen=True, slots=True)
class CompileNote:
    """One thing the compiler did: ``kind`` such as ``RESULTS_MOVED``, on which messages, and why.

    A kind that a newer compiler has and this code does not know is its number as text.
    """

    kind: str
    message_ids: tuple[UUID, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Compilation:
    """A compiled request and the proof of what it was made from.

    Attributes:
        request: The compiled request.
        history_revision: The branch revision compiled; 0 for an inline snapshot.
        incarnation: The branch's incarnation; None for an inline snapshot.
        messages_digest: SHA-256 over the compiled messages, hexadecimal.
        report: Everything dropped, moved, merged, deduplicated or not rendered.
    """

    request: CompiledChatRequest
    history_revision: int
    incarnation: UUID | None
    messages_digest: str
    report: tuple[CompileNote, ...]


def turn_to_proto(turn: TurnRequest) -> pb.CompileRequest:
    """Return the wire form of a turn, without its source.

    Raises:
        TypeError: The instruction is no Instruction, a tool schema no mapping,
            ``structure`` no text, or the response format no mapping and no
            pydantic model.
        JsonTextError: A value is one that JSON cannot carry.
    """
    if not isinstance(turn.instruction, Instruction):
        raise TypeError(f"a turn's instruction is an Instruction, not {type(turn.instruction).__name__}")
    if turn.structure is not None and not isinstance(turn.structure, str):
        raise TypeError("structure is the name of one, as text; a type cannot cross a wire")
    request = pb.CompileRequest(
        profile=pb.PROFILE_FOLDED,
        instruction=to_proto(turn.instruction),
        tool_schemas_json=[dump_json_text(dict(schema)) for schema in tool_schema_list(turn.tool_schemas)],
        structure=turn.structure,
        context_blocks=[
            pb.ContextBlock(provider_name=block.provider_name, content=block.content)
            for block in turn.context_blocks
        ],
        provider_kwargs_json=dump_json_text(dict(turn.provider_kwargs)),
    )
    if turn.progression is not None:
        request.progression.CopyFrom(
            progression_pb2.Progression(message_ids=[str(message_id) for message_id in turn.progression])
        )
    if turn.response_format is not None:
        request.response_format.CopyFrom(response_format_to_proto(turn.response_format))
    return request


def tool_schema_list(value: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a flat list of schemas from a list, a ``{"tools": [...]}`` wrapper or one schema.

    Raises:
        TypeError: A schema is no mapping.
    """
    tools: Any = value.get("tools", value) if isinstance(value, Mapping) else value
    schemas: list[Any] = [tools]
    if isinstance(tools, Iterable) and not isinstance(tools, Mapping | str):
        schemas = list(tools)
    for schema in schemas:
        if not isinstance(schema, Mapping):
            raise TypeError(f"a tool schema is an object, not {type(schema).__name__}")
    return schemas


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


def _role(role: message_pb2.Role.ValueType) -> MessageRole:
    return ROLE_FROM_PROTO[role]


def _part(part: compiled_message_pb2.Part) -> dict[str, Any]:
    if part.HasField("text"):
        return {"type": "text", "text": part.text.text}
    image = {"url": part.image_url.url}
    detail = DETAIL_FROM_PROTO.get(part.image_url.detail)
    if detail is not None:
        image["detail"] = detail
    return {"type": "image_url", "image_url": image}


def _note_kind(kind: compiled_message_pb2.CompileNoteKind.ValueType) -> str:
    known = compiled_message_pb2.CompileNoteKind.DESCRIPTOR.values_by_number.get(kind)
    return str(kind) if known is None else known.name.removeprefix("COMPILE_NOTE_KIND_")
