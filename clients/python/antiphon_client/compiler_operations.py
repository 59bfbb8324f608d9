"""The calls of the compiler service, built and read in one place for every client."""

from __future__ import annotations

from typing import Unpack

from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon.compiler.v1 import target_pb2
from antiphon_client.compile_sources import HasBranchId as HasBranchId
from antiphon_client.compile_sources import InlineSnapshot as InlineSnapshot
from antiphon_client.compile_sources import Source, put_source
from antiphon_client.compiled_codec import compilation as read_compilation
from antiphon_client.errors import SizeLimitExceededError
from antiphon_client.planning import PlanningOperations
from antiphon_client.response_operations import ResponseOperations
from antiphon_client.rpc import Steps, StreamCall, UnaryCall, perform
from antiphon_client.stream_compile import CompiledStream
from antiphon_client.targets import (
    CompileOptions,
    Profile,
    TargetList,
    TargetOptions,
    put_options,
    target_list,
)
from antiphon_client.turn import Compilation, CompiledChatRequest, TurnRequest, turn_to_proto


class CompilerOperations(PlanningOperations, ResponseOperations):
    """Every RPC of ``CompilerService`` as an operation; the contract stands in its proto."""

    def compile(
        self,
        source: Source,
        turn: TurnRequest,
        *,
        at_revision: int | None = None,
        profile: Profile = "folded",
        target: str | None = None,
        target_options: TargetOptions | None = None,
        token_counter: str | None = None,
    ) -> Steps[Compilation]:
        """Compile a turn in one reply, or, when that is too large for one, as a stream.

        Args:
            source: A branch, its id, or an inline snapshot.
            turn: The turn.
            at_revision: The branch revision to compile at; left out, the current one.
            profile: How to compile.
            target: The provider whose wire request is wanted beside the messages.
            target_options: How the target is used.
            token_counter: How tokens are counted; left out, they are not.

        Raises:
            ReservedKeyError: ``provider_kwargs`` holds ``messages``, or with a
                target a key that the target's request has for them.
            ProgressionInvalidError: Ids are unknown or repeated; all are listed.
            ConsecutiveInstructionsError: No assistant turn stands between two instructions.
            FirstMessageNotInstructionError: With a system record, the history
                does not begin with an instruction.
            OpenCallsError: A turn without an instruction, and calls of the last
                round have no outcome.
            TargetUnknownError: No target has the name.
            FieldInvalidError: A context block, schema, kwarg or option breaks its rule.
        """
        request = _request(
            source,
            turn,
            at_revision=at_revision,
            profile=profile,
            target=target,
            target_options=target_options,
            token_counter=token_counter,
        )
        try:
            return (yield from perform(UnaryCall("Compile", request, read_compilation)))
        except SizeLimitExceededError as error:
            if error.metadata.get("limit_name") != "reply_bytes":
                raise
        return (yield from _streamed(request))

    def stream_compile(
        self,
        source: Source,
        turn: TurnRequest,
        *,
        at_revision: int | None = None,
        profile: Profile = "folded",
        target: str | None = None,
        target_options: TargetOptions | None = None,
        token_counter: str | None = None,
    ) -> Steps[Compilation]:
        """Compile a turn of any size as a stream and put it together; as :meth:`compile`.

        Raises:
            StreamIncompleteError: The stream ended before its last result.
        """
        request = _request(
            source,
            turn,
            at_revision=at_revision,
            profile=profile,
            target=target,
            target_options=target_options,
            token_counter=token_counter,
        )
        return _streamed(request)

    def compile_chat_request(self, branch: Source, request: TurnRequest) -> Steps[CompiledChatRequest]:
        """Compile a turn of a branch as it stands (ADR-0007 D1); raises as :meth:`compile`."""
        compiled = yield from self.compile(branch, request)
        return compiled.request

    def list_targets(self) -> Steps[TargetList]:
        """List the targets with what each takes, and the token counters there are."""
        return perform(UnaryCall("ListTargets", target_pb2.ListTargetsRequest(), target_list))


def _request(source: Source, turn: TurnRequest, **how: Unpack[CompileOptions]) -> pb.CompileRequest:
    request = turn_to_proto(turn)
    put_options(request, how)
    put_source(request, source, how.get("at_revision"))
    return request


def _streamed(request: pb.CompileRequest) -> Steps[Compilation]:
    stream = pb.StreamCompileRequest(request=request)
    return read_compilation((yield from perform(StreamCall("StreamCompile", stream, CompiledStream))))
