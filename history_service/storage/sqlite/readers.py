"""Reading threads, each with a connection of its own and short transactions."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from antiphon_client.errors import ShuttingDownError
from history_service.storage.port import ReadTransaction
from history_service.storage.sqlite.failures import end_statements, translate
from history_service.storage.sqlite.reading import SqliteReadTransaction

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys

T = TypeVar("T")

_Job = tuple[Callable[[ReadTransaction], Any], "asyncio.Future[Any]"]
_Jobs = queue.SimpleQueue["_Job | None"]


class ReaderPool:
    """A few threads that read; of those with nothing to do the one that read last is next.

    Its pages are in its connection's cache, and in the processor's; and of few reads at
    once few connections fill a cache. A queue and a future a read, rather than an executor:
    handing a read over and back costs a third as much.
    """

    def __init__(
        self,
        open_connection: Callable[[], apsw.Connection],
        threads: int,
        store_keys: StoreKeys | None = None,
    ) -> None:
        """Open the connections and start the threads.

        Args:
            open_connection: Opens a reading connection.
            threads: How many reads may run at once; more wait.
            store_keys: The keys of an encrypted store.

        Raises:
            apsw.Error: A connection cannot be opened.
        """
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._idle: list[_Jobs] = []
        """The queues of threads with nothing to do, the one that read last at the end."""
        self._waiting: deque[_Job] = deque()
        self._closed = False
        self._keys = store_keys
        self._connections: list[apsw.Connection] = []
        try:
            for _ in range(threads):
                self._connections.append(open_connection())
        except BaseException:
            self._close_connections()
            raise
        self._threads = [
            threading.Thread(
                target=self._run, args=(connection,), name=f"history-reader-{number}", daemon=True
            )
            for number, connection in enumerate(self._connections)
        ]
        for thread in self._threads:
            thread.start()

    async def run(self, work: Callable[[ReadTransaction], T]) -> T:
        """Run a work over one consistent view, begun after this call.

        Raises:
            StoreBusyError: The store could not be read just now.
            StoreCorruptError: The file is damaged.
            ShuttingDownError: The pool is closed.
        """
        if self._closed:
            raise ShuttingDownError("the store is closing")
        future: asyncio.Future[T] = self._loop.create_future()
        job: _Job = (work, future)
        with self._lock:
            if self._idle:
                self._idle.pop().put(job)
            else:
                self._waiting.append(job)
        return await future

    async def close(self) -> None:
        """Refuse new works, finish those that wait, close the connections."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        self._close_connections()

    def _close_connections(self) -> None:
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    def _enlist(self, jobs: _Jobs) -> None:
        """Give a thread what it is to do next by its queue, now or when there is work; None for the end."""
        with self._lock:
            if self._waiting:
                jobs.put(self._waiting.popleft())
            elif self._closed:
                jobs.put(None)
            else:
                self._idle.append(jobs)

    def _run(self, connection: apsw.Connection) -> None:
        transaction = SqliteReadTransaction(connection, self._keys)
        jobs: _Jobs = queue.SimpleQueue()
        self._enlist(jobs)
        while (job := jobs.get()) is not None:
            work, future = job
            result, failure = _outcome(work, transaction, connection)
            # First: what is asked for next, once this is known, is then this thread's.
            self._enlist(jobs)
            # The loop may be closed by now: then nobody is left to be told.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_resolve, future, result, failure)
            # Not while it waits: a result may be large.
            del job, work, future, result, failure


def _outcome(
    work: Callable[[ReadTransaction], Any], transaction: SqliteReadTransaction, connection: apsw.Connection
) -> tuple[Any, BaseException | None]:
    """Run a work in a transaction of its own; return its result, or None and how it failed."""
    try:
        connection.execute("BEGIN")
        try:
            return work(transaction), None
        except BaseException as error:
            end_statements(error)
            raise
        finally:
            # SQLite ends the transaction itself over an input/output error.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    except BaseException as error:
        return None, translate(error, connection)


def _resolve(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
