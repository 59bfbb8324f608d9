"""The exchange over a wire: on the history's server, with its health, reflection, errors and watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.history.v1 import exchange_service_pb2_grpc as pb_grpc
from antiphon_client.edge.lifecycle import ServiceServer
from antiphon_client.errors import LeaseLostError, OwnerNotFoundError, QuotaExceededError, UnknownFieldError
from antiphon_client.status import error_from_rpc
from history_service.server import build_server
from history_service.settings import HistorySettings
from tests.support.exchange import NAME, letter, number_of
from tests.support.history import make_store, uuid_of

pytestmark = pytest.mark.anyio

SERVICE = "antiphon.history.v1.ExchangeService"


@pytest.fixture
async def server(anyio_backend: object, tmp_path: Path) -> AsyncIterator[ServiceServer]:
    """A started server over a SQLite store."""
    settings = HistorySettings.model_validate({"listen": f"unix:{tmp_path / 's'}", "store": "memory:"})
    running = build_server(settings, make_store("sqlite", tmp_path))
    await running.start()
    yield running
    await running.stop(0)


@pytest.fixture
async def channel(server: ServiceServer, tmp_path: Path) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to it."""
    async with grpc.aio.insecure_channel(f"unix:{tmp_path / 's'}") as channel:
        yield channel


@pytest.fixture
async def stub(channel: grpc.aio.Channel) -> Any:
    """The exchange's stub, owners 1 and 2 registered."""
    stub: Any = pb_grpc.ExchangeServiceStub(channel)
    for owner in (1, 2):
        settings = pb.ExchangeSettings(delivery=pb.DELIVERY_MODE_AT_SEND, max_messages=3)
        await stub.RegisterOwner(
            pb.RegisterOwnerRequest(exchange_id=NAME, owner_id=uuid_of(owner), settings=settings)
        )
    return stub


def send(sender: int, number: int) -> pb.SendRequest:
    """Make a message of an owner to owner 2."""
    return pb.SendRequest(exchange_id=NAME, message=letter(sender, 2, number))


async def test_health_and_reflection_know_it(channel: grpc.aio.Channel) -> None:
    health: Any = health_pb2_grpc.HealthStub(channel)
    response = await health.Check(health_pb2.HealthCheckRequest(service=SERVICE))
    assert response.status == health_pb2.HealthCheckResponse.SERVING
    reflection: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    asked = reflection_pb2.ServerReflectionRequest(list_services="")
    async for listed in reflection.ServerReflectionInfo(iter([asked])):
        assert SERVICE in [service.name for service in listed.list_services_response.service]


async def test_a_message_goes_from_sender_to_consumer(stub: Any) -> None:
    assert (await stub.Send(send(1, 10))).delivered_count == 1
    leased = await stub.Lease(pb.LeaseRequest(exchange_id=NAME, owner_id=uuid_of(2)))
    (lease,) = leased.deliveries
    assert number_of(lease.delivery.message) == 10
    acknowledged = pb.AcknowledgeRequest(exchange_id=NAME, owner_id=uuid_of(2), lease_ids=[lease.lease_id])
    await stub.Acknowledge(acknowledged)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Acknowledge(acknowledged)
    error = error_from_rpc(caught.value)
    assert isinstance(error, LeaseLostError)
    assert error.metadata["lease_id"] == lease.lease_id
    assert error.domain == "antiphon.history"
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_refusals_arrive_with_their_reasons(stub: Any) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Send(send(3, 10))
    assert isinstance(error_from_rpc(caught.value), OwnerNotFoundError)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    for number in (10, 11, 12):
        await stub.Send(send(1, number))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Send(send(1, 13))
    assert isinstance(error_from_rpc(caught.value), QuotaExceededError)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    request = send(1, 10)
    request.MergeFromString(b"\xfa\x01\x00")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Send(request)
    assert isinstance(error_from_rpc(caught.value), UnknownFieldError)


async def test_a_watch_is_pushed_to_and_ends_with_the_server(server: ServiceServer, stub: Any) -> None:
    watch = stub.WatchInbox(pb.WatchInboxRequest(exchange_id=NAME, owner_id=uuid_of(2)))
    async with asyncio.timeout(30):
        assert (await watch.read()).caught_up.sequence == 0
        await stub.Send(send(1, 10))
        assert number_of((await watch.read()).delivery.message) == 10
        assert (await watch.read()).caught_up.sequence == 1
        # A standing call holds no stop up, whatever grace is given.
        await server.stop(3600)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await watch.read()
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
