"""OpenAI Chat Completions: the chunks of a stream, and the parts that a whole answer shares with them.

Servers that speak this API differ in what they leave out, so a call may lack
its id or its index, reasoning comes under two keys, and usage may come before,
with or after the reason for stopping.
"""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.provider_streams.deltas import ModelName, done, error_words, net_of, opaque, spent
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


def usage_of(node: Node) -> Iterator[ProviderDelta]:
    """Yield the usage: input net of what was read from the cache."""
    cached = node.count_or_none("prompt_tokens_details", "cached_tokens")
    if cached is None:
        cached = node.count_or_none("prompt_cache_hit_tokens")
    return spent(
        net_of(node.count_or_none("prompt_tokens"), cached),
        node.count_or_none("completion_tokens"),
        cache_read_tokens=cached,
        thinking_tokens=node.count_or_none("completion_tokens_details", "reasoning_tokens"),
    )


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


def is_first(choice: Node) -> bool:
    """Tell whether an answer is the one that is read of several: that of index 0, and the first without it.

    Raises:
        ShapeError: It is no answer.
    """
    return not choice.count("index")


class _Answer:
    """One of the answers that a stream gives side by side."""

    def __init__(self) -> None:
        self._calls = Calls()
        self._held: ProviderDelta | None = None
        self._has_stopped = False

    def read(self, choice: Node) -> Iterator[ProviderDelta]:
        delta = choice.get("delta")
        if delta is not None:
            yield from said(delta)
            yield from _calls(delta, self._calls)
        word = choice.text("finish_reason")
        if word:
            yield from self._calls.end()
            self._has_stopped = True
            self._held = done(word, STOP_REASONS)

    def end(self) -> Iterator[ProviderDelta]:
        """Yield the end, which waits for the usage, if the reason for stopping was said."""
        if self._has_stopped:
            # Pieces of calls may have come after it.
            yield from self._calls.end()
        if self._held is not None:
            held, self._held = self._held, None
            yield held


class Reader:
    """Reads the chunks of one stream."""

    def __init__(self) -> None:
        self._answer = _Answer()
        self._has_first = False
        # Of another index, kept until the one that is read begins, or never does.
        self._other_index: int | None = None
        self._aside: list[ProviderDelta] = []
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
        yield from self._model.tell(chunk.text("model"))
        usage = chunk.get("usage")
        for choice in chunk.items("choices"):
            if is_first(choice):
                yield from self._first(choice)
                usage = usage or choice.get("usage")
            elif not self._has_first:
                self._set_aside(choice)
        if usage is not None:
            yield from usage_of(usage)
            if self._has_first:
                yield from self._answer.end()

    def finish(self) -> Iterator[ProviderDelta]:
        """Yield what waited for the end of the stream."""
        aside, self._aside = self._aside, []
        yield from aside
        yield from self._answer.end()

    def _first(self, choice: Node) -> Iterator[ProviderDelta]:
        if not self._has_first:
            self._has_first = True
            self._answer, self._aside = _Answer(), []
        yield from self._answer.read(choice)

    def _set_aside(self, choice: Node) -> None:
        index = choice.count("index")
        if self._other_index in (None, index):
            self._other_index = index
            self._aside += self._answer.read(choice)


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
