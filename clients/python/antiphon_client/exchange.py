"""The exchange as an object, blocking and asyncio (ADR-0006 D5): mailboxes between owners.

Every method is the operation of the same name in
:class:`~antiphon_client.exchange_operations.ExchangeOperations`. An exchange
needs no making: its id names a space of owners, apart from every other.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator, Iterator
from contextlib import aclosing, closing
from typing import Any

from antiphon.history.v1.exchange_service_pb2_grpc import ExchangeServiceStub
from antiphon_client.exchange_operations import ExchangeOperations as Operations
from antiphon_client.exchange_records import DeadLetter, Delivery
from antiphon_client.exchange_routing import watch_request
from antiphon_client.history import AsyncHistoryClient, HistoryClient
from antiphon_client.rpc import AsyncMethod, SyncMethod, iterate, iterate_async

MIN_INTERVAL, MAX_INTERVAL = 0.01, 3600.0
"""Bounds, in seconds, of the wait between two collections of ``run``."""


class Exchange:
    """An exchange over a blocking client, on that client's channel."""

    def __init__(self, history: HistoryClient, exchange_id: str) -> None:
        self._core = Operations(exchange_id)
        self._transport = history._transport_of(ExchangeServiceStub)
        self._runs: set[threading.Event] = set()

    @property
    def exchange_id(self) -> str:
        """The exchange's id."""
        return self._core.exchange_id

    register = SyncMethod(Operations.register)
    unregister = SyncMethod(Operations.unregister)
    owner_page = SyncMethod(Operations.owner_page)
    get = SyncMethod(Operations.get)
    has = SyncMethod(Operations.has)
    owner_ids = SyncMethod(Operations.owner_ids)
    send = SyncMethod(Operations.send)
    collect = SyncMethod(Operations.collect)
    collect_all = SyncMethod(Operations.collect_all)
    sync = SyncMethod(Operations.sync)
    delivery_page = SyncMethod(Operations.delivery_page)
    deliveries = SyncMethod(Operations.deliveries)
    receive = SyncMethod(Operations.receive)
    pop_message = SyncMethod(Operations.pop_message)
    lease = SyncMethod(Operations.lease)
    acknowledge = SyncMethod(Operations.acknowledge)
    reject = SyncMethod(Operations.reject)
    dead_letter_page = SyncMethod(Operations.dead_letter_page)
    redrive = SyncMethod(Operations.redrive)

    def dead_letters(self, owner_id: Any = None) -> Iterator[DeadLetter]:
        """Yield the dead letters, all or one owner's, oldest first, reading page by page."""
        return iterate(self._transport, lambda token: self._core.dead_letter_page(owner_id, page_token=token))

    def watch(
        self, owner_id: Any, after_sequence: int = 0, *, until_caught_up: bool = False
    ) -> Generator[Delivery]:
        """Yield the deliveries to an inbox after a sequence number, in order, and wait for more.

        It takes nothing: `lease` or `pop_message` does. To go on after an
        error, watch again after the last sequence seen. Close the generator to end it.

        Args:
            owner_id: Whose inbox; an unregistered owner's stays empty until it registers.
            after_sequence: The last sequence already seen.
            until_caught_up: End once everything delivered so far was yielded.

        Raises:
            AntiphonError: The stream broke; an open stream has no timeout.
        """
        request = watch_request(self.exchange_id, owner_id, after_sequence)
        with closing(self._transport.frames("WatchInbox", request)) as frames:
            for frame in frames:
                if frame.HasField("delivery"):
                    yield Delivery.from_proto(frame.delivery)
                elif until_caught_up and frame.HasField("caught_up"):
                    return

    def run(self, interval: float = 1.0) -> None:
        """Collect for all owners again and again until another thread calls :meth:`stop`.

        Args:
            interval: Seconds between two collections, 0.01 to 3,600.

        Raises:
            ValueError: The interval is out of its bounds.
            AntiphonError: A collection failed; the loop has ended.
        """
        _check_interval(interval)
        stopped = threading.Event()
        self._runs.add(stopped)
        try:
            while not stopped.is_set():
                self.sync()
                stopped.wait(interval)
        finally:
            self._runs.discard(stopped)

    def stop(self) -> None:
        """End every :meth:`run` under way, after the collection it is in. Without one it does nothing."""
        for stopped in tuple(self._runs):
            stopped.set()


