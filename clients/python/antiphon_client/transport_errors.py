"""Failures of a call that no service gave a reason for.

They derive from :class:`~antiphon_client.errors.AntiphonError`, so that one
``except`` catches everything a client raises. After any of them but
ClientClosedError a write may or may not have happened: send it again with the
same ``request_id`` to learn which.
"""

from __future__ import annotations

from dataclasses import dataclass

import grpc

from antiphon_client.errors import AntiphonError

_NOT_CONNECTED = "failed to connect to all addresses"
"""What gRPC says, before several lines of its own, when nothing listens."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a client calls: ``history`` or ``compiler``, and where."""

    service: str
    address: str


class TransportError(AntiphonError):
    """The call failed below the services; ``metadata["code"]`` names the gRPC status."""

    reason = "TRANSPORT_FAILED"
    code = "UNKNOWN"


class ServiceUnreachableError(TransportError, ConnectionError):
    """Nothing answers at the address, after every retry."""

    reason = "SERVICE_UNREACHABLE"
    code = "UNAVAILABLE"


class DeadlineExceededError(TransportError, TimeoutError):
    """The client's timeout passed before the answer came."""

    reason = "DEADLINE_EXCEEDED"
    code = "DEADLINE_EXCEEDED"


class CallCancelledError(TransportError):
    """The call was cancelled, by this client or by the server's end."""

    reason = "CALL_CANCELLED"
    code = "CANCELLED"


class ClientClosedError(TransportError, ValueError):
    """The client was closed before the call, which was never sent; as a closed file, it takes no more."""

    reason = "CLIENT_CLOSED"
    code = "FAILED_PRECONDITION"


_BY_CODE: dict[str, type[TransportError]] = {
    cls.code: cls for cls in (ServiceUnreachableError, DeadlineExceededError, CallCancelledError)
}


def unreachable(endpoint: Endpoint) -> ServiceUnreachableError:
    """Build the exception for an address where nothing listens."""
    text = f"no {endpoint.service} service at {endpoint.address}"
    return ServiceUnreachableError(text, metadata=_metadata(ServiceUnreachableError.code, endpoint))


def client_closed(endpoint: Endpoint) -> ClientClosedError:
    """Build the exception for a call on a closed client."""
    text = f"the client of {endpoint.address} is closed"
    return ClientClosedError(text, metadata=_metadata(ClientClosedError.code, endpoint))


def transport_error(code: grpc.StatusCode, details: str, endpoint: Endpoint) -> TransportError:
    """Build the exception for a status without a reason."""
    error = _BY_CODE.get(code.name, TransportError)
    if error is ServiceUnreachableError and details.startswith(_NOT_CONNECTED):
        return unreachable(endpoint)
    text = f"{endpoint.address}: {details or code.name.lower()}"
    if code is grpc.StatusCode.UNIMPLEMENTED:
        text = (
            f"what answers at {endpoint.address} is no {endpoint.service} service, or an older one: {details}"
        )
    return error(text, metadata=_metadata(code.name, endpoint))


def _metadata(code: str, endpoint: Endpoint) -> dict[str, str]:
    return {"code": code, "service": endpoint.service, "target": endpoint.address}
