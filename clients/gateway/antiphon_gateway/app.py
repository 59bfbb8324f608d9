"""The endpoint: OpenAI's routes over conversations that are kept."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from antiphon_client import AsyncCompilerClient, AsyncHistoryClient
from antiphon_client.errors import AntiphonError
from antiphon_client.json_text import dump_json_text
from antiphon_gateway.completion import Completion, Head
from antiphon_gateway.conversation import CONVERSATION_HEADER, Conversation
from antiphon_gateway.errors import GatewayError, invalid, of_antiphon
from antiphon_gateway.requests import ChatRequest, read_request
from antiphon_gateway.settings import Settings
from antiphon_gateway.streaming import EventStream, completion_events, turn_events
from antiphon_gateway.tasks import Tasks
from antiphon_gateway.turn import Services, Turn
from antiphon_gateway.upstream import Upstream

MESSAGES_HEADER: Final = "x-antiphon-messages"
"""``all`` (the default): the request has the whole conversation; ``new``: only what is new."""

REPLAYED_HEADER: Final = "x-antiphon-replayed"
"""In a response: the turn had its answer already, and this is it."""

_HEALTH_SECONDS: Final = 2.0
_KEEPING_SECONDS: Final = 3.0
"""How long answers that are being kept may take when the gateway ends."""

_logger = logging.getLogger(__name__)


def build_app(settings: Settings) -> Starlette:
    """Build the application; its clients are opened when it starts and closed when it ends."""
    gateway = Gateway(settings)
    routes = [
        Route("/v1/chat/completions", gateway.chat_completions, methods=["POST"]),
        Route("/v1/models", gateway.models),
        Route("/healthz", gateway.health),
    ]
    return Starlette(
        routes=routes,
        lifespan=gateway.lifespan,
        exception_handlers={
            GatewayError: _on_gateway_error,
            AntiphonError: _on_antiphon_error,
            HTTPException: _on_http_error,
            ClientDisconnect: _on_disconnect,
            Exception: _on_defect,
        },
    )


class Gateway:
    """The routes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tasks = Tasks()
        self._services: Services

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Open the clients; at the end wait for answers that are still being kept."""
        async with AsyncExitStack() as stack:
            self._services = Services(
                await stack.enter_async_context(AsyncHistoryClient(self._settings.history)),
                await stack.enter_async_context(AsyncCompilerClient(self._settings.compiler)),
                await stack.enter_async_context(Upstream(self._settings)),
            )
            yield
            await self._tasks.wait(_KEEPING_SECONDS)

    async def chat_completions(self, request: Request) -> Response:
        """Answer the next turn of a conversation."""
        asked = read_request(await _body(request, self._settings.body_bytes), self._services.upstream.target)
        only_new = _only_new(request)
        opened = await Conversation.open(self._services.history, request.headers.get(CONVERSATION_HEADER))
        # Errors say it too: the client may have left the key to the gateway.
        request.state.headers = {CONVERSATION_HEADER: opened.key}
        conversation = await opened.take(asked.messages, only_new=only_new)
        if conversation is None:
            response = _replayed(opened, asked)
        else:
            turn = await Turn.compile(self._services, conversation, asked)
            response = await (self._streamed(turn) if asked.stream else self._whole(turn))
        response.headers.update(request.state.headers)
        return response

    async def models(self, _request: Request) -> Response:
        """List the upstream's models."""
        return JSONResponse({"object": "list", "data": await self._services.upstream.models()})

    async def health(self, _request: Request) -> Response:
        """Say whether both services answer (200) or not (503)."""
        history = self._services.history.with_options(timeout=_HEALTH_SECONDS)
        compiler = self._services.compiler.with_options(timeout=_HEALTH_SECONDS)
        checks = {"history": history.list_branches(page_size=1), "compiler": compiler.list_targets()}
        outcomes = await asyncio.gather(*checks.values(), return_exceptions=True)
        found = {
            name: outcome.reason if isinstance(outcome, AntiphonError) else "ok"
            for name, outcome in zip(checks, outcomes, strict=True)
        }
        is_well = set(found.values()) == {"ok"}
        return JSONResponse({"status": "ok" if is_well else "unavailable", **found}, 200 if is_well else 503)

    async def _whole(self, turn: Turn) -> Response:
        async def answered() -> Response:
            response, body = await turn.keep_whole(await turn.ask())
            if turn.speaks_as_upstream:
                return Response(body, media_type="application/json")
            completion = Completion.of_response(response, Head.of_now(turn.request.model))
            return _json_response(completion)

        # A client that goes away has asked all the same: its answer is kept, and is there when it asks again.
        try:
            return await self._tasks.finished(answered())
        except asyncio.CancelledError:
            raise GatewayError(503, "SHUTTING_DOWN", "the gateway is stopping") from None

    async def _streamed(self, turn: Turn) -> Response:
        answer = await turn.ask()
        return EventStream(turn_events(turn, answer, self._tasks), answer, self._tasks)


def _replayed(conversation: Conversation, asked: ChatRequest) -> Response:
    completion = Completion.of_records(conversation.answer)
    response: Response
    if asked.stream:
        events = completion_events(completion, include_usage=asked.include_usage)
        response = StreamingResponse(events, media_type="text/event-stream")
    else:
        response = _json_response(completion)
    response.headers[REPLAYED_HEADER] = "true"
    return response


def _json_response(completion: Completion) -> Response:
    return Response(dump_json_text(completion.whole()), media_type="application/json")


async def _body(request: Request, limit: int) -> bytes:
    """Read a request's body; one that is too large is not read to its end (413)."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise GatewayError(413, "SIZE_LIMIT_EXCEEDED", f"the body is larger than {limit} bytes")
    return bytes(body)


def _only_new(request: Request) -> bool:
    given = request.headers.get(MESSAGES_HEADER, "all")
    if given not in ("all", "new"):
        raise invalid(f"{MESSAGES_HEADER} must be all or new")
    return given == "new"


def _error_response(request: Request, error: GatewayError) -> Response:
    response = error.response()
    response.headers.update(getattr(request.state, "headers", {}))
    _logger.info("%s %s: %d %s", request.method, request.url.path, error.status, error.code)
    return response


async def _on_gateway_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, GatewayError)
    return _error_response(request, error)


async def _on_antiphon_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, AntiphonError)
    return _error_response(request, of_antiphon(error))


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = "NOT_FOUND" if error.status_code == 404 else "HTTP_ERROR"
    return _error_response(request, GatewayError(error.status_code, code, error.detail))


async def _on_disconnect(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it


async def _on_defect(request: Request, _error: Exception) -> Response:
    # The cause is in the log, which Starlette writes; it is none of the client's business.
    return _error_response(request, GatewayError(500, "INTERNAL_ERROR", "the gateway has failed"))
