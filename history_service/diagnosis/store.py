"""What is to be said of a SQLite store's file."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import apsw

from antiphon_client.errors import StoreCorruptError
from antiphon_client.findings import Finding
from history_service.diagnosis.keys import key_finding
from history_service.storage.sqlite.connection import WAL_SIZE_LIMIT, open_observer
from history_service.storage.sqlite.migrations import known_migrations, require_schema

LONG_LOG_BYTES = 4 * WAL_SIZE_LIMIT
"""From this size on a write-ahead log is longer than a service that is well lets it be."""

_RESTORE = 'restore a backup with "antiphon restore", and keep this file for whoever looks for the cause'


def store_findings(path: Path, key_file: str | None = None) -> Iterator[Finding]:
    """Look at a store's file: whether it opens, its schema, pages, keys, log and permissions.

    Costs one pass over the file, and some microseconds a branch where it is encrypted.

    Args:
        path: The file.
        key_file: The file of master keys that the service is given; None for none.
    """
    if not path.exists():
        advice = "none if it is new: the service makes it; else name the store with --store"
        yield Finding("store.file", "warning", f"{path} is not there", advice)
        return
    try:
        with contextlib.closing(open_observer(str(path))) as connection:
            connection.execute("BEGIN")
            yield _schema(connection)
            yield _pages(connection)
            yield key_finding(connection, path, key_file)
    except (apsw.NotADBError, apsw.CorruptError) as error:
        yield Finding("store.file", "failure", f"{path} is damaged: {error}", _RESTORE)
    except apsw.Error as error:
        advice = "run this as the user of the service, on the machine that has the file"
        yield Finding("store.file", "failure", f"{path} cannot be read: {error}", advice)
    yield _log(path)
    yield _permissions(path)


def _schema(connection: apsw.Connection) -> Finding:
    migrations = known_migrations()
    newest = migrations[-1].version
    try:
        version = require_schema(connection, migrations)
    except StoreCorruptError as error:
        return Finding("store.schema", "failure", str(error), "name another store, or use another release")
    if version < newest:
        text = f"schema {version}, of an earlier release; this one brings it to {newest} when it starts"
        return Finding(
            "store.schema", "ok", text, 'first make a backup with "antiphon backup": there is no way back'
        )
    return Finding("store.schema", "ok", f"schema {version}, the newest")


def _pages(connection: apsw.Connection) -> Finding:
    faults = [str(text) for (text,) in connection.execute("PRAGMA quick_check(3)") if text != "ok"]
    if faults:
        return Finding("store.pages", "failure", f"damaged: {'; '.join(faults)}", _RESTORE)
    size = connection.pragma("page_count") * connection.pragma("page_size")
    return Finding("store.pages", "ok", f"{size:,} bytes, no damage found")


def _log(path: Path) -> Finding:
    try:
        size = os.stat(f"{path}-wal").st_size
    except OSError:
        size = 0
    if size < LONG_LOG_BYTES:
        return Finding("store.log", "ok", f"write-ahead log of {size:,} bytes")
    advice = "end what has long been reading the file (a backup, a shell); a new start empties the log"
    return Finding("store.log", "warning", f"write-ahead log of {size:,} bytes", advice)


def _permissions(path: Path) -> Finding:
    files = [file for suffix in ("", "-wal", "-shm", ".lock") if (file := Path(f"{path}{suffix}")).exists()]
    open_files = [file.name for file in files if stat.S_IMODE(file.stat().st_mode) & 0o077]
    if open_files:
        advice = f"chmod 600 them in {path.parent}"
        return Finding("store.permissions", "warning", f"open to others: {', '.join(open_files)}", advice)
    folder = path.parent.stat()
    if folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX:
        return Finding(
            "store.permissions",
            "warning",
            f"others may write into {path.parent}",
            f"chmod go-w {path.parent}",
        )
    return Finding("store.permissions", "ok", "the owner's alone")
