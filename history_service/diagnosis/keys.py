"""What is to be said of the keys of a SQLite store."""

from __future__ import annotations

from pathlib import Path

import apsw

from antiphon_client.errors import StoreCorruptError
from antiphon_client.findings import Finding
from history_service.storage import load_ring
from history_service.storage.sealed import told
from history_service.storage.sqlite.keys import keys_at_hand, masters_of
from history_service.storage.sqlite.sealed_rows import open_branch_keys

CHECK = "store.keys"

_NAME_FILE = "give the service the file of these keys (--encryption-keys), and this command too"
_FIND_FILE = "find the file that has these keys: without it nobody can read the store"


def key_finding(connection: apsw.Connection, path: Path, key_file: str | None) -> Finding:
    """Look whether the keys that a store is encrypted with are there and open its branches.

    No finding tells anything of a key but its name and its id, which is a fingerprint.
    """
    masters = masters_of(connection)
    if key_file is None:
        if masters:
            text = f"encrypted with the master key {told(masters)}, and no key file is named"
            return Finding(CHECK, "warning", text, _NAME_FILE)
        return Finding(CHECK, "ok", "not encrypted")
    try:
        ring = load_ring(key_file)
    except ValueError as error:
        return Finding(CHECK, "failure", str(error), "set the key file right: the service does not start")
    try:
        keys = keys_at_hand(connection, str(path), ring)
        if keys is None:
            return Finding(CHECK, "ok", "not encrypted yet; the service encrypts once it has this file")
        number = sum(1 for _ in open_branch_keys(connection, keys))
    except StoreCorruptError as error:
        return Finding(CHECK, "failure", str(error), _FIND_FILE)
    return Finding(CHECK, "ok", f"encrypted with the master key {told(masters)}; {number:,} branches open")
