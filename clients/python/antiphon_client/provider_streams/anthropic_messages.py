"""Anthropic Messages: the events of a stream, and the blocks that a whole answer shares with them.

Blocks of other kinds than text, thinking and tool use (redacted thinking, tools
that ran at the provider) are kept as the provider spelled them. Citations of
texts are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import OpaqueDelta, ProviderDelta
from antiphon_client.json_text import JsonTextError, check_json_text, dump_json_text
from antiphon_client.provider_streams.deltas import (
    CallNames,
    call_arguments,
    call_end,
    call_start,
    done,
    error_words,
    opaque,
    spent,
)
from antiphon_client.provider_streams.shapes import Node

STOP_REASONS = {
    "end_turn": pb.STOP_REASON_END_TURN,
    "stop_sequence": pb.STOP_REASON_END_TURN,
    "tool_use": pb.STOP_REASON_TOOL_USE,
    "max_tokens": pb.STOP_REASON_MAX_TOKENS,
    "model_context_window_exceeded": pb.STOP_REASON_MAX_TOKENS,
    "refusal": pb.STOP_REASON_REFUSAL,
}

_WORDS = frozenset({"text", "thinking"})
"""Types of blocks that are passed on as they come."""


def usage_of(node: Node) -> Iterator[ProviderDelta]:
    """Yield the usage; Anthropic's input is net of the caches already."""
    return spent(
        node.count_or_none("input_tokens"),
        node.count_or_none("output_tokens"),
        cache_read_tokens=node.count_or_none("cache_read_input_tokens"),
        cache_creation_tokens=node.count_or_none("cache_creation_input_tokens"),
    )


def stopping(node: Node) -> Iterator[ProviderDelta]:
    """Yield a refusal's explanation, where a message or its last delta has one."""
    details = node.get("stop_details")
    explanation = None if details is None else details.text("explanation")
    if explanation:
        yield ProviderDelta(refusal=explanation)


def block_of(block: Node, names: CallNames) -> Iterator[ProviderDelta]:
    """Yield one whole block."""
    kind = block.need_text("type")
    if kind == "text":
        yield ProviderDelta(text=block.need_text("text"))
    elif kind == "thinking":
        yield from thinking_start(block)
    elif kind == "tool_use":
        name = names.take(block.text("id"))
        yield call_start(name, block.need_text("name"))
        given = block.get("input")
        if given is not None:
            # A piece, as in a stream: when the answer was cut at its end, so was this call.
            yield call_arguments(name[0], given.raw)
        elif "input" not in block.value:
            block.need("input")
        yield call_end(name[0])
    else:
        yield opaque(block, kind)


def thinking_start(block: Node) -> Iterator[ProviderDelta]:
    """Yield a block of thinking, or what its start holds; the empty text sets it off from a former one."""
    yield ProviderDelta(thinking="")
    if thinking := block.text("thinking"):
        yield ProviderDelta(thinking=thinking)
    if signature := block.text("signature"):
        yield ProviderDelta(thinking_signature=signature)


@dataclass(slots=True)
class _OpenBlock:
    """A block that has begun.

    Attributes:
        start: The block as its start gave it; None for a call whose start never came.
        kind: Its type.
        call_id: The name of the call; "" for other blocks.
        pieces: Its input's text so far.
        changes: Members that later deltas set, as JSON texts; of opaque blocks.
        has_ended: Whether it has ended too.
    """

    start: Node | None
    kind: str
    call_id: str = ""
    pieces: list[str] = field(default_factory=list)
    changes: dict[str, str] = field(default_factory=dict)
    has_ended: bool = False

    def is_repeated_by(self, start: Node) -> bool:
        """Tell whether a start at the same index is this block's once more."""
        if self.start is None or start.text("type") != self.kind:
            return False
        call_id = start.text("id")
        if call_id is not None:
            return call_id == self.start.text("id")
        return not self.has_ended and start.raw == self.start.raw


