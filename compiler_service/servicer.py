"""The RPCs of ``antiphon.compiler.v1.CompilerService``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from antiphon.compiler.v1.compiler_service_pb2 import (
    CompileRequest,
    StreamCompileRequest,
    StreamCompileResponse,
)
from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceServicer
from antiphon_client.edge.call import current_call
from antiphon_client.edge.offload import run_weighted
from antiphon_client.errors import FieldInvalidError
from antiphon_client.limits import Limits
from antiphon_client.snapshot import AssembledSnapshot
from compiler_service.compilation import Compilation, CompileSource, compile_turn
from compiler_service.encoding import encode_response
from compiler_service.request_checks import check_request, check_snapshot
from compiler_service.source import SnapshotStub, pull_snapshot
from compiler_service.streaming import stream_frames

T = TypeVar("T")


class CompilerServicer(CompilerServiceServicer):
    """Serves compilations; holds no state between calls."""

    def __init__(self, history_stub: SnapshotStub | None, limits: Limits) -> None:
        self._history = history_stub
        self._limits = limits

    # The edge takes a reply that is encoded already; the generated signature knows only messages.
    async def Compile(self, request: CompileRequest, context: Any) -> bytes:  # type: ignore[override]
        """Compile and return the encoded CompileResponse."""
        return await self._compile(request, "", encode_response)

    async def StreamCompile(
        self, request: StreamCompileRequest, context: Any
    ) -> AsyncIterator[StreamCompileResponse]:
        """Compile and yield the outcome in frames."""
        if not request.HasField("request"):
            raise FieldInvalidError.of("request", "is required")
        for frame in await self._compile(request.request, "request.", stream_frames):
            yield frame

    async def _compile(
        self, request: CompileRequest, field_prefix: str, encode: Callable[[Compilation, Limits], T]
    ) -> T:
        """Compile and encode what comes out; a stream's frames are encoded as they are sent."""
        weight = request.ByteSize()
        await run_weighted(weight, check_request, request, field_prefix, self._limits)
        pulled: AssembledSnapshot | None = None
        if request.HasField("branch"):
            pulled = await pull_snapshot(self._history, request, current_call(), self._limits)
            weight += sum(map(len, pulled.messages))

        def compile_and_encode() -> T:
            return encode(_compile_from(request, pulled, field_prefix, self._limits), self._limits)

        return await run_weighted(weight, compile_and_encode)


def _compile_from(
    request: CompileRequest, pulled: AssembledSnapshot | None, field_prefix: str, limits: Limits
) -> Compilation:
    if pulled is not None:
        source = CompileSource(pulled.system, pulled.decode(), pulled.revision, pulled.incarnation)
    else:
        snapshot = request.snapshot
        check_snapshot(snapshot, field_prefix, limits)
        source = CompileSource(snapshot.system if snapshot.HasField("system") else None, snapshot.messages)
    return compile_turn(request, source, field_prefix=field_prefix)
