"""The SQLite store that is copied: one moment of it, read in the order of the tables' keys."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from typing import Any

import apsw

from antiphon_client.errors import StoreBusyError, StoreCorruptError
from history_service.copying import CopyError
from history_service.copying.tables import TABLES, Table
from history_service.storage.sqlite.connection import open_observer
from history_service.storage.sqlite.lock import ProcessLock
from history_service.storage.sqlite.migrations import known_migrations, require_schema

Row = tuple[Any, ...]

_CACHE_KIB = 64 * 1024
"""Memory for pages, and for what is sorted before it goes to a temporary file, in KiB."""

_MISSING_KEYS = (
    "SELECT count(*) FROM branch WHERE key_number IS NOT NULL"
    " AND key_number NOT IN (SELECT number FROM encryption_key WHERE number != 0)"
)


class Source:
    """A store at one moment.

    Attributes:
        path: Its file.
        store_id: What tells it from every other store: the name of its first writer.
    """

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        """Use a connection inside the read transaction of that moment."""
        self.path = path
        self._connection = connection
        _require_keys(path, connection)
        first = connection.execute("SELECT writer_id FROM writer ORDER BY number LIMIT 1").fetchone()
        if first is None:
            raise CopyError(f"{path} has never been served: there is nothing to copy")
        self.store_id: bytes = first[0]

    def count(self) -> int:
        """Return the number of rows in all tables; costs a pass over them."""
        return sum(self._connection.execute(table.source_count).get for table in TABLES)

    def rows(self, table: Table) -> Iterator[tuple[Row, Row]]:
        """Yield a table's rows in the order of its key: each to be compared, and as it is to be written."""
        long, truths = table.long_place, table.truths
        for row in self._connection.execute(table.source_rows):
            compared = row
            if long is not None:
                compared = (*row[:long], hashlib.sha256(row[long]).digest(), *row[long + 1 :])
            if truths:
                row = tuple(bool(value) if at in truths else value for at, value in enumerate(row))
            yield compared, row


@contextlib.contextmanager
def open_source(path: str, *, stopped: bool) -> Iterator[Source]:
    """Open a store for one pass.

    Args:
        path: Its file.
        stopped: Whether no service may have it open; none can open it then until the pass is over.

    Raises:
        CopyError: A service has it open, it is no store of this release's schema, it lacks
            keys, or it cannot be read.
    """
    with contextlib.ExitStack() as stack:
        if stopped:
            stack.callback(_lock(path).release)
        try:
            connection = stack.enter_context(contextlib.closing(open_observer(path)))
            connection.pragma("cache_size", -_CACHE_KIB)
            # The transaction begins with the first read.
            connection.execute("BEGIN")
            version, newest = require_schema(connection, known_migrations()), known_migrations()[-1].version
            if version < newest:
                raise CopyError(
                    f"{path} has schema {version} of an earlier release: start this release's service on it"
                    f" once, which brings it to {newest}"
                )
            yield Source(path, connection)
        except (apsw.Error, StoreCorruptError) as error:
            raise CopyError(f"cannot read {path}: {error}") from error


def _lock(path: str) -> ProcessLock:
    if not os.path.exists(path):
        raise CopyError(f"{path} is not there")
    try:
        return ProcessLock(os.path.realpath(path))
    except StoreBusyError as error:
        raise CopyError(f"the last pass needs the source's service stopped: {error.message}") from error


def _require_keys(path: str, connection: apsw.Connection) -> None:
    """Refuse a store in which keys of branches are missing, before anything is written."""
    missing = connection.execute(_MISSING_KEYS).get
    if missing:
        raise CopyError(f"{path} is damaged: it lacks the keys of {missing:,} branches; nothing was copied")
