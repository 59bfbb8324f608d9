"""The keys of a database: checked, made and brought under the active master key at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from history_service.storage.postgres.connection import WRITE, Session
from history_service.storage.postgres.copies import refuse_unfinished
from history_service.storage.postgres.starting import beside_others
from history_service.storage.postgres.statements import BRANCH_KEY, OF_BRANCH, ManyRows, insert_many, rows_of
from history_service.storage.sealed import Master, check_masters

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing, StoreKeys

_MASTERS = "SELECT id, name FROM master_key ORDER BY name"
_FORGET_MASTERS = "DELETE FROM master_key"
IS_NAMED = "SELECT 1 FROM master_key WHERE id = %(id)s"
NAME_MASTER = "INSERT INTO master_key (id, name) VALUES (%(id)s, %(name)s)"

_STORE_KEY = "SELECT wrapped FROM store_key WHERE number = 0"
_INSERT_STORE_KEY = "INSERT INTO store_key (number, wrapped) VALUES (0, %(wrapped)s)"
_REWRAP_STORE_KEY = "UPDATE store_key SET wrapped = %(wrapped)s WHERE number = 0"

INSERT_KEYS = insert_many("branch_key", f"{BRANCH_KEY}, wrapped bytea")
OF_KEY = f"SELECT wrapped FROM branch_key WHERE {OF_BRANCH}"
"""The wrapped key of a branch; none for one that has no key."""
_REWRAPPED_AT_ONCE = 10_000
_ALL_KEYS = "SELECT tenant_id, lineage_id, branch_id, wrapped FROM branch_key"
_renewed, _renewed_names = rows_of(f"{BRANCH_KEY}, wrapped bytea")
_names = ", ".join(_renewed_names)
_REWRAP = ManyRows(
    f"UPDATE branch_key SET wrapped = renewed.wrapped FROM {_renewed} AS renewed ({_names})"
    " WHERE branch_key.tenant_id = renewed.tenant_id AND branch_key.lineage_id = renewed.lineage_id"
    " AND branch_key.branch_id = renewed.branch_id",
    _renewed_names,
)
_ERASED = "decode(repeat('00', octet_length(wrapped)), 'hex')"
ERASE_KEY = f"UPDATE branch_key SET wrapped = {_ERASED} WHERE {OF_BRANCH} AND wrapped <> {_ERASED}"


def open_keys(session: Session, ring: KeyRing | None) -> StoreKeys | None:
    """Return the keys of a database, or None where it is not encrypted.

    Where the active master key is another than before, every key of the database
    is wrapped anew by it, in one commit; the former one is not needed after that,
    but by replicas that were started with it.

    Args:
        session: A session, outside a transaction; the schema is the newest.
        ring: The master keys; None where none were given.

    Raises:
        StoreCorruptError: The database is encrypted and no keys were given, or
            not those that it needs.
        StoreBusyError: A copy of another store, which has keys of its own, has begun meanwhile.
        psycopg.Error: The database refuses.
    """
    if ring is None:
        check_masters("the database", _masters(session), None)
        return None
    from history_service.storage.envelope import StoreKeys

    wrapped = beside_others(session, lambda: _current_store_key(session, ring))
    return StoreKeys(ring, ring.store_cipher(wrapped))


def _masters(session: Session) -> list[Master]:
    return [(master, name.decode()) for master, name in session.rows(_MASTERS)]


def _current_store_key(session: Session, ring: KeyRing) -> bytes:
    """Return the store's own key, all keys being wrapped by the active master key."""
    masters = _masters(session)
    check_masters("the database", masters, ring)
    if masters != [ring.active]:
        session.begin(WRITE)
        try:
            _bring_up_to_date(session, ring)
            session.commit()
        except BaseException:
            session.rollback()
            raise
    wrapped: bytes = session.value(_STORE_KEY) or b""
    return wrapped


def _bring_up_to_date(session: Session, ring: KeyRing) -> None:
    """Make the store's key where there is none; wrap every key by the active master key."""
    refuse_unfinished(session)
    check_masters("the database", _masters(session), ring)
    wrapped = session.value(_STORE_KEY)
    if wrapped is None:
        session.run(_INSERT_STORE_KEY, {"wrapped": ring.new_store_key()})
    elif not ring.is_current(wrapped):
        session.run(_REWRAP_STORE_KEY, {"wrapped": ring.rewrap_store_key(wrapped)})
    rows = session.rows(_ALL_KEYS)
    # No statement takes long, and none is long in coming: both have limits of time.
    for start in range(0, len(rows), _REWRAPPED_AT_ONCE):
        renewed: list[tuple[Any, ...]] = [
            (tenant, lineage, branch, ring.rewrap_branch_key(wrapped, tenant.decode(), lineage, branch))
            for tenant, lineage, branch, wrapped in rows[start : start + _REWRAPPED_AT_ONCE]
            if not ring.is_current(wrapped)
        ]
        if renewed:
            session.run(_REWRAP.text, _REWRAP.values(renewed))
    session.run(_FORGET_MASTERS)
    session.run(NAME_MASTER, named(ring))


def named(ring: KeyRing) -> dict[str, Any]:
    """Return the active master key as the values of ``IS_NAMED`` and ``NAME_MASTER``."""
    master, name = ring.active
    return {"id": master, "name": name.encode()}
