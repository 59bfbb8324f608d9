"""A reduced response as the messages to append and everything said about it.

Streamed and whole responses both come through here, so that the same answer
gives the same messages however it arrived.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.compiler.v1 import compiled_message_pb2 as note_pb
from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.compiled_message_pb2 import CompileNote
from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.importing.calls import position_of
from antiphon_client.json_text import dump_json_text
from antiphon_client.openai_chat.custom_calls import mark_custom_call
from antiphon_client.provider_streams.call_arguments import read_arguments
from antiphon_client.provider_streams.faults import cut_reason, is_error, verdict
from antiphon_client.provider_streams.reducer import (
    ReducedCall,
    ReducedOpaque,
    ReducedPart,
    ReducedText,
    ReducedThinking,
    Reduction,
)
from antiphon_client.provider_streams.targets import OPENAI_CHAT, PROVIDERS, UNORDERED
from antiphon_client.provider_streams.text_calls import take_text_call

_REPAIRED = "the arguments were no JSON; control characters, escapes or commas were mended, nothing was added"
_NO_OBJECT = "the arguments are no JSON object; the call has none, and their text is kept beside"
_TEXT_CALL = "the text was a call written as JSON; it became that call"


_DIGEST_NAMES: dict[type[ReducedPart], str] = {
    ReducedText: "TextPart",
    ReducedThinking: "ThinkingPart",
    ReducedCall: "CallPart",
    ReducedOpaque: "OpaquePart",
}
"""What the parts are called where ids are made of them; another word would make other ids."""


@dataclass(frozen=True, slots=True)
class ResponseContext:
    """What is known of a response beside its deltas.

    Attributes:
        target: The provider's API; one of ``PROVIDERS``.
        model: The model that answers, where the response does not say; "" for not known.
        action_names: A provider's name of an action to the action's own.
    """

    target: str
    model: str = ""
    action_names: Mapping[str, str] = field(default_factory=dict)


def response_fields(reduction: Reduction, context: ResponseContext) -> dict[str, Any]:
    """Return the fields of a ParseResponseResponse or AssembleResponseResponse, which are the same.

    The reduction is used up.
    """
    report: list[CompileNote] = []
    if take_text_call(reduction):
        report.append(CompileNote(kind=note_pb.COMPILE_NOTE_KIND_PART_CONVERTED, reason=_TEXT_CALL))
    reasons = ((call, cut_reason(call, reduction)) for call in reduction.calls)
    cut = [(call, reason) for call, reason in reasons if reason is not None]
    fault = verdict(reduction, cut)
    left_out = {id(call) for call, _ in cut}
    reduction.parts = [part for part in reduction.parts if id(part) not in left_out]
    for call, reason in cut:
        text = f"a call of {call.start.name!r} was left out: {reason}"
        report.append(CompileNote(kind=note_pb.COMPILE_NOTE_KIND_PART_DROPPED, reason=text))
    parts = _in_order(reduction.parts, context.target)
    fields: dict[str, Any] = {
        "messages": _Records(reduction, context, report).messages(parts, fault),
        "stop_reason": _stop_reason(reduction),
        "usage": reduction.usage,
        "report": report,
        "fault": fault,
    }
    done = reduction.done
    if done is not None and done.HasField("provider_stop_reason"):
        fields["provider_stop_reason"] = done.provider_stop_reason
    if reduction.refusal:
        fields["refusal"] = reduction.refusal
    return fields


def _stop_reason(reduction: Reduction) -> pb.StopReason.ValueType:
    """Return why the model stopped; what it did says more than a plain end."""
    if reduction.done is None:
        return pb.STOP_REASON_UNSPECIFIED
    reason = reduction.done.stop_reason
    if reason != pb.STOP_REASON_END_TURN:
        return reason
    if reduction.calls:
        return pb.STOP_REASON_TOOL_USE
    return pb.STOP_REASON_REFUSAL if reduction.refusal else reason


def _in_order(parts: Sequence[ReducedPart], target: str) -> list[ReducedPart]:
    """Return the parts in the order that counts: for targets without one, reasoning, text, calls."""
    kept = [
        part for part in parts if not isinstance(part, ReducedThinking) or part.signatures or any(part.pieces)
    ]
    if target not in UNORDERED:
        return kept
    thinking = [piece for part in kept if isinstance(part, ReducedThinking) for piece in part.pieces]
    signatures = [piece for part in kept if isinstance(part, ReducedThinking) for piece in part.signatures]
    text = [piece for part in kept if isinstance(part, ReducedText) for piece in part.pieces]
    ordered: list[ReducedPart] = []
    if thinking or signatures:
        ordered.append(ReducedThinking(thinking, signatures))
    if text:
        ordered.append(ReducedText(text))
    ordered += [part for part in kept if isinstance(part, ReducedOpaque)]
    ordered += [part for part in kept if isinstance(part, ReducedCall)]
    return ordered


class _Records:
    """Makes the records of one response."""

    def __init__(self, reduction: Reduction, context: ResponseContext, report: list[CompileNote]) -> None:
        self._reduction = reduction
        self._context = context
        self._report = report
        self._provider = PROVIDERS[context.target]
        self._model = reduction.model or context.model

    def messages(self, parts: Sequence[ReducedPart], fault: pb.ResponseFault | None) -> list[Message]:
        """Return the assistant's turn and its calls; nothing of an incomplete response that said nothing."""
        if not parts and is_error(fault):
            return []
        turn = Message(metadata_json=self._metadata())
        if fault is not None and fault.kind != pb.RESPONSE_FAULT_KIND_ADVISORY:
            turn.status = message_pb2.MESSAGE_STATUS_INTERRUPTED
        turn.recipient.role = message_pb2.ROLE_USER
        content = turn.assistant_response
        content.assistant_response = "".join(part.text for part in parts if isinstance(part, ReducedText))
        calls: list[Message] = []
        suffix = self._suffix(parts)
        blocks: list[block_pb.ContentBlock] = []
        for part in parts:
            if isinstance(part, ReducedCall):
                record = self._call(part, f"call_{len(calls)}_{suffix}")
                calls.append(record)
                blocks.append(position_of(record.action_request))
            else:
                blocks.append(self._block(part))
        if any(block.WhichOneof("block") != "text" for block in blocks):
            content.blocks.extend(blocks)
        return [turn, *calls]

    def _block(self, part: ReducedText | ReducedThinking | ReducedOpaque) -> block_pb.ContentBlock:
        if isinstance(part, ReducedText):
            return block_pb.ContentBlock(text=block_pb.Text(text=part.text))
        if isinstance(part, ReducedThinking):
            thinking = block_pb.Thinking(
                thinking="".join(part.pieces),
                signature="".join(part.signatures) if part.signatures else None,
                provider=self._provider,
                model=self._model or None,
            )
            return block_pb.ContentBlock(thinking=thinking)
        opaque = block_pb.Opaque(
            provider=self._provider, model=self._model, kind=part.kind, data_json=part.data_json
        )
        return block_pb.ContentBlock(opaque=opaque)

    def _call(self, part: ReducedCall, made_id: str) -> Message:
        start = part.start
        record = Message()
        request = record.action_request
        request.function = self._context.action_names.get(start.name, start.name)
        request.provider_call_id = made_id if start.id_is_local else start.id
        if start.HasField("thought_signature"):
            request.thought_signature = start.thought_signature
        if start.is_free_text:
            request.arguments_text = part.arguments
            if self._context.target == OPENAI_CHAT:
                mark_custom_call(record)
        else:
            self._put_arguments(request, part)
        return record

    def _put_arguments(self, request: message_pb2.ActionRequestContent, part: ReducedCall) -> None:
        arguments = read_arguments(part.arguments)
        request.arguments_json = arguments.object_json
        if arguments.other_text is None or not part.has_arguments:
            return
        request.arguments_text = arguments.other_text
        if arguments.is_repaired:
            self._note(note_pb.COMPILE_NOTE_KIND_ARGUMENTS_REPAIRED, request, _REPAIRED)
        elif arguments.other_text.strip():
            self._note(note_pb.COMPILE_NOTE_KIND_ARGUMENTS_WRAPPED, request, _NO_OBJECT)

    def _note(
        self,
        kind: note_pb.CompileNoteKind.ValueType,
        request: message_pb2.ActionRequestContent,
        reason: str,
    ) -> None:
        self._report.append(CompileNote(kind=kind, reason=f"{reason}: {request.function!r}"))

    def _metadata(self) -> str:
        """Return the turn's metadata: who answered, the cost, the word for stopping, a refusal's words."""
        reduction = self._reduction
        metadata: dict[str, Any] = {"provider": self._provider}
        if self._model:
            metadata["model"] = self._model
        if reduction.usage is not None:
            usage = reduction.usage
            counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
            for name in ("cache_read_tokens", "cache_creation_tokens", "thinking_tokens"):
                if usage.HasField(name):
                    counts[name] = getattr(usage, name)
            metadata["usage"] = counts
        if reduction.done is not None and reduction.done.provider_stop_reason:
            metadata["stop_reason"] = reduction.done.provider_stop_reason
        if reduction.refusal:
            metadata["refusal"] = reduction.refusal
        return dump_json_text(metadata)

    def _suffix(self, parts: Sequence[ReducedPart]) -> str:
        """Return what ends the ids that are made: of the whole answer, so that another one has others."""
        # Everything but the provider's names for calls, which may be local to a stream.
        digest = hashlib.sha256(self._metadata().encode())
        texts: tuple[str, ...]
        for part in parts:
            if isinstance(part, ReducedCall):
                texts = (part.start.name, part.arguments, part.start.thought_signature)
            elif isinstance(part, ReducedOpaque):
                texts = (part.kind, part.data_json)
            elif isinstance(part, ReducedText):
                texts = (part.text,)
            else:
                texts = ("".join(part.pieces), "".join(part.signatures))
            for text in (_DIGEST_NAMES[type(part)], *texts):
                encoded = text.encode()
                digest.update(b"%d:" % len(encoded) + encoded)
        return digest.hexdigest()[:12]
