"""Whether a database is whole: its pages, its schema, and what its rows say of each other."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import apsw

from antiphon_client.errors import StoreCorruptError
from history_service.backup import BackupError
from history_service.backup.manifest import DATABASE_NAME, Manifest, facts_of, file_sha256, read_manifest
from history_service.storage.sqlite.keys import keys_at_hand
from history_service.storage.sqlite.migrations import known_migrations, require_schema
from history_service.storage.sqlite.sealed_rows import open_all

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing, StoreKeys


class Rule(NamedTuple):
    """What holds in every store.

    Attributes:
        broken: What is wrong where it does not hold; says what is counted.
        sql: Counts where it does not hold, in time linear in the rows.
    """

    broken: str
    sql: str


_ROWS_OF_BRANCH = "r.tenant_id = b.tenant_id AND r.lineage_id = b.lineage_id AND r.branch_id = b.branch_id"
_ROWS_OF_OWNER = "r.tenant_id = o.tenant_id AND r.exchange_id = o.exchange_id AND r.owner_id = o.owner_id"
_ROWS_OF_EXCHANGE = "r.tenant_id = e.tenant_id AND r.exchange_id = e.exchange_id"


def _without_body(table: str, bodies: str) -> str:
    return f"SELECT count(*) FROM {table} r LEFT JOIN {bodies} t ON t.number = r.body WHERE t.number IS NULL"  # nosec B608: names of tables, given below


RULES = (
    Rule(
        "branches whose head is not their last change",
        "SELECT count(*) FROM branch b LEFT JOIN change r ON r.number = b.last_change"
        f" WHERE r.number IS NULL OR r.revision <> b.revision OR NOT ({_ROWS_OF_BRANCH})",
    ),
    Rule(
        "branches with another number of messages than their head says",
        "SELECT count(*) FROM branch b WHERE b.deleted = 0 AND b.message_count <>"
        f" (SELECT count(*) FROM member r WHERE {_ROWS_OF_BRANCH} AND r.removed_revision IS NULL)",
    ),
    Rule(
        "messages of no branch, or of a revision after its head",
        "SELECT count(*) FROM member r"
        " LEFT JOIN branch b ON b.tenant_id = r.tenant_id AND b.branch_id = r.branch_id"
        " WHERE b.number IS NULL OR b.lineage_id <> r.lineage_id OR r.added_revision > b.revision"
        " OR r.removed_revision > b.revision",
    ),
    Rule("messages without content", _without_body("member", "message_body")),
    Rule(
        "branches whose system record is not there",
        "SELECT count(*) FROM branch b WHERE b.deleted = 0 AND b.system_id IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM member r WHERE r.tenant_id = b.tenant_id AND r.message_id = b.system_id"
        " AND r.lineage_id = b.lineage_id AND r.branch_id = b.branch_id AND r.removed_revision IS NULL)",
    ),
    Rule(
        "branches whose view has another number of messages than their head says",
        "SELECT count(*) FROM branch b WHERE b.deleted = 0 AND b.view_epoch IS NOT NULL AND b.view_count <>"
        f" (SELECT count(*) FROM view_row r WHERE {_ROWS_OF_BRANCH} AND r.epoch = b.view_epoch"
        " AND r.removed_revision IS NULL)",
    ),
    Rule(
        "changes by a writer that is not there",
        "SELECT count(*) FROM change r LEFT JOIN writer w ON w.number = r.writer WHERE w.number IS NULL",
    ),
    Rule(
        "owners with another number of messages than their row says",
        "SELECT count(*) FROM exchange_owner o WHERE"
        f" o.inbox_count <> (SELECT count(*) FROM exchange_inbox r WHERE {_ROWS_OF_OWNER})"
        f" OR o.outbox_count <> (SELECT count(*) FROM exchange_outbox r WHERE {_ROWS_OF_OWNER})",
    ),
    Rule(
        "exchanges with another number of messages than their row says",
        "SELECT count(*) FROM exchange e WHERE e.message_count <>"
        f" (SELECT count(*) FROM exchange_inbox r WHERE {_ROWS_OF_EXCHANGE})"
        f" + (SELECT count(*) FROM exchange_outbox r WHERE {_ROWS_OF_EXCHANGE})",
    ),
    Rule("received messages without content", _without_body("exchange_inbox", "exchange_body")),
    Rule("sent messages without content", _without_body("exchange_outbox", "exchange_body")),
    Rule("dead letters without content", _without_body("exchange_dead_letter", "exchange_body")),
)
"""What the rows of a store of the newest schema say of each other."""

_FAULTS_SHOWN = 3


def check_pages(connection: apsw.Connection) -> None:
    """Check every page, index and column of a database, as SQLite does.

    Raises:
        BackupError: Something is damaged.
    """
    rows = connection.execute("PRAGMA integrity_check(3)")
    faults = [str(text) for (text,) in rows if text != "ok"]
    if faults:
        raise BackupError(f"the database is damaged: {'; '.join(faults)}")


def check_rows(connection: apsw.Connection) -> None:
    """Check a database of the newest schema by ``RULES``.

    Raises:
        BackupError: Some do not hold.
    """
    counts = [(connection.execute(rule.sql).get, rule.broken) for rule in RULES]
    faults = [f"{count:,} {broken}" for count, broken in counts if count]
    if faults:
        raise BackupError(f"the database contradicts itself: {'; '.join(faults[:_FAULTS_SHOWN])}")


def check_file(folder: Path) -> Manifest:
    """Check that a backup's database is, byte for byte, the one its manifest describes.

    Raises:
        BackupError: It is not, or there is no backup.
    """
    manifest = read_manifest(folder)
    database = folder / DATABASE_NAME
    try:
        size = database.stat().st_size
        digest = file_sha256(database) if size == manifest.bytes else ""
    except OSError as error:
        raise BackupError(f"{folder} is no whole backup: {database.name}: {error.strerror}") from None
    if digest != manifest.sha256:
        raise BackupError(f"{database} is not the file that was backed up: its size or SHA-256 differs")
    return manifest


def check_facts(connection: apsw.Connection, manifest: Manifest) -> None:
    """Check that a database has the schema and the heads that a manifest tells of.

    Raises:
        BackupError: It has others, or a schema that this release does not know.
    """
    try:
        version = require_schema(connection, known_migrations())
    except StoreCorruptError as error:
        raise BackupError(str(error)) from None
    if version != manifest.schema_version or facts_of(connection) != manifest.facts:
        raise BackupError("the database does not hold what the manifest says")


def check_keys(connection: apsw.Connection, store: Path, ring: KeyRing | None) -> StoreKeys | None:
    """Check that all that is encrypted in a database opens with the master keys at hand.

    Args:
        connection: The database.
        store: What to call it.
        ring: The master keys; None where none were given.

    Returns:
        Its keys; None where it is in clear.

    Raises:
        BackupError: A master key is lacking or another, or something does not open.
    """
    try:
        keys = keys_at_hand(connection, str(store), ring)
        if keys is not None:
            open_all(connection, keys)
    except StoreCorruptError as error:
        raise BackupError(str(error)) from None
    return keys


def verify_backup(folder: Path, ring: KeyRing | None = None) -> Manifest:
    """Check a backup in every way, without changing anything; costs some passes over the file.

    How its rows agree is checked where its schema is the newest; a restore brings an older one up first.

    Args:
        folder: The backup.
        ring: The master keys of an encrypted store; without them what is encrypted is not opened.

    Raises:
        BackupError: It is not whole, or does not open with these keys; the text says why.
    """
    manifest = check_file(folder)
    uri = f"file:{quote(str(folder.resolve() / DATABASE_NAME))}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        with contextlib.closing(apsw.Connection(uri, flags=flags)) as connection:
            check_pages(connection)
            check_facts(connection, manifest)
            if manifest.schema_version == known_migrations()[-1].version:
                check_rows(connection)
            if ring is not None:
                check_keys(connection, folder, ring)
    except apsw.Error as error:
        raise BackupError(f"the database is damaged: {error}") from error
    return manifest
