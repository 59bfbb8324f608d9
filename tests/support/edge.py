"""A small history service behind the real edge, for tests of the edge itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon.history.v1.branch_pb2 import Branch
from antiphon_client.edge.call import Call, current_call
from antiphon_client.edge.lifecycle import Resource, ServiceServer
from antiphon_client.edge.settings import EdgeSettings
from antiphon_client.errors import AntiphonError, BranchNotFoundError
from antiphon_client.status import HISTORY_DOMAIN, error_from_rpc

SERVICE = pb.DESCRIPTOR.services_by_name["HistoryService"]
PATIENCE_SECONDS = 30
"""How long a test waits for what must happen before it fails."""
SECRET = "the user's own words"


class NativePanic(BaseException):
    """What a native library raises that gave up: no Exception, as that of pyo3 is none."""


class FakeHistory(pb_grpc.HistoryServiceServicer):
    """Answers by the branch id it is asked for.

    Attributes:
        calls: What the edge told about each call.
        waiting: Set while a call for ``wait`` waits.
        release: Lets calls for ``wait`` go on.
        cancelled: Set when such a call is cancelled.
        closed: Set when a stream's generator is closed.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.waiting = asyncio.Event()
        self.release = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.closed = asyncio.Event()

    async def GetBranch(  # type: ignore[override]  # noqa: N802
        self, request: pb.GetBranchRequest, context: Any
    ) -> pb.GetBranchResponse | bytes:
        self.calls.append(current_call())
        return await self._answer(request.branch_id)

    async def _answer(self, branch_id: str) -> pb.GetBranchResponse | bytes:
        match branch_id:
            case "bytes":
                return pb.GetBranchResponse(branch=Branch(revision=7)).SerializeToString()
            case "missing":
                raise BranchNotFoundError("no such branch", metadata={"branch_id": branch_id})
            case "elsewhere":
                raise BranchNotFoundError("no such branch", domain="antiphon.compiler")
            case "defect":
                raise KeyError(SECRET)
            case "panic":
                raise NativePanic(SECRET)
            case "nothing":
                return None  # type: ignore[return-value]
            case "lost task":
                raise asyncio.CancelledError(SECRET)
            case "timeout":
                raise TimeoutError(SECRET)
            case "wait":
                await self._wait()
        return pb.GetBranchResponse(branch=Branch(branch_id=branch_id))

    async def _wait(self) -> None:
        self.waiting.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def AddMessages(self, request: pb.AddMessagesRequest, context: Any) -> pb.AddMessagesResponse:  # noqa: N802
        return pb.AddMessagesResponse(revision=len(request.messages))

    async def ReadSnapshot(  # type: ignore[override]  # noqa: N802
        self, request: pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[pb.ReadSnapshotResponse | bytes]:
        self.calls.append(current_call())
        try:
            yield pb.ReadSnapshotResponse(header=pb.SnapshotHeader(revision=3))
            yield pb.ReadSnapshotResponse(batch=pb.SnapshotBatch(messages=[b"x"])).SerializeToString()
            if request.branch_id == "endless":
                while True:
                    yield pb.ReadSnapshotResponse(batch=pb.SnapshotBatch(messages=[bytes(2**16)]))
            await self._answer(request.branch_id)
            yield pb.ReadSnapshotResponse(footer=pb.SnapshotFooter(message_count=1))
        finally:
            self.closed.set()


def fake_server(
    listen: str,
    servicer: FakeHistory,
    *resources: Resource,
    writes: Collection[str] = (),
    commit_budget: float = 0.0,
    **settings: Any,
) -> ServiceServer:
    """Put the fake behind an edge."""
    return ServiceServer(
        EdgeSettings(listen=listen, **settings),
        service=SERVICE,
        domain=HISTORY_DOMAIN,
        register=lambda server: pb_grpc.add_HistoryServiceServicer_to_server(servicer, server),
        resources=resources,
        writes=writes,
        commit_budget=commit_budget,
    )


async def happened(event: asyncio.Event) -> None:
    """Wait for an event that must come."""
    await asyncio.wait_for(event.wait(), PATIENCE_SECONDS)


def bytes_method(channel: Any, path: str) -> Any:
    """Return a unary method that takes and gives bytes, which gRPC's types do not foresee."""
    return channel.unary_unary(path)


class Edge:
    """A fake history service that serves, and a channel to it."""

    def __init__(self, server: ServiceServer, servicer: FakeHistory, channel: grpc.aio.Channel) -> None:
        self.server = server
        self.servicer = servicer
        self.channel = channel
        self.stub = pb_grpc.HistoryServiceStub(channel)

    async def get(self, branch_id: str, **options: Any) -> pb.GetBranchResponse:
        """Call GetBranch."""
        call = self.stub.GetBranch(pb.GetBranchRequest(branch_id=branch_id), **options)
        response: pb.GetBranchResponse = await asyncio.wait_for(call, PATIENCE_SECONDS)
        return response

    async def raw(self, method: str, body: bytes) -> bytes:
        """Call a unary method with bytes as they are."""
        reply: bytes = await bytes_method(self.channel, f"/{SERVICE.full_name}/{method}")(body)
        return reply


@asynccontextmanager
async def serving(folder: Path, **settings: Any) -> AsyncIterator[Edge]:
    """Run a fake history service on a socket in ``folder``."""
    servicer = FakeHistory()  # type: ignore[abstract]  # the runtime base answers UNIMPLEMENTED
    server = fake_server(f"unix:{folder / 'edge.sock'}", servicer, **settings)
    address = await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            yield Edge(server, servicer, channel)
    finally:
        servicer.release.set()
        await server.stop(0)


def reasoned(failure: grpc.RpcError) -> AntiphonError:
    """Return the error behind a failure, which must be one of ours and say the same everywhere."""
    error = error_from_rpc(failure)
    assert error is not None
    assert isinstance(failure, grpc.aio.AioRpcError)
    assert failure.code().name == error.code
    assert failure.details() == error.message
    return error
