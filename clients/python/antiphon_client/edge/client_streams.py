"""The bound on one caller's open streams, so that it cannot take every place there is.

A stream is cheap to open and may stay open for hours: a watch, a snapshot that
nobody reads on, an import whose parts do not come.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from antiphon_client.edge.admission import overloaded

SETTING = "client_streams"


def client_of(tenant_id: str, peer: str) -> str:
    """Name the caller that a stream counts for.

    Its tenant where it has one. Else its address without the port, as a caller
    may open many connections; all callers on a unix socket are one.

    Args:
        tenant_id: The caller's tenant; empty where nobody is authenticated.
        peer: Its address as gRPC spells it, such as ``ipv4:10.0.0.7:50008`` or ``unix:``.
    """
    if tenant_id:
        return f"tenant:{tenant_id}"
    return peer if peer.startswith("unix") else peer.rpartition(":")[0]


class ClientStreams:
    """Counts each caller's open streams. Belongs to one event loop; keeps nothing of a caller without any."""

    def __init__(self, limit: int) -> None:
        """Allow each caller ``limit`` streams."""
        self._limit = limit
        self._open: dict[str, int] = {}

    @contextmanager
    def held(self, client: str) -> Iterator[None]:
        """Count one stream of a caller until the context ends.

        Raises:
            OverloadedError: The caller has as many as it may.
        """
        count = self._open.get(client, 0)
        if count >= self._limit:
            raise overloaded(SETTING, self._limit)
        self._open[client] = count + 1
        try:
            yield
        finally:
            left = self._open[client] - 1
            if left:
                self._open[client] = left
            else:
                del self._open[client]
