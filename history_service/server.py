"""The history service as a server."""

from __future__ import annotations

from antiphon.history.v1 import history_service_pb2, history_service_pb2_grpc
from antiphon_client.edge.lifecycle import ServiceServer
from antiphon_client.status import HISTORY_DOMAIN
from history_service.servicer import HistoryServicer
from history_service.settings import HistorySettings
from history_service.storage.port import HistoryStore

SERVICE = history_service_pb2.DESCRIPTOR.services_by_name["HistoryService"]


def build_server(settings: HistorySettings, store: HistoryStore) -> ServiceServer:
    """Put a store behind a server; nothing happens before the server's ``start``.

    Args:
        settings: Address, bounds and limits.
        store: The server's from here on: it starts it and closes it.
    """
    servicer = HistoryServicer(store, settings.limits)
    return ServiceServer(
        settings,
        service=SERVICE,
        domain=HISTORY_DOMAIN,
        register=lambda server: history_service_pb2_grpc.add_HistoryServiceServicer_to_server(
            servicer, server
        ),
        resources=[store],
    )
