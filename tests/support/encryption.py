"""Encrypted stores in tests: a ring of fixed keys, and a look at their files from under them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from antiphon_client.key_file import NamedKey
from history_service.storage.envelope import KeyRing, StoreKeys

FIRST = NamedKey("first", bytes(range(32)))
SECOND = NamedKey("second", bytes(range(32, 64)))


def ring(*keys: NamedKey) -> KeyRing:
    """Make a ring; without keys one of the first."""
    return KeyRing(keys or (FIRST,))


def write_key_file(path: Path, *keys: NamedKey) -> Path:
    """Write a key file; without keys one with the first."""
    path.touch(mode=0o600)
    path.write_text("".join(f"{key.name} {key.secret.hex()}\n" for key in keys or (FIRST,)))
    return path


def on_disk(folder: Path) -> bytes:
    """Return every byte of a store's files: the database, its log and the log's index."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("history.sqlite3*")))


_SEALED_BODIES = (
    "SELECT b.tenant_id, b.lineage_id, b.branch_id, k.wrapped, m.message_id, m.body, m.wrapped_key, o.bytes"
    " FROM member m JOIN branch b ON b.tenant_id = m.tenant_id AND b.branch_id = m.branch_id"
    " JOIN message_body o ON o.tenant_id = m.tenant_id AND o.number = m.body LEFT JOIN"
)
SEALED_BODIES = f"{_SEALED_BODIES} encryption_key k ON k.number = b.key_number"
"""The query whose rows ``opened_bodies`` takes, of a SQLite store."""
POSTGRES_SEALED_BODIES = (
    f"{_SEALED_BODIES} branch_key k ON k.tenant_id = b.tenant_id AND k.branch_id = b.branch_id"
)
"""The same of a PostgreSQL store."""


def opened_bodies(rows: Iterable[Any], opening: KeyRing) -> dict[int, bytes]:
    """Open every body of an encrypted store by the first row that has it; one without a row is missing."""
    keys = StoreKeys(opening, opening.store_cipher(opening.new_store_key()))
    bodies: dict[int, bytes] = {}
    for owner, lineage, branch, wrapped_branch, message, number, wrapped, stored in rows:
        tenant = owner.decode() if isinstance(owner, bytes) else owner
        cipher = (
            None if wrapped_branch is None else opening.branch_cipher(wrapped_branch, tenant, lineage, branch)
        )
        body = keys.open_body(cipher, message, number, wrapped, stored)
        assert bodies.setdefault(number, body) == body
    return bodies
