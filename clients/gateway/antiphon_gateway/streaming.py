"""A turn whose answer is passed on as it comes.

Whoever has seen the end of a stream may rely on the answer being kept: what
says that the answer is at its end is held back until it is.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from typing import Any, Protocol

import httpx
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.errors import AntiphonError
from antiphon_client.json_text import JsonTextError, dump_json_text, parse_json_text
from antiphon_client.provider_response import ProviderResponse
from antiphon_client.provider_streams import StreamDecodeError, StreamDecoder
from antiphon_client.provider_streams.frames import ServerSentEvents
from antiphon_gateway.completion import Completion, Head
from antiphon_gateway.errors import GatewayError, of_antiphon
from antiphon_gateway.tasks import Tasks
from antiphon_gateway.turn import Turn, is_faulty, raise_fault
from antiphon_gateway.upstream import translated_errors

_DONE = b"[DONE]"


class Relay(Protocol):
    """Turns what comes from the upstream into the client's events."""

    def feed(self, chunk: bytes, deltas: Iterable[ProviderDelta]) -> Iterator[bytes]:
        """Take the upstream's next bytes, and what they say; yield the events for the client."""
        ...

    def end(self, response: ProviderResponse) -> Iterator[bytes]:
        """Yield the events that are left once the answer is kept."""
        ...


class PassedOn:
    """Passes an OpenAI stream on, event by event as they are."""

    def __init__(self) -> None:
        self._events = ServerSentEvents()
        self._held: list[bytes] = []

    def feed(self, chunk: bytes, deltas: Iterable[ProviderDelta]) -> Iterator[bytes]:
        """Yield the events that are whole now, up to the one that says why the model stopped."""
        for data in self._events.feed(chunk):
            if data.strip() == _DONE:
                continue
            said = _parsed(data)
            if said.get("error"):
                continue  # whether the answer is whole all the same is known at its end
            if self._held or _is_end(said):
                self._held.append(data)
            else:
                yield event(data)

    def end(self, response: ProviderResponse) -> Iterator[bytes]:
        """Yield the events that were held back."""
        yield from map(event, self._held)
        yield event(_DONE)


class Translated:
    """Writes an OpenAI stream: the text as it comes, calls when they are whole."""

    def __init__(self, model: str, *, include_usage: bool) -> None:
        self._head = Head.of_now(model)
        self._include_usage = include_usage
        self._has_begun = False

    def feed(self, chunk: bytes, deltas: Iterable[ProviderDelta]) -> Iterator[bytes]:
        """Yield the text that came."""
        for delta in deltas:
            if delta.text:
                opening = {} if self._has_begun else {"role": "assistant"}
                self._has_begun = True
                yield json_event(self._head.chunk({**opening, "content": delta.text}))

    def end(self, response: ProviderResponse) -> Iterator[bytes]:
        """Yield the calls, the reason for stopping and, where it is wanted, the cost."""
        completion = Completion.of_response(response, self._head)
        yield from completion_events(
            completion, include_usage=self._include_usage, without_text=self._has_begun
        )


class EventStream(StreamingResponse):
    """A streamed response that closes where its events come from, however it ends."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes], answer: httpx.Response, tasks: Tasks) -> None:
        super().__init__(events, headers={"cache-control": "no-store"})
        self._events = events
        self._answer = answer
        self._tasks = tasks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end or the client is gone."""
        with self._tasks.holding():
            try:
                await super().__call__(scope, receive, send)
            finally:
                await self._events.aclose()
                await self._answer.aclose()  # events that never began have not closed it


async def turn_events(turn: Turn, answer: httpx.Response, tasks: Tasks) -> AsyncGenerator[bytes]:
    """Yield a turn's answer as an OpenAI stream, and keep it.

    A client that goes away ends the upstream's work; what had come is kept as
    an interrupted answer. So is what comes of an upstream that breaks off; its
    client gets an error in place of the stream's end.
    """
    relay = _relay(turn)
    decoder = StreamDecoder(turn.services.upstream.target)
    deltas: list[ProviderDelta] = []
    failure: GatewayError | None = None

    async def keep() -> ProviderResponse:
        await answer.aclose()
        deltas.extend(decoder.close())
        return await turn.keep_streamed(deltas)

    try:
        try:
            with translated_errors():
                async for chunk in answer.aiter_bytes():
                    known = len(deltas)
                    deltas.extend(decoder.feed(chunk))
                    for each in relay.feed(chunk, deltas[known:]):
                        yield each
        except StreamDecodeError as error:
            failure = GatewayError(502, "UPSTREAM_ANSWER_INVALID", f"the upstream's answer is none: {error}")
        except GatewayError as error:
            failure = error
    except BaseException:  # the client is gone, or the gateway ends
        tasks.start(keep())
        raise
    try:
        response = await tasks.finished(keep())
        if is_faulty(response) and failure is not None:
            raise failure
        raise_fault(response)
    except GatewayError as error:
        yield json_event(error.body)
    except AntiphonError as error:
        yield json_event(of_antiphon(error).body)
    else:
        for each in relay.end(response):
            yield each


def completion_events(
    completion: Completion, *, include_usage: bool, without_text: bool = False
) -> Iterator[bytes]:
    """Yield a completion as the events of a stream; as :meth:`Completion.chunks`, and the stream's end."""
    yield from map(json_event, completion.chunks(include_usage=include_usage, without_text=without_text))
    yield event(_DONE)


def event(data: bytes) -> bytes:
    """Return the server-sent event with this data."""
    return b"data: " + data.replace(b"\n", b"\ndata: ") + b"\n\n"


def json_event(value: Any) -> bytes:
    """Return the server-sent event with this JSON value."""
    return event(dump_json_text(value).encode())


def _relay(turn: Turn) -> Relay:
    if turn.speaks_as_upstream:
        return PassedOn()
    return Translated(turn.request.model, include_usage=turn.request.include_usage)


def _is_end(chunk: Mapping[str, Any]) -> bool:
    choices = chunk.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, Mapping) and choice.get("finish_reason") for choice in choices
    )


def _parsed(data: bytes) -> Mapping[str, Any]:
    try:
        value = parse_json_text(data.decode("utf-8"))
    except (UnicodeDecodeError, JsonTextError):
        return {}
    return value if isinstance(value, Mapping) else {}
