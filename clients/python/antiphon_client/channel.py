"""Channels to the services: addresses, message limits and the retry policy.

An address is ``unix:/path/to/socket`` (also ``unix:relative``) or ``host:port``.
Beyond unix sockets and loopback a channel should have TLS.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

from antiphon_client.edge.addresses import Address, AddressError, TcpAddress, default_address, parse_address
from antiphon_client.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from antiphon_client.tls_files import ChannelTls

MAX_ATTEMPTS = 4
"""Tries of one call, the first included, while the answer is UNAVAILABLE."""

_TRANSPORT_HEADROOM = 2**20
_SERVICES = (
    "antiphon.history.v1.HistoryService",
    "antiphon.history.v1.ExchangeService",
    "antiphon.compiler.v1.CompilerService",
)


def service_config() -> dict[str, Any]:
    """Return the gRPC service config of every service.

    UNAVAILABLE alone is retried: the call did not happen, or it is safe to
    repeat because it carries its ``request_id``. The waits grow from 0.1 s to
    2 s, each drawn at random below its bound.
    """
    return {
        "methodConfig": [
            {
                "name": [{"service": service} for service in _SERVICES],
                "retryPolicy": {
                    "maxAttempts": MAX_ATTEMPTS,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "2s",
                    "backoffMultiplier": 3,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
    }


@cache
def _service_config_json() -> str:
    return json.dumps(service_config())


def channel_options(extra: Mapping[str, Any] | None = None) -> list[tuple[str, Any]]:
    """Return the options of every channel, ``extra`` ones last (they win).

    The transport's limits stand above the services' own, so that a caller
    meets SIZE_LIMIT_EXCEEDED with its figures and never a bare transport error.
    A request must fit the retry buffer or it would be sent once only.
    """
    transport_bytes = max(DEFAULT_LIMITS.request_bytes, DEFAULT_LIMITS.reply_bytes) + _TRANSPORT_HEADROOM
    options: dict[str, Any] = {
        "grpc.max_send_message_length": -1,
        "grpc.max_receive_message_length": transport_bytes,
        "grpc.per_rpc_retry_buffer_size": transport_bytes,
        "grpc.enable_retries": 1,
        "grpc.service_config": _service_config_json(),
        "grpc.service_config_disable_resolution": 1,
        "grpc.initial_reconnect_backoff_ms": 100,
        "grpc.min_reconnect_backoff_ms": 1000,
        "grpc.max_reconnect_backoff_ms": 2000,
        # A watch waits for hours: this finds out that its server is gone without a word.
        "grpc.keepalive_time_ms": 30_000,
        "grpc.keepalive_timeout_ms": 10_000,
        "grpc.enable_http_proxy": 0,
    }
    options.update(extra or {})
    return list(options.items())


def open_channel(
    address: str, options: Mapping[str, Any] | None = None, tls: ChannelTls | None = None
) -> grpc.Channel:
    """Open a blocking channel to ``address``. The connection is made at the first call.

    Args:
        address: Where the service listens.
        options: gRPC channel options, beside or instead of the usual ones.
        tls: The channel's TLS; None for none.

    Raises:
        AddressError: ``address`` is none.
        UnusableFileError: A file of ``tls`` cannot be used.
    """
    target, merged = _connectable(address).target, channel_options(options)
    if tls is None:
        return grpc.insecure_channel(target, options=merged)
    return grpc.secure_channel(target, tls.credentials(), options=merged)


def open_aio_channel(
    address: str, options: Mapping[str, Any] | None = None, tls: ChannelTls | None = None
) -> grpc.aio.Channel:
    """Open an asyncio channel, as :func:`open_channel`; call it inside the event loop that will use it."""
    target, merged = _connectable(address).target, channel_options(options)
    if tls is None:
        return grpc.aio.insecure_channel(target, options=merged)
    return grpc.aio.secure_channel(target, tls.credentials(), options=merged)


def service_address(service: str) -> str:
    """Return where ``service`` (``history`` or ``compiler``) is called when nothing else is said.

    It is what ``ANTIPHON_HISTORY_ADDRESS`` or ``ANTIPHON_COMPILER_ADDRESS`` says, else the default socket.
    """
    return os.environ.get(f"ANTIPHON_{service.upper()}_ADDRESS") or default_address(service, os.environ)


def check_address(address: str) -> str:
    """Return an address to connect to in its usual form.

    Raises:
        AddressError: It is neither ``unix:PATH`` nor ``HOST:PORT``, or has port 0.
    """
    return str(_connectable(address))


def _connectable(address: str) -> Address:
    parsed = parse_address(address)
    if isinstance(parsed, TcpAddress) and parsed.port == 0:
        raise AddressError(f"{address!r}: port 0 is no port to connect to")
    return parsed
