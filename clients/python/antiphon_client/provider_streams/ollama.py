"""Ollama chat: a stream's lines, each of the shape of a whole answer."""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.provider_streams.deltas import CallNames, ModelName, done, error_words, spent, whole_call
from antiphon_client.provider_streams.shapes import Node

STOP_REASONS = {"stop": pb.STOP_REASON_END_TURN, "length": pb.STOP_REASON_MAX_TOKENS}


def usage_of(line: Node) -> Iterator[ProviderDelta]:
    """Yield the usage that an answer's last line names."""
    return spent(line.count_or_none("prompt_eval_count"), line.count_or_none("eval_count"))


class Reader:
    """Reads the lines of one stream, or the one line that a whole answer is."""

    def __init__(self) -> None:
        self._names = CallNames()
        self._model = ModelName()

    def read(self, line: Node) -> Iterator[ProviderDelta]:
        """Yield what one line says.

        Raises:
            ShapeError: It is no line.
        """
        error = error_words(line)
        if error is not None:
            yield ProviderDelta(error=error)
            return
        yield from self._model.tell(line.text("model"))
        message = line.get("message")
        if message is not None:
            yield from self._message(message)
        if line.flag("done"):
            yield from usage_of(line)
            yield done(line.text("done_reason") or "stop", STOP_REASONS)

    def finish(self) -> Iterator[ProviderDelta]:
        """Nothing waits for the end of the stream."""
        return iter(())

    def _message(self, message: Node) -> Iterator[ProviderDelta]:
        if thinking := message.text("thinking"):
            yield ProviderDelta(thinking=thinking)
        if text := message.text("content"):
            yield ProviderDelta(text=text)
        for item in message.items("tool_calls"):
            called = item.need("function")
            arguments = called.get("arguments")
            text = "{}" if arguments is None else arguments.raw
            name = self._names.take(item.text("id"))
            yield from whole_call(name, called.need_text("name"), text)
