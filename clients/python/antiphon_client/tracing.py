"""Whether calls make spans: off until somebody asks for it, and nothing of OpenTelemetry is loaded before.

A program that uses OpenTelemetry calls :func:`enable_tracing` once; the services
have ``--tracing``. Spans carry names, codes and reasons of calls, and no contents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import grpc.aio

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

Metadata: TypeAlias = Sequence[tuple[str, str | bytes]]


class CallTracing(Protocol):
    """Makes the spans of calls."""

    def client_call(self, method: str, metadata: Metadata) -> AbstractContextManager[Metadata]:
        """Make a span of a call to a service; see :func:`client_call`."""
        ...

    def server_interceptor(self, paths: Mapping[str, Any]) -> grpc.aio.ServerInterceptor:
        """Return what makes spans of the calls to a server's methods, those in ``paths``."""
        ...


_tracing: CallTracing | None = None


def enable_tracing(provider: TracerProvider | None = None) -> None:
    """Make a span of each call from now on, and send its context along (W3C Trace Context).

    Each call of a client is a span of kind CLIENT below the span that is current where it is made. A watch,
    which may last for days, makes none.

    Args:
        provider: Makes the tracer; None for OpenTelemetry's global one.

    Raises:
        ImportError: OpenTelemetry is not installed; ``antiphon[otel]`` brings it.
    """
    from antiphon_client.tracing_spans import OpenTelemetryCalls

    global _tracing
    _tracing = OpenTelemetryCalls(provider)


def disable_tracing() -> None:
    """Make no more spans."""
    global _tracing
    _tracing = None


def client_call(method: str, metadata: Metadata) -> AbstractContextManager[Metadata]:
    """Return a context for one call to a service; it gives the metadata to send.

    Where tracing is off that is the metadata as given, a caller's own trace context included.

    Args:
        method: The method's full name, as ``antiphon.history.v1.HistoryService/ReadSnapshot``.
        metadata: What would be sent.
    """
    return nullcontext(metadata) if _tracing is None else _tracing.client_call(method, metadata)


def server_interceptors(paths: Mapping[str, Any]) -> list[grpc.aio.ServerInterceptor]:
    """Return the interceptors that tracing asks for, the outermost first; none where it is off."""
    return [] if _tracing is None else [_tracing.server_interceptor(paths)]
