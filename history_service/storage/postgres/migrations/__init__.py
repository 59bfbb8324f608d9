"""The schema: numbered SQL files, forward only, and the table that says which have run.

A file is named ``NNNN_words.sql`` and runs once, in one transaction with its
row in ``antiphon_schema_version``. A released file is never edited; a change is
a new file.

Replicas that start together may all find a step to do. Each begins it with its
row: the primary key lets one of them through and has the others wait for its
commit; they then see that it is done.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import psycopg
from psycopg import errors

from antiphon_client.errors import StoreCorruptError
from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.starting import beside_others

_VERSION_TABLE = (
    "CREATE TABLE IF NOT EXISTS antiphon_schema_version"
    " (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)"
)
_CURRENT = "SELECT coalesce(max(version), 0) FROM antiphon_schema_version"
_BEGIN_STEP = "INSERT INTO antiphon_schema_version VALUES (%(version)s, %(name)s, %(at)s)"


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


def migrate(session: Session, migrations: Sequence[Migration]) -> None:
    """Bring the schema to the newest version; each step is a transaction of its own.

    Raises:
        StoreCorruptError: The schema is newer than this release, or holds
            tables of another program.
        psycopg.Error: The database refuses.
    """
    while beside_others(session, lambda: _take_step(session, migrations)):
        pass


def _take_step(session: Session, migrations: Sequence[Migration]) -> bool:
    """Take the next step; tell whether there was one."""
    current = _version(session)
    step = next((step for step in migrations if step.version > current), None)
    if current > migrations[-1].version:
        raise StoreCorruptError(
            f"the database has schema version {current} and this release knows versions up to"
            f" {migrations[-1].version}: a newer release wrote it; run that one, or restore a backup"
            " made before the upgrade"
        )
    if step is not None:
        _apply(session, step)
    return step is not None


def _version(session: Session) -> int:
    """The version of the schema, 0 of an empty one; makes the table of versions where there is none."""
    if session.value("SELECT to_regclass('antiphon_schema_version')") is None:
        # Two that make it at once are told so in several ways; it is there then.
        with contextlib.suppress(errors.UniqueViolation, errors.DuplicateObject, errors.DuplicateTable):
            session.run(_VERSION_TABLE)
    return int(session.value(_CURRENT))


def _apply(session: Session, step: Migration) -> None:
    session.run("BEGIN")
    try:
        session.run(_BEGIN_STEP, {"version": step.version, "name": step.name, "at": time.time_ns()})
        session.connection.execute(step.sql.encode())
        session.run("COMMIT")
    except errors.DuplicateTable as error:
        session.rollback()
        raise StoreCorruptError(
            f"the database's schema holds tables of another program: {error.diag.message_primary};"
            " give the service a schema of its own"
        ) from error
    except psycopg.Error:
        session.rollback()
        raise
