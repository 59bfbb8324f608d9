"""What the edge refuses when there is too much, and what it answers nevertheless."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon_client.edge.call import current_call
from antiphon_client.edge.replies import READS_AT_ONCE
from history_service.server import EXCHANGE_SERVICE, READS, SERVICE, WRITES, build_server
from history_service.settings import HistorySettings
from history_service.storage import open_store
from history_service.storage.port import HistoryStore
from tests.support.edge import PATIENCE_SECONDS, Edge, FakeHistory, fake_server, happened, reasoned
from tests.support.history import store_url, uuid_of

pytestmark = pytest.mark.anyio

BRANCH = uuid_of(1)
ADDING = frozenset({"AddMessages"})


class SlowHistory(FakeHistory):
    """Counts what is being served; writes wait for the release, too.

    Attributes:
        reading: Reads that have reached the servicer.
        writing: Writes that have.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reading = 0
        self.writing = 0

    async def _wait(self) -> None:
        self.reading += 1
        await super()._wait()

    async def AddMessages(self, request: pb.AddMessagesRequest, context: Any) -> pb.AddMessagesResponse:  # noqa: N802
        self.writing += 1
        if request.branch_id == "wait":
            await self.release.wait()
        return pb.AddMessagesResponse(revision=1)

    async def ListBranches(self, request: pb.ListBranchesRequest, context: Any) -> Any:  # noqa: N802
        return bytes(2**20)


@asynccontextmanager
async def serving(folder: Path, **settings: Any) -> AsyncIterator[Edge]:
    servicer = SlowHistory()  # type: ignore[abstract]  # the runtime base answers UNIMPLEMENTED
    server = fake_server(f"unix:{folder / 'edge.sock'}", servicer, **settings)
    address = await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            yield Edge(server, servicer, channel)
    finally:
        servicer.release.set()
        await server.stop(0)


def add(edge: Edge, branch_id: str = "x", **options: Any) -> Any:
    return edge.stub.AddMessages(pb.AddMessagesRequest(branch_id=branch_id), **options)


