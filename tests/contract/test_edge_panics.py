"""What is no Exception: a native library's panic is answered, the end of the process is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_NATIVE, CompileRequest, PlanWindowRequest
from antiphon.compiler.v1.provider_pb2 import AssembleResponseRequest
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.edge.access import Rules
from antiphon_client.edge.admission import Admission
from antiphon_client.edge.client_streams import ClientStreams
from antiphon_client.edge.entrance import Entrance
from antiphon_client.edge.gate import Gate
from antiphon_client.edge.interceptor import EdgeInterceptor
from antiphon_client.edge.methods import methods_of
from antiphon_client.edge.metrics import RequestMetrics
from antiphon_client.edge.observation import CallObserver
from antiphon_client.status import HISTORY_DOMAIN
from compiler_service import servicer
from compiler_service.tokens.counter import Estimate
from tests.support.compiler_servers import reason_of, scripted_pair
from tests.support.edge import PATIENCE_SECONDS, SECRET, SERVICE, NativePanic

pytestmark = pytest.mark.anyio


FRAMES: list[pb.ReadSnapshotResponse] = []


async def no_frames(request: Any, context: Any) -> AsyncIterator[pb.ReadSnapshotResponse]:
    for frame in FRAMES:
        yield frame


async def test_a_panic_of_the_compiler_is_answered_in_every_kind_of_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panic(*_: object) -> int:
        raise NativePanic(SECRET)

    async def panic_later(*_: object) -> int:
        return panic()

    monkeypatch.setattr(Estimate, "count", panic)
    monkeypatch.setattr(servicer, "assemble_response", panic_later)
    # One is small and is done at once, the other in a thread.
    texts = ["x", "x" * 100_000]
    async with scripted_pair(tmp_path, no_frames) as (_, compiler):
        calls: list[Any] = []
        for text in texts:
            window = PlanWindowRequest(budget_tokens=10)
            window.snapshot.SetInParent()
            window.instruction.instruction.instruction = text
            compilation = CompileRequest(profile=PROFILE_NATIVE, token_counter="estimate")
            compilation.snapshot.SetInParent()
            compilation.instruction.CopyFrom(window.instruction)
            calls += [compiler.PlanWindow(window, timeout=PATIENCE_SECONDS)]
            calls += [compiler.Compile(compilation, timeout=PATIENCE_SECONDS)]
        parts = [AssembleResponseRequest()]
        calls.append(compiler.AssembleResponse(iter(parts), timeout=PATIENCE_SECONDS))
        for each in calls:
            error = await reason_of(each)
            assert error.reason == "INTERNAL_ERROR"
            assert SECRET not in error.message


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("kind", ["unary", "upload", "stream"])
async def test_the_end_of_the_process_is_no_answer(kind: str, end: type[BaseException]) -> None:
    async def ends(request: Any, context: Any) -> Any:
        raise end

    async def streams(request: Any, context: Any) -> AsyncIterator[Any]:
        yield await ends(request, context)

    handlers: dict[str, tuple[str, Any]] = {
        "unary": ("GetBranch", grpc.unary_unary_rpc_method_handler(ends)),
        "upload": ("ImportBranch", grpc.stream_unary_rpc_method_handler(ends)),
        "stream": ("ReadSnapshot", grpc.unary_stream_rpc_method_handler(streams)),
    }
    method, handler = handlers[kind]
    edge = EdgeInterceptor(
        methods_of(SERVICE),
        domain=HISTORY_DOMAIN,
        request_bytes=1000,
        frame_bytes=1000,
        entrance=Entrance(
            Admission(max_calls=10, max_bytes=10_000),
            Admission(max_calls=10, max_bytes=10_000),
            ClientStreams(10),
        ),
        observer=CallObserver(RequestMetrics(), slow_seconds=60),
        gate=Gate(Rules([SERVICE]), None),
    )

    path = f"/{SERVICE.full_name}/{method}"
    served: Any = edge.wrapped(path, handler)
    assert edge.refusal(path, ()) is None
    context = SimpleNamespace(
        peer=lambda: "unix:", time_remaining=lambda: None, invocation_metadata=tuple, done=lambda: False
    )
    behavior = served.unary_unary or served.stream_unary or served.unary_stream
    with pytest.raises(end):
        await behavior(no_frames(None, None) if kind == "upload" else b"", context)
