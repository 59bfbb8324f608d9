"""What servicers and callers get from the edge when nothing goes wrong, and when callers give up."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.edge.call import current_call
from tests.support.edge import SERVICE, happened, reasoned, serving

pytestmark = pytest.mark.anyio


async def test_servicer_sees_the_call(tmp_path: Path) -> None:
    request = pb.GetBranchRequest(branch_id="x")
    async with serving(tmp_path) as edge:
        before = time.monotonic()
        await edge.get("x", timeout=30, metadata=(("tag", "one"), ("tag", "two"), ("raw-bin", b"\xff\x00")))
        await edge.get("x")
    call, without = edge.servicer.calls
    assert call.method == f"/{SERVICE.full_name}/GetBranch"
    assert call.tenant_id == ""
    assert call.request_bytes == request.SerializeToString()
    ours = [pair for pair in call.metadata if pair[0] in ("tag", "raw-bin")]
    assert sorted(tuple(pair) for pair in ours if pair[0] == "tag") == [("tag", "one"), ("tag", "two")]
    assert ("raw-bin", b"\xff\x00") in [tuple(pair) for pair in ours]
    assert call.deadline is not None
    assert before + 25 < call.deadline < time.monotonic() + 31
    assert without.deadline is None
    with pytest.raises(LookupError):
        current_call()


async def test_request_bytes_are_those_received_not_those_parsed(tmp_path: Path) -> None:
    twice = b"\x0a\x01a\x0a\x01b"
    async with serving(tmp_path) as edge:
        reply = pb.GetBranchResponse.FromString(await edge.raw("GetBranch", twice))
    assert reply.branch.branch_id == "b"
    assert edge.servicer.calls[0].request_bytes == twice


async def test_encoded_replies_pass_through(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        assert (await edge.get("bytes")).branch.revision == 7
        frames = [f async for f in edge.stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id="x"))]
    assert [frame.WhichOneof("frame") for frame in frames] == ["header", "batch", "footer"]
    assert edge.servicer.closed.is_set()


async def test_cancelled_call_cancels_the_servicer_and_frees_its_place(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_calls=1) as edge:
        call = edge.stub.GetBranch(pb.GetBranchRequest(branch_id="wait"))
        waiting = asyncio.ensure_future(_outcome(call))
        await happened(edge.servicer.waiting)
        call.cancel()
        assert await waiting is grpc.StatusCode.CANCELLED
        await happened(edge.servicer.cancelled)
        await edge.get("x")


async def test_deadline_cancels_the_servicer(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        with pytest.raises(grpc.RpcError) as caught:
            await edge.get("wait", timeout=0.05)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        await happened(edge.servicer.cancelled)


async def test_abandoned_stream_closes_its_generator_quietly(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as edge:
        with caplog.at_level(logging.INFO):
            stream = edge.stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id="endless"))
            await stream.read()
            stream.cancel()
            await happened(edge.servicer.closed)
            await edge.get("x")
    assert [record.msg for record in caplog.records if record.levelno >= logging.INFO] == []


async def test_every_call_is_logged_at_debug_without_contents(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path) as edge:
        with caplog.at_level(logging.DEBUG, "antiphon"):
            await edge.get("a text of the user")
        with caplog.at_level(logging.INFO, "antiphon"):
            await edge.get("a text of the user")
    lines: list[Any] = [record.msg for record in caplog.records if record.name.startswith("antiphon")]
    assert [(line["event"], line["method"], line["code"]) for line in lines] == [
        ("call", f"/{SERVICE.full_name}/GetBranch", "OK")
    ]
    assert "a text" not in str(lines)


async def test_slow_calls_are_logged_as_warnings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(tmp_path, slow_call_seconds=1e-9) as edge:
        with caplog.at_level(logging.WARNING, "antiphon"):
            await edge.get("x")
    assert [record.msg["event"] for record in caplog.records] == ["slow_call"]  # type: ignore[index]


async def test_health_reflection_and_channelz_are_there(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        health = health_pb2_grpc.HealthStub(edge.channel)
        for service in ("", SERVICE.full_name):
            reply = await health.Check(health_pb2.HealthCheckRequest(service=service))
            assert reply.status == health_pb2.HealthCheckResponse.SERVING
        reflection = reflection_pb2_grpc.ServerReflectionStub(edge.channel).ServerReflectionInfo()
        await reflection.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        listed = await reflection.read()
        reflection.cancel()
        assert SERVICE.full_name in [each.name for each in listed.list_services_response.service]
        channelz = channelz_pb2_grpc.ChannelzStub(edge.channel)
        assert len((await channelz.GetServers(channelz_pb2.GetServersRequest())).server) >= 1


async def test_stop_refuses_new_calls_and_lets_running_ones_finish(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        health = health_pb2_grpc.HealthStub(edge.channel)
        watch = health.Watch(health_pb2.HealthCheckRequest(service=SERVICE.full_name))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        running = asyncio.ensure_future(edge.get("wait"))
        await happened(edge.servicer.waiting)
        stopping = asyncio.ensure_future(edge.server.stop(30))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        with pytest.raises(grpc.RpcError) as caught:
            await edge.get("x")
        error = reasoned(caught.value)
        assert (error.reason, error.retry_after) == ("SHUTTING_DOWN", 1.0)
        edge.servicer.release.set()
        assert (await running).branch.branch_id == "wait"
        await stopping
        await edge.server.wait()
        watch.cancel()
        await watch.code()
    assert not (tmp_path / "edge.sock").exists()


async def test_stop_cancels_what_outlasts_its_grace(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        running = asyncio.ensure_future(edge.get("wait"))
        await happened(edge.servicer.waiting)
        await edge.server.stop(0.01)
        with pytest.raises(grpc.RpcError) as caught:
            await running
        assert reasoned(caught.value).reason == "SHUTTING_DOWN"
        assert edge.servicer.cancelled.is_set()


async def _outcome(
    call: grpc.aio.UnaryUnaryCall[pb.GetBranchRequest, pb.GetBranchResponse],
) -> grpc.StatusCode:
    try:
        await call
    except asyncio.CancelledError:
        return grpc.StatusCode.CANCELLED
    except grpc.aio.AioRpcError as exc:
        return exc.code()
    return grpc.StatusCode.OK
