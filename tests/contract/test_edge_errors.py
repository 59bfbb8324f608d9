"""What a caller sees when a request or a servicer goes wrong, over a real socket."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import tracemalloc
from pathlib import Path
from typing import Any

import grpc
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client import errors
from antiphon_client.status import error_from_rpc
from tests.support.edge import SECRET, SERVICE, Edge, bytes_method, happened, reasoned, serving

pytestmark = pytest.mark.anyio

MIB = 2**20


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"\xa0\x06\x01", "100"),
        (pb.GetBranchRequest(branch_id="x").SerializeToString() + b"\xaa\x06\x03abc", "101"),
    ],
)
async def test_unknown_field_is_refused_with_its_path(tmp_path: Path, body: bytes, path: str) -> None:
    async with serving(tmp_path) as edge:
        with pytest.raises(grpc.RpcError) as caught:
            await edge.raw("GetBranch", body)
    error = reasoned(caught.value)
    assert isinstance(error, errors.UnknownFieldError)
    assert error.domain == "antiphon.history"
    assert [violation.field for violation in error.violations] == [path]
    assert error.metadata["violation_count"] == "1"


async def test_unknown_fields_are_found_at_any_depth_and_counted(tmp_path: Path) -> None:
    request = pb.AddMessagesRequest(branch_id="x")
    for _ in range(60):
        message = request.messages.add()
        message.action_request.function = "f"
        message.action_request.MergeFromString(b"\xa0\x06\x01")
    async with serving(tmp_path) as edge:
        with pytest.raises(grpc.RpcError) as caught:
            await edge.raw("AddMessages", request.SerializeToString())
    error = reasoned(caught.value)
    assert error.reason == "UNKNOWN_FIELD"
    assert error.metadata["violation_count"] == "60"
    fields = [violation.field for violation in error.violations]
    assert fields == [f"messages[{index}].action_request.100" for index in range(len(fields))]
    assert 10 <= len(fields) <= 50


@pytest.mark.parametrize("body", [b"\xff", b"\x0a\x05ab", b"\x0a\x01\xff", b"\x0b"])
async def test_bytes_that_are_no_request_are_malformed(tmp_path: Path, body: bytes) -> None:
    async with serving(tmp_path) as edge:
        with pytest.raises(grpc.RpcError) as caught:
            await edge.raw("GetBranch", body)
    error = reasoned(caught.value)
    assert isinstance(error, errors.MalformedRequestError)
    assert error.message == "the request is not an encoded antiphon.history.v1.GetBranchRequest"


@pytest.mark.parametrize("size", [int(3.5 * MIB) + 1, 15 * MIB])
async def test_oversize_request_names_limit_and_size(tmp_path: Path, size: int) -> None:
    async with serving(tmp_path) as edge:
        with pytest.raises(grpc.RpcError) as caught:
            await edge.raw("GetBranch", bytes(size))
    error = reasoned(caught.value)
    assert isinstance(error, errors.SizeLimitExceededError)
    assert error.metadata == {
        "limit_name": "request_bytes",
        "limit": str(int(3.5 * MIB)),
        "actual": str(size),
    }


async def test_request_at_the_limit_is_served(tmp_path: Path) -> None:
    async with serving(tmp_path, limits={"message_bytes": 1000, "request_bytes": 1000}) as edge:
        body = b"\x0a\xe5\x07" + b"x" * 997
        assert (
            pb.GetBranchResponse.FromString(await edge.raw("GetBranch", body)).branch.branch_id == "x" * 997
        )
        with pytest.raises(grpc.RpcError) as caught:
            await edge.raw("GetBranch", b"\x0a\xe6\x07" + b"x" * 998)
    assert reasoned(caught.value).metadata["actual"] == "1001"


async def test_error_keeps_facts_and_domain(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        with pytest.raises(grpc.RpcError) as caught:
            await edge.get("missing")
        error = reasoned(caught.value)
        assert isinstance(error, errors.BranchNotFoundError)
        assert (error.domain, error.metadata) == ("antiphon.history", {"branch_id": "missing"})
        with pytest.raises(grpc.RpcError) as caught:
            await edge.get("elsewhere")
        assert reasoned(caught.value).domain == "antiphon.compiler"


async def test_blocking_clients_find_the_same_error(tmp_path: Path) -> None:
    def call() -> errors.AntiphonError | None:
        with grpc.insecure_channel(f"unix:{tmp_path}/edge.sock") as channel:
            with pytest.raises(grpc.RpcError) as caught:
                bytes_method(channel, f"/{SERVICE.full_name}/GetBranch")(b"\x0a\x07missing")
            return error_from_rpc(caught.value)

    async with serving(tmp_path):
        error = await asyncio.to_thread(call)
    assert isinstance(error, errors.BranchNotFoundError)
    assert error.metadata == {"branch_id": "missing"}


@pytest.mark.parametrize("branch_id", ["defect", "panic", "nothing", "lost task", "timeout"])
async def test_defect_leaks_nothing_and_is_logged_under_its_id(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, branch_id: str
) -> None:
    async with serving(tmp_path) as edge:
        with caplog.at_level(logging.INFO, "antiphon"), pytest.raises(grpc.RpcError) as caught:
            await edge.get(branch_id)
        error = reasoned(caught.value)
        assert isinstance(error, errors.InternalError)
        assert error.message == "internal error; the server's log has its cause under the correlation id"
        assert list(error.metadata) == ["correlation_id"]
        trailers = repr(caught.value.trailing_metadata())
        assert SECRET not in trailers
        assert "Error" not in trailers.replace("ErrorInfo", "")
        logged = [json.dumps(record.msg, default=str) for record in caplog.records]
        assert any(error.metadata["correlation_id"] in line for line in logged)
        assert (await edge.get("fine")).branch.branch_id == "fine"


async def test_stream_that_breaks_ends_in_a_reasoned_error(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        for branch_id, reason in (
            ("defect", "INTERNAL_ERROR"),
            ("panic", "INTERNAL_ERROR"),
            ("missing", "BRANCH_NOT_FOUND"),
        ):
            stream = edge.stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id=branch_id))
            frames: list[Any] = [await stream.read(), await stream.read()]
            assert [frame.WhichOneof("frame") for frame in frames] == ["header", "batch"]
            with pytest.raises(grpc.RpcError) as caught:
                await stream.read()
            assert reasoned(caught.value).reason == reason


def last_wins(branch_id: str) -> bytes:
    """A large request for a branch: the field comes twice."""
    padding = pb.GetBranchRequest(branch_id="x" * MIB).SerializeToString()
    return padding + pb.GetBranchRequest(branch_id=branch_id).SerializeToString()


@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("GetBranch", b"\xff" * MIB),
        ("GetBranch", b"\xa2\x06\x80\x80\x40" + bytes(MIB)),
        ("GetBranch", bytes(4 * MIB)),
        ("GetBranch", last_wins("missing")),
        ("GetBranch", last_wins("defect")),
        ("ReadSnapshot", last_wins("missing")),
    ],
    ids=["malformed", "unknown field", "too large", "refused", "defect", "stream"],
)
async def test_a_failed_call_leaves_nothing_of_its_request(tmp_path: Path, method: str, body: bytes) -> None:
    async def answer(edge: Edge) -> None:
        if method == "ReadSnapshot":
            channel: Any = edge.channel  # gRPC's types do not foresee bytes.
            async for _ in channel.unary_stream(f"/{SERVICE.full_name}/{method}")(body):
                pass
        else:
            await edge.raw(method, body)

    async def fail(edge: Edge) -> None:
        with pytest.raises(grpc.RpcError) as caught:
            await answer(edge)
        assert error_from_rpc(caught.value) is not None

    async with serving(tmp_path) as edge:
        await fail(edge)
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            for _ in range(10):
                await fail(edge)
                edge.servicer.calls.clear()
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            gc.enable()
    assert kept < 3 * len(body)


async def test_unknown_method_is_unimplemented(tmp_path: Path) -> None:
    async with serving(tmp_path) as edge:
        for path in (f"/{SERVICE.full_name}/Nope", "/nope.Nope/Nope"):
            with pytest.raises(grpc.RpcError) as caught:
                await bytes_method(edge.channel, path)(b"")
            assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_over_the_call_limit_is_overloaded_until_one_ends(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_calls=1) as edge:
        waiting = asyncio.ensure_future(edge.get("wait"))
        await happened(edge.servicer.waiting)
        with pytest.raises(grpc.RpcError) as caught:
            await edge.get("x")
        error = reasoned(caught.value)
        assert isinstance(error, errors.OverloadedError)
        assert error.retry_after == pytest.approx(0.1)
        assert error.metadata == {"limit_name": "inflight_calls", "limit": "1"}
        edge.servicer.release.set()
        await waiting
        await edge.get("x")


async def test_a_burst_is_answered_whole(tmp_path: Path) -> None:
    # Left alone, gRPC cancels some of the calls beyond a thousand that wait to be taken up.
    async with serving(tmp_path) as edge:
        outcomes = await asyncio.gather(*(edge.get("x") for _ in range(4000)), return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert {reasoned(failure).reason for failure in refused if isinstance(failure, grpc.RpcError)} <= {
        "OVERLOADED"
    }
    assert all(isinstance(failure, grpc.RpcError) for failure in refused)


async def test_over_the_byte_limit_is_overloaded(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_bytes=100) as edge:
        await edge.get("x" * 200)  # alone, any size within request_bytes is served
        waiting = asyncio.ensure_future(edge.get("wait"))
        await happened(edge.servicer.waiting)
        await edge.get("x" * 50)
        with pytest.raises(grpc.RpcError) as caught:
            await edge.get("x" * 120)
        assert reasoned(caught.value).metadata == {"limit_name": "inflight_bytes", "limit": "100"}
        edge.servicer.release.set()
        await waiting
