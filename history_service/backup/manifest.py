"""What a backup says about itself: ``manifest.json`` beside the database."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apsw

from history_service.backup import BackupError
from history_service.storage.codec import id_text
from history_service.storage.sealed import told
from history_service.storage.sqlite.keys import masters_of

FORMAT = "antiphon-backup"
FORMAT_VERSION = 1
DATABASE_NAME = "history.sqlite3"
MANIFEST_NAME = "manifest.json"

_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class Facts:
    """What a store holds at one moment.

    Attributes:
        branches: Branches, deleted ones included.
        deleted_branches: Those of them that are deleted.
        messages: Messages in the branches that are not deleted.
        revisions: Sum of all branches' revisions: every acknowledged write to a branch added one.
        heads_sha256: SHA-256 over every branch's tenant, id, incarnation and revision.
        last_commit: Name of the last writer that changed a branch, and the number of its change;
            empty while none has.
        exchange_messages: Messages queued in exchanges.
        encrypted_with: Names and ids of the master keys that it takes to read it; empty where it is in clear.
    """

    branches: int
    deleted_branches: int
    messages: int
    revisions: int
    heads_sha256: str
    last_commit: str
    exchange_messages: int
    encrypted_with: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A backup's own description.

    Attributes:
        created_at: When it was made, in UTC by ISO 8601.
        antiphon_version: The release that made it.
        sqlite_version: SQLite's version there.
        schema_version: The database's schema.
        bytes: Size of the database file.
        sha256: SHA-256 of the database file.
        facts: What the database holds.
    """

    created_at: str
    antiphon_version: str
    sqlite_version: str
    schema_version: int
    bytes: int
    sha256: str
    facts: Facts


def facts_of(connection: apsw.Connection) -> Facts:
    """Read what a database holds; costs one pass over the branches."""
    digest = hashlib.sha256()
    branches = deleted = messages = revisions = 0
    rows = connection.execute(
        "SELECT tenant_id, branch_id, incarnation, revision, message_count, deleted FROM branch"
        " ORDER BY tenant_id, branch_id"
    )
    for tenant_id, branch_id, incarnation, revision, message_count, is_deleted in rows:
        head = [tenant_id, id_text(branch_id), id_text(incarnation), revision]
        digest.update(json.dumps(head).encode() + b"\n")
        branches += 1
        deleted += is_deleted
        messages += 0 if is_deleted else message_count
        revisions += revision
    return Facts(
        branches,
        deleted,
        messages,
        revisions,
        digest.hexdigest(),
        _last_commit(connection),
        connection.execute("SELECT coalesce(sum(message_count), 0) FROM exchange").get,
        told(masters_of(connection)),
    )


def _last_commit(connection: apsw.Connection) -> str:
    found: Any = connection.execute(
        "SELECT w.writer_id, c.counter FROM change c JOIN writer w ON w.number = c.writer"
        " ORDER BY c.rowid DESC LIMIT 1"
    ).fetchone()
    return "" if found is None else f"{id_text(found[0])}:{found[1]}"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a manifest and put it on stable storage."""
    fields = {"format": FORMAT, "format_version": FORMAT_VERSION, "file": DATABASE_NAME, **asdict(manifest)}
    with open(folder / MANIFEST_NAME, "x", encoding="utf-8", opener=private_opener) as file:
        json.dump(fields, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: Path) -> Manifest:
    """Read a backup's manifest.

    Raises:
        BackupError: There is none, or none that this release understands.
    """
    path = folder / MANIFEST_NAME
    try:
        fields = json.loads(path.read_bytes())
        if fields.pop("format") != FORMAT or fields.pop("file") != DATABASE_NAME:
            raise BackupError(f"{path} is no manifest of a backup")
        version = fields.pop("format_version")
        if version != FORMAT_VERSION:
            raise BackupError(
                f"{folder} is a backup of format {version} and this release knows format {FORMAT_VERSION}: "
                "restore it with the release that made it"
            )
        return Manifest(**{**fields, "facts": Facts(**fields["facts"])})
    except OSError as error:
        raise BackupError(f"{folder} is no whole backup: {path.name}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BackupError(f"{path} is damaged") from None


def private_opener(path: str, flags: int) -> int:
    """Open a file as ``open`` does; a new one is its owner's alone."""
    return os.open(path, flags, 0o600)
