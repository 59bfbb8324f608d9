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
from antiphon_client.pages import iterate, iterate_async
from antiphon_client.rpc import async_method, sync_method

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

    register = sync_method(Operations.register)
    unregister = sync_method(Operations.unregister)
    owner_page = sync_method(Operations.owner_page)
    get = sync_method(Operations.get)
    has = sync_method(Operations.has)
    owners = sync_method(Operations.owners)
    owner_ids = sync_method(Operations.owner_ids)
    send = sync_method(Operations.send)
    collect = sync_method(Operations.collect)
    collect_all = sync_method(Operations.collect_all)
    sync = sync_method(Operations.sync)
    delivery_page = sync_method(Operations.delivery_page)
    deliveries = sync_method(Operations.deliveries)
    receive = sync_method(Operations.receive)
    pop_message = sync_method(Operations.pop_message)
    lease = sync_method(Operations.lease)
    acknowledge = sync_method(Operations.acknowledge)
    reject = sync_method(Operations.reject)
    dead_letter_page = sync_method(Operations.dead_letter_page)
    redrive = sync_method(Operations.redrive)

    def dead_letters(self, owner_id: Any = None) -> Iterator[DeadLetter]:
        """Yield the dead letters, all or one owner's, oldest first, reading page by page."""
        return iterate(self._transport, lambda token: self._core.dead_letter_page(owner_id, page_token=token))

    def watch(self, owner_id: Any, after_sequence: int = 0, *, follow: bool = True) -> Generator[Delivery]:
        """Yield the deliveries to an inbox after a sequence number, in order, and wait for more.

        It takes nothing: `lease` or `pop_message` does. To go on after an
        error, watch again after the last sequence seen. Close the generator to end it.

        Args:
            owner_id: Whose inbox; an unregistered owner's stays empty until it registers.
            after_sequence: The last sequence already seen.
            follow: False: end when everything delivered so far was yielded.

        Raises:
            AntiphonError: The stream broke; an open stream has no timeout.
        """
        request = watch_request(self.exchange_id, owner_id, after_sequence)
        with closing(self._transport.frames("WatchInbox", request)) as frames:
            for frame in frames:
                if frame.HasField("delivery"):
                    yield Delivery.from_proto(frame.delivery)
                elif not follow and frame.HasField("caught_up"):
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

    register = async_method(Operations.register)
    unregister = async_method(Operations.unregister)
    owner_page = async_method(Operations.owner_page)
    get = async_method(Operations.get)
    has = async_method(Operations.has)
    owners = async_method(Operations.owners)
    owner_ids = async_method(Operations.owner_ids)
    send = async_method(Operations.send)
    collect = async_method(Operations.collect)
    collect_all = async_method(Operations.collect_all)
    sync = async_method(Operations.sync)
    delivery_page = async_method(Operations.delivery_page)
    deliveries = async_method(Operations.deliveries)
    receive = async_method(Operations.receive)
    pop_message = async_method(Operations.pop_message)
    lease = async_method(Operations.lease)
    acknowledge = async_method(Operations.acknowledge)
    reject = async_method(Operations.reject)
    dead_letter_page = async_method(Operations.dead_letter_page)
    redrive = async_method(Operations.redrive)

    def dead_letters(self, owner_id: Any = None) -> AsyncIterator[DeadLetter]:
        """Yield the dead letters, all or one owner's, oldest first, reading page by page."""
        return iterate_async(
            self._transport, lambda token: self._core.dead_letter_page(owner_id, page_token=token)
        )

    async def watch(
        self, owner_id: Any, after_sequence: int = 0, *, follow: bool = True
    ) -> AsyncGenerator[Delivery]:
        """Yield the deliveries to an inbox and wait for more; as :meth:`Exchange.watch`."""
        request = watch_request(self.exchange_id, owner_id, after_sequence)
        async with aclosing(self._transport.frames("WatchInbox", request)) as frames:
            async for frame in frames:
                if frame.HasField("delivery"):
                    yield Delivery.from_proto(frame.delivery)
                elif not follow and frame.HasField("caught_up"):
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
