"""What a servicer may know about the call it is serving.

The edge sets it before the servicer runs; the servicer and everything below it
read it with ``current_call()``, so that no signature carries transport facts.
"""

from __future__ import annotations

import re
import time
from contextvars import ContextVar
from typing import NamedTuple

REQUEST_ID_KEY = "x-request-id"
"""Metadata under which a caller may name its request for the logs; the compiler hands it on."""

_REQUEST_ID = re.compile(r"[\w.:/+=-]{1,128}", re.ASCII)
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


class Call(NamedTuple):
    """One call, as the edge received it.

    Attributes:
        method: Full method name, such as ``/antiphon.history.v1.HistoryService/AddMessages``.
        tenant_id: The caller's tenant, by its token; ``""`` where no tokens are configured.
        request_bytes: The request exactly as it came over the wire.
        metadata: The caller's metadata in order; binary values under keys that end in ``-bin``.
        deadline: When the caller stops waiting, on ``time.monotonic()``'s clock in
            seconds; None where it set no deadline.
    """

    method: str
    tenant_id: str = ""
    request_bytes: bytes = b""
    metadata: tuple[tuple[str, str | bytes], ...] = ()
    deadline: float | None = None

    def __repr__(self) -> str:
        """Tell which call it is, without its metadata, which may hold a token, and without contents."""
        return f"Call({self.method!r}, tenant_id={self.tenant_id!r})"


class DeadlinePassedError(TimeoutError):
    """The current call's deadline passed before its work began, so that nothing was done.

    Its text is for the caller.
    """

    def __init__(self, message: str = "the deadline passed") -> None:
        super().__init__(message)


_CURRENT: ContextVar[Call] = ContextVar("antiphon_call")


def current_call() -> Call:
    """Return the call being served.

    Raises:
        LookupError: Outside of a call.
    """
    return _CURRENT.get()


def bind_call(call: Call) -> None:
    """Make ``call`` the current one for the running task and the tasks it starts.

    There is no unbinding: gRPC gives every call a task of its own.
    """
    _CURRENT.set(call)


def deadline_passed() -> bool:
    """Tell whether the current call's deadline has passed; False outside of a call."""
    call = _CURRENT.get(None)
    return call is not None and call.deadline is not None and time.monotonic() >= call.deadline


def caller_ids() -> dict[str, str]:
    """Return the names that the current call's caller gave it, for log lines; none outside of a call.

    ``x_request_id`` from the metadata of that name, where it is a short word, and
    ``trace_id`` from ``traceparent`` (W3C Trace Context).
    """
    call = _CURRENT.get(None)
    ids: dict[str, str] = {}
    for key, value in () if call is None else call.metadata:
        if key == REQUEST_ID_KEY and isinstance(value, str) and _REQUEST_ID.fullmatch(value):
            ids["x_request_id"] = value
        elif key == "traceparent" and isinstance(value, str) and (match := _TRACEPARENT.fullmatch(value)):
            ids["trace_id"] = match[1]
    return ids
