"""OpenAI Responses: the events of a stream, and the items that a whole answer shares with them.

Reasoning comes twice: in words, to be read, and as the item that holds it
encrypted, to be sent back as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import ProviderDelta, Usage
from antiphon_client.provider_streams.deltas import (
    WORDLESS,
    CallNames,
    bounded,
    call_arguments,
    call_end,
    call_start,
    done,
    error_words,
    opaque,
    whole_arguments,
)
from antiphon_client.provider_streams.shapes import Node, ShapeError

STOP_REASONS = {
    "completed": pb.STOP_REASON_END_TURN,
    "max_output_tokens": pb.STOP_REASON_MAX_TOKENS,
    "max_tokens": pb.STOP_REASON_MAX_TOKENS,
    "content_filter": pb.STOP_REASON_REFUSAL,
}
PARAGRAPH = "\n\n"
"""What stands between two parts of a summary of reasoning."""

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
"""Kinds of calls, and the key of their arguments."""
_WORDS = frozenset({"output_text", "refusal"})
"""Parts of a message that are read as words."""


def usage_of(node: Node) -> ProviderDelta:
    """Return the usage: input net of what was read from the cache, never below 0."""
    details = node.get("input_tokens_details")
    cached = None if details is None else details.count("cached_tokens")
    spent = node.get("output_tokens_details")
    usage = Usage(
        input_tokens=max((node.count("input_tokens") or 0) - (cached or 0), 0),
        output_tokens=node.count("output_tokens") or 0,
        cache_read_tokens=cached,
        thinking_tokens=None if spent is None else spent.count("reasoning_tokens"),
    )
    return ProviderDelta(usage=usage)


def ending(response: Node) -> Iterator[ProviderDelta]:
    """Yield what an ended response says of its cost and why it stopped; the provider's error, if it failed.

    Raises:
        ShapeError: The response has not ended.
    """
    usage = response.get("usage")
    if usage is not None:
        yield usage_of(usage)
    status = response.text("status") or "completed"
    if status == "failed":
        yield ProviderDelta(error=error_words(response) or "the response failed")
    elif status in ("completed", "incomplete"):
        details = response.get("incomplete_details")
        reason = None if details is None else details.text("reason")
        yield done(reason or status, STOP_REASONS)
    else:
        raise ShapeError("status", f"is {bounded(status)}: the response is not complete")


def item_words(item: Node) -> Iterator[ProviderDelta]:
    """Yield the words of a whole item: a message's, or those of reasoning."""
    kind = item.need_text("type")
    if kind == "message":
        for part in item.items("content"):
            part_kind = part.need_text("type")
            if part_kind == "output_text":
                yield ProviderDelta(text=part.need_text("text"))
            elif part_kind == "refusal":
                yield ProviderDelta(refusal=part.need_text("refusal"))
    elif kind == "reasoning":
        for key in ("summary", "content"):
            for index, part in enumerate(item.items(key)):
                yield ProviderDelta(thinking=PARAGRAPH * (index > 0) + part.need_text("text"))


class Items:
    """The items of one response: calls, and what only the provider can read."""

    def __init__(self) -> None:
        self._names = CallNames()

    def start_unknown(self) -> ProviderDelta:
        """Start a call of which only pieces came, so that it is seen to be not whole."""
        return call_start(self._names.take(None), "")

    def start(self, item: Node) -> tuple[str, Iterator[ProviderDelta]]:
        """Return the name of the call that an item begins, and its start; "" for other items."""
        kind = item.need_text("type")
        if kind not in _CALLS:
            return "", iter(())
        name = self._names.take(item.text("call_id"))
        start = call_start(name, item.need_text("name"), is_free_text=kind == "custom_tool_call")
        return name[0], iter((start,))

    def end(self, item: Node, call_id: str) -> Iterator[ProviderDelta]:
        """Yield what is known of an item only when it has ended; a call that was cut does not end."""
        kind = item.need_text("type")
        if kind == "message":
            for part in item.items("content"):
                part_kind = part.need_text("type")
                if part_kind not in _WORDS:
                    yield opaque(part, part_kind)
        elif kind not in _CALLS:
            yield opaque(item, kind)
        elif call_id and item.text("status") != "incomplete":
            yield whole_arguments(call_id, item.text(_CALLS[kind]) or "")
            yield call_end(call_id)


