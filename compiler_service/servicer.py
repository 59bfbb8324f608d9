"""The RPCs of ``antiphon.compiler.v1.CompilerService``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from antiphon.compiler.v1.compiler_service_pb2 import (
    CompileRequest,
    PlanCompactionRequest,
    PlanCompactionResponse,
    PlanWindowRequest,
    PlanWindowResponse,
    StreamCompileRequest,
    StreamCompileResponse,
)
from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceServicer
from antiphon.compiler.v1.provider_pb2 import (
    AssembleResponseRequest,
    AssembleResponseResponse,
    ParseResponseRequest,
    ParseResponseResponse,
)
from antiphon.compiler.v1.target_pb2 import ListTargetsRequest, ListTargetsResponse
from antiphon_client.edge.metrics import Figure
from antiphon_client.edge.offload import run_weighted
from antiphon_client.errors import FieldInvalidError
from antiphon_client.limits import Limits
from compiler_service.cache.branches import DEFAULT_CACHE_BYTES
from compiler_service.cache.reading import BranchReader, BranchReading
from compiler_service.compilation import Compilation, CompileSource, compile_turn
from compiler_service.encoding import encode_response
from compiler_service.folded.outcome import FoldedOutcome
from compiler_service.profiles import PROFILES
from compiler_service.profiles.folded import FOLDED
from compiler_service.projection import list_targets
from compiler_service.request_checks import check_request, check_snapshot
from compiler_service.responses import assemble_response, parse_response
from compiler_service.source import HistoryRequest, SnapshotStub
from compiler_service.streaming import stream_frames
from compiler_service.tokens import ESTIMATE, ESTIMATE_ONLY, Counters, TokenCounter
from compiler_service.windows import (
    check_plan_compaction,
    check_plan_window,
    plan_compaction,
    plan_window,
    sized_reply,
)
from compiler_service.workers.pool import FoldingWorkers

T = TypeVar("T")
PlanT = TypeVar("PlanT", PlanWindowRequest, PlanCompactionRequest)
ReplyT = TypeVar("ReplyT", PlanWindowResponse, PlanCompactionResponse)


class CompilerServicer(CompilerServiceServicer):
    """Serves compilations; between calls it keeps only what spares work (``compiler_service.cache``)."""

    def __init__(
        self,
        history_stub: SnapshotStub | None,
        limits: Limits,
        counters: Counters = ESTIMATE_ONLY,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        workers: FoldingWorkers | None = None,
        ready_bytes: int = 0,
    ) -> None:
        """Set up the servicer.

        Args:
            history_stub: The history service; None where none is configured.
            limits: The limits of requests and replies.
            counters: The token counters there are.
            cache_bytes: Memory of branches that are kept, at most; 0 keeps none.
            workers: Fold beside this process; None for none. The caller starts and closes them.
            ready_bytes: Memory of branches that are kept that is fetched now.
        """
        self._branches = BranchReader(history_stub, limits, cache_bytes, workers, ready_bytes)
        self._limits = limits
        self._counters = counters

    @property
    def kept_bytes(self) -> int:
        """Memory that the branches kept between calls take, estimated from above."""
        return self._branches.kept_bytes

    def figures(self) -> tuple[Figure, ...]:
        """Return what is published of the branches kept between calls."""
        return self._branches.figures()

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

    async def ParseResponse(self, request: ParseResponseRequest, context: Any) -> ParseResponseResponse:
        """Turn a provider's whole answer into messages."""
        return await run_weighted(request.ByteSize(), parse_response, request, self._limits)

    async def AssembleResponse(
        self, request_iterator: AsyncIterator[AssembleResponseRequest], context: Any
    ) -> AssembleResponseResponse:
        """Turn a provider's streamed answer into messages."""
        return await assemble_response(request_iterator, self._limits)

    async def ListTargets(self, request: ListTargetsRequest, context: Any) -> ListTargetsResponse:
        """List the targets, and the token counters there are."""
        return list_targets(self._counters.names)

    async def PlanWindow(self, request: PlanWindowRequest, context: Any) -> PlanWindowResponse:
        """Plan a selection that fits a budget."""
        await run_weighted(request.ByteSize(), check_plan_window, request, self._limits, self._counters)
        return await self._plan(request, plan_window)

    async def PlanCompaction(self, request: PlanCompactionRequest, context: Any) -> PlanCompactionResponse:
        """Plan a compaction."""
        await run_weighted(request.ByteSize(), check_plan_compaction, request, self._counters)
        return await self._plan(request, plan_compaction)

    async def _plan(
        self, request: PlanT, plan: Callable[[PlanT, CompileSource, TokenCounter], ReplyT]
    ) -> ReplyT:
        reading = await self._read(request)

        def work() -> ReplyT:
            counter = self._counters.get(request.token_counter or ESTIMATE)
            return sized_reply(
                plan(request, _source_of(request, reading, "", self._limits), counter), self._limits
            )

        try:
            return await run_weighted(_weight(request, reading), work)
        finally:
            if reading is not None:
                self._branches.keep(reading, reading.former)

    async def _read(self, request: HistoryRequest, *, folds: bool = False) -> BranchReading | None:
        """Read the branch of a request that has one as its source."""
        return await self._branches.read(request, folds=folds) if request.HasField("branch") else None

    async def _compile(
        self, request: CompileRequest, field_prefix: str, encode: Callable[[Compilation, Limits], T]
    ) -> T:
        """Compile and encode what comes out; a stream's frames are encoded as they are sent."""
        await run_weighted(
            request.ByteSize(), check_request, request, field_prefix, self._limits, self._counters
        )
        folds = PROFILES[request.profile] is FOLDED
        reading = await self._read(request, folds=folds)
        only_folds = folds and not (request.HasField("target") or request.HasField("token_counter"))
        weight = _weight(request, reading, only_folds=only_folds)

        def compile_and_encode() -> tuple[T, FoldedOutcome | None]:
            source = _source_of(request, reading, field_prefix, self._limits)
            compilation = compile_turn(request, source, field_prefix=field_prefix, counters=self._counters)
            return encode(compilation, self._limits), compilation.folded

        folded: FoldedOutcome | None = None
        try:
            encoded, folded = await run_weighted(weight, compile_and_encode)
        finally:
            # What was read is kept even where it does not compile.
            if reading is not None:
                self._branches.keep(reading, reading.former if folded is None else folded.history)
        return encoded


def _weight(request: HistoryRequest, reading: BranchReading | None, *, only_folds: bool = False) -> int:
    """Return the bytes to work on."""
    return request.ByteSize() + (0 if reading is None else reading.weight(only_folds=only_folds))


def _source_of(
    request: HistoryRequest, reading: BranchReading | None, field_prefix: str, limits: Limits
) -> CompileSource:
    if reading is not None:
        return reading.source()
    snapshot = request.snapshot
    check_snapshot(snapshot, field_prefix, limits)
    return CompileSource(snapshot.system if snapshot.HasField("system") else None, snapshot.messages)
