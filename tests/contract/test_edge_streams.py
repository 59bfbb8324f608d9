"""Calls that last, and calls that stream their request, behind the real edge."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon_client.edge.lifecycle import ServiceServer
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from antiphon_client.status import HISTORY_DOMAIN
from history_service.server import SERVICE, build_server
from history_service.servicer import HistoryServicer
from history_service.settings import HistorySettings
from history_service.storage.memory import MemoryStore
from tests.support.edge import PATIENCE_SECONDS, reasoned
from tests.support.history import instruction, uuid_of

pytestmark = pytest.mark.anyio

BRANCH = uuid_of(1)
SMALL_WINDOW = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 2**16)]
"""A reader that lets 64 KiB come before it asks for more; by default gRPC lets some MiB."""


class Served:
    """A history service that serves, one branch in it, and a stub."""

    def __init__(self, server: ServiceServer, address: str, channel: grpc.aio.Channel) -> None:
        self.server = server
        self.address = address
        self.channel = channel
        self.stub: Any = pb_grpc.HistoryServiceStub(channel)

    def watch(self, **options: Any) -> Any:
        """Begin a watch of the branch."""
        return self.stub.WatchBranch(pb.WatchBranchRequest(branch_id=BRANCH), **options)

    async def upload(self, *parts: bytes) -> Any:
        """Import with parts as they are; return the response's bytes."""
        call: Any = self.channel.stream_unary(f"/{SERVICE.full_name}/ImportBranch")
        return await asyncio.wait_for(call(iter(parts)), PATIENCE_SECONDS)


@asynccontextmanager
async def serving(
    folder: Path, server: ServiceServer | None = None, **settings: Any
) -> AsyncIterator[Served]:
    if server is None:
        configured = HistorySettings(listen=f"unix:{folder}/h.sock", store="memory:", **settings)
        server = build_server(configured, MemoryStore())
    address = await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            served = Served(server, address, channel)
            await served.stub.CreateBranch(pb.CreateBranchRequest(branch_id=BRANCH))
            yield served
    finally:
        await server.stop(0)


async def opened(watch: Any) -> Any:
    """Read a watch up to the present."""
    while not (await asyncio.wait_for(watch.read(), PATIENCE_SECONDS)).HasField("caught_up"):
        pass
    return watch


async def _read_or_error(watch: Any) -> Any:
    try:
        return await watch.read()
    except grpc.RpcError as error:
        return error


async def failure_of(awaitable: Any) -> Any:
    with pytest.raises(grpc.RpcError) as caught:
        await asyncio.wait_for(awaitable, PATIENCE_SECONDS)
    return caught.value


def _reason(record: logging.LogRecord) -> Any:
    """Return the reason in a record of a failed call."""
    return record.msg.get("reason") if isinstance(record.msg, dict) else None


async def test_watches_have_a_bound_of_their_own(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_calls=1, inflight_watches=2) as served:
        watches = [await opened(served.watch()) for _ in range(2)]
        await served.stub.GetBranch(pb.GetBranchRequest(branch_id=BRANCH))
        error = reasoned(await failure_of(served.watch().read()))
        assert (error.reason, error.metadata["limit_name"]) == ("OVERLOADED", "inflight_watches")
        watches[0].cancel()
        while True:  # the place is free once the server has heard of it
            frame = await asyncio.wait_for(_read_or_error(served.watch()), PATIENCE_SECONDS)
            if not isinstance(frame, grpc.RpcError):
                break
            assert reasoned(frame).reason == "OVERLOADED"


async def test_stopping_server_ends_watches_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        watch = await opened(served.watch())
        await asyncio.wait_for(served.server.stop(10_000), PATIENCE_SECONDS)
        assert reasoned(await failure_of(watch.read())).reason == "SHUTTING_DOWN"


async def test_watches_that_a_stop_ends_are_no_news_to_the_operator(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="antiphon")
    async with serving(tmp_path, inflight_watches=1) as served:
        await opened(served.watch())
        await failure_of(served.watch().read())
        refused = [record for record in caplog.records if record.levelno >= logging.WARNING]
        assert [_reason(record) for record in refused] == ["OVERLOADED"]
        await asyncio.wait_for(served.server.stop(0), PATIENCE_SECONDS)
    ended = [record for record in caplog.records if _reason(record) == "SHUTTING_DOWN"]
    assert [record.levelno for record in ended] == [logging.INFO]


