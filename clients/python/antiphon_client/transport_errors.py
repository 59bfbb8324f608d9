"""Failures of a call that no service gave a reason for.

They derive from :class:`~antiphon_client.errors.AntiphonError`, so that one
``except`` catches everything a client raises. After any of them a write may or
may not have happened: send it again with the same ``request_id`` to learn which.
"""

from __future__ import annotations

import grpc

from antiphon_client.errors import AntiphonError


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


_BY_CODE: dict[str, type[TransportError]] = {
    cls.code: cls for cls in (ServiceUnreachableError, DeadlineExceededError, CallCancelledError)
}


def transport_error(code: grpc.StatusCode, details: str, target: str) -> TransportError:
    """Build the exception for a status without a reason; ``target`` is the address called."""
    error = _BY_CODE.get(code.name, TransportError)
    return error(
        f"{target}: {details or code.name.lower()}",
        metadata={"code": code.name, "target": target},
    )
