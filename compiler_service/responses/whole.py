"""A provider's whole answer as the deltas that its stream would have given.

What parts, usage and reasons for stopping mean stands with the decoders of the
streams; here is only where a whole answer keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.provider_streams import (
    anthropic_messages,
    gemini,
    ollama,
    openai_chat,
    openai_responses,
    openai_responses_words,
    targets,
)
from antiphon_client.provider_streams.deltas import CallNames, done
from antiphon_client.provider_streams.shapes import Node, ShapeError


def whole_deltas(target: str, payload: Node) -> Iterator[ProviderDelta]:
    """Yield the deltas of a whole answer, its end among them.

    Args:
        target: One of the targets that have a provider.
        payload: The answer; not the provider's error.

    Raises:
        ShapeError: It is not a whole answer of the target.
    """
    return _READERS[target](payload)


def _openai_chat(payload: Node) -> Iterator[ProviderDelta]:
    yield from _model(payload)
    choices = payload.items("choices")
    if not choices:
        raise ShapeError("choices", "is missing or empty")
    choice = next(filter(openai_chat.is_first, choices), choices[0])
    message = choice.need("message")
    yield from openai_chat.said(message)
    yield from openai_chat.calls_of(message)
    usage = payload.get("usage")
    if usage is not None:
        yield from openai_chat.usage_of(usage)
    yield done(choice.text("finish_reason"), openai_chat.STOP_REASONS)


def _openai_responses(payload: Node) -> Iterator[ProviderDelta]:
    yield from _model(payload)
    payload.need("output")
    items = openai_responses.Items()
    for item in payload.items("output"):
        call_id, start = items.start(item)
        yield from start
        yield from openai_responses_words.item_words(item)
        yield from items.end(item, call_id)
    yield from openai_responses.ending(payload)


def _anthropic(payload: Node) -> Iterator[ProviderDelta]:
    yield from _model(payload)
    payload.need("content")
    names = CallNames()
    for block in payload.items("content"):
        yield from anthropic_messages.block_of(block, names)
    yield from anthropic_messages.stopping(payload)
    usage = payload.get("usage")
    if usage is not None:
        yield from anthropic_messages.usage_of(usage)
    yield done(payload.text("stop_reason"), anthropic_messages.STOP_REASONS)


def _gemini(payload: Node) -> Iterator[ProviderDelta]:
    reader = gemini.Reader()
    yield from reader.read(payload)
    ending = list(reader.finish())
    if not any(delta.HasField("done") for delta in ending):
        raise ShapeError("candidates", "none has finished, and no reason for blocking is given")
    yield from ending


def _ollama(payload: Node) -> Iterator[ProviderDelta]:
    payload.need("message")
    if not payload.flag("done"):
        raise ShapeError("done", "must be true: the response is not complete")
    return ollama.Reader().read(payload)


def _model(payload: Node) -> Iterator[ProviderDelta]:
    if model := payload.text("model"):
        yield ProviderDelta(model=model)


_READERS: dict[str, Callable[[Node], Iterator[ProviderDelta]]] = {
    targets.OPENAI_CHAT: _openai_chat,
    targets.OPENAI_RESPONSES: _openai_responses,
    targets.ANTHROPIC: _anthropic,
    targets.GEMINI: _gemini,
    targets.OLLAMA: _ollama,
}
