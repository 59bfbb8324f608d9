"""Where a service's spans go: to a collector, or into its log."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from antiphon_client.tracing import enable_tracing

Tracing: TypeAlias = Literal["off", "otlp", "log"]


class TracingError(RuntimeError):
    """Tracing was asked for and cannot be had; the text says why."""


def start_tracing(
    where: Tracing, service: str, environment: Mapping[str, str] = os.environ
) -> Callable[[], None]:
    """Make spans of the calls of this process from now on; return what ends it, with all spans sent.

    Args:
        where: ``otlp`` sends them over HTTP to the collector that OpenTelemetry's own variables name
            (``OTEL_EXPORTER_OTLP_ENDPOINT``, by default this machine's port 4318); ``log`` writes a log
            line for each; ``off`` makes none. ``OTEL_TRACES_SAMPLER`` says which calls are traced.
        service: The service's name in its spans, unless ``OTEL_SERVICE_NAME`` gives one.
        environment: The environment variables.

    Raises:
        TracingError: OpenTelemetry is not installed.
    """
    if where == "off":
        return lambda: None
    try:
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

        named = {} if environment.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: service}
        provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
        if where == "otlp":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        else:
            from antiphon_client.edge.span_log import LogExporter

            provider.add_span_processor(SimpleSpanProcessor(LogExporter()))
    except ImportError as error:
        raise TracingError(
            f"--tracing {where}: {error.name} is not installed; antiphon[otel] brings it"
        ) from None
    enable_tracing(provider)
    return provider.shutdown
