"""The bound on work in flight: over it a call is refused, never queued without end."""

from __future__ import annotations

import asyncio

from antiphon_client.errors import OverloadedError, ShuttingDownError

SHUTTING_DOWN_MESSAGE = "the server is shutting down"


class Admission:
    """Knows the calls being served and refuses what is too much.

    Used from the event loop only, by the task that serves the call.
    """

    def __init__(self, *, max_calls: int, max_bytes: int, name: str = "inflight_calls") -> None:
        """Bound the calls in flight and the sum of their requests' bytes.

        ``name`` is the setting that gives ``max_calls``, for the error.
        """
        self._name = name
        self._max_calls = max_calls
        self._max_bytes = max_bytes
        self._tasks: set[asyncio.Task[object] | None] = set()
        self._bytes = 0
        self._draining = False
        self._evicting = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def calls(self) -> int:
        """Calls in flight."""
        return len(self._tasks)

    @property
    def request_bytes(self) -> int:
        """Request bytes of the calls in flight."""
        return self._bytes

    @property
    def evicting(self) -> bool:
        """Whether the calls in flight were told to end."""
        return self._evicting

    def enter(self, size: int) -> None:
        """Admit the running task's call of ``size`` request bytes; ``leave`` must follow.

        A call that finds the server idle is admitted whatever its size.

        Raises:
            ShuttingDownError: The server is stopping.
            OverloadedError: Too many calls or bytes are in flight.
        """
        if self._draining:
            raise ShuttingDownError(SHUTTING_DOWN_MESSAGE)
        if len(self._tasks) >= self._max_calls:
            raise _overloaded(self._name, self._max_calls)
        if not self._tasks:
            self._idle.clear()
        elif self._bytes + size > self._max_bytes:
            raise _overloaded("inflight_bytes", self._max_bytes)
        self._tasks.add(asyncio.current_task())
        self._bytes += size

    def leave(self, size: int) -> None:
        """Note the end of the running task's call, which ``enter`` admitted."""
        self._tasks.discard(asyncio.current_task())
        self._bytes -= size
        if not self._tasks:
            self._idle.set()

    def drain(self) -> None:
        """Refuse every call from now on with SHUTTING_DOWN."""
        self._draining = True

    def evict(self) -> None:
        """Cancel the calls in flight; whoever serves them answers SHUTTING_DOWN."""
        self._evicting = True
        for task in self._tasks:
            if task is not None:
                task.cancel()

    async def wait_idle(self, seconds: float) -> bool:
        """Wait until no call is in flight, ``seconds`` at most; tell whether none is."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            return False
        return True


def _overloaded(limit_name: str, limit: int) -> OverloadedError:
    return OverloadedError(
        f"too much work in flight: the limit {limit_name} of {limit} is reached",
        metadata={"limit_name": limit_name, "limit": str(limit)},
    )
