"""Work that goes on when the request that began it is gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from antiphon_client.errors import AntiphonError
from antiphon_gateway.errors import GatewayError

_logger = logging.getLogger(__name__)
T = TypeVar("T")


class Tasks:
    """Work that no request's end cancels; the gateway waits for it before it closes its clients."""

    def __init__(self) -> None:
        self._running: set[asyncio.Future[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task; its failure is logged, whether or not anybody waits for it."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def finished(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work to its end, even when the caller is cancelled meanwhile; return its outcome."""
        return await asyncio.shield(self.start(work))

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Let the gateway's end wait for what is done inside, which may start work as its last."""
        held = asyncio.get_running_loop().create_future()
        self._running.add(held)
        try:
            yield
        finally:
            self._running.discard(held)
            held.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Wait for everything that is going on; end what takes longer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._running:
                    await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
        late = {each for each in self._running if isinstance(each, asyncio.Task)}
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, AntiphonError | GatewayError):
            # By name only: the words may be a user's or an upstream's.
            _logger.warning("no answer was kept: %s", type(error).__name__)
        elif error is not None:
            _logger.error("no answer was kept", exc_info=error)
