"""The one interceptor between the wire and the servicers of both services.

It takes every request as bytes, bounds it, parses it, hands it to the servicer
and encodes what comes back; whatever goes wrong leaves as a status of the
registry. Methods that are not in its table (health, reflection, channelz) pass
through untouched once the gate has let them in.

It stands around the handlers before the server has them (``edge.registry``):
gRPC's own interceptors take a chain of coroutines for every call.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

import grpc
import grpc.aio
from google.protobuf.message import Message

from antiphon_client.edge.admission import SHUTTING_DOWN_MESSAGE, Admission
from antiphon_client.edge.call import Call, DeadlinePassedError, bind_call
from antiphon_client.edge.entrance import Entrance
from antiphon_client.edge.gate import Gate
from antiphon_client.edge.methods import Method
from antiphon_client.edge.observation import CallObserver, given_up_code
from antiphon_client.edge.registry import Metadata
from antiphon_client.edge.replies import ReadTurns
from antiphon_client.edge.tokens import Grant
from antiphon_client.errors import AntiphonError, ShuttingDownError
from antiphon_client.status import status_code, to_status, trailers

if TYPE_CHECKING:
    # Generic in the type stubs only.
    Handler = grpc.RpcMethodHandler[Any, Any]
    Context = grpc.aio.ServicerContext[Any, Any]

_LEFT_ALONE = (KeyboardInterrupt, SystemExit, GeneratorExit)
"""What ends the process or a generator. All else is answered, a native library's panic too:
that is no Exception, and a call that it ended would wait for its deadline."""
_ARRIVED: ContextVar[tuple[Grant, Metadata]] = ContextVar("antiphon_arrived")
"""What the running call's caller may do, and its metadata, which a call's context would decode anew.

