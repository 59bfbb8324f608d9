"""Making a store of a backup: checked, with new incarnations, and never over another."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from history_service.backup import BackupError
from history_service.backup.checking import check_facts, check_file, check_keys, check_pages, check_rows
from history_service.backup.incarnations import renew_incarnations
from history_service.backup.manifest import DATABASE_NAME, Manifest, file_sha256, private_opener
from history_service.storage.sqlite.connection import sync_directory
from history_service.storage.sqlite.migrations import known_migrations, migrate

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing

_COMPANIONS = ("", "-wal", "-shm", "-journal")
"""What may stand at a store's place: it, and the files that SQLite would take for its own."""


def restore_backup(folder: Path, store: Path, ring: KeyRing | None = None) -> Manifest:
    """Make a store of a backup.

    The copy is checked page by page and row by row, brought to the newest schema,
    and given a new incarnation for every branch, so that nobody takes a branch
    for what it was before; the backup stays as it is.

    Args:
        folder: The backup.
        store: The database file to make.
        ring: The master keys of an encrypted store, which recorded responses are renewed with.

    Returns:
        The backup's manifest. The store is on stable storage.

    Raises:
        BackupError: The backup is not whole or does not open with the keys, something stands at the
            store's place, or it cannot be written.
    """
    for suffix in _COMPANIONS:
        if os.path.lexists(f"{store}{suffix}"):
            raise BackupError(f"{store}{suffix} is there already; a restore never overwrites")
    manifest = check_file(folder)
    unfinished = store.parent / f".{store.name}.{secrets.token_hex(4)}.unfinished"
    try:
        _copy_file(folder / DATABASE_NAME, unfinished)
        if file_sha256(unfinished) != manifest.sha256:
            raise BackupError(
                f"the copy at {unfinished} differs from the backup: the disk is not to be trusted"
            )
        _prepare(unfinished, manifest, folder, ring)
        # A link, unlike a renaming, fails where the name is taken.
        os.link(unfinished, store)
    except apsw.Error as error:
        raise BackupError(f"the database is damaged: {error}") from error
    except OSError as error:
        raise BackupError(f"cannot write {store}: {error.strerror}") from None
    finally:
        for suffix in _COMPANIONS:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{unfinished}{suffix}")
    sync_directory(str(store.parent))
    return manifest


def _copy_file(source: Path, copy: Path) -> None:
    with source.open("rb") as reading, open(copy, "xb", opener=private_opener) as writing:
        shutil.copyfileobj(reading, writing, 2**20)


def _prepare(copy: Path, manifest: Manifest, folder: Path, ring: KeyRing | None) -> None:
    """Check the copy and make a store of it, on stable storage."""
    with contextlib.closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        # No log beside it: the file alone is what gets the store's name.
        connection.pragma("journal_mode", "DELETE")
        connection.pragma("synchronous", "FULL")
        check_pages(connection)
        check_facts(connection, manifest)
        migrate(connection, known_migrations())
        check_rows(connection)
        renew_incarnations(connection, check_keys(connection, folder, ring))
    with copy.open("rb") as file:
        os.fsync(file.fileno())
