"""Spans as log lines; loaded only where they are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from antiphon_client.edge.logs import get_logger


class LogExporter(SpanExporter):
    """Writes a log line for each span."""

    def __init__(self) -> None:
        """Write to the logger ``antiphon.trace``."""
        self._log = get_logger("trace")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write spans that have ended."""
        for span in spans:
            context, parent = span.get_span_context(), span.parent
            attributes = span.attributes or {}
            self._log.info(
                "span",
                name=span.name,
                kind=span.kind.name,
                trace_id="" if context is None else f"{context.trace_id:032x}",
                span_id="" if context is None else f"{context.span_id:016x}",
                parent_id="" if parent is None else f"{parent.span_id:016x}",
                seconds=round(((span.end_time or 0) - (span.start_time or 0)) / 1e9, 6),
                grpc_status_code=attributes.get("rpc.grpc.status_code"),
                error_type=attributes.get("error.type", ""),
            )
        return SpanExportResult.SUCCESS
