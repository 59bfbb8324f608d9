"""Retries, timeouts and transport failures, against a server that misbehaves on purpose."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client import AntiphonError, AsyncHistoryClient, HistoryClient, Instruction, TransportError
from antiphon_client.channel import MAX_ATTEMPTS, check_address
from antiphon_client.errors import SnapshotTruncatedError, StoreBusyError
from antiphon_client.status import HISTORY_DOMAIN, to_status, trailers
from antiphon_client.transport_errors import (
    CallCancelledError,
    DeadlineExceededError,
    ServiceUnreachableError,
)


class Scripted:
    """Answers as a test says, and keeps the requests it was sent."""

    def __init__(self, answer: Callable[[int, grpc.ServicerContext], Any]) -> None:
        self.requests: list[bytes] = []
        self._answer = answer

    def add_messages(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        self.requests.append(request)
        self._answer(len(self.requests), context)
        return pb.AddMessagesResponse(revision=2).SerializeToString()

    def read_snapshot(self, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        for frame in self._answer(0, context):
            yield frame.SerializeToString()

    @property
    def handler(self) -> grpc.GenericRpcHandler:
        return grpc.method_handlers_generic_handler(
            "antiphon.history.v1.HistoryService",
            {
                "AddMessages": grpc.unary_unary_rpc_method_handler(self.add_messages),
                "ReadSnapshot": grpc.unary_stream_rpc_method_handler(self.read_snapshot),
            },
        )


@contextmanager
def serving(folder: Path, servicer: Scripted) -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(2), options=[("grpc.max_receive_message_length", -1)])
    server.add_generic_rpc_handlers((servicer.handler,))
    address = f"unix:{folder}/s.sock"
    server.add_insecure_port(address)
    server.start()
    try:
        yield address
    finally:
        server.stop(None).wait()


def unavailable_before(success: int) -> Callable[[int, grpc.ServicerContext], None]:
    def answer(call: int, context: grpc.ServicerContext) -> None:
        if call < success:
            context.abort(grpc.StatusCode.UNAVAILABLE, "not now")

    return answer


@pytest.mark.parametrize("size", [10, 3_000_000])
def test_unavailable_is_retried_with_the_same_request(tmp_path: Path, size: int) -> None:
    servicer = Scripted(unavailable_before(MAX_ATTEMPTS))
    with serving(tmp_path, servicer) as address, HistoryClient(address) as history:
        assert history.add_messages(uuid4(), [Instruction.create("x" * size)]).revision == 2
    assert len(servicer.requests) == MAX_ATTEMPTS == 4
    assert len(set(servicer.requests)) == 1
    assert pb.AddMessagesRequest.FromString(servicer.requests[0]).request_id


@pytest.mark.anyio
async def test_the_asyncio_client_retries_alike(tmp_path: Path) -> None:
    servicer = Scripted(unavailable_before(2))
    with serving(tmp_path, servicer) as address:
        async with AsyncHistoryClient(address) as history:
            assert (await history.add_messages(uuid4(), [Instruction.create("x")])).revision == 2
    assert len(servicer.requests) == 2


def test_retries_end(tmp_path: Path) -> None:
    servicer = Scripted(unavailable_before(99))
    with (
        serving(tmp_path, servicer) as address,
        HistoryClient(address) as history,
        pytest.raises(ServiceUnreachableError, match="not now"),
    ):
        history.add_messages(uuid4(), [Instruction.create("x")])
    assert len(servicer.requests) == MAX_ATTEMPTS


def test_a_reason_behind_unavailable_is_its_class(tmp_path: Path) -> None:
    def answer(call: int, context: grpc.ServicerContext) -> None:
        context.set_trailing_metadata(trailers(to_status(StoreBusyError("busy"), HISTORY_DOMAIN)))
        context.abort(grpc.StatusCode.UNAVAILABLE, "busy")

    servicer = Scripted(answer)
    with (
        serving(tmp_path, servicer) as address,
        HistoryClient(address) as history,
        pytest.raises(StoreBusyError) as caught,
    ):
        history.add_messages(uuid4(), [Instruction.create("x")])
    assert caught.value.retry_after == StoreBusyError.default_retry_after
    assert caught.value.domain == HISTORY_DOMAIN


def test_other_failures_are_not_retried(tmp_path: Path) -> None:
    def answer(call: int, context: grpc.ServicerContext) -> None:
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no reason of ours")

    servicer = Scripted(answer)
    with (
        serving(tmp_path, servicer) as address,
        HistoryClient(address) as history,
        pytest.raises(TransportError) as caught,
    ):
        history.add_messages(uuid4(), [Instruction.create("x")])
    assert (len(servicer.requests), caught.value.metadata["code"]) == (1, "RESOURCE_EXHAUSTED")
    assert isinstance(caught.value, AntiphonError)


def test_a_timeout_is_its_own_class(tmp_path: Path) -> None:
    release = threading.Event()
    servicer = Scripted(lambda call, context: release.wait())
    with serving(tmp_path, servicer) as address, HistoryClient(address) as history:
        try:
            with pytest.raises(DeadlineExceededError) as caught:
                history.with_options(timeout=0.05).add_messages(uuid4(), [Instruction.create("x")])
        finally:
            release.set()
    assert isinstance(caught.value, TimeoutError)


def test_a_cancelled_call_is_its_own_class(tmp_path: Path) -> None:
    servicer = Scripted(lambda call, context: context.abort(grpc.StatusCode.CANCELLED, "gone"))
    with (
        serving(tmp_path, servicer) as address,
        HistoryClient(address) as history,
        pytest.raises(CallCancelledError),
    ):
        history.add_messages(uuid4(), [Instruction.create("x")])


def test_nothing_listens(tmp_path: Path) -> None:
    with (
        HistoryClient(f"unix:{tmp_path}/nobody.sock") as history,
        pytest.raises(ServiceUnreachableError) as caught,
    ):
        history.create_branch()
    assert isinstance(caught.value, ConnectionError)
    assert "nobody.sock" in str(caught.value)


def frames(*parts: pb.ReadSnapshotResponse) -> Callable[[int, grpc.ServicerContext], Any]:
    return lambda call, context: iter(parts)


@pytest.mark.parametrize("method", ["read_snapshot", "read_order", "read_system"])
def test_a_cut_snapshot_is_an_error(tmp_path: Path, method: str) -> None:
    header = pb.ReadSnapshotResponse(header=pb.SnapshotHeader(message_count=1, revision=1))
    stream = [] if method == "read_system" else [header]
    with (
        serving(tmp_path, Scripted(frames(*stream))) as address,
        HistoryClient(address) as history,
        pytest.raises(SnapshotTruncatedError),
    ):
        getattr(history, method)(uuid4())


@pytest.mark.parametrize(
    "address", ["", "unix:", "localhost", "host:", "host:0", "host:70000", "http://h:1/x"]
)
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the text is the address's own
        HistoryClient(address)


def test_addresses() -> None:
    assert check_address("unix:/a/b") == "unix:/a/b"
    assert check_address("127.0.0.1:80") == "127.0.0.1:80"
    assert check_address("[::1]:80") == "[::1]:80"