async def test_watch_ends_with_its_deadline(tmp_path: Path) -> None:
    async with serving(tmp_path, inflight_watches=1) as served:
        watch = await opened(served.watch(timeout=0.2))
        assert (await failure_of(watch.read())).code() == grpc.StatusCode.DEADLINE_EXCEEDED
        await opened(served.watch())


async def test_each_part_of_an_upload_is_held_to_the_rules_of_a_request(tmp_path: Path) -> None:
    limits = Limits(message_bytes=1000, request_bytes=2000)
    async with serving(tmp_path, limits=limits) as served:
        head = pb.ImportBranchRequest(head=pb.ImportHead()).SerializeToString()
        large = pb.ImportBranchRequest(data=bytes(2000)).SerializeToString()
        for part, reason in (
            (b"\xff", "MALFORMED_REQUEST"),
            (b"\x98\x06\x01", "UNKNOWN_FIELD"),
            (large, "SIZE_LIMIT_EXCEEDED"),
            (pb.ImportBranchRequest(data=b"x\n").SerializeToString(), "FIELD_INVALID"),
        ):
            assert reasoned(await failure_of(served.upload(head, part))).reason == reason
        assert reasoned(await failure_of(served.upload())).reason == "FIELD_INVALID"
        file = [frame async for frame in served.stub.ExportBranch(pb.ExportBranchRequest(branch_id=BRANCH))]
        parts = [pb.ImportBranchRequest(data=frame.data).SerializeToString() for frame in file]
        assert pb.ImportBranchResponse.FromString(await served.upload(head, *parts)).branch.revision == 1


async def test_uploads_count_as_requests_of_the_largest_size(tmp_path: Path) -> None:
    size = DEFAULT_LIMITS.request_bytes
    async with serving(tmp_path, inflight_bytes=2 * size - 1) as served:
        waiting, release = asyncio.Event(), asyncio.Event()

        async def parts() -> AsyncIterator[pb.ImportBranchRequest]:
            yield pb.ImportBranchRequest(head=pb.ImportHead())
            waiting.set()
            await release.wait()

        first = served.stub.ImportBranch(parts())
        await asyncio.wait_for(waiting.wait(), PATIENCE_SECONDS)
        while True:  # until the server has met the first one
            error = reasoned(await failure_of(served.stub.ImportBranch(iter([]))))
            if error.reason == "OVERLOADED":
                break
        assert error.metadata["limit_name"] == "inflight_bytes"
        release.set()
        assert reasoned(await failure_of(first)).reason == "FIELD_INVALID"


class CountingServicer(HistoryServicer):
    """Counts the frames of watches as they leave it."""

    sent = 0

    async def WatchBranch(self, request: pb.WatchBranchRequest, context: Any) -> Any:  # noqa: N802
        async for frame in super().WatchBranch(request, context):
            self.sent += 1
            yield frame


async def test_stalled_watcher_is_waited_for_and_not_sent_to(tmp_path: Path) -> None:
    """Its frames stay in the log: what is on its way fills the reader's window, however much is written."""
    writes, batch = 150, 200
    settings = HistorySettings(listen=f"unix:{tmp_path}/h.sock", store="memory:")
    store = MemoryStore()
    servicer = CountingServicer(store, DEFAULT_LIMITS)
    server = ServiceServer(
        settings,
        service=SERVICE,
        domain=HISTORY_DOMAIN,
        register=lambda target: pb_grpc.add_HistoryServiceServicer_to_server(servicer, target),
        standing=("WatchBranch",),
        resources=[store],
    )
    async with serving(tmp_path, server) as served, AsyncExitStack() as stack:
        reader = await stack.enter_async_context(grpc.aio.insecure_channel(served.address, SMALL_WINDOW))
        stub: Any = pb_grpc.HistoryServiceStub(reader)
        watch = await opened(stub.WatchBranch(pb.WatchBranchRequest(branch_id=BRANCH)))
        for number in range(writes):
            messages = [instruction(number * batch + offset) for offset in range(batch)]
            await served.stub.AddMessages(pb.AddMessagesRequest(branch_id=BRANCH, messages=messages))
        in_flight = servicer.sent - 2
        assert in_flight < writes // 3, in_flight
        seen: list[pb.BranchChange] = []
        while len(seen) < writes:
            frame = await asyncio.wait_for(watch.read(), PATIENCE_SECONDS)
            if frame.HasField("change"):
                seen.append(frame.change)
        assert [change.revision for change in seen] == list(range(2, writes + 2))
        assert all(len(change.operations) == batch for change in seen)
