"""The calls of the compiler service, built and read in one place for every client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol
from uuid import UUID

from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon_client.errors import SizeLimitExceededError
from antiphon_client.json_text import parse_json_text
from antiphon_client.messages import Instruction, System, from_proto
from antiphon_client.rpc import Steps, StreamCall, UnaryCall, perform
from antiphon_client.stream_compile import CompiledStream
from antiphon_client.turn import (
    Compilation,
    CompiledChatRequest,
    TurnRequest,
    compile_notes,
    compiled_message,
    turn_to_proto,
)
from antiphon_client.wire_values import AnyMessage, Id, wire_message


@dataclass(frozen=True, slots=True)
class InlineSnapshot:
    """A history given in the request itself; the history service is not called."""

    messages: Iterable[AnyMessage] = ()
    system: System | None = None


class HasBranchId(Protocol):
    """Anything with a branch's id, such as a Branch."""

    @property
    def branch_id(self) -> UUID:
        """The branch's id."""


class CompilerOperations:
    """Every RPC of ``CompilerService`` as an operation; the contract stands in its proto."""

    def compile(
        self,
        source: HasBranchId | InlineSnapshot | Id,
        turn: TurnRequest,
        *,
        at_revision: int | None = None,
    ) -> Steps[Compilation]:
        """Compile a turn in one reply, or, when that is too large for one, as a stream.

        ``source`` is a branch, its id, or an inline snapshot; ``at_revision``
        applies to branches only.

        Raises:
            ReservedKeyError: ``provider_kwargs`` holds ``messages``.
            ProgressionInvalidError: Ids are unknown or repeated; all are listed.
            ConsecutiveInstructionsError: No assistant turn stands between two instructions.
            FirstMessageNotInstructionError: With a system record, the history
                does not begin with an instruction.
            FieldInvalidError: A context block, schema or kwarg breaks its rule.
        """
        request = _request(source, turn, at_revision)
        try:
            return (yield from perform(UnaryCall("Compile", request, _compilation)))
        except SizeLimitExceededError as error:
            if error.metadata.get("limit_name") != "reply_bytes":
                raise
        return (yield from _streamed(request))

    def stream_compile(
        self,
        source: HasBranchId | InlineSnapshot | Id,
        turn: TurnRequest,
        *,
        at_revision: int | None = None,
    ) -> Steps[Compilation]:
        """Compile a turn of any size as a stream and put it together; raises as :meth:`compile`.

        Raises:
            StreamIncompleteError: The stream ended before its last result.
        """
        return _streamed(_request(source, turn, at_revision))

    def compile_chat_request(
        self, branch: HasBranchId | InlineSnapshot | Id, request: TurnRequest
    ) -> Steps[CompiledChatRequest]:
        """Compile a turn of a branch as it stands (ADR-0007 D1); raises as :meth:`compile`."""
        compilation = yield from self.compile(branch, request)
        return compilation.request


def _request(
    source: HasBranchId | InlineSnapshot | Id, turn: TurnRequest, at_revision: int | None
) -> pb.CompileRequest:
    request = turn_to_proto(turn)
    if isinstance(source, InlineSnapshot):
        if at_revision is not None:
            raise ValueError("at_revision applies to a branch, not to an inline snapshot")
        system = None if source.system is None else wire_message(source.system)
        snapshot = pb.Snapshot(system=system, messages=[wire_message(message) for message in source.messages])
        request.snapshot.CopyFrom(snapshot)
    else:
        branch_id = source if isinstance(source, (str, UUID)) else source.branch_id
        request.branch.CopyFrom(pb.BranchRef(branch_id=str(branch_id), at_revision=at_revision))
    return request


def _streamed(request: pb.CompileRequest) -> Steps[Compilation]:
    stream = pb.StreamCompileRequest(request=request)
    response = yield from perform(StreamCall("StreamCompile", stream, CompiledStream))
    return _compilation(response)


def _compilation(response: pb.CompileResponse) -> Compilation:
    instruction = from_proto(response.instruction)
    if not isinstance(instruction, Instruction):
        raise TypeError("the compiler answered with no instruction")
    return Compilation(
        request=CompiledChatRequest(
            instruction=instruction,
            messages=tuple(compiled_message(message) for message in response.messages),
            provider_kwargs=_frozen(response.provider_kwargs_json),
        ),
        history_revision=response.history_revision,
        incarnation=UUID(response.incarnation) if response.incarnation else None,
        messages_digest=response.messages_digest,
        report=compile_notes(response.report),
    )


def _frozen(object_json: str) -> Mapping[str, Any]:
    return MappingProxyType(parse_json_text(object_json or "{}"))
