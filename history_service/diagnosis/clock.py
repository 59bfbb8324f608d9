"""What is to be said of the machine's clock."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from antiphon_client.findings import Finding
from history_service.storage.sqlite.connection import open_observer

AHEAD_SECONDS = 5.0
"""How far a record may lie in the future before the clock is taken to have been set back."""

_TIMEX_BYTES = 512
"""More than the kernel's ``struct timex`` takes."""
_TIME_ERROR = 5
"""What ``adjtimex`` returns while the clock is not synchronized."""

_NEWEST = (
    "SELECT max(coalesce((SELECT max(recorded_at) FROM recorded_response), 0),"
    " coalesce((SELECT max(started_at) FROM writer), 0))"
)
"""The newest of the times the service itself wrote: of answered requests, and of its starts."""


def clock_findings(store: Path) -> Iterator[Finding]:
    """Compare the clock with a store's newest time, and ask the kernel whether it is kept right."""
    newest = _newest(store)
    if newest is not None:
        yield _against(newest, time.time())
    synchronized = is_synchronized()
    if synchronized is not None:
        advice = "" if synchronized else "run a time service (chrony, systemd-timesyncd)"
        text = (
            "kept by a time service"
            if synchronized
            else "not kept by a time service, as far as the kernel knows"
        )
        # Order and revisions do not depend on the clock; times shown, retentions and leases do.
        yield Finding("clock.synchronized", "ok" if synchronized else "warning", text, advice)


def _against(newest: float, now: float) -> Finding:
    if newest > now + AHEAD_SECONDS:
        text = f"the store has a time {newest - now:,.0f} s in the future: the clock was set back"
        advice = "set the clock right; until then leases and retentions last longer by as much"
        return Finding("clock.store", "failure", text, advice)
    return Finding("clock.store", "ok", f"the store's newest time is {max(0.0, now - newest):,.0f} s ago")


def _newest(store: Path) -> float | None:
    """Return the newest time in a store, in seconds since the epoch; None where there is none to be had."""
    if not store.exists():
        return None
    with contextlib.suppress(apsw.Error), contextlib.closing(open_observer(str(store))) as connection:
        nanoseconds: int = connection.execute(_NEWEST).get
        return nanoseconds / 1e9 if nanoseconds else None
    return None


def is_synchronized() -> bool | None:
    """Tell whether the kernel's clock is kept right by a time service; None where it does not say."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        # All zeros ask for nothing to be set.
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else bool(state != _TIME_ERROR)
