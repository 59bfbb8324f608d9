"""What a provider answered, read into messages: the results of parse and assemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon_client.compiled_codec import compile_notes
from antiphon_client.messages import ActionRequest, AssistantResponse, Message, from_proto
from antiphon_client.provider_streams.faults import incomplete_error, is_error
from antiphon_client.turn import CompileNote

StopReason: TypeAlias = Literal["unspecified", "end_turn", "tool_use", "max_tokens", "refusal"]
"""Why a model stopped."""

FaultKind: TypeAlias = Literal["advisory", "partial", "failed", "no_terminal", "truncated_call"]
"""How bad a fault of a stream is."""

_STOP_REASONS: dict[int, StopReason] = {
    pb.STOP_REASON_END_TURN: "end_turn",
    pb.STOP_REASON_TOOL_USE: "tool_use",
    pb.STOP_REASON_MAX_TOKENS: "max_tokens",
    pb.STOP_REASON_REFUSAL: "refusal",
}
_FAULT_KINDS: dict[int, FaultKind] = {
    pb.RESPONSE_FAULT_KIND_ADVISORY: "advisory",
    pb.RESPONSE_FAULT_KIND_PARTIAL: "partial",
    pb.RESPONSE_FAULT_KIND_FAILED: "failed",
    pb.RESPONSE_FAULT_KIND_NO_TERMINAL: "no_terminal",
    pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL: "truncated_call",
}


@dataclass(frozen=True, slots=True)
class Usage:
    """What a response cost, in tokens; None where the provider does not say.

    Attributes:
        input_tokens: Input, what was read from a cache not counted.
        output_tokens: Output, reasoning included where the provider counts it so.
        cache_read_tokens: Input read from a cache.
        cache_creation_tokens: Input written to a cache.
        thinking_tokens: Reasoning.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None
    thinking_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ResponseFault:
    """What went wrong with a response: how bad, and the provider's words or what was cut."""

    kind: FaultKind
    detail: str


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    """A provider's answer as messages.

    Attributes:
        messages: The messages to append, in order: an AssistantResponse, then an
            ActionRequest for every call. None, where nothing was said before a fault.
        stop_reason: Why the model stopped.
        usage: What it cost; None where the provider does not say.
        report: What was repaired, converted or left out.
        provider_stop_reason: The provider's own word for why the model stopped.
        refusal: The model's refusal, or the provider's reason for blocking.
        fault: What went wrong; None for nothing.
    """

    messages: tuple[Message, ...]
    stop_reason: StopReason
    usage: Usage | None
    report: tuple[CompileNote, ...]
    provider_stop_reason: str | None
    refusal: str | None
    fault: ResponseFault | None

    @property
    def text(self) -> str:
        """The text of the answer."""
        return "".join(each.response for each in self.messages if isinstance(each, AssistantResponse))

    @property
    def calls(self) -> tuple[ActionRequest, ...]:
        """The calls, in order."""
        return tuple(each for each in self.messages if isinstance(each, ActionRequest))


def provider_response(reply: pb.ParseResponseResponse | pb.AssembleResponseResponse) -> ProviderResponse:
    """Read the reply of ParseResponse or AssembleResponse."""
    return ProviderResponse(
        messages=tuple(map(from_proto, reply.messages)),
        stop_reason=_STOP_REASONS.get(reply.stop_reason, "unspecified"),
        usage=_usage(reply.usage) if reply.HasField("usage") else None,
        report=compile_notes(reply.report),
        provider_stop_reason=reply.provider_stop_reason if reply.HasField("provider_stop_reason") else None,
        refusal=reply.refusal if reply.HasField("refusal") else None,
        fault=_fault(reply.fault) if reply.HasField("fault") else None,
    )


def whole_or_raise(
    reply: pb.ParseResponseResponse | pb.AssembleResponseResponse, keep_partial: bool
) -> ProviderResponse:
    """Read a reply that was asked to keep what there is.

    Raises:
        StreamIncompleteError: The response is incomplete and ``keep_partial`` is
            not set; what was said is its ``partial``.
    """
    response = provider_response(reply)
    if not keep_partial and is_error(reply.fault):
        error = incomplete_error(reply.fault)
        error.partial = response
        raise error
    return response


def _usage(usage: pb.Usage) -> Usage:
    cache_creation = usage.cache_creation_tokens if usage.HasField("cache_creation_tokens") else None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens if usage.HasField("cache_read_tokens") else None,
        cache_creation_tokens=cache_creation,
        thinking_tokens=usage.thinking_tokens if usage.HasField("thinking_tokens") else None,
    )


def _fault(fault: pb.ResponseFault) -> ResponseFault:
    return ResponseFault(_FAULT_KINDS.get(fault.kind, "partial"), fault.detail)