class Reader:
    """Reads the events of one stream."""

    def __init__(self) -> None:
        self._names = CallNames()
        self._blocks: dict[int, _OpenBlock] = {}
        self._word: str | None = None
        self._has_ended = False
        self._on: dict[str, Callable[[Node], Iterator[ProviderDelta]]] = {
            "message_start": self._message_start,
            "content_block_start": self._block_start,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stop,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
        }

    def read(self, event: Node) -> Iterator[ProviderDelta]:
        """Yield what one event says; pings and events of other kinds say nothing of the response.

        Raises:
            ShapeError: It is no event.
        """
        error = error_words(event)
        if error is not None:
            yield ProviderDelta(error=error)
            return
        handler = self._on.get(event.need_text("type"))
        if handler is not None:
            yield from handler(event)

    def finish(self) -> Iterator[ProviderDelta]:
        """Yield the end of the response if the reason for stopping was said and the last event was not."""
        if self._word is not None and not self._has_ended:
            self._has_ended = True
            yield done(self._word, STOP_REASONS)

    def _message_start(self, event: Node) -> Iterator[ProviderDelta]:
        message = event.need("message")
        if model := message.text("model"):
            yield ProviderDelta(model=model)
        usage = message.get("usage")
        if usage is not None:
            yield from usage_of(usage)

    def _block_start(self, event: Node) -> Iterator[ProviderDelta]:
        start = event.need("content_block")
        kind = start.need_text("type")
        index = event.count("index") or 0
        former = self._blocks.get(index)
        if former is not None:
            if former.is_repeated_by(start):
                return
            if not former.has_ended:
                yield _stray(event, index, "which has begun and not ended")
        block = self._blocks[index] = _OpenBlock(start, kind)
        if block.kind == "text":
            if text := start.text("text"):
                yield ProviderDelta(text=text)
        elif block.kind == "thinking":
            yield from thinking_start(start)
        elif block.kind == "tool_use":
            name = self._names.take(start.text("id"))
            block.call_id = name[0]
            yield call_start(name, start.need_text("name"))

    def _block_delta(self, event: Node) -> Iterator[ProviderDelta]:
        index = event.count("index") or 0
        block = self._blocks.get(index)
        delta = event.need("delta")
        kind = delta.need_text("type")
        if kind == "text_delta":
            # Text needs no block to be told from other text.
            yield ProviderDelta(text=delta.need_text("text"))
        elif kind == "input_json_delta":
            yield from self._input(index, delta.need_text("partial_json"), event)
        elif block is None or block.has_ended:
            yield _stray(event, index, "which is not open")
        elif kind == "thinking_delta":
            yield ProviderDelta(thinking=delta.need_text("thinking"))
        elif kind == "signature_delta":
            yield ProviderDelta(thinking_signature=delta.need_text("signature"))
        elif block.kind != "text":
            block.changes.update((key, value.raw) for key, value in delta.members() if key != "type")

    def _input(self, index: int, piece: str, event: Node) -> Iterator[ProviderDelta]:
        """Take more of an input; what is no call's any more makes that call one that is not whole."""
        block = self._blocks.get(index)
        if block is None:
            name = self._names.take(None)
            block = self._blocks[index] = _OpenBlock(None, "tool_use", name[0])
            yield call_start(name, "")
        if block.call_id:
            block.pieces.append(piece)
            if piece:
                yield call_arguments(block.call_id, piece)
        elif block.has_ended or block.kind in _WORDS:
            yield _stray(event, index, "which takes none")
        else:
            block.pieces.append(piece)

    def _block_stop(self, event: Node) -> Iterator[ProviderDelta]:
        index = event.count("index") or 0
        block = self._blocks.get(index)
        if block is None:
            yield _stray(event, index, "which never began")
            return
        if block.has_ended:
            return
        block.has_ended = True
        if block.kind in _WORDS:
            return
        text = "".join(block.pieces)
        if block.call_id:
            given = None if block.start is None else block.start.get("input")
            if not text and given is not None:
                yield call_arguments(block.call_id, given.raw)
            yield call_end(block.call_id)
            return
        if text:
            block.changes["input"] = _json_text(text)
        assert block.start is not None, "only a call's may be missing"
        data = block.start.with_members(block.changes)
        yield ProviderDelta(opaque=OpaqueDelta(kind=block.kind, data_json=data))

    def _message_delta(self, event: Node) -> Iterator[ProviderDelta]:
        delta = event.need("delta")
        yield from stopping(delta)
        self._word = delta.text("stop_reason") or self._word
        usage = event.get("usage")
        if usage is not None:
            yield from usage_of(usage)

    def _message_stop(self, event: Node) -> Iterator[ProviderDelta]:
        self._has_ended = True
        yield done(self._word, STOP_REASONS)


def _stray(event: Node, index: int, why: str) -> ProviderDelta:
    """Make the fault of an event that its block cannot take."""
    return ProviderDelta(error=f"{event.text('type')} for block {index}, {why}")


def _json_text(text: str) -> str:
    """Return an input's text; where it was cut and is no JSON, the JSON text of it as a text."""
    try:
        check_json_text(text)
    except JsonTextError:
        return dump_json_text(text)
    return text
