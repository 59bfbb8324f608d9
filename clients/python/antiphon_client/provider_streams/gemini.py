"""Gemini generateContent: a stream's chunks, each of the shape of a whole answer.

A signature stands beside the part it signs. Beside a call it goes with the
call; beside text or nothing it becomes reasoning without words, in its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.gemini_contents.spelling import PART_ATTRIBUTES
from antiphon_client.provider_streams.deltas import (
    CallNames,
    ModelName,
    bounded,
    done,
    error_words,
    net_of,
    opaque,
    spent,
    whole_call,
)
from antiphon_client.provider_streams.gemini_partial_calls import PartialCalls, object_of
from antiphon_client.provider_streams.shapes import Node

STOP_REASONS = {
    "STOP": pb.STOP_REASON_END_TURN,
    "MAX_TOKENS": pb.STOP_REASON_MAX_TOKENS,
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "MODEL_ARMOR",
        ),
        pb.STOP_REASON_REFUSAL,
    ),
}

_FAULTS = frozenset(
    (
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "TOO_MANY_TOOL_CALLS",
        "UNEXPECTED_TOOL_CALL",
    )
)
"""Reasons for stopping that are faults: what the model wrote last is not in the answer."""


def usage_of(node: Node) -> Iterator[ProviderDelta]:
    """Yield the usage: input net of the cache; Gemini's output excludes the thoughts."""
    cached = node.count_or_none("cachedContentTokenCount")
    given = [node.count_or_none(key) for key in ("promptTokenCount", "toolUsePromptTokenCount")]
    known = [count for count in given if count is not None]
    return spent(
        net_of(sum(known) if known else None, cached),
        node.count_or_none("candidatesTokenCount"),
        cache_read_tokens=cached,
        thinking_tokens=node.count_or_none("thoughtsTokenCount"),
    )


class Reader:
    """Reads the chunks of one stream, or the one chunk that a whole answer is."""

    def __init__(self) -> None:
        self._names = CallNames()
        self._partial = PartialCalls(self._names)
        self._held: ProviderDelta | None = None
        self._fault: ProviderDelta | None = None
        self._model = ModelName()

    def read(self, chunk: Node) -> Iterator[ProviderDelta]:
        """Yield what one chunk says.

        Raises:
            ShapeError: It is no chunk.
        """
        error = error_words(chunk)
        if error is not None:
            yield ProviderDelta(error=error)
            return
        yield from self._model.tell(chunk.text("modelVersion"))
        feedback = chunk.get("promptFeedback")
        if feedback is not None:
            yield from self._feedback(feedback)
        for candidate in chunk.items("candidates"):
            # Only the first of several answers is read.
            if not candidate.count("index"):
                yield from self._candidate(candidate)
        usage = chunk.get("usageMetadata")
        if usage is not None:
            yield from usage_of(usage)

    def finish(self) -> Iterator[ProviderDelta]:
        """Yield the end of the response, which comes after the last usage, if a reason for it was said."""
        yield from self._partial.end()
        ending, self._held, self._fault = (self._held, self._fault), None, None
        # A fault after the end: what was said is not all that the model wrote.
        yield from (delta for delta in ending if delta is not None)

    def _feedback(self, feedback: Node) -> Iterator[ProviderDelta]:
        word = feedback.text("blockReason")
        if word:
            yield ProviderDelta(refusal=feedback.text("blockReasonMessage") or word)
            self._held = done(word, {word: pb.STOP_REASON_REFUSAL})

    def _candidate(self, candidate: Node) -> Iterator[ProviderDelta]:
        content = candidate.get("content")
        if content is not None:
            for part in content.items("parts"):
                yield from self._part(part)
        word = candidate.text("finishReason")
        if word:
            self._held = done(word, STOP_REASONS)
            if STOP_REASONS.get(word) == pb.STOP_REASON_REFUSAL:
                yield ProviderDelta(refusal=candidate.text("finishMessage") or word)
            elif word in _FAULTS:
                words = ": ".join(filter(None, (word, candidate.text("finishMessage"))))
                self._fault = ProviderDelta(error=bounded(words))

    def _call(self, call: Node, signature: str | None) -> Iterator[ProviderDelta]:
        if self._partial.takes(call):
            yield from self._partial.add(call, signature)
            return
        yield from self._partial.end()
        arguments = object_of(call)
        text = "{}" if arguments is None else arguments.raw
        name = self._names.take(call.text("id"))
        yield from whole_call(name, call.need_text("name"), text, signature=signature)

    def _part(self, part: Node) -> Iterator[ProviderDelta]:
        signature = part.text("thoughtSignature")
        call = part.get("functionCall")
        if call is not None:
            yield from self._call(call, signature)
            return
        words = part.text("text")
        kind = next((key for key, _ in part.members() if key not in PART_ATTRIBUTES and key != "text"), None)
        if words is None and kind is not None:
            # The part holds its signature itself.
            yield opaque(part, kind)
        elif part.flag("thought"):
            if words or signature:
                yield ProviderDelta(thinking=words or "")
            if signature:
                yield ProviderDelta(thinking_signature=signature)
        else:
            if words:
                yield ProviderDelta(text=words)
            if signature:
                yield ProviderDelta(thinking="")
                yield ProviderDelta(thinking_signature=signature)
