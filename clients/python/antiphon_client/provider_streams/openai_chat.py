"""OpenAI Chat Completions: the chunks of a stream, and the parts that a whole answer shares with them.

Servers that speak this API differ in what they leave out, so a call may lack
its id or its index, reasoning comes under two keys, and usage may come before,
with or after the reason for stopping.
"""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import ProviderDelta, Usage
from antiphon_client.provider_streams.deltas import done, error_words, opaque
from antiphon_client.provider_streams.openai_chat_calls import Calls
from antiphon_client.provider_streams.shapes import Node

STOP_REASONS = {
    "stop": pb.STOP_REASON_END_TURN,
    "tool_calls": pb.STOP_REASON_TOOL_USE,
    "function_call": pb.STOP_REASON_TOOL_USE,
    "length": pb.STOP_REASON_MAX_TOKENS,
    "incomplete": pb.STOP_REASON_MAX_TOKENS,
    "content_filter": pb.STOP_REASON_REFUSAL,
    "content_policy_violation": pb.STOP_REASON_REFUSAL,
}


def usage_of(node: Node) -> ProviderDelta:
    """Return the usage: input net of what was read from the cache, never below 0."""
    details = node.get("prompt_tokens_details")
    cached = None if details is None else details.count("cached_tokens")
    if cached is None:
        cached = node.count("prompt_cache_hit_tokens")
    spent = node.get("completion_tokens_details")
    usage = Usage(
        input_tokens=max((node.count("prompt_tokens") or 0) - (cached or 0), 0),
        output_tokens=node.count("completion_tokens") or 0,
        cache_read_tokens=cached,
        thinking_tokens=None if spent is None else spent.count("reasoning_tokens"),
    )
    return ProviderDelta(usage=usage)


def said(message: Node) -> Iterator[ProviderDelta]:
    """Yield what a message, or a piece of one, says beside its calls."""
    for key in ("reasoning_content", "reasoning"):
        reasoning = message.text(key)
        if reasoning:
            yield ProviderDelta(thinking=reasoning)
            break
    content = message.get("content")
    if content is not None and isinstance(content.value, list):
        for part in message.items("content"):
            yield from _part(part)
    elif text := message.text("content"):
        yield ProviderDelta(text=text)
    if refusal := message.text("refusal"):
        yield ProviderDelta(refusal=refusal)


def _part(part: Node) -> Iterator[ProviderDelta]:
    kind = part.need_text("type")
    if kind == "text":
        yield ProviderDelta(text=part.need_text("text"))
    elif kind == "refusal":
        yield ProviderDelta(refusal=part.need_text("refusal"))
    elif kind == "thinking":
        for piece in part.items("thinking"):
            yield ProviderDelta(thinking=piece.need_text("text"))
    else:
        yield opaque(part, kind)


class Reader:
    """Reads the chunks of one stream."""

    def __init__(self) -> None:
        self._calls = Calls()
        self._held: ProviderDelta | None = None
        self._has_stopped = False
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
        model = chunk.text("model")
        if model and not self._model_known:
            self._model_known = True
            yield ProviderDelta(model=model)
        usage = chunk.get("usage")
        for choice in chunk.items("choices"):
            # Only the first of several answers is read.
            if not choice.count("index"):
                yield from self._choice(choice)
                usage = usage or choice.get("usage")
        if usage is not None:
            yield usage_of(usage)
            yield from self.finish()

    def finish(self) -> Iterator[ProviderDelta]:
        """Yield the end of the response, which waits for the usage, if the reason for stopping was said."""
        if self._has_stopped:
            # Pieces of calls may have come after it.
            yield from self._calls.end()
        if self._held is not None:
            held, self._held = self._held, None
            yield held

    def _choice(self, choice: Node) -> Iterator[ProviderDelta]:
        delta = choice.get("delta")
        if delta is not None:
            yield from said(delta)
            yield from _calls(delta, self._calls)
        word = choice.text("finish_reason")
        if word:
            yield from self._calls.end()
            self._has_stopped = True
            self._held = done(word, STOP_REASONS)


def calls_of(message: Node) -> Iterator[ProviderDelta]:
    """Yield the calls of a whole message.

    Raises:
        ShapeError: One is no call.
    """
    for item in message.items("tool_calls"):
        (item.get("custom") or item.need("function")).need_text("name")
    calls = Calls()
    yield from _calls(message, calls)
    yield from calls.end()


def _calls(message: Node, calls: Calls) -> Iterator[ProviderDelta]:
    """Take the calls in a message, or the pieces of calls in a part of one."""
    for position, item in enumerate(message.items("tool_calls")):
        yield from calls.add(item, position)
    legacy = message.get("function_call")
    if legacy is not None:
        yield from calls.add_legacy(legacy)
