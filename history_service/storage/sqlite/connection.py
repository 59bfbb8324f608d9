"""Opening connections to the database file, with the settings each kind needs."""

from __future__ import annotations

import os

import apsw

WAL_SIZE_LIMIT = 64 * 2**20
"""Bytes to which the write-ahead log file is cut back once a burst has been copied."""

WRITER_CACHE_KIB = 64 * 1024
"""Memory for pages of the writing connection, in KiB."""

WRITER_STATEMENTS = 256
"""Prepared statements the writing connection keeps: its inserts have one for each number of rows."""

READER_STATEMENTS = 100
"""Prepared statements each reading connection keeps."""

READER_CACHE_KIB = 8 * 1024
"""Memory for pages of each reading connection, in KiB."""

BUSY_MILLISECONDS = 2000
"""How long a connection waits for a lock before it gives up (STORE_BUSY)."""


def open_writer(path: str, vfs: str | None = None) -> apsw.Connection:
    """Open the one writing connection, creating the file with mode 0600 where there is none.

    The file's contents are not touched: that waits for ``make_durable``, after
    the caller has seen whose file it is.

    Args:
        path: The database file.
        vfs: Name of the SQLite VFS; None is the system's own. Tests put one
            between SQLite and the disk.
    """
    if not os.path.exists(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        sync_directory(os.path.dirname(path))
    connection = _open(path, vfs, WRITER_CACHE_KIB, WRITER_STATEMENTS)
    # The writer copies the log itself, after it has answered its callers.
    connection.wal_autocheckpoint(0)
    return connection


def make_durable(connection: apsw.Connection) -> None:
    """Make every commit reach stable storage before it returns.

    Write-ahead log with ``synchronous=FULL``, and ``fullfsync`` where the
    system knows it (history design, Storage).
    """
    connection.pragma("journal_mode", "WAL")
    connection.pragma("synchronous", "FULL")
    connection.pragma("fullfsync", 1)
    connection.pragma("journal_size_limit", WAL_SIZE_LIMIT)
    overwrite_deleted(connection, thorough=False)


def overwrite_deleted(connection: apsw.Connection, *, thorough: bool) -> None:
    """Have what is deleted or moved overwritten with zeros, so that it does not stay in the file.

    Args:
        connection: The writing connection.
        thorough: Whether also pages that need not be written otherwise are, as
            erasing asks for; without it no page more is written.
    """
    connection.pragma("secure_delete", 1 if thorough else "FAST")


def open_reader(path: str, vfs: str | None = None) -> apsw.Connection:
    """Open a connection that refuses to write, on a file the writer has opened before."""
    connection = _open(path, vfs, READER_CACHE_KIB, READER_STATEMENTS)
    connection.pragma("query_only", 1)
    connection.wal_autocheckpoint(0)
    return connection


def open_observer(path: str) -> apsw.Connection:
    """Open a connection of another program than the service: it reads, and never makes or changes the file.

    Raises:
        apsw.Error: There is no such file, or it cannot be read.
    """
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    return connection


def _open(path: str, vfs: str | None, cache_kib: int, statements: int) -> apsw.Connection:
    connection = apsw.Connection(
        path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs, statementcachesize=statements
    )
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("cache_size", -cache_kib)
    return connection


def sync_directory(path: str) -> None:
    """Put a directory's entries on stable storage: without it a new file can vanish with the power."""
    descriptor = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
