"""Reading threads, each with a connection of its own and short transactions."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from antiphon_client.errors import ShuttingDownError
from history_service.storage.port import ReadTransaction
from history_service.storage.postgres.connection import READ, Session
from history_service.storage.postgres.failures import CONFLICTS, is_away, translate
from history_service.storage.postgres.reading import PostgresReadTransaction
from history_service.storage.postgres_limits import PostgresLimits

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys

T = TypeVar("T")

_ATTEMPTS = 3
"""How often a read is tried: it has no effect, and a connection may have died since its last use."""


class _Job:
    __slots__ = ("failure", "future", "result", "work")

    def __init__(self, work: Callable[[ReadTransaction], Any], future: asyncio.Future[Any]) -> None:
        self.work = work
        self.future = future
        self.result: Any = None
        self.failure: BaseException | None = None


class ReaderPool:
    """Threads that take reads from one queue: more while reads wait, fewer while none come.

    Belongs to the event loop on which it was made.
    """

    def __init__(
        self, connect: Callable[[], Session], limits: PostgresLimits, store_keys: StoreKeys | None = None
    ) -> None:
        """Start the least number of threads; each connects when it gets its first read.

        Args:
            connect: Opens a session; called on the threads.
            limits: Bounds of the pool.
            store_keys: The keys of an encrypted store.
        """
        self._keys = store_keys
        self._connect = connect
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._under_way = 0
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._serving = 0
        for _ in range(limits.min_connections):
            self._start_thread()

    async def run(self, work: Callable[[ReadTransaction], T]) -> T:
        """Run a work over one consistent view, begun after this call.

        Raises:
            StoreBusyError: The database could not be read just now.
            StoreCorruptError: The database is damaged.
            ShuttingDownError: The pool is closed.
        """
        if self._closed:
            raise ShuttingDownError("the store is closing")
        future: asyncio.Future[T] = self._loop.create_future()
        self._under_way += 1
        if self._serving < min(self._under_way, self._limits.max_connections):
            self._start_thread()
        self._queue.put(_Job(work, future))
        return await future

    async def close(self) -> None:
        """Refuse new works, finish those that wait, close the connections."""
        if not self._closed:
            self._closed = True
            for _ in range(self._serving):
                self._queue.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _start_thread(self) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=self._run, name="history-reader", daemon=True)
        self._threads.append(thread)
        self._serving += 1
        thread.start()

    # On the threads

    def _run(self) -> None:
        session: Session | None = None
        while (job := self._next(session)) is not None:
            try:
                session = self._read(job, session)
            except BaseException as error:
                session = None
                job.failure = translate(error)
            self._tell(self._resolve, job)
        if session is not None:
            session.close()

    def _next(self, session: Session | None) -> _Job | None:
        """Wait for a read; None when the thread shall end."""
        while True:
            try:
                return self._queue.get(timeout=self._limits.idle_seconds)
            except queue.Empty:
                # Only the loop knows how many threads there are; it sends the word to end.
                self._tell(self._retire_one)

    def _read(self, job: _Job, session: Session | None) -> Session | None:
        """Run a read; return the session to go on with."""
        for attempt in range(_ATTEMPTS):
            if session is None:
                session = self._connect()
            try:
                session.begin(READ)
                job.result = job.work(PostgresReadTransaction(session, self._keys))
                session.commit()
                return session
            except BaseException as error:
                session = _after(error, session)
                again = session is None or isinstance(error, CONFLICTS)
                if not again or not isinstance(error, psycopg.Error) or attempt + 1 == _ATTEMPTS:
                    job.failure = translate(error)
                    return session
        return session

    def _tell(self, callback: Callable[..., object], *arguments: object) -> None:
        # The loop may be closed by now: then nobody is left to be told.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)

    # On the event loop

    def _retire_one(self) -> None:
        if not self._closed and self._serving > max(self._limits.min_connections, self._under_way):
            # It serves no more from now on, whenever one of the threads gets to read this.
            self._serving -= 1
            self._queue.put(None)

    def _resolve(self, job: _Job) -> None:
        self._under_way -= 1
        if job.future.done():
            return
        if job.failure is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.failure)


def _after(error: BaseException, session: Session) -> Session | None:
    """End the transaction after an error; None where the connection is of no use any more."""
    try:
        if not is_away(error, session.connection):
            session.rollback()
            return session
    except psycopg.Error:
        pass
    session.close()
    return None
