"""A compilation that begins with what was folded before it."""

from __future__ import annotations

from typing import Any

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon_client.errors import AntiphonError
from antiphon_client.limits import DEFAULT_LIMITS
from compiler_service.compilation import CompileSource, compile_turn
from compiler_service.encoding import encode_response
from compiler_service.folded.history import FoldedHistory


def compiled(request: CompileRequest, former: FoldedHistory | None) -> bytes | tuple[Any, ...]:
    """Return the encoded reply, or what makes an error."""
    snapshot = request.snapshot
    system = snapshot.system if snapshot.HasField("system") else None
    try:
        compilation = compile_turn(request, CompileSource(system, list(snapshot.messages), former=former))
    except AntiphonError as error:
        return error.reason, error.message, dict(error.metadata)
    return encode_response(compilation, DEFAULT_LIMITS)
