"""Starting a server that cannot start, and the order in which one stops."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.edge.addresses import AddressError
from tests.support.edge import SERVICE, FakeHistory, bytes_method, fake_server, happened, reasoned, serving

pytestmark = pytest.mark.anyio

GET_BRANCH = f"/{SERVICE.full_name}/GetBranch"


class Recorder:
    """A resource that writes down what happens to it."""

    def __init__(self, name: str, record: list[str], *, fails: bool = False) -> None:
        self._name = name
        self._record = record
        self._fails = fails

    async def start(self) -> None:
        if self._fails:
            raise OSError("no such disk")
        self._record.append(f"{self._name} started")

    async def close(self) -> None:
        self._record.append(f"{self._name} closed")


def fake() -> FakeHistory:
    """Make a servicer."""
    return FakeHistory()  # type: ignore[abstract]  # the runtime base answers UNIMPLEMENTED


async def test_resources_start_first_and_close_last_in_reverse(tmp_path: Path) -> None:
    record: list[str] = []
    servicer = fake()
    resources = (Recorder("a", record), Recorder("b", record))
    server = fake_server(f"unix:{tmp_path}/a.sock", servicer, *resources)
    async with grpc.aio.insecure_channel(await server.start()) as channel:
        assert record == ["a started", "b started"]
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=""))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        call = asyncio.ensure_future(bytes_method(channel, GET_BRANCH)(b"\x0a\x04wait"))
        await happened(servicer.waiting)
        stopping = [asyncio.ensure_future(server.stop(30)) for _ in range(2)]
        call.add_done_callback(lambda _: record.append("call answered"))
        # NOT_SERVING: the stop is under way, and waits for the call in flight.
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        servicer.release.set()
        await call
        await asyncio.gather(*stopping)
        watch.cancel()
        await watch.code()
    assert record == ["a started", "b started", "call answered", "b closed", "a closed"]


async def test_failed_start_leaves_nothing_behind(tmp_path: Path) -> None:
    record: list[str] = []
    listen = f"unix:{tmp_path}/a.sock"
    broken = fake_server(listen, fake(), Recorder("a", record), Recorder("b", record, fails=True))
    with pytest.raises(OSError, match="no such disk"):
        await broken.start()
    assert record == ["a started", "a closed"]
    whole = fake_server(listen, fake())
    await whole.start()
    second = fake_server(listen, fake(), Recorder("c", record))
    with pytest.raises(AddressError, match="a live server listens on"):
        await second.start()
    assert record[2:] == ["c started", "c closed"]
    async with grpc.aio.insecure_channel(listen) as channel:
        reply = await bytes_method(channel, GET_BRANCH)(b"")
        assert reply
    await whole.stop()
    assert not (tmp_path / "a.sock").exists()


async def test_taken_metrics_port_stops_the_start(tmp_path: Path) -> None:
    record: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        metrics = f"127.0.0.1:{taken.getsockname()[1]}"
        server = fake_server(f"unix:{tmp_path}/a.sock", fake(), Recorder("a", record), metrics_listen=metrics)
        with pytest.raises(AddressError, match=f"cannot serve metrics on {metrics}"):
            await server.start()
    assert record == ["a started", "a closed"]
    assert not (tmp_path / "a.sock").exists()


async def test_shutdown_ends_streams_with_a_reason(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        stream = edge.stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id="wait"))
        await stream.read()
        await stream.read()
        await happened(edge.servicer.waiting)
        await edge.server.stop(0.01)
        with pytest.raises(grpc.RpcError) as caught:
            await stream.read()
        assert reasoned(caught.value).reason == "SHUTTING_DOWN"
        assert edge.servicer.closed.is_set()