class AsyncExchange:
    """An exchange over an asyncio client, on that client's channel."""

    def __init__(self, history: AsyncHistoryClient, exchange_id: str) -> None:
        self._core = Operations(exchange_id)
        self._transport = history._transport_of(ExchangeServiceStub)
        self._runs: set[asyncio.Event] = set()

    @property
    def exchange_id(self) -> str:
        """The exchange's id."""
        return self._core.exchange_id

    register = AsyncMethod(Operations.register)
    unregister = AsyncMethod(Operations.unregister)
    owner_page = AsyncMethod(Operations.owner_page)
    get = AsyncMethod(Operations.get)
    has = AsyncMethod(Operations.has)
    owner_ids = AsyncMethod(Operations.owner_ids)
    send = AsyncMethod(Operations.send)
    collect = AsyncMethod(Operations.collect)
    collect_all = AsyncMethod(Operations.collect_all)
    sync = AsyncMethod(Operations.sync)
    delivery_page = AsyncMethod(Operations.delivery_page)
    deliveries = AsyncMethod(Operations.deliveries)
    receive = AsyncMethod(Operations.receive)
    pop_message = AsyncMethod(Operations.pop_message)
    lease = AsyncMethod(Operations.lease)
    acknowledge = AsyncMethod(Operations.acknowledge)
    reject = AsyncMethod(Operations.reject)
    dead_letter_page = AsyncMethod(Operations.dead_letter_page)
    redrive = AsyncMethod(Operations.redrive)

    def dead_letters(self, owner_id: Any = None) -> AsyncIterator[DeadLetter]:
        """Yield the dead letters, all or one owner's, oldest first, reading page by page."""
        return iterate_async(
            self._transport, lambda token: self._core.dead_letter_page(owner_id, page_token=token)
        )

    async def watch(
        self, owner_id: Any, after_sequence: int = 0, *, until_caught_up: bool = False
    ) -> AsyncGenerator[Delivery]:
        """Yield the deliveries to an inbox and wait for more; as :meth:`Exchange.watch`."""
        request = watch_request(self.exchange_id, owner_id, after_sequence)
        async with aclosing(self._transport.frames("WatchInbox", request)) as frames:
            async for frame in frames:
                if frame.HasField("delivery"):
                    yield Delivery.from_proto(frame.delivery)
                elif until_caught_up and frame.HasField("caught_up"):
                    return

    def run(self, interval: float = 1.0) -> Coroutine[Any, Any, None]:
        """Return the loop that collects for all owners until :meth:`stop` or its cancellation.

        It is this call, not the first await, after which ``stop`` ends the loop.

        Args:
            interval: Seconds between two collections, 0.01 to 3,600.

        Raises:
            ValueError: The interval is out of its bounds.
            AntiphonError: A collection failed; the loop has ended.
        """
        _check_interval(interval)
        stopped = asyncio.Event()
        self._runs.add(stopped)
        return self._run(stopped, interval)

    def stop(self) -> None:
        """End every :meth:`run` begun, after the collection it is in. Without one it does nothing."""
        for stopped in tuple(self._runs):
            stopped.set()

    async def _run(self, stopped: asyncio.Event, interval: float) -> None:
        try:
            while not stopped.is_set():
                await self.sync()
                await _wait(stopped, interval)
        finally:
            self._runs.discard(stopped)


async def _wait(stopped: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopped.wait()
    except TimeoutError:
        return


def _check_interval(interval: float) -> None:
    if not MIN_INTERVAL <= interval <= MAX_INTERVAL:
        raise ValueError(f"interval must be {MIN_INTERVAL} to {MAX_INTERVAL} seconds")
