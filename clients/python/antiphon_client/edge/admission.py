"""The bound on work in flight: over it a call is refused, never queued without end."""

from __future__ import annotations

import asyncio

from antiphon_client.errors import OverloadedError, ShuttingDownError


class Admission:
    """Counts the calls being served and their request bytes, and refuses what is too much.

    Used from the event loop only.
    """

    def __init__(self, *, max_calls: int, max_bytes: int) -> None:
        """Bound the calls in flight and the sum of their requests' bytes."""
        self._max_calls = max_calls
        self._max_bytes = max_bytes
        self._calls = 0
        self._bytes = 0
        self._draining = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def calls(self) -> int:
        """Calls in flight."""
        return self._calls

    @property
    def request_bytes(self) -> int:
        """Request bytes of the calls in flight."""
        return self._bytes

    def enter(self, size: int) -> None:
        """Admit a call of ``size`` request bytes; ``leave`` must follow.

        A call that finds the server idle is admitted whatever its size.

        Raises:
            ShuttingDownError: The server is stopping.
            OverloadedError: Too many calls or bytes are in flight.
        """
        if self._draining:
            raise ShuttingDownError("the server is shutting down")
        if self._calls >= self._max_calls:
            raise _overloaded("inflight_calls", self._max_calls)
        if self._calls and self._bytes + size > self._max_bytes:
            raise _overloaded("inflight_bytes", self._max_bytes)
        if not self._calls:
            self._idle.clear()
        self._calls += 1
        self._bytes += size

    def leave(self, size: int) -> None:
        """Note the end of a call that ``enter`` admitted."""
        self._calls -= 1
        self._bytes -= size
        if not self._calls:
            self._idle.set()

    def drain(self) -> None:
        """Refuse every call from now on with SHUTTING_DOWN."""
        self._draining = True

    async def wait_idle(self) -> None:
        """Wait until no call is in flight."""
        await self._idle.wait()


def _overloaded(limit_name: str, limit: int) -> OverloadedError:
    return OverloadedError(
        f"too much work in flight: the limit {limit_name} of {limit} is reached",
        metadata={"limit_name": limit_name, "limit": str(limit)},
    )
