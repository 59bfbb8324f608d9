"""What a servicer may know about the call it is serving.

The edge sets it before the servicer runs; the servicer and everything below it
read it with ``current_call()``, so that no signature carries transport facts.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import NamedTuple


class Call(NamedTuple):
    """One call, as the edge received it.

    Attributes:
        method: Full method name, such as ``/antiphon.history.v1.HistoryService/AddMessages``.
        tenant_id: The caller's tenant; ``""`` until authentication is configured.
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
