"""OpenAI Responses: the events of a stream, and the items that a whole answer shares with them.

Reasoning comes twice: in words, to be read, and as the item that holds it
encrypted, to be sent back as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.provider_streams.deltas import (
    WORDLESS,
    CallNames,
    ModelName,
    bounded,
    call_arguments,
    call_end,
    call_start,
    done,
    error_words,
    net_of,
    opaque,
    spent,
    whole_arguments,
)
from antiphon_client.provider_streams.openai_responses_words import SaidWords
from antiphon_client.provider_streams.shapes import Node, ShapeError

STOP_REASONS = {
    "completed": pb.STOP_REASON_END_TURN,
    "max_output_tokens": pb.STOP_REASON_MAX_TOKENS,
    "max_tokens": pb.STOP_REASON_MAX_TOKENS,
    "content_filter": pb.STOP_REASON_REFUSAL,
}
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
"""Kinds of calls, and the key of their arguments."""
_WORDS = frozenset({"output_text", "refusal"})
"""Parts of a message that are read as words."""


def usage_of(node: Node) -> Iterator[ProviderDelta]:
    """Yield the usage: input net of what was read from the cache."""
    cached = node.count_or_none("input_tokens_details", "cached_tokens")
    return spent(
        net_of(node.count_or_none("input_tokens"), cached),
        node.count_or_none("output_tokens"),
        cache_read_tokens=cached,
        thinking_tokens=node.count_or_none("output_tokens_details", "reasoning_tokens"),
    )


def ending(response: Node) -> Iterator[ProviderDelta]:
    """Yield what an ended response says of its cost and why it stopped; the provider's error, if it failed.

    Raises:
        ShapeError: The response has not ended.
    """
    usage = response.get("usage")
    if usage is not None:
        yield from usage_of(usage)
    status = response.text("status") or "completed"
    if status == "failed":
        yield ProviderDelta(error=error_words(response) or "the response failed")
    elif status in ("completed", "incomplete"):
        details = response.get("incomplete_details")
        reason = None if details is None else details.text("reason")
        yield done(reason or status, STOP_REASONS)
    else:
        raise ShapeError("status", f"is {bounded(status)}: the response is not complete")


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


@dataclass(slots=True)
class _StartedCall:
    """A call that has started.

    Attributes:
        name: Its name within the response.
        call_id: The provider's id; None for none.
        pieces: Its arguments so far.
        has_arguments: Whether they are known to be all.
        has_ended: Whether its item has ended.
    """

    name: str
    call_id: str | None
    pieces: list[str] = field(default_factory=list)
    has_arguments: bool = False
    has_ended: bool = False


class Reader:
    """Reads the events of one stream."""

    def __init__(self) -> None:
        self._items = Items()
        self._words = SaidWords()
        self._calls: dict[int, _StartedCall] = {}
        self._calls_in_order: list[_StartedCall] = []
        self._by_call_id: dict[str, _StartedCall] = {}
        # Where pieces of calls came that had not started.
        self._unstarted: set[int] = set()
        self._has_ended: set[tuple[int, str]] = set()
        self._ended_places: set[int] = set()
        self._ended_ids: set[str] = set()
        self._model = ModelName()
        self._on: dict[str, Callable[[Node], Iterator[ProviderDelta]]] = {
            "response.output_text.delta": self._text,
            "response.refusal.delta": self._refusal,
            "response.reasoning_summary_text.delta": self._thinking,
            "response.reasoning_text.delta": self._thinking,
            "response.output_item.added": self._added,
            "response.function_call_arguments.delta": self._arguments,
            "response.custom_tool_call_input.delta": self._arguments,
            "response.function_call_arguments.done": self._whole_arguments,
            "response.custom_tool_call_input.done": self._whole_arguments,
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
        if response is not None:
            yield from self._model.tell(response.text("model"))
        handler = self._on.get(event.need_text("type"))
        if handler is not None:
            yield from handler(event)

    def finish(self) -> Iterator[ProviderDelta]:
        """Nothing waits for the end of the stream."""
        return iter(())

    def _text(self, event: Node) -> Iterator[ProviderDelta]:
        yield self._words.say("text", event.need_text("delta"))

    def _refusal(self, event: Node) -> Iterator[ProviderDelta]:
        yield self._words.say("refusal", event.need_text("delta"))

    def _thinking(self, event: Node) -> Iterator[ProviderDelta]:
        yield self._words.say_thinking(event)

    def _added(self, event: Node) -> Iterator[ProviderDelta]:
        yield from self._started(event.need("item"), _index(event))

    def _arguments(self, event: Node) -> Iterator[ProviderDelta]:
        index = _index(event)
        call = self._calls.get(index)
        if call is None:
            # The end of the item may still say the whole of it.
            self._unstarted.add(index)
        else:
            piece = event.need_text("delta")
            call.pieces.append(piece)
            yield call_arguments(call.name, piece)

    def _whole_arguments(self, event: Node) -> Iterator[ProviderDelta]:
        index = _index(event)
        call = self._calls.get(index)
        if call is None:
            self._unstarted.add(index)
        elif not call.has_ended:
            whole = event.text("arguments") or event.text("input") or ""
            said = "".join(call.pieces)
            if not whole.startswith(said):
                yield whole_arguments(call.name, whole)
            elif len(whole) > len(said):
                # A piece, as the rest: an answer that is cut may yet say that this is not all.
                yield call_arguments(call.name, whole[len(said) :])
            call.pieces, call.has_arguments = [whole], True

    def _ended(self, event: Node) -> Iterator[ProviderDelta]:
        item, index = event.need("item"), _index(event)
        key = (index, item.text("id") or item.text("call_id") or item.raw)
        if key in self._has_ended:
            return
        self._has_ended.add(key)
        if event.get("output_index") is not None:
            self._ended_places.add(index)
        self._ended_ids.update(_ids_of(item))
        yield from self._end(item, index, is_numbered=event.get("output_index") is not None)

    def _end(self, item: Node, index: int, *, is_numbered: bool) -> Iterator[ProviderDelta]:
        """Yield what an item says that has ended; its call is found by its id where no event numbers it."""
        call = None if is_numbered else self._by_call_id.get(item.text("call_id") or "")
        if call is None or call.has_ended:
            yield from self._started(item, index)
            call = self._calls.get(index)
        self._unstarted.discard(index)
        yield from self._words.settle(item)
        yield from self._items.end(item, "" if call is None else call.name)
        if call is not None and item.need_text("type") in _CALLS:
            call.has_ended = True

    def _started(self, item: Node, index: int) -> Iterator[ProviderDelta]:
        """Yield the start of the call that an item is, unless it has started at its place."""
        call_id = item.text("call_id")
        former = self._calls.get(index)
        if former is not None and call_id in (None, former.call_id):
            return
        name, start = self._items.start(item)
        if name:
            call = self._calls[index] = _StartedCall(name, call_id)
            self._calls_in_order.append(call)
            if call_id:
                self._by_call_id.setdefault(call_id, call)
        yield from start

    def _ending(self, event: Node) -> Iterator[ProviderDelta]:
        response = event.need("response")
        yield from self._missed(response)
        for call in self._calls_in_order:
            if call.has_arguments and not call.has_ended:
                yield call_end(call.name)
        while self._unstarted:
            self._unstarted.pop()
            yield self._items.start_unknown()
        yield from ending(response)

    def _missed(self, response: Node) -> Iterator[ProviderDelta]:
        """Yield what a response has at its end of items whose own end did not come."""
        for index, item in enumerate(response.items("output")):
            if index in self._ended_places or not self._ended_ids.isdisjoint(_ids_of(item)):
                continue
            yield from self._end(item, index, is_numbered=False)

    def _error(self, event: Node) -> Iterator[ProviderDelta]:
        words = ": ".join(word for word in (event.text("code"), event.text("message")) if word)
        yield ProviderDelta(error=bounded(words or WORDLESS))


def _ids_of(item: Node) -> set[str]:
    return {given for key in ("id", "call_id") if (given := item.text(key))}


def _index(event: Node) -> int:
    return event.count("output_index") or 0
