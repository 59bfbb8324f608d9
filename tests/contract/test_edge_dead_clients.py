"""Clients that die in the middle of a stream: cancelled calls, and no error of the service's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc.aio
import pytest
from prometheus_client import generate_latest

from antiphon.compiler.v1 import compiler_service_pb2 as compiler_pb
from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceStub
from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1.exchange_service_pb2_grpc import ExchangeServiceStub
from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceStub
from antiphon.message.v1.message_pb2 import Address, GenericContent, InstructionContent, Message
from antiphon_client.edge.lifecycle import ServiceServer
from compiler_service.server import build_server as build_compiler
from compiler_service.server import open_history_channel
from compiler_service.settings import CompilerSettings
from history_service.server import build_server as build_history
from history_service.settings import HistorySettings
from history_service.storage.memory import MemoryStore
from tests.support.edge import PATIENCE_SECONDS
from tests.support.history import uuid_of
from tests.support.severed import line_to

pytestmark = pytest.mark.anyio

BRANCH, OWNER, SENDER = uuid_of(1), uuid_of(2), uuid_of(3)
EXCHANGE = "post"
LARGE = "x" * 2**20
COUNT = 12
"""Large messages: far more than a connection takes before its reader asks for more."""

HISTORY, COMPILER = "history", "compiler"


class GivenUp(logging.Handler):
    """Keeps every record and tells when a call was given up."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.seen = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        if isinstance(record.msg, dict) and record.msg["event"] == "call_given_up":
            self.seen.set()


@asynccontextmanager
async def watched_logs() -> AsyncIterator[GivenUp]:
    handler, root, ours = GivenUp(), logging.getLogger(), logging.getLogger("antiphon")
    level = ours.level
    root.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    try:
        yield handler
    finally:
        ours.setLevel(level)
        root.removeHandler(handler)


@asynccontextmanager
async def servers(folder: Path) -> AsyncIterator[dict[str, tuple[ServiceServer, str]]]:
    """Run both services with a long branch and a full inbox."""
    history = build_history(HistorySettings(listen=f"unix:{folder}/h.sock", store="memory:"), MemoryStore())
    address = await history.start()
    settings = CompilerSettings(listen=f"unix:{folder}/c.sock", history=address)
    compiler = build_compiler(settings, open_history_channel(settings))
    try:
        started = {HISTORY: (history, address), COMPILER: (compiler, await compiler.start())}
        async with grpc.aio.insecure_channel(address) as channel:
            await _fill(HistoryServiceStub(channel), ExchangeServiceStub(channel))
        yield started
    finally:
        await compiler.stop(0)
        await history.stop(0)


async def _fill(history: Any, exchange: Any) -> None:
    await history.CreateBranch(pb.CreateBranchRequest(branch_id=BRANCH))
    for owner in (OWNER, SENDER):
        await exchange.RegisterOwner(exchange_pb.RegisterOwnerRequest(exchange_id=EXCHANGE, owner_id=owner))
    for _ in range(COUNT):
        kept = Message(instruction=InstructionContent(instruction=LARGE))
        await history.AddMessages(pb.AddMessagesRequest(branch_id=BRANCH, messages=[kept]))
        sent = Message(
            generic=GenericContent(value_json=f'"{LARGE}"'),
            sender=Address(member_id=SENDER),
            recipient=Address(member_id=OWNER),
        )
        await exchange.Send(exchange_pb.SendRequest(exchange_id=EXCHANGE, message=sent))
        await exchange.Collect(exchange_pb.CollectRequest(exchange_id=EXCHANGE, owner_id=SENDER))


def compile_request() -> compiler_pb.StreamCompileRequest:
    large = Message(instruction=InstructionContent(instruction=LARGE * 2))
    request = compiler_pb.CompileRequest(instruction=large)
    request.branch.branch_id = BRANCH
    request.progression.SetInParent()
    return compiler_pb.StreamCompileRequest(request=request)


STREAMS = {
    "ExportBranch": (HISTORY, HistoryServiceStub, pb.ExportBranchRequest(branch_id=BRANCH)),
    "ReadSnapshot": (HISTORY, HistoryServiceStub, pb.ReadSnapshotRequest(branch_id=BRANCH)),
    "WatchBranch": (HISTORY, HistoryServiceStub, pb.WatchBranchRequest(branch_id=BRANCH)),
    "WatchInbox": (
        HISTORY,
        ExchangeServiceStub,
        exchange_pb.WatchInboxRequest(exchange_id=EXCHANGE, owner_id=OWNER),
    ),
    "StreamCompile": (COMPILER, CompilerServiceStub, compile_request()),
}
SMALL_WINDOW = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 2**16)]


@pytest.mark.parametrize("method", STREAMS)
async def test_a_client_that_dies_in_a_stream_is_a_cancelled_call(method: str, tmp_path: Path) -> None:
    service, stub, request = STREAMS[method]
    async with servers(tmp_path) as running, watched_logs() as logs:
        server, address = running[service]
        async with (
            line_to(address, tmp_path) as line,
            grpc.aio.insecure_channel(line.address, SMALL_WINDOW) as channel,
        ):
            call = getattr(stub(channel), method)(request)
            await asyncio.wait_for(call.read(), PATIENCE_SECONDS)
            line.cut()
            await asyncio.wait_for(logs.seen.wait(), PATIENCE_SECONDS)
        figures = generate_latest(server._metrics.registry).decode()
    ended: list[Any] = [record.msg for record in logs.records if record.name == "antiphon.edge"]
    assert [(line["method"].rpartition("/")[2], line["code"]) for line in ended if "code" in line][-1] == (
        method,
        "CANCELLED",
    )
    # Whether a write under way fails or the call is cancelled first is gRPC's to decide.
    cause = [line["cause"] for line in ended if line["event"] == "call_given_up"][-1]
    assert cause == "" or "execute_batch" in cause
    assert [record.getMessage() for record in logs.records if record.levelno >= logging.WARNING] == []
    counted = [line for line in figures.splitlines() if "requests_total" in line and f"/{method}" in line]
    assert [line.partition("{")[2].partition(",")[0] for line in counted] == ['code="CANCELLED"']
