"""A compiler server in front of a history, real or made to misbehave, over unix sockets."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest

from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceStub
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.history.v1.branch_pb2 import Branch
from antiphon.history.v1.history_service_pb2_grpc import (
    HistoryServiceServicer,
    HistoryServiceStub,
    add_HistoryServiceServicer_to_server,
)
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import AntiphonError
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from antiphon_client.status import error_from_rpc
from compiler_service.server import build_server as build_compiler
from compiler_service.settings import CompilerSettings
from history_service.server import build_server as build_history
from history_service.settings import HistorySettings
from history_service.storage import open_store

if TYPE_CHECKING:
    # Known to the type stubs only.
    from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceAsyncStub
    from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceAsyncStub

BRANCH_ID = "00000000-0000-4000-8000-0000000b4a4c"
INCARNATION = "00000000-0000-4000-8000-000000001ca4"
Frames = Callable[[history_pb.ReadSnapshotRequest, Any], AsyncIterator[history_pb.ReadSnapshotResponse]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Stubs of both services."""

    history: HistoryServiceAsyncStub
    compiler: CompilerServiceAsyncStub


@asynccontextmanager
async def compiler_before(
    history_address: str,
    folder: Path,
    limits: Limits = DEFAULT_LIMITS,
    tokens: Path | None = None,
    workers: int = 0,
) -> AsyncIterator[CompilerServiceAsyncStub]:
    """Serve a compiler whose history is at an address."""
    settings = CompilerSettings(
        listen=f"unix:{folder}/c.sock",
        history=history_address,
        limits=limits,
        tokens=tokens,
        folding_workers=workers,
    )
    server = build_compiler(settings, grpc.aio.insecure_channel(history_address))
    address = await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            yield CompilerServiceStub(channel)
    finally:
        await server.stop(0)


@asynccontextmanager
async def real_pair(folder: Path, limits: Limits = DEFAULT_LIMITS, workers: int = 0) -> AsyncIterator[Pair]:
    """Serve a history with a memory store and a compiler in front of it."""
    settings = HistorySettings(listen=f"unix:{folder}/h.sock", store="memory:")
    server = build_history(settings, open_store("memory:"))
    address = await server.start()
    try:
        async with (
            compiler_before(address, folder, limits, workers=workers) as compiler,
            grpc.aio.insecure_channel(address) as channel,
        ):
            yield Pair(HistoryServiceStub(channel), compiler)
    finally:
        await server.stop(0)


class ScriptedHistory(HistoryServiceServicer):
    """A history whose ReadSnapshot does what a test says; it keeps what it was asked."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self.requests: list[history_pb.ReadSnapshotRequest] = []
        self.metadata: list[list[tuple[str, str | bytes]]] = []
        self.time_remaining: list[float | None] = []

    async def ReadSnapshot(  # noqa: N802
        self, request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        """Answer as the test says."""
        self.requests.append(request)
        self.metadata.append([(key, value) for key, value in context.invocation_metadata()])
        self.time_remaining.append(context.time_remaining())
        async for frame in self._frames(request, context):
            yield frame


@asynccontextmanager
async def scripted_pair(
    folder: Path, frames: Frames, tokens: Path | None = None, workers: int = 0
) -> AsyncIterator[tuple[ScriptedHistory, CompilerServiceAsyncStub]]:
    """Serve a scripted history and a compiler in front of it."""
    # The type stubs call every RPC abstract; at run time the others answer UNIMPLEMENTED.
    servicer = ScriptedHistory(frames)  # type: ignore[abstract]
    server = grpc.aio.server()
    add_HistoryServiceServicer_to_server(servicer, server)
    address = f"unix:{folder}/h.sock"
    server.add_insecure_port(address)
    await server.start()
    try:
        async with compiler_before(address, folder, tokens=tokens, workers=workers) as compiler:
            yield servicer, compiler
    finally:
        await server.stop(0)


def snapshot_frames(
    messages: Sequence[Message], *, system: Message | None = None, revision: int = 7, batch: int = 2
) -> list[history_pb.ReadSnapshotResponse]:
    """Return the frames of a whole snapshot, in several order parts and batches."""
    encoded = [message.SerializeToString(deterministic=True) for message in messages]
    header = history_pb.SnapshotHeader(
        branch=Branch(branch_id=BRANCH_ID, incarnation=INCARNATION, revision=revision),
        incarnation=INCARNATION,
        revision=revision,
        system=system,
        message_count=len(messages),
    )
    footer = history_pb.SnapshotFooter(
        message_count=len(messages), sha256=hashlib.sha256(b"".join(encoded)).digest()
    )
    ids = [message.id for message in messages]
    starts = range(0, len(messages), batch)
    return [
        history_pb.ReadSnapshotResponse(header=header),
        *(
            history_pb.ReadSnapshotResponse(
                order=history_pb.SnapshotOrder(message_ids=ids[start : start + batch])
            )
            for start in starts
        ),
        *(
            history_pb.ReadSnapshotResponse(
                batch=history_pb.SnapshotBatch(messages=encoded[start : start + batch])
            )
            for start in starts
        ),
        history_pb.ReadSnapshotResponse(footer=footer),
    ]


def answering(frames: Sequence[history_pb.ReadSnapshotResponse]) -> Frames:
    """Return a script that sends frames and ends."""

    async def script(
        request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        for frame in frames:
            yield frame

    return script


async def reason_of(call: Any) -> AntiphonError:
    """Await a call that must fail with a reason, and return the error."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    error = error_from_rpc(caught.value)
    assert error is not None, caught.value
    assert caught.value.code() is grpc.StatusCode[error.code]
    return error
