"""One turn's request and what it compiles to (ADR-0007 D1, D3, D4).

The classes are frozen: their fields cannot be reassigned. What a compiled
request holds was read from the wire and shares no container with the caller.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self, TypeAlias
from uuid import UUID

from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon.message.v1 import progression_pb2
from antiphon_client.json_text import dump_json_text, parse_json_text
from antiphon_client.messages import Instruction, MessageRole, to_proto
from antiphon_client.response_format import ResponseFormat, response_format_to_proto


class ToolRole(StrEnum):
    """The role that compiled turns have beside those of records: the outcome of a call."""

    TOOL = "tool"


CompiledRole: TypeAlias = MessageRole | ToolRole
"""Role of a compiled turn: user or assistant, and in NATIVE tool."""


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """One retrieved text with its source. It is data, and never recorded."""

    provider_name: str
    content: str


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What one model call adds to the history.

    What concerns the execution of the call alone, such as streaming, has no
    place here.

    Attributes:
        instruction: The turn's instruction. It is copied, never changed. None
            goes on with the history as it stands, in the profile native only.
        progression: The messages to retain, in order; None leaves the choice to
            the branch (its view, else its order), an empty tuple retains none.
        tool_schemas: The tools of this call: a list of schemas, a single schema,
            or a wrapper ``{"tools": [...]}``.
        response_format: An example, which is a mapping; a schema, which is a pydantic
            model class or instance or, of a JSON Schema at hand, a ``ResponseSchema``.
        structure: Name of the structure the answer is asked in; any text means
            JSON. Types are refused: they cannot cross a wire.
        context_blocks: Retrieved context, in order.
        provider_kwargs: Keyword arguments of the model call, JSON values, handed
            back in the compiled request; the key ``messages`` is reserved.
    """

    instruction: Instruction | None
    progression: Sequence[UUID | str] | None = None
    tool_schemas: Sequence[Mapping[str, Any]] | Mapping[str, Any] = ()
    response_format: ResponseFormat | None = None
    structure: str | None = None
    context_blocks: tuple[ContextBlock, ...] = ()
    provider_kwargs: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def from_options(
        cls,
        instruction: Instruction,
        *,
        progression: Sequence[UUID | str] | None = None,
        tool_schemas: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
        response_format: ResponseFormat | None = None,
        structure: str | None = None,
        context_blocks: Iterable[ContextBlock] | None = None,
        provider_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Make a turn of older call options, in which an empty progression meant none given.

        ``progression=[]`` leaves the choice to the branch, as None does; retaining
        nothing is said with the class itself (ADR-0007 D2, D6).
        """
        return cls(
            instruction,
            progression=tuple(progression) if progression else None,
            tool_schemas=tool_schemas or (),
            response_format=response_format,
            structure=structure,
            context_blocks=tuple(context_blocks or ()),
            provider_kwargs=MappingProxyType(dict(provider_kwargs or {})),
        )


@dataclass(frozen=True, slots=True)
class CompiledMessage:
    """One provider-neutral turn: text, or its parts.

    A part is a dictionary with a ``type``. Of the profile folded they are text
    and ``image_url``; of native, content blocks in their dictionary form
    (:mod:`antiphon_client.messages.blocks`), ``tool_call`` and ``tool_result``.
    JSON within them stays text.
    """

    role: CompiledRole
    content: str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CompiledChatRequest:
    """What a model is sent, and what may be recorded of it.

    Attributes:
        instruction: The record-ready instruction: the only one a caller may add
            to the history; it holds nothing of this call alone. None where the
            turn had none.
        messages: The turns, in order.
        provider_kwargs: The request's keyword arguments, read-only.
    """

    instruction: Instruction | None
    messages: tuple[CompiledMessage, ...]
    provider_kwargs: Mapping[str, Any]

    @property
    def provider_messages(self) -> list[dict[str, Any]]:
        """The turns as ``{"role", "content"}`` dictionaries, the caller's own (ADR-0007 D4)."""
        return [
            {"role": message.role.value, "content": copy.deepcopy(message.content)}
            for message in self.messages
        ]


@dataclass(frozen=True, slots=True)
class CompileNote:
    """One thing the compiler did: ``kind`` such as ``RESULTS_MOVED``, on which messages, and why.

    A kind that a newer compiler has and this code does not know is its number as text.
    """

    kind: str
    message_ids: tuple[UUID, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of a compilation.

    Attributes:
        counter: How they were counted.
        total: Messages, system text, tools and response format.
        system: Of these, the system text's.
        tools: Of these, the tools' and the response format's.
    """

    counter: str
    total: int
    system: int
    tools: int


@dataclass(frozen=True, slots=True)
class Compilation:
    """A compiled request and the proof of what it was made from.

    Attributes:
        request: The compiled request.
        history_revision: The branch revision compiled; 0 for an inline snapshot.
        incarnation: The branch's incarnation; None for an inline snapshot.
        messages_digest: SHA-256 over the compiled messages, hexadecimal.
        report: Everything dropped, moved, merged, deduplicated, mapped or not rendered.
        system_text: The system text beside the messages, of the profile native; None for none.
        provider_request_json: The text of the provider's request, a JSON object; None
            without a target. To be sent as it is where digits and key order matter.
        request_digest: SHA-256 over that text in UTF-8, hexadecimal; None without a target.
        capability_version: Version of the table that shaped it; None without a target.
        tokens: Tokens of what was compiled; None unless a counter was asked for.
        action_names: Actions' own names to those of the provider's request, where they
            differ: for ``parse_response`` and ``assemble_response``. Read-only.
    """

    request: CompiledChatRequest
    history_revision: int
    incarnation: UUID | None
    messages_digest: str
    report: tuple[CompileNote, ...]
    system_text: str | None = None
    provider_request_json: str | None = None
    request_digest: str | None = None
    capability_version: str | None = None
    tokens: TokenCount | None = None
    action_names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def provider_request(self) -> dict[str, Any] | None:
        """The provider's request, the caller's own, parsed anew each time; None without a target."""
        if self.provider_request_json is None:
            return None
        parsed: dict[str, Any] = parse_json_text(self.provider_request_json)
        return parsed


def turn_to_proto(turn: TurnRequest) -> pb.CompileRequest:
    """Return the wire form of a turn, without its source and how to compile it.

    Raises:
        TypeError: The turn is no TurnRequest, the instruction neither an Instruction nor
            None, a tool schema no mapping, ``structure`` no text, or the response format none of its forms.
        JsonTextError: A value is one that JSON cannot carry.
    """
    given: object = turn
    if not isinstance(given, TurnRequest):
        kind = type(given).__name__
        raise TypeError(f"a turn is a TurnRequest, as TurnRequest(Instruction.create(text)), not {kind}")
    instruction = turn.instruction
    if not (instruction is None or isinstance(instruction, Instruction)):
        raise TypeError(f"a turn's instruction is an Instruction, not {type(instruction).__name__}")
    if turn.structure is not None and not isinstance(turn.structure, str):
        raise TypeError("structure is the name of one, as text; a type cannot cross a wire")
    request = pb.CompileRequest(
        instruction=None if instruction is None else to_proto(instruction),
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
