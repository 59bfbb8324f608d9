"""Spans of calls, in OpenTelemetry's terms; loaded only where tracing is asked for.

Names and attributes follow OpenTelemetry's conventions for gRPC. No span has a
message, an id of a caller's, or an exception's text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import grpc
import grpc.aio
from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from antiphon_client.errors import AntiphonError
from antiphon_client.tracing import Metadata

_PROPAGATOR = TraceContextTextMapPropagator()
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_SERVERS_FAULTS = frozenset(
    {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}
)
"""Codes that make a server's span a failed one; the others say that the caller asked for what cannot be."""

Handler = Any


class OpenTelemetryCalls:
    """Makes spans with OpenTelemetry; see ``CallTracing``."""

    def __init__(self, provider: TracerProvider | None) -> None:
        """Make spans with a provider's tracer; None for the global one."""
        self._tracer = trace.get_tracer("antiphon", tracer_provider=provider)

    @contextmanager
    def client_call(self, method: str, metadata: Metadata) -> Iterator[Metadata]:
        """Make a span of kind CLIENT; see ``CallTracing``."""
        span = self._tracer.start_span(method, kind=SpanKind.CLIENT, attributes=_attributes(method))
        try:
            yield _with_context(metadata, span)
            _end(span, "OK")
        except AntiphonError as error:
            _end(span, error.code, error.reason, is_fault=True)
            raise
        except asyncio.CancelledError:
            _end(span, "CANCELLED", is_fault=True)
            raise
        except BaseException as error:
            _end(span, "UNKNOWN", type(error).__qualname__, is_fault=True)
            raise

    def server_interceptor(self, paths: Mapping[str, Any]) -> grpc.aio.ServerInterceptor:
        """Return an interceptor that makes spans of kind SERVER; see ``CallTracing``."""
        return _ServerSpans(self._tracer, paths)


class _ServerSpans(grpc.aio.ServerInterceptor):
    """Puts a span around each call of a known method."""

    def __init__(self, tracer: trace.Tracer, paths: Mapping[str, Any]) -> None:
        self._tracer = tracer
        self._paths = paths

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        handler = await continuation(handler_call_details)
        path = handler_call_details.method
        if handler is None or path not in self._paths:
            return handler
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(self._around(path, handler.unary_unary))
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(self._around(path, handler.unary_stream))
        if handler.stream_stream is not None:
            # The edge's, which refuses a call before its request is read.
            return grpc.stream_stream_rpc_method_handler(self._around(path, handler.stream_stream))
        return grpc.stream_unary_rpc_method_handler(self._around(path, handler.stream_unary))

    def _around(self, path: str, behavior: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        method = path.removeprefix("/")

        async def serve(request: Any, context: Any) -> Any:
            carrier = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}
            parent = _PROPAGATOR.extract(carrier)
            span = self._tracer.start_span(method, parent, SpanKind.SERVER, _attributes(method))
            token = contexts.attach(trace.set_span_in_context(span, parent))
            code = "UNKNOWN"
            try:
                result = await behavior(request, context)
                code = "OK"
                return result
            except asyncio.CancelledError:
                code = "CANCELLED"
                raise
            except BaseException:
                code = _code_of(context)
                raise
            finally:
                contexts.detach(token)
                _end(span, code, is_fault=code in _SERVERS_FAULTS)

        return serve


def _attributes(method: str) -> dict[str, str]:
    service, _, name = method.partition("/")
    return {"rpc.system": "grpc", "rpc.service": service, "rpc.method": name}


def _with_context(metadata: Metadata, span: Span) -> Metadata:
    """Return metadata with a span's context, in place of another one."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier, trace.set_span_in_context(span))
    kept = [(key, value) for key, value in metadata if key not in _PROPAGATOR.fields]
    return [*kept, *carrier.items()]


def _code_of(context: Any) -> str:
    """Return the name of the status that a call was ended with."""
    code = context.code()
    return code.name if isinstance(code, grpc.StatusCode) else _CODES.get(code, grpc.StatusCode.UNKNOWN).name


def _end(span: Span, code: str, error_type: str = "", *, is_fault: bool = False) -> None:
    span.set_attribute("rpc.grpc.status_code", grpc.StatusCode[code].value[0])
    if is_fault:
        span.set_attribute("error.type", error_type or code)
        span.set_status(Status(StatusCode.ERROR))
    span.end()
