"""Reading threads, each with a connection of its own and short transactions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import apsw

from antiphon_client.errors import ShuttingDownError
from history_service.storage.port import ReadTransaction
from history_service.storage.sqlite.failures import translate
from history_service.storage.sqlite.reading import SqliteReadTransaction

T = TypeVar("T")


class ReaderPool:
    """A few threads that read; a thread opens its connection with its first work."""

    def __init__(self, open_connection: Callable[[], apsw.Connection], threads: int) -> None:
        """Prepare the pool.

        Args:
            open_connection: Opens a reading connection.
            threads: How many works may run at once; more wait.
        """
        self._open_connection = open_connection
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="history-reader")
        self._own = threading.local()
        self._connections: list[apsw.Connection] = []
        self._closed = False

    async def run(self, work: Callable[[ReadTransaction], T]) -> T:
        """Run a work over one consistent view, begun now.

        Raises:
            StoreBusyError: The store could not be read just now.
            StoreCorruptError: The file is damaged.
            ShuttingDownError: The pool is closed.
        """
        if self._closed:
            raise ShuttingDownError("the store is closing")
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._run, work)

    async def close(self) -> None:
        """Refuse new works, finish those under way, close the connections."""
        self._closed = True
        await asyncio.to_thread(self._executor.shutdown)
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    def _run(self, work: Callable[[ReadTransaction], T]) -> T:
        try:
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                return work(SqliteReadTransaction(connection))
            finally:
                connection.execute("ROLLBACK")
        except apsw.Error as error:
            raise translate(error) from error

    def _connection(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._open_connection()
            self._own.connection = connection
            self._connections.append(connection)
        return connection