class _StartedCall(NamedTuple):
    """A call that has started: its name within the response, and the provider's id."""

    name: str
    call_id: str | None


class Reader:
    """Reads the events of one stream."""

    def __init__(self) -> None:
        self._items = Items()
        self._calls: dict[int, _StartedCall] = {}
        # Where pieces of calls came that had not started.
        self._unstarted: set[int] = set()
        self._has_ended: set[tuple[int, str]] = set()
        self._model_known = False
        self._on: dict[str, Callable[[Node], Iterator[ProviderDelta]]] = {
            "response.output_text.delta": self._text,
            "response.refusal.delta": self._refusal,
            "response.reasoning_summary_part.added": self._summary_part,
            "response.reasoning_summary_text.delta": self._thinking,
            "response.reasoning_text.delta": self._thinking,
            "response.content_part.added": self._content_part,
            "response.output_item.added": self._added,
            "response.function_call_arguments.delta": self._arguments,
            "response.custom_tool_call_input.delta": self._arguments,
            "response.output_item.done": self._ended,
            "response.completed": self._ending,
            "response.incomplete": self._ending,
            "response.failed": self._ending,
            "error": self._error,
        }

    def read(self, event: Node) -> Iterator[ProviderDelta]:
        """Yield what one event says; events of other kinds say nothing of the response.

        Raises:
            ShapeError: It is no event.
        """
        error = error_words(event)
        if error is not None:
            yield ProviderDelta(error=error)
            return
        response = event.get("response")
        model = None if response is None else response.text("model")
        if model and not self._model_known:
            self._model_known = True
            yield ProviderDelta(model=model)
        handler = self._on.get(event.need_text("type"))
        if handler is not None:
            yield from handler(event)

    def finish(self) -> Iterator[ProviderDelta]:
        """Nothing waits for the end of the stream."""
        return iter(())

    def _text(self, event: Node) -> Iterator[ProviderDelta]:
        yield ProviderDelta(text=event.need_text("delta"))

    def _refusal(self, event: Node) -> Iterator[ProviderDelta]:
        yield ProviderDelta(refusal=event.need_text("delta"))

    def _thinking(self, event: Node) -> Iterator[ProviderDelta]:
        yield ProviderDelta(thinking=event.need_text("delta"))

    def _summary_part(self, event: Node) -> Iterator[ProviderDelta]:
        if event.count("summary_index"):
            yield ProviderDelta(thinking=PARAGRAPH)

    def _content_part(self, event: Node) -> Iterator[ProviderDelta]:
        if event.count("content_index") and event.need("part").text("type") == "reasoning_text":
            yield ProviderDelta(thinking=PARAGRAPH)

    def _added(self, event: Node) -> Iterator[ProviderDelta]:
        yield from self._started(event.need("item"), _index(event))

    def _arguments(self, event: Node) -> Iterator[ProviderDelta]:
        index = _index(event)
        call = self._calls.get(index)
        if call is None:
            # The end of the item may still say the whole of it.
            self._unstarted.add(index)
        else:
            yield call_arguments(call.name, event.need_text("delta"))

    def _ended(self, event: Node) -> Iterator[ProviderDelta]:
        item, index = event.need("item"), _index(event)
        key = (index, item.text("id") or item.text("call_id") or item.raw)
        if key in self._has_ended:
            return
        self._has_ended.add(key)
        yield from self._started(item, index)
        self._unstarted.discard(index)
        call = self._calls.get(index)
        yield from self._items.end(item, "" if call is None else call.name)

    def _started(self, item: Node, index: int) -> Iterator[ProviderDelta]:
        """Yield the start of the call that an item is, unless it has started at its place."""
        call_id = item.text("call_id")
        former = self._calls.get(index)
        if former is not None and call_id in (None, former.call_id):
            return
        name, start = self._items.start(item)
        if name:
            self._calls[index] = _StartedCall(name, call_id)
        yield from start

    def _ending(self, event: Node) -> Iterator[ProviderDelta]:
        while self._unstarted:
            self._unstarted.pop()
            yield self._items.start_unknown()
        yield from ending(event.need("response"))

    def _error(self, event: Node) -> Iterator[ProviderDelta]:
        words = ": ".join(word for word in (event.text("code"), event.text("message")) if word)
        yield ProviderDelta(error=bounded(words or WORDLESS))


def _index(event: Node) -> int:
    return event.count("output_index") or 0
