"""The schema: numbered SQL files, forward only, and the table that says which have run.

A file is named ``NNNN_words.sql`` and runs once, in one transaction with its
row in ``schema_version``. A released file is never edited; a change is a new
file.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import apsw

from antiphon_client.errors import StoreCorruptError

APPLICATION_ID = 0x414E5450
"""``ANTP`` in the file's header: says whose database this is."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema.

    Attributes:
        version: Its number, from 1, without gaps.
        name: Its file name.
        sql: Its statements.
    """

    version: int
    name: str
    sql: str


def known_migrations() -> list[Migration]:
    """Read the migrations this release knows, in order."""
    files = [entry for entry in resources.files(__name__).iterdir() if entry.name.endswith(".sql")]
    found = [Migration(int(entry.name[:4]), entry.name, entry.read_text("utf-8")) for entry in files]
    return sorted(found, key=lambda migration: migration.version)


def check_schema(connection: apsw.Connection, migrations: Sequence[Migration]) -> int:
    """Return the file's schema version, 0 for an empty file, without changing anything.

    Raises:
        StoreCorruptError: The file belongs to another program, or its schema
            is newer than this release.
    """
    current = _schema_version(connection)
    newest = migrations[-1].version
    if current > newest:
        raise StoreCorruptError(
            f"{connection.filename} has schema version {current} and this release knows versions up to "
            f"{newest}: a newer release wrote it; run that one, or restore a backup made before the upgrade"
        )
    return current


def require_schema(connection: apsw.Connection, migrations: Sequence[Migration]) -> int:
    """Return the schema version of a file that is to be a store already.

    Raises:
        StoreCorruptError: As ``check_schema`` does, and where the file is empty.
    """
    version = check_schema(connection, migrations)
    if version == 0:
        raise StoreCorruptError(f"{connection.filename} is empty: no service has used it yet")
    return version


def migrate(connection: apsw.Connection, migrations: Sequence[Migration]) -> None:
    """Bring the schema to the newest version; each step is a transaction of its own.

    Raises:
        StoreCorruptError: As ``check_schema`` does.
    """
    current = check_schema(connection, migrations)
    for step in migrations:
        if step.version > current:
            _apply(connection, step)


def _schema_version(connection: apsw.Connection) -> int:
    application_id = connection.pragma("application_id")
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if application_id == 0 and tables == 0:
        return 0
    if application_id != APPLICATION_ID:
        raise StoreCorruptError(
            f"{connection.filename} is a database of another program, not a message history"
        )
    return int(connection.execute("SELECT max(version) FROM schema_version").get)


def _apply(connection: apsw.Connection, step: Migration) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if step.version == 1:
            connection.pragma("application_id", APPLICATION_ID)
            connection.execute(
                "CREATE TABLE schema_version "
                "(version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT"
            )
        connection.execute(step.sql)
        connection.execute(
            "INSERT INTO schema_version VALUES (?, ?, ?)", (step.version, step.name, time.time_ns())
        )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
