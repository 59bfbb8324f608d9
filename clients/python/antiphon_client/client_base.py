"""What every client has: its channel, its call options, and their life."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from antiphon_client.channel import open_aio_channel, open_channel, service_address
from antiphon_client.credentials import credentials_for
from antiphon_client.rpc import DEFAULT_TIMEOUT, AsyncTransport, CallOptions, SyncTransport
from antiphon_client.stubs import ChannelLife, StubOnDemand
from antiphon_client.tracing import Metadata
from antiphon_client.transport_errors import Endpoint

if TYPE_CHECKING:
    from antiphon_client.tls_files import ChannelTls


class SyncClient:
    """Base of the blocking clients, safe to use from several threads.

    Args:
        address: ``unix:PATH`` or ``HOST:PORT``; None for what ``ANTIPHON_HISTORY_ADDRESS`` or
            ``ANTIPHON_COMPILER_ADDRESS`` says, else the socket the service makes by default.
        timeout: Seconds one call may take, its retries included; None for no end.
        metadata: gRPC metadata sent with every call.
        token: The bearer token sent with every call; None for that of ``ANTIPHON_TOKEN`` or
            in the file ``ANTIPHON_TOKEN_FILE``, if any. It is not sent over a network without TLS.
        tls: Speak TLS to a ``HOST:PORT``, by these files; None for those that ``ANTIPHON_TLS_CA``,
            ``ANTIPHON_TLS_CERT`` and ``ANTIPHON_TLS_KEY`` name, if any.
        channel_options: gRPC channel options, beside or instead of the SDK's own.

    Failures are :class:`~antiphon_client.errors.AntiphonError`: one class for
    each reason, and TransportError where no service answered.
    """

    _service: ClassVar[str]
    _stub_class: ClassVar[Any]

    def __init__(
        self,
        address: str | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        metadata: Metadata = (),
        token: str | None = None,
        tls: ChannelTls | None = None,
        channel_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.address = service_address(self._service) if address is None else address
        self._credentials = credentials_for(self.address, token, tls)
        self._channel = open_channel(self.address, channel_options, self._credentials.tls)
        self._options = CallOptions(timeout, (*metadata, *self._credentials.metadata))
        self._life = ChannelLife()  # every client of one channel has the same
        self._transport = self._transport_of(self._stub_class)

    def with_options(self, *, timeout: float | None = DEFAULT_TIMEOUT, metadata: Metadata = ()) -> Self:
        """Return a client with other call options on the same channel; close the first one only."""
        client = copy.copy(self)
        client._options = CallOptions(timeout, (*metadata, *self._credentials.metadata))
        client._transport = client._transport_of(self._stub_class)
        return client

    def _transport_of(self, stub_class: Any) -> SyncTransport:
        """Return a transport to another service of the same server, on the same channel."""
        endpoint = Endpoint(self._service, self.address)
        stub = StubOnDemand(stub_class, self._channel, self._life)
        return SyncTransport(stub, endpoint, self._options, self._life)

    def close(self) -> None:
        """Close the channel: calls under way raise CallCancelledError, later ones ClientClosedError."""
        self._life.end()
        self._channel.close()

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close the channel."""
        self.close()


class AsyncClient:
    """Base of the asyncio clients; as :class:`SyncClient`. Make it inside its event loop."""

    _service: ClassVar[str]
    _stub_class: ClassVar[Any]

    def __init__(
        self,
        address: str | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        metadata: Metadata = (),
        token: str | None = None,
        tls: ChannelTls | None = None,
        channel_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.address = service_address(self._service) if address is None else address
        self._credentials = credentials_for(self.address, token, tls)
        self._channel = open_aio_channel(self.address, channel_options, self._credentials.tls)
        self._options = CallOptions(timeout, (*metadata, *self._credentials.metadata))
        self._life = ChannelLife()  # every client of one channel has the same
        self._transport = self._transport_of(self._stub_class)

    def with_options(self, *, timeout: float | None = DEFAULT_TIMEOUT, metadata: Metadata = ()) -> Self:
        """Return a client with other call options on the same channel; close the first one only."""
        client = copy.copy(self)
        client._options = CallOptions(timeout, (*metadata, *self._credentials.metadata))
        client._transport = client._transport_of(self._stub_class)
        return client

    def _transport_of(self, stub_class: Any) -> AsyncTransport:
        """Return a transport to another service of the same server, on the same channel."""
        endpoint = Endpoint(self._service, self.address)
        stub = StubOnDemand(stub_class, self._channel, self._life)
        return AsyncTransport(stub, endpoint, self._options, self._life)

    async def close(self) -> None:
        """Close the channel, as :meth:`SyncClient.close` does."""
        self._life.end()
        await self._channel.close()

    async def __aenter__(self) -> Self:
        """Return the client itself."""
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """Close the channel."""
        await self.close()
