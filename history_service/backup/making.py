"""Making a backup of a database that a service may be writing to."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw

from antiphon_client import __version__
from antiphon_client.errors import StoreCorruptError
from history_service.backup import BackupError
from history_service.backup.manifest import (
    DATABASE_NAME,
    Manifest,
    facts_of,
    file_sha256,
    write_manifest,
)
from history_service.storage.sqlite.connection import open_observer, sync_directory
from history_service.storage.sqlite.migrations import known_migrations, require_schema

Progress = Callable[[int], object]
"""Is told of the bytes copied so far."""

_STEP_PAGES = 1000
"""Pages copied between two reports of progress; with pages of 4 KiB some milliseconds."""


def make_backup(source: str, target: Path, progress: Progress = lambda moved: None) -> Manifest:
    """Copy a store's database, as it stands now, into a new folder.

    One read transaction is held from the first page to the last, so the copy is
    the store at one moment, between two commits. Writers go on; what they write
    meanwhile stays in the write-ahead log until the copy is done.

    Args:
        source: The database file; a service may have it open.
        target: The folder to make.
        progress: Is told how far it is.

    Returns:
        The manifest. Folder and files are on stable storage.

    Raises:
        BackupError: The target is there already, the source is no store or cannot be read, or the
            disk has no room.
    """
    if os.path.lexists(target):
        raise BackupError(f"{target} is there already; a backup never overwrites")
    with _unfinished(target) as folder:
        try:
            manifest = _copy(source, folder / DATABASE_NAME, progress)
        except (apsw.Error, StoreCorruptError) as error:
            raise BackupError(f"cannot copy {source}: {error}") from error
        write_manifest(folder, manifest)
        sync_directory(str(folder))
        try:
            os.rename(folder, target)
        except OSError as error:
            raise BackupError(f"cannot name the backup {target}: {error.strerror}") from None
    sync_directory(str(target.parent))
    return manifest


@contextlib.contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """Make a folder beside the target, under a name that says it is not whole; it goes unless renamed."""
    folder = target.parent / f".{target.name}.{secrets.token_hex(4)}.unfinished"
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise BackupError(f"cannot write into {target.parent}: {error.strerror}") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(source: str, copy: Path, progress: Progress) -> Manifest:
    with contextlib.closing(open_observer(source)) as reading:
        # The transaction begins with the first read; the pages copied are those it sees.
        reading.execute("BEGIN")
        schema_version = require_schema(reading, known_migrations())
        facts = facts_of(reading)
        _require_room(copy.parent, reading.pragma("page_count") * reading.pragma("page_size"))
        _copy_pages(reading, copy, progress)
    descriptor = os.open(copy, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return Manifest(
        created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        antiphon_version=__version__,
        sqlite_version=apsw.sqlite_lib_version(),
        schema_version=schema_version,
        bytes=copy.stat().st_size,
        sha256=file_sha256(copy),
        facts=facts,
    )


def _copy_pages(reading: apsw.Connection, copy: Path, progress: Progress) -> None:
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    page_size = reading.pragma("page_size")
    with contextlib.closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)) as writing:
        # The file counts only once it is whole: until then nothing needs to be undone or synced.
        writing.pragma("journal_mode", "OFF")
        writing.pragma("synchronous", "OFF")
        with writing.backup("main", reading, "main") as pages:
            while not pages.done:
                pages.step(_STEP_PAGES)
                progress((pages.page_count - pages.remaining) * page_size)


def _require_room(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size:
        raise BackupError(f"{folder.parent} has {free:,} bytes free and the backup takes {size:,}")
