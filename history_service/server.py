"""The history service as a server: the history and the exchange over one store."""

from __future__ import annotations

from functools import partial

import grpc.aio

from antiphon.history.v1 import (
    exchange_service_pb2,
    exchange_service_pb2_grpc,
    history_service_pb2,
    history_service_pb2_grpc,
)
from antiphon_client.edge.lifecycle import Resource, ServiceServer
from antiphon_client.status import HISTORY_DOMAIN
from history_service.exchange_servicer import ExchangeServicer
from history_service.polling import SHARED_POLL_SECONDS, Poller
from history_service.servicer import HistoryServicer
from history_service.settings import HistorySettings
from history_service.storage.port import HistoryStore, MeasuredStore
from history_service.sweeping import Keeping, Sweeper
from history_service.timely import TimelyStore
from history_service.watch_stream import DEFAULT_TIMES, WatchTimes

SERVICE = history_service_pb2.DESCRIPTOR.services_by_name["HistoryService"]
EXCHANGE_SERVICE = exchange_service_pb2.DESCRIPTOR.services_by_name["ExchangeService"]

READS = frozenset({
    "GetBranch", "ListBranches", "WatchBranch", "ExportBranch", "GetMessages", "ListMessages", "ReadSnapshot",
    "ListOwners", "Receive", "ListDeadLetters", "WatchInbox",
})  # fmt: skip
"""The methods that change nothing, of both services."""

WRITES = (
    frozenset(method.name for service in (SERVICE, EXCHANGE_SERVICE) for method in service.methods) - READS
)
"""All others, so that a method nobody thought of is held to what holds for a write."""


def build_server(settings: HistorySettings, store: HistoryStore) -> ServiceServer:
    """Put a store behind a server; nothing happens before the server's ``start``.

    Args:
        settings: Address, bounds and limits.
        store: The server's from here on: it starts it and closes it.
    """
    poll = settings.watch_poll_seconds
    # On a store that is shared one poller asks for all watches, which then need not often ask themselves.
    own_poll = DEFAULT_TIMES.poll if poll is None or store.shared else poll
    times = WatchTimes(settings.watch_heartbeat_seconds, own_poll)
    keeping = Keeping(settings.deleted_retention_seconds, settings.kept_revisions)
    timely = TimelyStore(store)
    history = HistoryServicer(
        timely,
        settings.limits,
        watch_times=times,
        keeping=keeping,
        snapshot_cache_bytes=settings.snapshot_cache_bytes,
        ready_bytes=settings.ready_bytes,
    )
    exchange = ExchangeServicer(timely, settings.limits, watch_times=times)

    resources: list[Resource] = [store, Sweeper(store)]
    if store.shared:
        seconds = SHARED_POLL_SECONDS if poll is None else poll
        resources.append(Poller(store, history.signals, exchange.signals, seconds))

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
        writes=WRITES,
        commit_budget=settings.commit_budget_seconds,
        resources=resources,
        external_keys=partial(_external_key, store),
        figures=[*history.figures(), *(store.figures() if isinstance(store, MeasuredStore) else ())],
    )


async def _external_key(store: HistoryStore, tenant_id: str, branch_id: str) -> str | None:
    """Return a living branch's external key; None where it has none, or there is no such branch."""
    branch = await store.read(lambda tx: tx.branch(tenant_id, branch_id))
    return None if branch is None or branch.deleted else branch.external_key
