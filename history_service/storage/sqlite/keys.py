"""The keys of a database file: checked, made and brought under the active master key at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from history_service.storage.sealed import Master, check_masters
from history_service.storage.sqlite.connection import overwrite_deleted

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing, StoreKeys

_STORE_KEY = 0
_HAS_MASTERS = "SELECT 1 FROM sqlite_schema WHERE name = 'master_key'"
_MASTERS = "SELECT id, name FROM master_key ORDER BY name"
_FORGET_MASTERS = "DELETE FROM master_key"
_NAME_MASTER = "INSERT INTO master_key (id, name) VALUES (?, ?)"
_KEY = "SELECT wrapped FROM encryption_key WHERE number = ?"
_BRANCH_KEYS = (
    "SELECT number_of_key, wrapped, tenant_id, lineage_id, branch_id FROM"
    " (SELECT key_number AS number_of_key, tenant_id, lineage_id, branch_id FROM branch)"
    " JOIN encryption_key k ON k.number = number_of_key"
)
_REWRAP = "UPDATE encryption_key SET wrapped = ? WHERE number = ?"

INSERT_KEY = "INSERT INTO encryption_key (number, wrapped) VALUES (?, ?)"
"""Without a number it takes the next one."""
OF_BRANCH = (
    "SELECT wrapped FROM branch JOIN encryption_key k ON k.number = key_number"
    " WHERE tenant_id = ? AND branch_id = ?"
)
"""The wrapped key of a branch; none for one that has no key."""
GIVE_KEY = "UPDATE branch SET key_number = ? WHERE tenant_id = ? AND branch_id = ?"
# As long as before, so that SQLite overwrites the row where it stands.
ERASE_KEY = (
    "UPDATE encryption_key SET wrapped = zeroblob(length(wrapped))"
    " WHERE number = (SELECT key_number FROM branch WHERE tenant_id = ? AND branch_id = ?)"
    " AND wrapped != zeroblob(length(wrapped))"
)


def masters_of(connection: apsw.Connection) -> list[Master]:
    """Return the master keys that a file needs; none where it is in clear, or of an earlier schema."""
    if connection.execute(_HAS_MASTERS).get is None:
        return []
    rows: Any = connection.execute(_MASTERS)
    return [(master, name) for master, name in rows]


def keys_at_hand(connection: apsw.Connection, store: str, ring: KeyRing | None) -> StoreKeys | None:
    """Return the keys of a file as it is, or None where it is not encrypted; nothing is changed.

    Args:
        connection: Any connection.
        store: What to call the file.
        ring: The master keys; None where none were given.

    Raises:
        StoreCorruptError: See ``open_keys``.
    """
    masters = masters_of(connection)
    check_masters(store, masters, ring)
    if ring is None or not masters:
        return None
    from history_service.storage.envelope import StoreKeys

    return StoreKeys(ring, ring.store_cipher(connection.execute(_KEY, (_STORE_KEY,)).get or b""))


def open_keys(connection: apsw.Connection, ring: KeyRing | None) -> StoreKeys | None:
    """Return the keys of a file, or None where it is not encrypted.

    Where the active master key is another than before, every key of the file
    is wrapped anew by it, in one commit; the former one is not needed after that.

    Args:
        connection: The writing connection, migrated, outside a transaction.
        ring: The master keys; None where none were given.

    Raises:
        StoreCorruptError: The file is encrypted and no keys were given, or not
            those that it needs.
    """
    path = str(connection.filename)
    masters = masters_of(connection)
    check_masters(path, masters, ring)
    if ring is None:
        return None
    if masters != [ring.active]:
        _bring_up_to_date(connection, ring)
    # What an erased or former key left in the log does not outlive a start.
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return keys_at_hand(connection, path, ring)


def _bring_up_to_date(connection: apsw.Connection, ring: KeyRing) -> None:
    """Make the store's key where there is none; wrap every key by the active master key."""
    overwrite_deleted(connection, thorough=True)
    connection.execute("BEGIN IMMEDIATE")
    try:
        wrapped = connection.execute(_KEY, (_STORE_KEY,)).get
        if wrapped is None:
            connection.execute(INSERT_KEY, (_STORE_KEY, ring.new_store_key()))
        elif not ring.is_current(wrapped):
            connection.execute(_REWRAP, (ring.rewrap_store_key(wrapped), _STORE_KEY))
        renewed = [
            (ring.rewrap_branch_key(wrapped, tenant, lineage, branch), number)
            for number, wrapped, tenant, lineage, branch in connection.execute(_BRANCH_KEYS)
            if not ring.is_current(wrapped)
        ]
        connection.executemany(_REWRAP, renewed)
        connection.execute(_FORGET_MASTERS)
        connection.execute(_NAME_MASTER, ring.active)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        overwrite_deleted(connection, thorough=False)
