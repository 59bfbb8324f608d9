"""New incarnations for all branches of a restored store.

An incarnation tells a branch from another life of it: it is in snapshots, page
tokens, watch tokens and cache keys. A store that was put back to an earlier
moment makes revisions anew, under numbers that readers may have seen before.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

import apsw

from antiphon.history.v1 import branch_pb2
from history_service.storage.codec import id_blob, id_text
from history_service.storage.sealed import is_sealed

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys

_UUID_BYTES = 36
_FIELD_START = bytes((branch_pb2.Branch.INCARNATION_FIELD_NUMBER << 3 | 2, _UUID_BYTES))
"""How the field begins in an encoded branch: its tag, and its length."""
_FIELD = re.compile(
    re.escape(_FIELD_START) + rb"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
)


def renew_incarnations(connection: apsw.Connection, keys: StoreKeys | None = None) -> None:
    """Give every branch a new incarnation, in its row and in the responses that name it; one transaction.

    A recorded response answers a request that is sent again, so it too has to
    name the branch as it is now.

    Args:
        connection: The database.
        keys: The keys of an encrypted one.
    """
    renewed = _renewal()

    def with_renewed(tenant: str, request_id: bytes, request_hash: bytes, stored: bytes) -> bytes | None:
        """Return what is to be stored in the response's place; None where it names no incarnation."""
        response = stored
        if keys is not None:
            request_hash, response = keys.store.open_response(tenant, request_id, request_hash, stored)
        now, found = _FIELD.subn(lambda match: _FIELD_START + _renewed_text(match[1], renewed), response)
        if not found:
            return None
        if keys is None or not is_sealed(stored):
            return now
        return keys.store.seal_response(tenant, request_id, request_hash, now)[1]

    functions: dict[str, Callable[..., Any]] = {"renewed": renewed, "with_renewed": with_renewed}
    for name, function in functions.items():
        connection.create_scalar_function(name, function)
    with connection:
        connection.execute(
            "UPDATE recorded_response SET response ="
            " coalesce(with_renewed(tenant_id, request_id, request_hash, response), response)"
        )
        connection.execute("UPDATE branch SET incarnation = renewed(incarnation)")


def _renewal() -> Callable[[bytes], bytes]:
    """Return a function from old incarnations to new ones, random and the same for the same one."""
    key = secrets.token_bytes(32)

    def renewed(incarnation: bytes) -> bytes:
        digest = hashlib.blake2b(incarnation, key=key, digest_size=16).digest()
        return UUID(bytes=digest, version=4).bytes

    return renewed


def _renewed_text(text: bytes, renewed: Callable[[bytes], bytes]) -> bytes:
    return id_text(renewed(id_blob(text.decode()))).encode()
