"""A provider's raw stream, bytes cut anywhere, as the deltas all providers share."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Protocol

from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.errors import TargetUnknownError
from antiphon_client.provider_streams import (
    anthropic_messages,
    gemini,
    ollama,
    openai_chat,
    openai_responses,
    targets,
)
from antiphon_client.provider_streams.deltas import bounded, error_words
from antiphon_client.provider_streams.frames import EventsOrJson, FrameSplitter, JsonLines
from antiphon_client.provider_streams.shapes import Node, ShapeError

_END = b"[DONE]"
"""The data of the event that ends a stream of OpenAI's."""


class StreamDecodeError(ValueError):
    """A frame is not one of the provider's stream; the message says which and why."""


class FrameReader(Protocol):
    """Reads the frames of one stream."""

    def read(self, frame: Node) -> Iterator[ProviderDelta]:
        """Yield what one frame says."""
        ...

    def finish(self) -> Iterator[ProviderDelta]:
        """Yield what waited for more frames."""
        ...


class _Form(NamedTuple):
    splitter: Callable[[], FrameSplitter]
    reader: Callable[[], FrameReader]


_FORMS: dict[str, _Form] = {
    targets.OPENAI_CHAT: _Form(EventsOrJson, openai_chat.Reader),
    targets.OPENAI_RESPONSES: _Form(EventsOrJson, openai_responses.Reader),
    targets.ANTHROPIC: _Form(EventsOrJson, anthropic_messages.Reader),
    targets.GEMINI: _Form(partial(EventsOrJson, may_be_array=True), gemini.Reader),
    targets.OLLAMA: _Form(JsonLines, ollama.Reader),
}


class StreamDecoder:
    """Decodes one stream; feed it the body's bytes, then close it.

    ===========================  ==========================================
    target                       form of the stream
    ===========================  ==========================================
    ``openai.chat``              server-sent events
    ``openai.responses``         server-sent events
    ``anthropic.messages``       server-sent events
    ``gemini.generate_content``  server-sent events, or one JSON array
    ``ollama.chat``              JSON values, one a line
    ===========================  ==========================================

    A JSON object in place of events is no stream: it is what a server says of
    a fault.

    Cost: linear in the bytes, however they are cut.

    Raises:
        TargetUnknownError: The target is none of these.
    """

    def __init__(self, target: str) -> None:
        form = _FORMS.get(target)
        if form is None:
            raise TargetUnknownError.of(target)
        self._splitter = form.splitter()
        self._reader = form.reader()
        self._frames = 0

    def feed(self, chunk: bytes) -> Iterator[ProviderDelta]:
        """Take the next bytes and yield what they complete.

        Raises:
            StreamDecodeError: A frame is not one of the provider's.
        """
        for frame in self._splitter.feed(chunk):
            yield from self._read(frame)

    def close(self) -> Iterator[ProviderDelta]:
        """Yield what the end of the bytes completes.

        A frame that was cut is left out: the stream then has no terminal
        delta, unless it had one before.
        """
        rest = self._splitter.rest()
        if isinstance(self._splitter, EventsOrJson) and self._splitter.is_object:
            yield ProviderDelta(error=_words_of_body(rest.decode("utf-8-sig", "replace")))
            return
        # Many servers do not end their last frame as they should.
        with suppress(StreamDecodeError):
            yield from self._read(rest)
        yield from self._reader.finish()

    def _read(self, frame: bytes) -> Iterator[ProviderDelta]:
        self._frames += 1
        stripped = frame.strip()
        if stripped == _END:
            yield from self._reader.finish()
            return
        if not stripped:
            return
        try:
            yield from self._reader.read(Node.parse(frame.decode("utf-8")))
        except (ShapeError, UnicodeDecodeError) as error:
            raise StreamDecodeError(f"frame {self._frames} of the stream: {error}") from None


def _words_of_body(body: str) -> str:
    """Return what a JSON object in place of a stream says of a fault; where it names none, itself."""
    with suppress(ShapeError):
        words = error_words(Node.parse(body))
        if words is not None:
            return words
    return bounded(f"an object in place of a stream: {body.strip()}")


def decode(target: str, chunks: Iterable[bytes]) -> Iterator[ProviderDelta]:
    """Yield the deltas of a provider's stream as its bytes arrive.

    Args:
        target: The provider's API, such as ``anthropic.messages``.
        chunks: The body's bytes, cut anywhere.

    Raises:
        TargetUnknownError: The target is none of those that have a decoder.
        StreamDecodeError: A frame is not one of the provider's.

    Whatever ``chunks`` raises is passed on, after the deltas of what had arrived.
    """
    decoder = StreamDecoder(target)
    try:
        for chunk in chunks:
            yield from decoder.feed(chunk)
    except Exception:
        yield from decoder.close()
        raise
    yield from decoder.close()


async def decode_async(target: str, chunks: AsyncIterable[bytes]) -> AsyncIterator[ProviderDelta]:
    """Yield the deltas of a provider's stream, as :func:`decode` does."""
    decoder = StreamDecoder(target)
    try:
        async for chunk in chunks:
            for delta in decoder.feed(chunk):
                yield delta
    except Exception:
        for delta in decoder.close():
            yield delta
        raise
    for delta in decoder.close():
        yield delta
