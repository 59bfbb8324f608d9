"""Keys and rows as PostgreSQL keeps them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from history_service.storage.codec import (
    fork_origin,
    head_columns,
    id_blob,
    id_text,
    optional_id_blob,
    optional_id_text,
)
from history_service.storage.exchange_port import ExchangeKey
from history_service.storage.port import BranchKey, BranchRow

BRANCH_COLUMNS = (
    "tenant_id, lineage_id, branch_id, incarnation, created_at, external_key, parent_branch_id,"
    " revision, message_count, last_key, system_id, view_epoch, view_count, view_last_key, deleted,"
    " forked_from, forked_revision, forked_up_to, oldest_revision, sweep_after"
)
"""The columns ``branch_row`` takes and ``branch_columns`` gives, in their order."""


@lru_cache(maxsize=4096)
def key_columns(key: BranchKey) -> tuple[bytes, bytes, bytes]:
    """Encode the leading columns of a branch's rows."""
    return key.tenant_id.encode(), id_blob(key.lineage_id), id_blob(key.branch_id)


def of_branch(key: BranchKey, **values: Any) -> dict[str, Any]:
    """Return the values of a statement over a branch's rows: those of its key, and others."""
    tenant, lineage, branch = key_columns(key)
    return {"tenant": tenant, "lineage": lineage, "branch": branch, **values}


def of_exchange(key: ExchangeKey, **values: Any) -> dict[str, Any]:
    """Return the values of a statement over an exchange's rows: those of its key, and others."""
    return {"tenant": key.tenant_id.encode(), "exchange": key.exchange_id.encode(), **values}


def of_owner(key: ExchangeKey, owner_id: str, **values: Any) -> dict[str, Any]:
    """Return the values of a statement over an owner's rows: those of its key, and others."""
    return of_exchange(key, owner=id_blob(owner_id), **values)


def branch_row(columns: Any) -> BranchRow:
    """Decode a row of ``branch``."""
    (
        tenant_id, lineage_id, branch_id, incarnation, created_at, external_key, parent_branch_id,
        revision, message_count, last_key, system_id, view_epoch, view_count, view_last_key, deleted,
        forked_from, forked_revision, forked_up_to, oldest_revision, sweep_after,
    ) = columns  # fmt: skip
    return BranchRow(
        key=BranchKey(tenant_id.decode(), id_text(lineage_id), id_text(branch_id)),
        incarnation=id_text(incarnation),
        created_at=created_at,
        external_key=None if external_key is None else external_key.decode(),
        parent_branch_id=optional_id_text(parent_branch_id),
        revision=revision,
        message_count=message_count,
        last_key=last_key,
        system_id=optional_id_text(system_id),
        view_epoch=view_epoch,
        view_count=view_count,
        view_last_key=view_last_key,
        deleted=deleted,
        forked_from=fork_origin(forked_from, forked_revision, forked_up_to),
        oldest_revision=oldest_revision,
        sweep_after=sweep_after,
    )


def branch_columns(branch: BranchRow) -> tuple[Any, ...]:
    """Encode a row of ``branch``."""
    origin = branch.forked_from
    forked = (
        (None, None, None)
        if origin is None
        else (id_blob(origin.branch_id), origin.revision, optional_id_blob(origin.up_to_message_id))
    )
    return (
        *key_columns(branch.key),
        id_blob(branch.incarnation),
        branch.created_at,
        None if branch.external_key is None else branch.external_key.encode(),
        optional_id_blob(branch.parent_branch_id),
        *head_columns(branch),
        branch.deleted,
        *forked,
        branch.oldest_revision,
        branch.sweep_after,
    )