gRPC asks for the handler in the task that then runs it.
"""


class EdgeInterceptor:
    """Serves the methods of its table; see the module."""

    def __init__(
        self,
        methods: Mapping[str, Method],
        *,
        domain: str,
        gate: Gate,
        request_bytes: int,
        frame_bytes: int,
        entrance: Entrance,
        observer: CallObserver,
    ) -> None:
        """Set up the edge of one server.

        Args:
            methods: The methods it answers for, by path.
            domain: The error domain of the service.
            gate: Lets callers in.
            request_bytes: The largest request in bytes.
            frame_bytes: The largest frame of a streamed reply in bytes.
            entrance: What calls have to pass.
            observer: Where finished calls are recorded.
        """
        self._methods = methods
        self._domain = domain
        self._gate = gate
        self._request_bytes = request_bytes
        self._frame_bytes = frame_bytes
        self._entrance = entrance
        self._turns = ReadTurns()
        self._observer = observer

    def wrapped(self, path: str, handler: Handler) -> Handler:
        """Return what serves a method in its servicer's place: the edge around the handler, or the handler.

        Args:
            path: The method, as gRPC spells it.
            handler: The servicer's own; it is served as it is where the table has no such method.
        """
        method = self._methods.get(path)
        return handler if method is None else self._wrap(method, handler)

    def refusal(self, path: str, metadata: Metadata) -> Handler | None:
        """Return what answers a call that is not let in; None: it is, and has a place until its task ends.

        Called in the call's own task, before anything of its request is read. A
        caller without a token that covers the call is refused, and so is a call
        that finds no place.

        Args:
            path: A method that the server has.
            metadata: The caller's.
        """
        try:
            _ARRIVED.set((self._gate.admit(path, metadata), metadata))
            method = self._methods.get(path)
            if method is not None:
                self._entrance.arrive(method)
        except AntiphonError as refusal:
            return grpc.stream_stream_rpc_method_handler(self._refusing(path, refusal))
        return None

    def _refusing(self, path: str, refusal: AntiphonError) -> Callable[..., Any]:
        """Return what answers a call with an error; as a stream, so that no request is waited for."""
        started = time.perf_counter()

        async def refuse(_parts: AsyncIterator[bytes], context: Context) -> None:
            self._observer.refused(path, started, refusal)
            await self._abort(context, refusal)

        return refuse

    def _wrap(self, method: Method, handler: Handler) -> Handler:
        """Put the edge around a servicer's handler; bytes go in and bytes come out."""
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(self._unary(method, handler.unary_unary))
        if handler.unary_stream is not None and inspect.isasyncgenfunction(handler.unary_stream):
            return grpc.unary_stream_rpc_method_handler(self._stream(method, handler.unary_stream))
        if handler.stream_unary is not None:
            return grpc.stream_unary_rpc_method_handler(self._upload(method, handler.stream_unary))
        raise TypeError(f"{method.path}: the edge serves no such method")

    def _unary(self, method: Method, behavior: Callable[..., Any]) -> Callable[..., Any]:
        entrance, turns, observer, path = self._entrance, self._turns, self._observer, method.path
        admission = entrance.admission(method)

        async def serve(raw: bytes, context: Context) -> bytes:
            started = time.perf_counter()
            try:
                grant = self._bind(method, raw, context)
                entrance.serve(method, len(raw))
                request = await self._read(method, raw, grant)
                if method.is_write:
                    payload = _encoded(await behavior(request, context))
                else:
                    async with turns:
                        payload = _encoded(await behavior(request, context))
                admission.hold(len(payload))
            except _LEFT_ALONE:
                raise
            except BaseException as exc:
                raw = b""  # As `_let_go` does: this frame, too, is kept with the abort.
                await self._fail(path, started, context, admission, exc)
            observer.succeeded(path, started)
            return payload

        return serve

    def _upload(self, method: Method, behavior: Callable[..., Any]) -> Callable[..., Any]:
        entrance, observer, path = self._entrance, self._observer, method.path
        admission = entrance.admission(method)
        # Its parts come one after another; what is kept of them meanwhile is the servicer's to bound.
        size = self._request_bytes

        async def serve(parts: AsyncIterator[bytes], context: Context) -> bytes:
            started = time.perf_counter()
            try:
                self._bind(method, b"", context)
                with entrance.stream(method, size, context):
                    payload = _encoded(await behavior(self._read_parts(method, parts), context))
            except _LEFT_ALONE:
                raise
            except BaseException as exc:
                await self._fail(path, started, context, admission, exc)
            observer.succeeded(path, started)
            return payload

        return serve

    async def _read_parts(self, method: Method, parts: AsyncIterator[bytes]) -> AsyncIterator[Message]:
        """Yield the parts of a streamed request; each is held to what holds for a whole request."""
        async for raw in parts:
            yield method.read(raw, self._request_bytes)

    def _stream(self, method: Method, behavior: Callable[..., Any]) -> Callable[..., Any]:
        entrance, observer, path = self._entrance, self._observer, method.path
        admission = entrance.admission(method)
        # The frames on their way; a watch's are small and few.
        frames = 0 if method.standing else self._frame_bytes
        check = self._check_still if method.standing else None

        async def serve(raw: bytes, context: Context) -> None:
            started = time.perf_counter()
            try:
                grant = self._bind(method, raw, context)
                with entrance.stream(method, len(raw) + frames, context):
                    request = await self._read(method, raw, grant)
                    await _write_all(behavior(request, context), context, check)
            except _LEFT_ALONE:
                raise
            except BaseException as exc:
                raw = b""  # As `_let_go` does: this frame, too, is kept with the abort.
                await self._fail(path, started, context, admission, exc)
            observer.succeeded(path, started)

        return serve

    async def _read(self, method: Method, raw: bytes, grant: Grant) -> Message:
        """Parse the request, and hold it against a guest's scope."""
        request = method.read(raw, self._request_bytes)
        if grant.scope.is_narrow:
            await self._gate.check_scope(method.path, grant, request)
        return request

    def _bind(self, method: Method, raw: bytes, context: Context) -> Grant:
        """Make the call known to everything below."""
        grant, metadata = _ARRIVED.get()
        remaining = context.time_remaining()
        deadline = None if remaining is None else time.monotonic() + remaining
        bind_call(Call(method.path, grant.tenant_id, raw, metadata, deadline))
        return grant

    def _check_still(self) -> None:
        self._gate.check_still(_ARRIVED.get()[0])

    async def _fail(
        self,
        path: str,
        started: float,
        context: Context,
        admission: Admission,
        cause: BaseException,
    ) -> NoReturn:
        """End a call that went wrong, with a status that fits the cause."""
        if isinstance(cause, _PeerGoneError):
            self._observer.given_up(path, started, "CANCELLED", cause=str(cause))
            # Of a failed write gRPC would log an error with its trace; a caller that went away is none.
            raise asyncio.CancelledError
        evicted = isinstance(cause, asyncio.CancelledError) and admission.evicting
        code = None if evicted else given_up_code(cause)
        if code is not None:
            self._observer.given_up(path, started, code)
            if isinstance(cause, asyncio.CancelledError):
                raise cause
            text = str(cause if isinstance(cause, DeadlinePassedError) else DeadlinePassedError())
            _let_go(cause)
            await context.abort(grpc.StatusCode[code], text)
        if context.done():
            # The servicer ended the call itself: nothing more can be sent.
            raise cause
        if evicted:
            error: AntiphonError = ShuttingDownError(SHUTTING_DOWN_MESSAGE)
        else:
            error = cause if isinstance(cause, AntiphonError) else self._observer.defect(path, cause)
        # Every stop ends the watches; that it cuts other calls short the operator should see.
        is_expected = evicted and admission is self._entrance.watches
        self._observer.refused(path, started, error, is_expected=is_expected)
        _let_go(cause)
        await self._abort(context, error)

    async def _abort(self, context: Context, error: AntiphonError) -> NoReturn:
        """End a call with an error's status."""
        status = to_status(error, self._domain)
        await context.abort(status_code(error), status.message, trailers(status))


def _let_go(cause: BaseException) -> None:
    """Drop the frames that led to an error, and the request with them.

    gRPC keeps an abort, with the error it came from, in a cycle that only the
    garbage collector ends; by then the requests of many calls can have gathered.
    """
    cause.__traceback__ = None
    cause.__cause__ = None
    cause.__context__ = None


class _PeerGoneError(Exception):
    """A frame could not be written because the call is over on the other side; says what gRPC said."""


def _encoded(response: Message | bytes) -> bytes:
    """Encode a response; one that is encoded already is passed through."""
    return response if isinstance(response, bytes) else response.SerializeToString()


async def _write_all(
    frames: AsyncGenerator[Message | bytes], context: Context, check: Callable[[], None] | None
) -> None:
    """Write every frame; the generator is closed at once when the call ends early.

    Args:
        frames: The frames.
        context: The call.
        check: Called before each frame; what it raises ends the call.
    """
    try:
        async for frame in frames:
            payload = _encoded(frame)
            if check is not None:
                check()
            try:
                await context.write(payload)
            except (grpc.aio.UsageError, grpc.aio.AbortError):
                raise  # Not the peer's doing: the servicer has ended the call already.
            except grpc.aio.BaseError as error:
                raise _PeerGoneError(repr(error)) from None
    finally:
        await frames.aclose()
