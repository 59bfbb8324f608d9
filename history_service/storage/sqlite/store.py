"""The SQLite store: one file, one writing thread, a few reading threads."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import apsw

from antiphon_client.edge.metrics import Published
from antiphon_client.errors import ShuttingDownError, StoreBusyError
from history_service.storage.port import ReadTransaction, WriteTransaction
from history_service.storage.sqlite.connection import make_durable, open_reader, open_writer
from history_service.storage.sqlite.failures import translate
from history_service.storage.sqlite.figures import StoreFigures
from history_service.storage.sqlite.keys import open_keys
from history_service.storage.sqlite.lock import ProcessLock
from history_service.storage.sqlite.migrations import check_schema, known_migrations, migrate
from history_service.storage.sqlite.readers import ReaderPool
from history_service.storage.sqlite.writer import GroupWriter, WriterLimits

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing, StoreKeys

T = TypeVar("T")

READER_THREADS = 4
"""Reads that may run at once."""


class SqliteStore:
    """Branches in one SQLite file; implements ``HistoryStore``.

    An answered write is on stable storage. The file belongs to this store
    alone from ``start`` to ``close``; beside it stand the lock file and, while
    open, SQLite's ``-wal`` and ``-shm``.

    Attributes:
        writer_type: Makes the writer.
        shared: See ``HistoryStore``.
    """

    shared = False

    writer_type: type[GroupWriter] = GroupWriter

    def __init__(
        self,
        path: str,
        *,
        limits: WriterLimits | None = None,
        vfs: str | None = None,
        ring: KeyRing | None = None,
    ) -> None:
        """Name the file; nothing is opened before ``start``.

        Args:
            path: The database file; made by ``start`` where there is none, in
                a directory that exists.
            limits: Bounds of the writer; None is the defaults.
            vfs: Name of the SQLite VFS; None is the system's own.
            ring: Master keys to encrypt with; None writes in clear.
        """
        self._path = os.path.realpath(path)
        self._limits = limits or WriterLimits()
        self._vfs = vfs
        self._ring = ring
        self._lock: ProcessLock | None = None
        self._connection: apsw.Connection | None = None
        self._writer: GroupWriter | None = None
        self._readers: ReaderPool | None = None

    @property
    def path(self) -> str:
        """The database file."""
        return self._path

    def figures(self) -> Sequence[Published]:
        """See ``MeasuredStore``."""
        return [StoreFigures(self._path, lambda: self._writer)]

    async def start(self) -> None:
        """Lock and open the file, bring its schema up to date, start the threads.

        Raises:
            StoreBusyError: Another process has the file open, or it cannot be opened.
            StoreCorruptError: The file is damaged, is another program's, its
                schema is newer than this release, or it is encrypted with a
                master key that was not given.
        """
        try:
            connection, keys = await asyncio.to_thread(self._open)
            self._readers = ReaderPool(lambda: open_reader(self._path, self._vfs), READER_THREADS, keys)
            self._writer = self.writer_type(connection, self._limits, keys)
        except BaseException as error:
            await self.close()
            told = self._opening_error(error)
            if told is error:
                raise
            raise told from error

    async def close(self) -> None:
        """Finish what is queued, move the log into the file, let go of it. Safe to call twice."""
        if self._writer is not None:
            await self._writer.close()
        if self._readers is not None:
            await self._readers.close()
        connection, self._connection = self._connection, None
        if connection is not None:
            await asyncio.to_thread(_close_clean, connection)
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    async def write(self, work: Callable[[WriteTransaction], T], *, starts_commit: bool = False) -> T:
        """See ``HistoryStore.write``."""
        if self._writer is None:
            raise ShuttingDownError("the store is not open")
        result: T = await self._writer.submit(work, starts_commit=starts_commit)
        return result

    async def read(self, work: Callable[[ReadTransaction], T]) -> T:
        """See ``HistoryStore.read``."""
        if self._readers is None:
            raise ShuttingDownError("the store is not open")
        return await self._readers.run(work)

    def _open(self) -> tuple[apsw.Connection, StoreKeys | None]:
        self._lock = ProcessLock(self._path)
        connection = self._connection = open_writer(self._path, self._vfs)
        migrations = known_migrations()
        check_schema(connection, migrations)
        make_durable(connection)
        migrate(connection, migrations)
        return connection, open_keys(connection, self._ring)

    def _opening_error(self, error: BaseException) -> BaseException:
        if isinstance(error, OSError):
            return StoreBusyError(f"cannot open {self._path}: {error.strerror}")
        translated = translate(error)
        if isinstance(error, apsw.Error) and translated is not error:
            return type(translated)(f"cannot open {self._path}: {translated}")
        return translated


def _close_clean(connection: apsw.Connection) -> None:
    """Leave one file behind; where the log cannot be moved now, the next start does it."""
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error:
        return
    finally:
        connection.close()
