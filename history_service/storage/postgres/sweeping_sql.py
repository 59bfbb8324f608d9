"""The statements that erase what branches have dropped; ``sweeping`` runs them."""

from __future__ import annotations

from history_service.storage.postgres.statements import OF_BRANCH, OF_TREE

SAVE_RETENTION = (
    "UPDATE branch SET oldest_revision = %(oldest)s, sweep_after = %(sweep_after)s"
    " WHERE tenant_id = %(tenant)s AND branch_id = %(branch)s"
)
FORGET_EXTERNAL_KEY = (
    "UPDATE branch SET external_key = NULL WHERE tenant_id = %(tenant)s AND branch_id = %(branch)s"
)


def _erase(table: str, key: str, condition: str) -> str:
    """Erase up to ``limit`` of a branch's rows; ``key`` is the rest of the table's primary key."""
    return (
        f"DELETE FROM {table} WHERE {OF_BRANCH} AND ({key}) IN"
        f" (SELECT {key} FROM {table} WHERE {OF_BRANCH} AND {condition} LIMIT %(limit)s)"
    )


_ENDED = "removed_revision IS NOT NULL AND removed_revision >= 0 AND removed_revision <= %(horizon)s"
_LIVE = "removed_revision IS NULL"
_MEMBER_KEY = "message_id, added_revision"
ERASE_ENDED_MEMBERS = f"{_erase('member', _MEMBER_KEY, _ENDED)} RETURNING message_id, body"
ERASE_LIVING_MEMBERS = f"{_erase('member', _MEMBER_KEY, _LIVE)} RETURNING message_id, body"
# Those among bodies, each with its message, that no row of the branch refers to.
UNUSED_BODIES = (
    "SELECT DISTINCT gone.body FROM unnest(%(ids)s::bytea[], %(bodies)s::bigint[]) AS gone (id, body)"
    f" WHERE NOT EXISTS (SELECT 1 FROM member WHERE {OF_BRANCH} AND message_id = gone.id"
    " AND member.body = gone.body)"
)
NEXT_OWNERS = (
    "SELECT DISTINCT ON (body) body, branch_id FROM body_share"
    f" WHERE {OF_TREE} AND body IN (SELECT unnest(%(bodies)s::bigint[])) ORDER BY body, branch_id"
)
END_SHARES = (
    f"DELETE FROM body_share WHERE {OF_TREE} AND (body, branch_id) IN"
    " (SELECT * FROM unnest(%(bodies)s::bigint[], %(heirs)s::bytea[]))"
)
ERASE_BODIES = f"DELETE FROM message_body WHERE {OF_TREE} AND number IN (SELECT unnest(%(bodies)s::bigint[]))"

_VIEW_ROW_KEY = "epoch, message_id, added_revision"
_OF_EPOCH = "epoch = %(epoch)s"
ERASE_ENDED_VIEW_ROWS = _erase("view_row", _VIEW_ROW_KEY, _ENDED)
ENDED_VIEW = (
    f"SELECT epoch FROM selected_view WHERE {OF_BRANCH} AND ended_revision IS NOT NULL"
    " AND ended_revision <= %(horizon)s LIMIT 1"
)
ANY_VIEW = f"SELECT epoch FROM selected_view WHERE {OF_BRANCH} LIMIT 1"
ERASE_ROWS_OF_VIEW = _erase("view_row", _VIEW_ROW_KEY, _OF_EPOCH)
ERASE_VIEW = f"DELETE FROM selected_view WHERE {OF_BRANCH} AND {_OF_EPOCH}"

# The version that holds at the oldest revision stays.
METADATA_HORIZON = (
    f"SELECT coalesce(max(revision), 0) FROM branch_metadata WHERE {OF_BRANCH} AND revision <= %(oldest)s"
)
ERASE_METADATA = _erase("branch_metadata", "revision", "revision < %(kept)s")
ERASE_CHANGES = _erase("change", "revision", "revision < %(kept)s ORDER BY revision")
