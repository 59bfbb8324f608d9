"""Opening all that is encrypted in a database file, to see whether it opens; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import BranchCipher, StoreKeys

_Branch = tuple[str, bytes, bytes]
"""Tenant, fork tree and id."""

_BRANCHES = (
    "SELECT tenant_id, lineage_id, branch_id, deleted,"
    " (SELECT wrapped FROM encryption_key k WHERE k.number = key_number) FROM branch"
)
_BODIES = (
    "SELECT m.message_id, m.body, m.wrapped_key, o.bytes"
    " FROM member m JOIN message_body o ON o.number = m.body"
    " WHERE m.tenant_id = ? AND m.lineage_id = ? AND m.branch_id = ?"
)
_METADATA = (
    "SELECT revision, metadata_json FROM branch_metadata"
    " WHERE tenant_id = ? AND lineage_id = ? AND branch_id = ?"
)
_RESPONSES = "SELECT tenant_id, request_id, request_hash, response FROM recorded_response"
_MAIL = "SELECT tenant_id, exchange_id, bytes FROM exchange_body"


def open_branch_keys(
    connection: apsw.Connection, keys: StoreKeys
) -> Iterator[tuple[_Branch, BranchCipher | None]]:
    """Yield each branch whose key is there, with what opens it; None for a branch without a key.

    A deleted branch whose key was erased is left out: that is what becomes of one.

    Raises:
        StoreCorruptError: A key does not open, or that of a branch that is not deleted was erased.
    """
    rows: Any = connection.execute(_BRANCHES)
    for tenant, lineage, branch, deleted, wrapped in rows:
        if wrapped is None:
            yield (tenant, lineage, branch), None
        elif not (deleted and keys.is_erased(wrapped)):
            yield (tenant, lineage, branch), keys.ring.branch_cipher(wrapped, tenant, lineage, branch)


def open_all(connection: apsw.Connection, keys: StoreKeys) -> None:
    """Open every body, every metadata, every recorded response and all mail; some microseconds each.

    Raises:
        StoreCorruptError: One does not open.
    """
    for branch, cipher in open_branch_keys(connection, keys):
        bodies: Any = connection.execute(_BODIES, branch)
        for row in bodies:
            keys.open_body(cipher, *row)
        texts: Any = connection.execute(_METADATA, branch)
        for revision, text in texts:
            keys.open_metadata(cipher, revision, text)
    responses: Any = connection.execute(_RESPONSES)
    for row in responses:
        keys.store.open_response(*row)
    mail: Any = connection.execute(_MAIL)
    for row in mail:
        keys.store.open_mail(*row)
