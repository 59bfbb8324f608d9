"""How the servicer treats the event loop and the caller's metadata."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc.aio
import pytest

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.history.v1.history_service_pb2 import ReadSnapshotRequest, ReadSnapshotResponse
from antiphon_client.edge.call import Call
from antiphon_client.edge.offload import INLINE_BYTES
from antiphon_client.errors import SnapshotTruncatedError
from antiphon_client.limits import DEFAULT_LIMITS
from compiler_service.servicer import CompilerServicer
from compiler_service.source import pull_snapshot
from tests.support.compiler import request_of

pytestmark = pytest.mark.anyio


async def order_of_events(request: CompileRequest) -> list[str]:
    """Start a compilation and, after it, another task; return which one finished first."""
    events: list[str] = []

    async def compile_it() -> None:
        await CompilerServicer(None, DEFAULT_LIMITS).Compile(request, None)
        events.append("compiled")

    async def do_something_else() -> None:
        events.append("something else")

    await asyncio.gather(compile_it(), do_something_else())
    return events


async def test_large_compilations_leave_the_loop_to_others() -> None:
    large = request_of({"instruction": {"instruction": "x" * INLINE_BYTES}})
    assert await order_of_events(large) == ["something else", "compiled"]


async def test_small_compilations_are_done_at_once() -> None:
    small = request_of({"instruction": {"instruction": "x"}})
    assert await order_of_events(small) == ["compiled", "something else"]


async def test_the_callers_own_metadata_is_forwarded_and_its_connections_is_not() -> None:
    callers: list[tuple[str, str | bytes]] = [
        ("authorization", "Bearer t"),
        ("x-request", "1"),
        ("x-request", "2"),
        ("trace-bin", b"\x00"),
    ]
    connections: list[tuple[str, str | bytes]] = [
        ("user-agent", "a client"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        ("connection", "close"),
        ("host", "elsewhere"),
        ("grpc-timeout", "1S"),
        ("grpc-trace-bin", b"\x01"),
        (":path", "/x"),
    ]
    stub = AskedStub()
    call = Call("/x", metadata=(*connections, *callers))
    with pytest.raises(SnapshotTruncatedError):
        await pull_snapshot(stub, CompileRequest(), call, DEFAULT_LIMITS)
    assert list(stub.metadata) == callers


class AskedStub:
    """A history that answers nothing and keeps the metadata it was asked with."""

    metadata: grpc.aio.Metadata

    @property
    def ReadSnapshot(self) -> Any:
        """Answer with an empty stream."""

        def call(request: ReadSnapshotRequest, *, timeout: float | None, metadata: grpc.aio.Metadata) -> Any:
            self.metadata = metadata
            return NoFrames()

        return call


class NoFrames:
    """A stream that ends at once."""

    def cancel(self) -> bool:
        """Nothing to cancel."""
        return False

    async def __aiter__(self) -> AsyncIterator[ReadSnapshotResponse]:
        """Yield nothing."""
        nothing: tuple[ReadSnapshotResponse, ...] = ()
        for frame in nothing:
            yield frame
