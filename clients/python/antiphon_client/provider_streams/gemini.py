"""Gemini generateContent: a stream's chunks, each of the shape of a whole answer.

A signature stands beside the part it signs. Beside a call it goes with the
call; beside text or nothing it becomes reasoning without words, in its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import ProviderDelta, Usage
from antiphon_client.provider_streams.deltas import CallNames, done, error_words, opaque, whole_call
from antiphon_client.provider_streams.shapes import Node, ShapeError

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

_ATTRIBUTES = frozenset({"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"})
"""Members of a part that say something of it and are not what it holds."""


def usage_of(node: Node) -> ProviderDelta:
    """Return the usage: input net of the cache, never below 0; Gemini's output excludes the thoughts."""
    cached = node.count("cachedContentTokenCount")
    prompt = (node.count("promptTokenCount") or 0) + (node.count("toolUsePromptTokenCount") or 0)
    usage = Usage(
        input_tokens=max(prompt - (cached or 0), 0),
        output_tokens=node.count("candidatesTokenCount") or 0,
        cache_read_tokens=cached,
        thinking_tokens=node.count("thoughtsTokenCount"),
    )
    return ProviderDelta(usage=usage)


class Reader:
    """Reads the chunks of one stream, or the one chunk that a whole answer is."""

    def __init__(self) -> None:
        self._names = CallNames()
        self._held: ProviderDelta | None = None
        self._model_known = False

    def read(self, chunk: Node) -> Iterator[ProviderDelta]:
        """Yield what one chunk says.

        Raises:
            ShapeError: It is no chunk.
        """
        error = error_words(chunk)
        if error is not None:
            yield ProviderDelta(error=error)
            return
        model = chunk.text("modelVersion")
        if model and not self._model_known:
            self._model_known = True
            yield ProviderDelta(model=model)
        feedback = chunk.get("promptFeedback")
        if feedback is not None:
            yield from self._feedback(feedback)
        for candidate in chunk.items("candidates"):
            # Only the first of several answers is read.
            if not candidate.count("index"):
                yield from self._candidate(candidate)
        usage = chunk.get("usageMetadata")
        if usage is not None:
            yield usage_of(usage)

    def finish(self) -> Iterator[ProviderDelta]:
        """Yield the end of the response, which comes after the last usage, if a reason for it was said."""
        if self._held is not None:
            held, self._held = self._held, None
            yield held

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

    def _part(self, part: Node) -> Iterator[ProviderDelta]:
        signature = part.text("thoughtSignature")
        call = part.get("functionCall")
        if call is not None:
            arguments = call.get("args")
            if arguments is not None and not isinstance(arguments.value, dict):
                raise ShapeError(arguments.path, "must be an object")
            text = "{}" if arguments is None else arguments.raw
            name = self._names.take(call.text("id"))
            yield from whole_call(name, call.need_text("name"), text, signature=signature)
            return
        words = part.text("text")
        kind = next((key for key, _ in part.members() if key not in _ATTRIBUTES and key != "text"), None)
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