async def reached(count: Any, wanted: int) -> None:
    """Wait until as many calls are being served."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while count() < wanted:
            await asyncio.sleep(0.001)


async def error_of(call: Any) -> Any:
    with pytest.raises(grpc.RpcError) as caught:
        await asyncio.wait_for(call, PATIENCE_SECONDS)
    return reasoned(caught.value)


async def test_a_flood_of_reads_leaves_room_for_writes(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_calls=8, writes=ADDING) as edge:
        servicer: Any = edge.servicer
        reads = [asyncio.ensure_future(edge.get("wait")) for _ in range(6)]
        await reached(lambda: servicer.reading, 6)
        error = await error_of(edge.get("x"))
        assert error.reason == "OVERLOADED"
        assert error.metadata == {"limit_name": "inflight_calls", "limit": "6", "of": "reads"}
        assert error.retry_after == pytest.approx(0.1)
        waiting = [asyncio.ensure_future(_reply(add(edge, "wait"))) for _ in range(2)]
        await reached(lambda: servicer.writing, 2)
        assert (await error_of(add(edge))).metadata == {"limit_name": "inflight_calls", "limit": "8"}
        servicer.release.set()
        await asyncio.gather(*reads, *waiting)


async def test_a_flood_of_writes_leaves_room_for_reads(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_bytes=1000, writes=ADDING) as edge:
        servicer: Any = edge.servicer
        large = pb.AddMessagesRequest(branch_id="wait", request_id="x" * 700)
        first = asyncio.ensure_future(_reply(edge.stub.AddMessages(large)))
        await reached(lambda: servicer.writing, 1)
        error = await error_of(add(edge, "x" * 100))
        assert error.metadata == {"limit_name": "inflight_bytes", "limit": "750", "of": "writes"}
        await edge.get("x" * 200)
        servicer.release.set()
        await first


async def test_a_refused_call_is_not_waited_for(tmp_path: Path) -> None:
    """Its request need not have come: nothing of it is read."""
    async with serving(tmp_path, inflight_calls=1) as edge:
        waiting = asyncio.ensure_future(edge.get("wait"))
        await happened(edge.servicer.waiting)
        for method in ("GetBranch", "ImportBranch"):
            silent: Any = edge.channel.stream_unary(f"/{SERVICE.full_name}/{method}")
            call = silent(_never())
            assert (await error_of(call)).metadata == {"limit_name": "inflight_calls", "limit": "1"}
        edge.servicer.release.set()
        await waiting


async def test_a_call_that_never_sends_its_request_leaves_its_place(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_calls=1) as edge:
        admission = edge.server._admission
        silent: Any = edge.channel.stream_unary(f"/{SERVICE.full_name}/GetBranch")
        call = silent(_never())
        await reached(lambda: admission.calls, 1)
        assert (await error_of(edge.get("x"))).reason == "OVERLOADED"
        call.cancel()
        await reached(lambda: -admission.calls, 0)
        await edge.get("x")


async def test_a_service_without_writes_gives_reads_every_place(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_calls=4) as edge:
        servicer: Any = edge.servicer
        reads = [asyncio.ensure_future(edge.get("wait")) for _ in range(4)]
        await reached(lambda: servicer.reading, 4)
        assert (await error_of(edge.get("x"))).metadata == {"limit_name": "inflight_calls", "limit": "4"}
        servicer.release.set()
        await asyncio.gather(*reads)


async def test_only_so_many_reads_are_answered_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        servicer: Any = edge.servicer
        reads = [asyncio.ensure_future(edge.get("wait")) for _ in range(READS_AT_ONCE + 8)]
        await reached(lambda: servicer.reading, READS_AT_ONCE)
        await reached(lambda: edge.server._admission.calls, READS_AT_ONCE + 8)
        late = asyncio.ensure_future(_code(edge.get("late", timeout=0.05)))
        assert await late is grpc.StatusCode.DEADLINE_EXCEEDED
        assert servicer.reading == READS_AT_ONCE
        servicer.release.set()
        await asyncio.gather(*reads)
        assert "late" not in [
            pb.GetBranchRequest.FromString(call.request_bytes).branch_id for call in servicer.calls
        ]


async def test_replies_that_nobody_fetches_are_counted(tmp_path: Path) -> None:
    """A caller that reads nothing fills its own share: writes are served on, and reads once it has left."""
    small_window = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 2**16)]
    async with serving(tmp_path, inflight_bytes=4 * 2**20, writes=ADDING) as edge:
        admission = edge.server._admission
        async with grpc.aio.insecure_channel(f"unix:{tmp_path / 'edge.sock'}", small_window) as idle:
            # Frames are taken one by one, so what is not asked for stays with the server.
            listing: Any = idle.unary_stream(f"/{SERVICE.full_name}/ListBranches")
            calls = [listing(b"") for _ in range(3)]
            await reached(lambda: admission.held_bytes, 3 * 2**20)
            assert admission.calls == 3
            error = await error_of(edge.get("x"))
            assert error.metadata == {
                "limit_name": "inflight_bytes", "limit": str(3 * 2**20), "of": "reads",
            }  # fmt: skip
            await _reply(add(edge))
            for call in calls:
                call.cancel()
            await reached(lambda: -admission.held_bytes, 0)
        await edge.get("x")


async def test_one_caller_has_so_many_streams(tmp_path: Path) -> None:
    async with serving(tmp_path, client_streams=2) as edge:
        streams = [edge.stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id="wait")) for _ in range(2)]
        for stream in streams:
            await stream.read()
        third = edge.stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id="x"))
        error = await error_of(third.read())
        assert (error.reason, error.metadata) == (
            "OVERLOADED",
            {"limit_name": "client_streams", "limit": "2"},
        )
        await edge.get("x")  # no stream
        streams[0].cancel()
        await happened(edge.servicer.closed)
        frames = [frame async for frame in edge.stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id="x"))]
        assert len(frames) == 3


async def test_health_is_answered_however_much_there_is(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_calls=1, inflight_bytes=1) as edge:
        waiting = asyncio.ensure_future(edge.get("wait"))
        await happened(edge.servicer.waiting)
        assert (await error_of(edge.get("x"))).reason == "OVERLOADED"
        reply = await health_pb2_grpc.HealthStub(edge.channel).Check(health_pb2.HealthCheckRequest())
        assert reply.status == health_pb2.HealthCheckResponse.SERVING
        edge.servicer.release.set()
        await waiting


async def test_a_write_that_can_hardly_be_committed_in_time_is_not_begun(tmp_path: Path) -> None:
    async with serving(tmp_path, writes=ADDING, commit_budget=600.0) as edge:
        servicer: Any = edge.servicer
        with pytest.raises(grpc.RpcError) as caught:
            await add(edge, timeout=PATIENCE_SECONDS)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert isinstance(caught.value, grpc.aio.AioRpcError)
        assert "less than the 600 s that a write is given" in str(caught.value.details())
        assert servicer.writing == 0
        await edge.get("x", timeout=PATIENCE_SECONDS)
        await add(edge)  # without a deadline there is time enough
        assert servicer.writing == 1


def test_every_method_is_a_read_or_a_write() -> None:
    methods = [method for service in (SERVICE, EXCHANGE_SERVICE) for method in service.methods]
    assert {method.name for method in methods} == READS | WRITES
    for method in methods:
        # What can be repeated under a request id changes something.
        if "request_id" in method.input_type.fields_by_name:
            assert method.name in WRITES, method.name
    assert {method.name for method in methods if method.server_streaming} <= READS
    reading = ("Get", "List", "Read", "Receive", "Watch", "Export")
    assert {method.name for method in methods if method.name.startswith(reading)} == READS


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_what_begins_after_its_deadline_is_not_done(tmp_path: Path, kind: str) -> None:
    store = HeldStore(open_store(store_url(kind, tmp_path)))
    settings = HistorySettings(listen=f"unix:{tmp_path / 'h.sock'}", store="memory:")
    server = build_server(settings, store)
    async with grpc.aio.insecure_channel(await server.start()) as channel:
        stub: Any = pb_grpc.HistoryServiceStub(channel)
        await stub.CreateBranch(pb.CreateBranchRequest(branch_id=BRANCH))
        store.held.clear()
        update = pb.UpdateBranchRequest(branch_id=BRANCH, metadata_json='{"late": 1}')
        for call in (
            stub.UpdateBranch(update, timeout=0.2),
            stub.GetBranch(pb.GetBranchRequest(branch_id=BRANCH), timeout=0.2),
        ):
            assert await _code(call) is grpc.StatusCode.DEADLINE_EXCEEDED
        await asyncio.wait_for(store.deadlines_passed(), PATIENCE_SECONDS)
        store.held.set()
        await asyncio.wait_for(store.settled(), PATIENCE_SECONDS)
        assert store.outcomes == ["DeadlinePassedError", "DeadlinePassedError"]
        branch = (await stub.GetBranch(pb.GetBranchRequest(branch_id=BRANCH))).branch
        assert (branch.revision, branch.metadata_json) == (1, "")
    await server.stop(0)


class HeldStore:
    """A store that can be held up, and does what it was asked also when the asking call has ended.

    Attributes:
        held: Cleared while the store begins nothing.
        outcomes: What became of each work that was held up.
    """

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self.held = asyncio.Event()
        self.held.set()
        self.outcomes: list[str] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._deadlines: list[float] = []
        self.shared = store.shared
        self.start = store.start
        self.close = store.close

    async def write(self, work: Any, *, starts_commit: bool = False) -> Any:
        return await self._run(self._store.write(work, starts_commit=starts_commit))

    async def read(self, work: Any) -> Any:
        return await self._run(self._store.read(work))

    async def settled(self) -> None:
        """Wait until all that was held up has ended."""
        await asyncio.gather(*self._tasks)

    async def deadlines_passed(self) -> None:
        """Wait until the deadlines of all that is held up have passed here; the caller's may pass sooner."""
        while any(time.monotonic() < deadline for deadline in self._deadlines):
            await asyncio.sleep(0.001)

    async def _run(self, asked: Any) -> Any:
        if self.held.is_set():
            return await asked
        deadline = current_call().deadline
        assert deadline is not None
        self._deadlines.append(deadline)

        async def later() -> None:
            await self.held.wait()
            try:
                await asked
                self.outcomes.append("done")
            except Exception as error:
                self.outcomes.append(type(error).__name__)

        task = asyncio.create_task(later())
        self._tasks.append(task)
        return await asyncio.shield(task)


async def _never() -> AsyncIterator[bytes]:
    """Parts of a request that do not come."""
    await asyncio.Event().wait()
    yield b""


async def _reply(call: Any) -> Any:
    return await call


async def _code(call: Any) -> grpc.StatusCode:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK
