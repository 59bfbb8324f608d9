"""What the blocking and the asyncio clients have in common.

An operation is written once, as a generator: it yields the calls it needs and
is sent their answers, and it does no input or output of its own. A blocking
transport and an asyncio transport run such generators; :func:`sync_method` and
:func:`async_method` make client methods of them, with the operation's own
signature and documentation. So the requests, the decoding and the order of
calls stand in one place.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
)
from dataclasses import dataclass, field
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeAlias, TypeVar

import grpc
import grpc.aio

from antiphon_client.errors import AntiphonError
from antiphon_client.status import error_from_rpc
from antiphon_client.stubs import ChannelClosedError, ChannelLife, StubOnDemand
from antiphon_client.tracing import Metadata, client_call
from antiphon_client.transport_errors import Endpoint, client_closed, transport_error

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
ResultT = TypeVar("ResultT", covariant=True)
OwnCoreT = TypeVar("OwnCoreT", covariant=True)
CoreT = TypeVar("CoreT")
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

DEFAULT_TIMEOUT = 60.0
"""Seconds a call may take, its retries included, when a client names no timeout."""


class FrameCollector(Protocol[ResultT]):
    """Turns the frames of one stream into a result."""

    def feed(self, frame: Any) -> bool:
        """Take the next frame; True when no further frame is wanted."""
        ...

    def result(self) -> ResultT:
        """Return what the frames amount to; called once, after the last frame."""
        ...


@dataclass(frozen=True, slots=True)
class UnaryCall(Generic[R]):
    """One request and how to read its response."""

    method: str
    request: Any
    decode: Callable[[Any], R]


@dataclass(frozen=True, slots=True)
class StreamCall(Generic[R]):
    """One request that is answered by a stream, and how to read the stream.

    ``collector`` makes a new collector for each run of the call.
    """

    method: str
    request: Any
    collector: Callable[[], FrameCollector[R]]


@dataclass(frozen=True, slots=True)
class UploadCall(Generic[R]):
    """A request in parts, and how to read its one response.

    Parts that arrive asynchronously are for the asyncio transport only.
    """

    method: str
    parts: Iterable[Any] | AsyncIterable[Any]
    decode: Callable[[Any], R]


Call: TypeAlias = UnaryCall[T] | StreamCall[T] | UploadCall[T]
Steps: TypeAlias = Generator[UnaryCall[Any] | StreamCall[Any] | UploadCall[Any], Any, T]


def perform(call: Call[T]) -> Steps[T]:
    """Make one call inside an operation, by ``yield from``, and return its answer."""
    answer: T = yield call
    return answer


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What every call of a client carries.

    Attributes:
        timeout: Seconds one call may take, its retries included; None for no end.
        metadata: gRPC metadata sent with every call.
    """

    timeout: float | None = DEFAULT_TIMEOUT
    metadata: Metadata = field(default=(), repr=False)  # A token may be among it.


class SyncTransport:
    """Runs operations on a blocking channel. Safe to use from several threads."""

    def __init__(
        self, stub: StubOnDemand, endpoint: Endpoint, options: CallOptions, life: ChannelLife
    ) -> None:
        self._stub = stub
        self._service = stub.service
        self._endpoint = endpoint
        self._options = options
        self._life = life

    def run(self, steps: Steps[T]) -> T:
        """Run an operation to its end.

        Whatever interrupts a call is raised in the operation, which may have to
        take something back before it ends.

        Raises:
            AntiphonError: The class of the reason that a service gave, or a TransportError:
                ClientClosedError, with nothing sent, once the client was closed.
        """
        try:
            call = next(steps)
            while True:
                try:
                    answer = self._answer(call)
                except BaseException as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    def frames(self, method: str, request: Any) -> Generator[Any]:
        """Yield the frames of a stream that stays open, without an end to its time; closing it ends it.

        Raises:
            AntiphonError: As :meth:`run`.
        """
        reply = self._begin(method, request, None, self._options.metadata)
        try:
            yield from reply
        except grpc.RpcError as error:
            raise _rebuilt(error, self._endpoint) from None
        finally:
            reply.cancel()

    def _begin(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Any:
        """Begin a call, and end it too unless it is a stream."""
        try:
            return getattr(self._stub, method)(request, timeout=timeout, metadata=metadata)
        except ValueError:  # how gRPC refuses to use a closed channel
            if self._life.is_closed:
                raise client_closed(self._endpoint) from None
            raise

    def _answer(self, call: Call[Any]) -> Any:
        with client_call(f"{self._service}/{call.method}", self._options.metadata) as metadata:
            return self._answer_to(call, metadata)

    def _answer_to(self, call: Call[Any], metadata: Metadata) -> Any:
        try:
            request = _parts_now(call.parts) if isinstance(call, UploadCall) else call.request
            reply = self._begin(call.method, request, self._options.timeout, metadata)
            if not isinstance(call, StreamCall):
                return call.decode(reply)
            collector = call.collector()
            try:
                for frame in reply:
                    if collector.feed(frame):
                        break
            finally:
                reply.cancel()
            return collector.result()
        except grpc.RpcError as error:
            raise _rebuilt(error, self._endpoint) from None


class AsyncTransport:
    """Runs operations on an asyncio channel, within its event loop."""

    def __init__(
        self, stub: StubOnDemand, endpoint: Endpoint, options: CallOptions, life: ChannelLife
    ) -> None:
        self._stub = stub
        self._service = stub.service
        self._endpoint = endpoint
        self._options = options
        self._life = life
        self._shielded: set[asyncio.Future[Any]] = set()

    async def run(self, steps: Steps[T]) -> T:
        """Run an operation to its end; raises as :meth:`SyncTransport.run` does.

        What the operation still has to do once it was cancelled is done even if
        it is cancelled again.
        """
        is_cancelled = False
        try:
            call = next(steps)
            while True:
                try:
                    answer = await (self._answer_shielded(call) if is_cancelled else self._answer(call))
                except BaseException as error:
                    is_cancelled = isinstance(error, asyncio.CancelledError)
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _answer_shielded(self, call: Call[Any]) -> Any:
        answering = asyncio.ensure_future(self._answer(call))
        self._shielded.add(answering)  # An event loop holds its tasks weakly.
        answering.add_done_callback(self._shielded.discard)
        return await asyncio.shield(answering)

    async def frames(self, method: str, request: Any) -> AsyncGenerator[Any]:
        """Yield the frames of a stream that stays open, as :meth:`SyncTransport.frames` does."""
        reply = self._begin(method, request, None, self._options.metadata)
        try:
            async for frame in reply:
                yield frame
        except grpc.RpcError as error:
            raise _rebuilt(error, self._endpoint) from None
        except asyncio.CancelledError:
            self._check_own_cancellation()
            raise
        finally:
            reply.cancel()

    def _begin(self, method: str, request: Any, timeout: float | None, metadata: Metadata) -> Any:
        try:
            return getattr(self._stub, method)(request, timeout=timeout, metadata=metadata)
        except (ChannelClosedError, grpc.aio.UsageError):  # how gRPC refuses to use a closed channel
            if self._life.is_closed:
                raise client_closed(self._endpoint) from None
            raise

    def _check_own_cancellation(self) -> None:
        """Tell a call that ended with its channel from a cancelled task, which gRPC reports alike.

        Raises:
            CallCancelledError: The client was closed, and nobody has cancelled the task.
        """
        task = asyncio.current_task()
        if self._life.is_closed and (task is None or not task.cancelling()):
            text = "the client was closed"
            raise transport_error(grpc.StatusCode.CANCELLED, text, self._endpoint) from None

    async def _answer(self, call: Call[Any]) -> Any:
        with client_call(f"{self._service}/{call.method}", self._options.metadata) as metadata:
            return await self._answer_to(call, metadata)

    async def _answer_to(self, call: Call[Any], metadata: Metadata) -> Any:
        try:
            request = _parts(call.parts) if isinstance(call, UploadCall) else call.request
            reply = self._begin(call.method, request, self._options.timeout, metadata)
            if not isinstance(call, StreamCall):
                return call.decode(await reply)
            collector = call.collector()
            try:
                async for frame in reply:
                    if collector.feed(frame):
                        break
            finally:
                reply.cancel()
            return collector.result()
        except grpc.RpcError as error:
            raise _rebuilt(error, self._endpoint) from None
        except asyncio.CancelledError:
            self._check_own_cancellation()
            raise


def _parts(parts: Iterable[Any] | AsyncIterable[Any]) -> Iterator[Any] | AsyncIterator[Any]:
    return aiter(parts) if isinstance(parts, AsyncIterable) else iter(parts)


def _parts_now(parts: Iterable[Any] | AsyncIterable[Any]) -> Iterator[Any]:
    if isinstance(parts, AsyncIterable):
        raise TypeError("a blocking client cannot send what arrives asynchronously")
    return iter(parts)


def _rebuilt(error: grpc.RpcError, endpoint: Endpoint) -> AntiphonError:
    known = error_from_rpc(error)
    if known is not None:
        return known
    code = error.code() if isinstance(error, grpc.Call | grpc.aio.AioRpcError) else grpc.StatusCode.UNKNOWN
    details = error.details() if isinstance(error, grpc.Call | grpc.aio.AioRpcError) else str(error)
    return transport_error(code, details or "", endpoint)


class SyncHost(Protocol[OwnCoreT]):
    """Owner of :func:`sync_method` methods."""

    @property
    def _core(self) -> OwnCoreT: ...

    @property
    def _transport(self) -> SyncTransport: ...


class AsyncHost(Protocol[OwnCoreT]):
    """Owner of :func:`async_method` methods."""

    @property
    def _core(self) -> OwnCoreT: ...

    @property
    def _transport(self) -> AsyncTransport: ...


def sync_method(
    operation: Callable[Concatenate[CoreT, P], Steps[R]],
) -> Callable[Concatenate[SyncHost[CoreT], P], R]:
    """Make a blocking method of an operation of the client's core."""

    @functools.wraps(operation)
    def method(self: SyncHost[CoreT], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._transport.run(operation(self._core, *args, **kwargs))

    return _presented(method)


def async_method(
    operation: Callable[Concatenate[CoreT, P], Steps[R]],
) -> Callable[Concatenate[AsyncHost[CoreT], P], Coroutine[Any, Any, R]]:
    """Make an awaitable method of an operation of the client's core."""

    @functools.wraps(operation)
    async def method(self: AsyncHost[CoreT], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._transport.run(operation(self._core, *args, **kwargs))

    return _presented(method)


def _presented(method: FunctionT) -> FunctionT:
    """Let a method's signature tell what a caller gets, not the operation's steps."""
    shown: Any = method
    returned = re.fullmatch(r"Steps\[(.*)\]", shown.__annotations__["return"])
    if returned is not None:
        shown.__annotations__ = {**shown.__annotations__, "return": returned[1]}
        signature = inspect.signature(shown)
        shown.__signature__ = signature.replace(return_annotation=returned[1])
    return method
