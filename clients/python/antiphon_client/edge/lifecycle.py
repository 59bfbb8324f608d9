"""Starting and stopping one gRPC server with everything around it."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Protocol, cast

import grpc
import grpc.aio
from google.protobuf.descriptor import ServiceDescriptor
from grpc_channelz.v1 import channelz, channelz_pb2_grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc
from prometheus_client import start_http_server

import antiphon_client
from antiphon_client.edge.access import Rules
from antiphon_client.edge.addresses import (
    Address,
    AddressError,
    TcpAddress,
    UnixAddress,
    check_reach,
    parse_address,
)
from antiphon_client.edge.admission import Admission
from antiphon_client.edge.client_streams import ClientStreams
from antiphon_client.edge.entrance import Entrance
from antiphon_client.edge.gate import ExternalKeys, Gate
from antiphon_client.edge.interceptor import EdgeInterceptor
from antiphon_client.edge.logs import get_logger
from antiphon_client.edge.methods import Method, methods_of
from antiphon_client.edge.metrics import Figure, LabelledFigure, Published, RequestMetrics
from antiphon_client.edge.observation import CallObserver
from antiphon_client.edge.registry import MethodRegistry
from antiphon_client.edge.settings import EdgeSettings
from antiphon_client.edge.sockets import SocketClaim, private_files
from antiphon_client.edge.tls import ServerTls
from antiphon_client.edge.tokens import TokenFile
from antiphon_client.tracing import server_interceptors

_PENDING_CALLS = 2**14
"""Calls that may wait in the transport; each holds a flow-control window there at most."""
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
        writes: Collection[str] = (),
        commit_budget: float = 0.0,
        resources: Sequence[Resource] = (),
        figures: Sequence[Published] = (),
        external_keys: ExternalKeys | None = None,
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
            writes: See ``methods.methods_of``.
            commit_budget: See ``entrance.Entrance``.
            resources: Owned from ``start`` on: started in order, closed in reverse.
            figures: Published among the server's metrics.
            external_keys: Looks up branches, for guests whose scope is external keys.

        Raises:
            LookupError: A service has an RPC without an access rule.
        """
        self._settings = settings
        self._services = (service, *companions)
        self._domain = domain
        self._register = register
        self._opaque = opaque
        self._standing = standing
        self._writes = writes
        self._commit_budget = commit_budget
        self._resources = resources
        self._figures = figures
        self._rules = Rules(self._services)
        self._external_keys = external_keys
        self._address = parse_address(settings.listen)
        self._cleanup = AsyncExitStack()
        self._admission = Admission(
            max_calls=settings.inflight_calls, max_bytes=settings.inflight_bytes, divided=bool(writes)
        )
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
                machine without TLS and without ``insecure``.
            UnusableFileError: A file of TLS or tokens cannot be used.
        """
        settings = self._settings
        check_reach(self._address, insecure=settings.insecure or settings.tls is not None, option="listen")
        self._warn_of_bare_tokens()
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

    def _warn_of_bare_tokens(self) -> None:
        """Say in the log that tokens go over a network unencrypted, which ``insecure`` has allowed."""
        settings, address = self._settings, self._address
        if settings.tokens is None or settings.tls is not None or isinstance(address, UnixAddress):
            return
        if not address.is_loopback:
            get_logger("edge").warning("tokens_without_tls", address=str(address))

    def _build(self) -> grpc.aio.Server:
        """Make the gRPC server with its services, not yet bound."""
        settings = self._settings
        methods: dict[str, Method] = {}
        for service in self._services:
            methods |= methods_of(service, self._opaque, self._standing, self._writes)
        entrance = Entrance(
            self._admission,
            self._watches,
            ClientStreams(settings.client_streams),
            commit_budget=self._commit_budget,
        )
        tokens = None if settings.tokens is None else TokenFile(settings.tokens)
        edge = EdgeInterceptor(
            methods,
            domain=self._domain,
            gate=Gate(self._rules, tokens, self._external_keys),
            request_bytes=settings.limits.request_bytes,
            frame_bytes=settings.limits.frame_bytes,
            entrance=entrance,
            observer=CallObserver(self._metrics, slow_seconds=settings.slow_call_seconds),
        )
        traced = {path: method for path, method in methods.items() if not method.standing}
        server = grpc.aio.server(
            interceptors=server_interceptors(traced), options=_server_options(settings.transport_bytes)
        )
        registry = MethodRegistry(server, edge)
        # All that the generated code asks of a server here.
        target = cast("grpc.aio.Server", registry)
        self._register(target)
        registry.check(methods)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, target)
        channelz_pb2_grpc.add_ChannelzServicer_to_server(channelz.aio.ChannelzServicer(), target)
        names = [service.full_name for service in self._services]
        reflected = reflection.aio.ReflectionServicer([*names, health.SERVICE_NAME, reflection.SERVICE_NAME])
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(reflected, target)
        return server

    def _bind(self, server: grpc.aio.Server) -> Address:
        address = self._address
        if isinstance(address, UnixAddress):
            claim = SocketClaim(address.path)
            self._cleanup.callback(claim.release)
            with private_files():
                _add_port(server, address, None)
            claim.bound()
            return address
        tls = self._settings.tls
        credentials = None if tls is None else ServerTls(tls).credentials()
        return TcpAddress(address.host, _add_port(server, address, credentials))

    def _start_metrics(self) -> None:
        self._metrics.publish(
            Figure("antiphon_inflight_calls", "Calls being served.", lambda: self._admission.calls),
            Figure(
                "antiphon_inflight_bytes",
                "Bytes that the calls being served hold: of their requests, and of their replies.",
                lambda: self._admission.held_bytes,
            ),
            Figure("antiphon_inflight_watches", "Watches being served.", lambda: self._watches.calls),
            LabelledFigure("antiphon_build_info", "What is running; always 1.", *_build_info()),
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


def _build_info() -> tuple[Sequence[str], Callable[[], Mapping[tuple[str, ...], float]]]:
    """Return the labels of the build and what reads their values."""
    build = {
        "version": antiphon_client.__version__,
        "python": platform.python_version(),
        "grpc": grpc.__version__,
    }
    values = tuple(build.values())
    return tuple(build), lambda: {values: 1.0}


def _add_port(server: grpc.aio.Server, address: Address, tls: grpc.ServerCredentials | None) -> int:
    try:
        if tls is not None:
            return server.add_secure_port(address.target, tls)
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
