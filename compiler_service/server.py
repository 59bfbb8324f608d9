"""The compiler service as a server."""

from __future__ import annotations

import grpc.aio

from antiphon.compiler.v1 import compiler_service_pb2, compiler_service_pb2_grpc
from antiphon.history.v1 import history_service_pb2_grpc
from antiphon_client.channel import open_aio_channel
from antiphon_client.edge.lifecycle import ServiceServer
from antiphon_client.status import COMPILER_DOMAIN
from compiler_service.servicer import CompilerServicer
from compiler_service.settings import CompilerSettings
from compiler_service.tokens import Counters
from compiler_service.workers.pool import FoldingWorkers

SERVICE = compiler_service_pb2.DESCRIPTOR.services_by_name["CompilerService"]

OPAQUE = {
    "Compile": frozenset({"snapshot.system", "snapshot.messages"}),
    "StreamCompile": frozenset({"request.snapshot.system", "request.snapshot.messages"}),
    "PlanWindow": frozenset({"snapshot.system", "snapshot.messages"}),
    "PlanCompaction": frozenset({"snapshot.system", "snapshot.messages"}),
}
"""Stored messages may be of a newer kind than this compiler: what that means is for its passes to say."""


def build_server(settings: CompilerSettings, history_channel: grpc.aio.Channel | None) -> ServiceServer:
    """Put the compiler behind a server; nothing happens before the server's ``start``.

    Args:
        settings: Address, bounds and limits.
        history_channel: The server's from here on: it closes it. None: inline
            snapshots only.

    Raises:
        VocabularyError: The folder of vocabularies is none.
    """
    stub = None if history_channel is None else history_service_pb2_grpc.HistoryServiceStub(history_channel)
    workers = FoldingWorkers(settings.folding_workers)
    servicer = CompilerServicer(
        stub,
        settings.limits,
        Counters(settings.vocabularies),
        settings.cache_bytes,
        workers,
        settings.ready_bytes,
    )
    return ServiceServer(
        settings,
        service=SERVICE,
        domain=COMPILER_DOMAIN,
        register=lambda server: compiler_service_pb2_grpc.add_CompilerServiceServicer_to_server(
            servicer, server
        ),
        opaque=OPAQUE,
        figures=(*servicer.figures(), *workers.figures()),
        resources=[] if history_channel is None else [workers, _Channel(history_channel)],
    )


def open_history_channel(settings: CompilerSettings) -> grpc.aio.Channel:
    """Open the channel to the history service; call it inside the server's event loop.

    It does not retry by itself: the caller's own retry covers both hops, and two
    layers of it would multiply. A dead connection shows within 40 s.

    Raises:
        UnusableFileError: A file of its TLS cannot be used.
    """
    options = {
        "grpc.enable_retries": 0,
        "grpc.max_receive_message_length": settings.transport_bytes,
        "grpc.keepalive_time_ms": 30_000,
        "grpc.keepalive_timeout_ms": 10_000,
    }
    return open_aio_channel(settings.history, options, settings.history_tls)


class _Channel:
    """A channel as a server's resource."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    async def start(self) -> None:
        """Nothing to do: the connection is made at the first call."""

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()
