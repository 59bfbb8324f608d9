"""The bound on work in flight: over it a call is refused, never queued without end.

Where a service both reads and writes, neither kind may take all places: each
has three quarters of them at most, so that a flood of the one leaves room for
the other.
"""

from __future__ import annotations

import asyncio

from antiphon_client.errors import OverloadedError, ShuttingDownError

SHUTTING_DOWN_MESSAGE = "the server is shutting down"
RESERVED_PART = 4
"""One part in so many is what either kind of call leaves to the other."""


class _Kind:
    """Calls of one kind in flight, and the bytes they hold."""

    __slots__ = ("calls", "name", "size")

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = 0
        self.size = 0


class _Place:
    """What one call takes."""

    __slots__ = ("kind", "serving", "size")

    def __init__(self, kind: _Kind) -> None:
        self.kind = kind
        self.size = 0
        self.serving = False


class Admission:
    """Knows the calls in flight and refuses what is too much.

    A call is in flight from before its request is read until its reply is with
    the transport, which is the life of the task that gRPC gives it: refused at
    once, a call costs neither its request's memory nor a wait for its bytes.

    Used from the event loop only, by the call's own task.
    """

    def __init__(
        self, *, max_calls: int, max_bytes: int, name: str = "inflight_calls", divided: bool = False
    ) -> None:
        """Bound the calls in flight and the bytes they hold.

        Args:
            max_calls: Calls in flight, at most.
            max_bytes: Bytes of their requests and of replies, at most.
            name: The setting that gives ``max_calls``, for the error.
            divided: Whether reads and writes have each a share instead of all.
        """
        self._name = name
        self._max_calls = max_calls
        self._max_bytes = max_bytes
        self._share_calls = max_calls - (max_calls // RESERVED_PART if divided else 0)
        self._share_bytes = max_bytes - (max_bytes // RESERVED_PART if divided else 0)
        self._kinds = (_Kind("reads"), _Kind("writes"))
        self._places: dict[asyncio.Task[object], _Place] = {}
        self._draining = False
        self._evicting = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def calls(self) -> int:
        """Calls in flight."""
        return len(self._places)

    @property
    def held_bytes(self) -> int:
        """Bytes that the calls in flight hold: of their requests, and of replies."""
        reads, writes = self._kinds
        return reads.size + writes.size

    @property
    def evicting(self) -> bool:
        """Whether the calls in flight were told to end."""
        return self._evicting

    def arrive(self, *, is_write: bool = False) -> None:
        """Give the running task's call a place until the task ends; done before its request is read.

        Raises:
            ShuttingDownError: The server is stopping.
            OverloadedError: Too many calls are in flight.
        """
        if self._draining:
            raise ShuttingDownError(SHUTTING_DOWN_MESSAGE)
        kind = self._kinds[is_write]
        if len(self._places) >= self._max_calls:
            raise overloaded(self._name, self._max_calls)
        if kind.calls >= self._share_calls:
            raise overloaded(self._name, self._share_calls, of=kind.name)
        task = asyncio.current_task()
        assert task is not None
        if not self._places:
            self._idle.clear()
        kind.calls += 1
        self._places[task] = _Place(kind)
        task.add_done_callback(self._leave)

    def serve(self, size: int) -> None:
        """Begin to serve the running task's call, whose request holds ``size`` bytes.

        A call that finds nothing held by its kind is served whatever its size.

        Raises:
            OverloadedError: Too many bytes are held.
        """
        place = self._place()
        if place.kind.size:
            self._check_bytes(place.kind, size)
        place.serving = True
        self.hold(size)

    def hold(self, size: int) -> None:
        """Count ``size`` bytes more for the running task's call, such as those of its reply."""
        place = self._place()
        place.size += size
        place.kind.size += size

    def _place(self) -> _Place:
        task = asyncio.current_task()
        assert task is not None
        return self._places[task]

    def _check_bytes(self, kind: _Kind, size: int) -> None:
        # What a kind holds beyond its share, as replies that nobody fetches, is not the other's loss.
        reads, writes = self._kinds
        total = min(reads.size, self._share_bytes) + min(writes.size, self._share_bytes)
        if total + size > self._max_bytes:
            raise overloaded("inflight_bytes", self._max_bytes)
        if kind.size + size > self._share_bytes:
            raise overloaded("inflight_bytes", self._share_bytes, of=kind.name)

    def _leave(self, task: asyncio.Task[object]) -> None:
        place = self._places.pop(task)
        place.kind.calls -= 1
        place.kind.size -= place.size
        if not self._places:
            self._idle.set()

    def drain(self) -> None:
        """Refuse every call from now on with SHUTTING_DOWN."""
        self._draining = True

    def evict(self) -> None:
        """Cancel the calls being served; whoever serves them answers SHUTTING_DOWN."""
        self._evicting = True
        for task, place in self._places.items():
            if place.serving:
                task.cancel()

    async def wait_idle(self, seconds: float) -> bool:
        """Wait until no call is in flight, ``seconds`` at most; tell whether none is."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            return False
        return True


def overloaded(limit_name: str, limit: int, *, of: str = "") -> OverloadedError:
    """Return the error of a call over a limit.

    Args:
        limit_name: The setting that is reached.
        limit: How many there may be.
        of: What the limit counts, where it is a part of the setting.
    """
    counted = f" {of}" if of else ""
    return OverloadedError(
        f"too much work in flight: the limit {limit_name} of {limit}{counted} is reached",
        metadata={"limit_name": limit_name, "limit": str(limit)} | ({"of": of} if of else {}),
    )
