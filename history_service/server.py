"""The history service as a server: the history and the exchange over one store."""

from __future__ import annotations

import grpc.aio

from antiphon.history.v1 import (
    exchange_service_pb2,
    exchange_service_pb2_grpc,
    history_service_pb2,
    history_service_pb2_grpc,
)
from antiphon_client.edge.lifecycle import ServiceServer
from antiphon_client.status import HISTORY_DOMAIN
from history_service.exchange_servicer import ExchangeServicer
from history_service.servicer import HistoryServicer
from history_service.settings import HistorySettings
from history_service.storage.port import HistoryStore
from history_service.sweeping import Keeping, Sweeper
from history_service.watch_stream import WatchTimes

SERVICE = history_service_pb2.DESCRIPTOR.services_by_name["HistoryService"]
EXCHANGE_SERVICE = exchange_service_pb2.DESCRIPTOR.services_by_name["ExchangeService"]


def build_server(settings: HistorySettings, store: HistoryStore) -> ServiceServer:
    """Put a store behind a server; nothing happens before the server's ``start``.

    Args:
        settings: Address, bounds and limits.
        store: The server's from here on: it starts it and closes it.
    """
    times = WatchTimes(settings.watch_heartbeat_seconds, settings.watch_poll_seconds)
    keeping = Keeping(settings.deleted_retention_seconds, settings.kept_revisions)
    history = HistoryServicer(
        store,
        settings.limits,
        watch_times=times,
        keeping=keeping,
        snapshot_cache_bytes=settings.snapshot_cache_bytes,
    )
    exchange = ExchangeServicer(store, settings.limits, watch_times=times)

    def register(server: grpc.aio.Server) -> None:
        history_service_pb2_grpc.add_HistoryServiceServicer_to_server(history, server)
        exchange_service_pb2_grpc.add_ExchangeServiceServicer_to_server(exchange, server)

    return ServiceServer(
        settings,
        service=SERVICE,
        companions=(EXCHANGE_SERVICE,),
        domain=HISTORY_DOMAIN,
        register=register,
        standing=("WatchBranch", "WatchInbox"),
        resources=[store, Sweeper(store)],
    )
