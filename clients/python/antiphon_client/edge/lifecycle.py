"""Starting and stopping one gRPC server with everything around it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Protocol

import grpc.aio
from google.protobuf.descriptor import ServiceDescriptor
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import start_http_server

from antiphon_client.edge.addresses import (
    Address,
    AddressError,
    TcpAddress,
    UnixAddress,
    check_reach,
    parse_address,
)
from antiphon_client.edge.admission import Admission
from antiphon_client.edge.interceptor import EdgeInterceptor
from antiphon_client.edge.methods import Method, methods_of
from antiphon_client.edge.metrics import Figure, RequestMetrics
from antiphon_client.edge.observation import CallObserver
from antiphon_client.edge.settings import EdgeSettings
from antiphon_client.edge.sockets import SocketClaim, private_files

_PENDING_CALLS = 2**14
"""Calls that may wait in the transport; each holds a flow-control window there (64 KiB) at most."""
_LAST_REPLIES_SECONDS = 0.5
"""Time for evicted calls to end, and again for the last replies to leave."""


class Resource(Protocol):
    """Something the server needs, started before it listens and closed after its last call."""

    async def start(self) -> None:
        """Make it ready."""

    async def close(self) -> None:
        """Finish what it has begun and let go of everything."""


class ServiceServer:
    """One service on one address, with health, reflection, channelz, metrics and logs.

    Services that belong together may share it.

    It lives once: start, stop, gone. All methods belong to one event loop.
    """

    def __init__(
        self,
        settings: EdgeSettings,
        *,
        service: ServiceDescriptor,
        domain: str,
        companions: Sequence[ServiceDescriptor] = (),
        register: Callable[[grpc.aio.Server], None],
        opaque: Mapping[str, frozenset[str]] | None = None,
        standing: Collection[str] = (),
        resources: Sequence[Resource] = (),
        figures: Sequence[Figure] = (),
    ) -> None:
        """Describe the server; nothing happens before ``start``.

        Args:
            settings: Address, bounds and limits.
            service: The service it serves.
            domain: The error domain of the service.
            companions: Other services that it serves beside, in the same domain.
            register: Adds the servicers to a gRPC server.
            opaque: See ``methods.methods_of``.
            standing: See ``methods.methods_of``. Such calls have a bound of
                their own and end as soon as the server stops.
            resources: Owned from ``start`` on: started in order, closed in reverse.
            figures: Published among the server's metrics.
        """
        self._settings = settings
        self._services = (service, *companions)
        self._domain = domain
        self._register = register
        self._opaque = opaque
        self._standing = standing
        self._resources = resources
        self._figures = figures
        self._address = parse_address(settings.listen)
        self._cleanup = AsyncExitStack()
        self._admission = Admission(max_calls=settings.inflight_calls, max_bytes=settings.inflight_bytes)
        self._watches = Admission(
            max_calls=settings.inflight_watches, max_bytes=settings.inflight_bytes, name="inflight_watches"
        )
        self._metrics = RequestMetrics()
        self._health = health.aio.HealthServicer()
        self._server: grpc.aio.Server | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._stopped = asyncio.Event()

    async def start(self) -> str:
        """Start the resources, listen, and serve.

        Returns:
            The address, with the port the system chose if it was asked to; a
            gRPC client can connect to it.

        Raises:
            AddressError: The address cannot be had, or reaches beyond this
                machine without ``insecure``.
        """
        check_reach(self._address, insecure=self._settings.insecure, option="listen")
        try:
            for resource in self._resources:
                await resource.start()
                self._cleanup.push_async_callback(resource.close)
            self._start_metrics()
            self._server = self._build()
            address = self._bind(self._server)
            await self._server.start()
            await self._health.set("", health_pb2.HealthCheckResponse.SERVING)
            for service in self._services:
                await self._health.set(service.full_name, health_pb2.HealthCheckResponse.SERVING)
        except BaseException:
            if self._server is not None:
                await self._server.stop(None)
            await self._cleanup.aclose()
            raise
        return str(address)

    async def stop(self, grace: float | None = None) -> None:
        """Stop in order: NOT_SERVING, refuse new calls, let those in flight finish, close everything.

        Watches would never finish: they are answered SHUTTING_DOWN at once.

        Args:
            grace: Seconds for the calls in flight, then they are cancelled and
                answered SHUTTING_DOWN; the setting ``grace_seconds`` when None.

        A second call waits for the first one's end.
        """
        if self._stopping is None:
            self._stopping = asyncio.create_task(
                self._stop(self._settings.grace_seconds if grace is None else grace)
            )
        await asyncio.shield(self._stopping)

    async def wait(self) -> None:
        """Wait until the server has stopped."""
        await self._stopped.wait()

    async def _stop(self, grace: float) -> None:
        await self._health.enter_graceful_shutdown()
        self._admission.drain()
        self._watches.drain()
        self._watches.evict()
        if not await self._admission.wait_idle(grace):
            self._admission.evict()
            await self._admission.wait_idle(_LAST_REPLIES_SECONDS)
        await self._watches.wait_idle(_LAST_REPLIES_SECONDS)
        if self._server is not None:
            await self._server.stop(_LAST_REPLIES_SECONDS)
        await self._cleanup.aclose()
        self._stopped.set()

    def _build(self) -> grpc.aio.Server:
        """Make the gRPC server with its services, not yet bound."""
        settings = self._settings
        methods: dict[str, Method] = {}
        for service in self._services:
            methods |= methods_of(service, self._opaque, self._standing)
        interceptor = EdgeInterceptor(
            methods,
            domain=self._domain,
            request_bytes=settings.limits.request_bytes,
            admission=self._admission,
            watches=self._watches,
            observer=CallObserver(self._metrics, slow_seconds=settings.slow_call_seconds),
        )
        server = grpc.aio.server(
            interceptors=[interceptor], options=_server_options(settings.transport_bytes)
        )
        self._register(server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        channelz.add_channelz_servicer(server)
        names = [service.full_name for service in self._services]
        reflection.enable_server_reflection([*names, health.SERVICE_NAME, reflection.SERVICE_NAME], server)
        return server

    def _bind(self, server: grpc.aio.Server) -> Address:
        address = self._address
        if isinstance(address, UnixAddress):
            claim = SocketClaim(address.path)
            self._cleanup.callback(claim.release)
            with private_files():
                _add_port(server, address)
            claim.bound()
            return address
        return TcpAddress(address.host, _add_port(server, address))

    def _start_metrics(self) -> None:
        self._metrics.publish(
            Figure("antiphon_inflight_calls", "Calls being served.", lambda: self._admission.calls),
            Figure(
                "antiphon_inflight_bytes",
                "Request bytes of the calls being served.",
                lambda: self._admission.request_bytes,
            ),
            Figure("antiphon_inflight_watches", "Watches being served.", lambda: self._watches.calls),
            *self._figures,
        )
        if self._settings.metrics_listen is None:
            return
        address = parse_address(self._settings.metrics_listen)
        assert isinstance(address, TcpAddress)
        try:
            http_server, thread = start_http_server(
                address.port, addr=address.host, registry=self._metrics.registry
            )
        except OSError as exc:
            raise AddressError(f"cannot serve metrics on {address}: {exc.strerror}") from None
        self._cleanup.callback(http_server.server_close)
        self._cleanup.callback(thread.join)
        self._cleanup.callback(http_server.shutdown)


def _add_port(server: grpc.aio.Server, address: Address) -> int:
    try:
        return server.add_insecure_port(address.target)
    except RuntimeError:
        raise AddressError(f"cannot listen on {address}: it is in use or cannot be bound") from None


def _server_options(transport_bytes: int) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", transport_bytes),
        ("grpc.max_send_message_length", -1),
        # From 1,000 waiting calls on gRPC would cancel some at random, which tells a caller nothing:
        # they shall reach the admission, which says OVERLOADED.
        ("grpc.server.max_pending_requests", _PENDING_CALLS),
        ("grpc.server.max_pending_requests_hard_limit", 2 * _PENDING_CALLS),
        # Two servers on one port would share its calls instead of one failing to start.
        ("grpc.so_reuseport", 0),
        # Idle clients may probe their connection every 10 s without being sent away.
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ]
