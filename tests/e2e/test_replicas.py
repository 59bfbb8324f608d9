"""Three history services, as processes of their own, over one PostgreSQL database."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import grpc.aio
import pytest

from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import exchange_service_pb2_grpc, history_service_pb2_grpc
from antiphon.history.v1 import history_service_pb2 as pb
from tests.support import postgres
from tests.support.exchange import letter
from tests.support.history import assemble, instruction, numbers, uuid_of
from tests.support.replicas import processes

pytestmark = pytest.mark.anyio

REPLICAS = 3
WRITERS = 32
CALL_SECONDS = 60


class Replica(NamedTuple):
    """A caller of one service."""

    history: Any
    exchange: Any


@pytest.fixture
async def replicas(anyio_backend: object, tmp_path: Path) -> AsyncIterator[list[Replica]]:
    """Services that were started at once on an empty database, whose schema one of them made."""
    postgres.require_server()
    async with AsyncExitStack() as stack:
        # A socket's path is short.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp")))
        stack.callback(postgres.recycle)
        url = postgres.schema_url(tmp_path, fresh=True)
        found = []
        for address in await stack.enter_async_context(processes(url, folder, REPLICAS)):
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(address))
            found.append(
                Replica(
                    history_service_pb2_grpc.HistoryServiceStub(channel),
                    exchange_service_pb2_grpc.ExchangeServiceStub(channel),
                )
            )
        yield found


async def add(replica: Replica, number: int, **fields: Any) -> Any:
    request = pb.AddMessagesRequest(
        branch_id=uuid_of(1), messages=[instruction(number)], request_id=uuid_of(0xA0000 + number), **fields
    )
    return await replica.history.AddMessages(request, timeout=CALL_SECONDS)


async def order(replica: Replica) -> list[int]:
    request = pb.ReadSnapshotRequest(branch_id=uuid_of(1))
    frames = replica.history.ReadSnapshot(request, timeout=CALL_SECONDS)
    return numbers(assemble([frame.SerializeToString() async for frame in frames]).order)


async def test_32_writers_on_one_branch(replicas: list[Replica]) -> None:
    appends = 8
    await replicas[0].history.CreateBranch(pb.CreateBranchRequest(branch_id=uuid_of(1)))
    watched = asyncio.create_task(watch(replicas[2], 1 + WRITERS * appends))

    async def write(writer: int) -> list[int]:
        replica = replicas[writer % REPLICAS]
        return [(await add(replica, 1000 * writer + step)).revision for step in range(appends)]

    written = await asyncio.gather(*(write(writer) for writer in range(1, WRITERS + 1)))
    total = WRITERS * appends
    assert sorted(itertools.chain.from_iterable(written)) == list(range(2, total + 2))
    sent = sorted(1000 * writer + step for writer in range(1, WRITERS + 1) for step in range(appends))
    orders = [await order(replica) for replica in replicas]
    assert orders[0] == orders[1] == orders[2]
    assert sorted(orders[0]) == sent
    assert await asyncio.wait_for(watched, CALL_SECONDS) == list(range(1, total + 2))


async def watch(replica: Replica, until: int) -> list[int]:
    """The revisions that a watch tells, up to one."""
    found: list[int] = []
    async for frame in replica.history.WatchBranch(pb.WatchBranchRequest(branch_id=uuid_of(1))):
        if frame.HasField("change"):
            found.append(frame.change.revision)
            if found[-1] == until:
                break
    return found


async def test_one_winner_a_revision(replicas: list[Replica]) -> None:
    await replicas[0].history.CreateBranch(pb.CreateBranchRequest(branch_id=uuid_of(1)))
    for revision in range(1, 9):
        racing = (
            add(replicas[n % REPLICAS], 1000 * revision + n, expected_revision=revision) for n in range(9)
        )
        results = await asyncio.gather(*racing, return_exceptions=True)
        lost = [result for result in results if isinstance(result, grpc.aio.AioRpcError)]
        assert len(lost) == 8
        assert {error.code() for error in lost} == {grpc.StatusCode.ABORTED}


async def test_no_lease_is_given_twice(replicas: list[Replica]) -> None:
    messages = 90
    for owner in (1, 2):
        register = exchange_pb.RegisterOwnerRequest(exchange_id="x", owner_id=uuid_of(owner))
        await replicas[0].exchange.RegisterOwner(register)
    for number in range(messages):
        send = exchange_pb.SendRequest(exchange_id="x", message=letter(1, 2, 100 + number))
        await replicas[number % REPLICAS].exchange.Send(send)
    await replicas[0].exchange.Collect(exchange_pb.CollectRequest(exchange_id="x", owner_id=uuid_of(1)))

    async def consume(replica: Replica) -> list[int]:
        found: list[int] = []
        while True:
            lease = exchange_pb.LeaseRequest(exchange_id="x", owner_id=uuid_of(2), max_messages=2)
            leased = (await replica.exchange.Lease(lease, timeout=CALL_SECONDS)).deliveries
            if not leased:
                return found
            found += [each.delivery.sequence for each in leased]
            done = exchange_pb.AcknowledgeRequest(
                exchange_id="x", owner_id=uuid_of(2), lease_ids=[each.lease_id for each in leased]
            )
            await replica.exchange.Acknowledge(done, timeout=CALL_SECONDS)

    consumed = await asyncio.gather(*(consume(replicas[n % REPLICAS]) for n in range(12)))
    assert sorted(itertools.chain.from_iterable(consumed)) == list(range(1, messages + 1))
