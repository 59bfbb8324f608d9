"""The PostgreSQL store: one writing thread and a pool of reading ones, beside other replicas' of the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import psycopg

from antiphon_client.errors import ShuttingDownError, StoreBusyError
from history_service.storage.port import ReadTransaction, WriteTransaction
from history_service.storage.postgres.connection import Session, check_url
from history_service.storage.postgres.copies import refuse_unfinished
from history_service.storage.postgres.failures import translate
from history_service.storage.postgres.keys import open_keys
from history_service.storage.postgres.migrations import known_migrations, migrate
from history_service.storage.postgres.readers import ReaderPool
from history_service.storage.postgres.writer import GroupWriter
from history_service.storage.postgres_limits import DEFAULT_POSTGRES_LIMITS, PostgresLimits

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing, StoreKeys

T = TypeVar("T")


class PostgresStore:
    """Branches in a PostgreSQL database; implements ``HistoryStore``.

    An answered write is as safe as the database's commits are. Several stores,
    in as many processes, may use one database at once.

    Attributes:
        writer_type: Makes the writer.
        shared: See ``HistoryStore``.
    """

    writer_type: type[GroupWriter] = GroupWriter
    shared = True

    def __init__(
        self, url: str, *, limits: PostgresLimits = DEFAULT_POSTGRES_LIMITS, ring: KeyRing | None = None
    ) -> None:
        """Name the database; nothing is connected before ``start``.

        Args:
            url: A libpq URL. The tables are in the first schema of the role's search path.
            limits: Bounds of connections, times and groups.
            ring: Master keys to encrypt with; None writes in clear.

        Raises:
            ValueError: The URL cannot be read. The error does not repeat it.
        """
        check_url(url)
        self._url = url
        self._limits = limits
        self._ring = ring
        self._writer: GroupWriter | None = None
        self._readers: ReaderPool | None = None

    @property
    def url(self) -> str:
        """The database, with what opens it."""
        return self._url

    async def start(self) -> None:
        """Bring the schema up to date, start the threads.

        Raises:
            StoreBusyError: The database cannot be reached, or refuses, or is an unfinished copy.
            StoreCorruptError: The tables are another program's, their schema is
                newer than this release, or they are encrypted with a master
                key that was not given.
        """
        try:
            keys = await asyncio.to_thread(self._prepare)
        except psycopg.Error as error:
            # The one place where the operator is told what the database says.
            told = translate(error)
            kind = type(told) if told is not error else StoreBusyError
            raise kind(f"cannot open the database: {error}".rstrip()) from error
        self._readers = ReaderPool(self._connect, self._limits, keys)
        self._writer = self.writer_type(self._connect, self._limits, keys)

    async def close(self) -> None:
        """Finish what is queued, let go of the connections. Safe to call twice."""
        if self._writer is not None:
            await self._writer.close()
        if self._readers is not None:
            await self._readers.close()

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

    def _connect(self) -> Session:
        return Session(self._url, self._limits)

    def _prepare(self) -> StoreKeys | None:
        session = self._connect()
        try:
            migrate(session, known_migrations())
            refuse_unfinished(session)
            return open_keys(session, self._ring)
        finally:
            session.close()
