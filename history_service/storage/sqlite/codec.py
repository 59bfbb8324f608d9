"""A branch's row and its key as SQLite keeps them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from history_service.storage.codec import fork_origin, id_blob, id_text, optional_id_text
from history_service.storage.exchange_port import ExchangeKey
from history_service.storage.port import BranchKey, BranchRow

KeyColumns = tuple[str, bytes, bytes]
"""tenant_id, lineage_id, branch_id as bound to a statement."""


@lru_cache(maxsize=4096)
def key_columns(key: BranchKey) -> KeyColumns:
    """Encode the leading columns of a branch's rows."""
    return key.tenant_id, id_blob(key.lineage_id), id_blob(key.branch_id)


BRANCH_COLUMNS = (
    "number, tenant_id, lineage_id, branch_id, incarnation, created_at, external_key, parent_branch_id, "
    "revision, message_count, last_key, system_id, view_epoch, view_count, view_last_key, deleted, "
    "forked_from, forked_revision, forked_up_to, oldest_revision, sweep_after, last_change"
)
"""The columns ``branch_row`` takes, in its order."""

BranchColumns = tuple[
    int, str, bytes, bytes, bytes, int, bytes | None, bytes | None,
    int, int, int, bytes | None, int | None, int, int, int,
    bytes | None, int | None, bytes | None, int, int | None, int | None,
]  # fmt: skip


class NumberedBranch(NamedTuple):
    """A row of ``branch``."""

    number: int
    """Its own number."""
    row: BranchRow
    """The branch; not to be changed."""
    last_change: int | None
    """Number of its last change record."""


def branch_row(columns: BranchColumns) -> NumberedBranch:
    """Decode a row of ``branch``."""
    (
        number, tenant_id, lineage_id, branch_id, incarnation, created_at, external_key, parent_branch_id,
        revision, message_count, last_key, system_id, view_epoch, view_count, view_last_key, deleted,
        forked_from, forked_revision, forked_up_to, oldest_revision, sweep_after, last_change,
    ) = columns  # fmt: skip
    row = BranchRow(
        key=BranchKey(tenant_id, id_text(lineage_id), id_text(branch_id)),
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
        deleted=bool(deleted),
        forked_from=fork_origin(forked_from, forked_revision, forked_up_to),
        oldest_revision=oldest_revision,
        sweep_after=sweep_after,
    )
    return NumberedBranch(number, row, last_change)


def of_exchange(key: ExchangeKey) -> tuple[str, bytes]:
    """Encode the leading columns of an exchange's rows."""
    return key.tenant_id, key.exchange_id.encode()


def of_owner(key: ExchangeKey, owner_id: str) -> tuple[str, bytes, bytes]:
    """Encode the leading columns of an owner's rows."""
    return key.tenant_id, key.exchange_id.encode(), id_blob(owner_id)


def maybe_id(text: str | None) -> tuple[bytes, ...]:
    """The parameter of an id that may be absent."""
    return () if text is None else (id_blob(text),)
