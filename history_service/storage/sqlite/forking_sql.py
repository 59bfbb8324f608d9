"""The statements that copy a branch's rows to a fork; ``forking`` runs them."""

from __future__ import annotations

from history_service.storage.sqlite.writing_sql import OF_BRANCH

MARK_FORK = (
    "UPDATE branch SET forked_from = ?, forked_revision = ?, forked_up_to = ?"
    " WHERE tenant_id = ? AND branch_id = ?"
)

_LIVING = "removed_revision IS NULL AND added_revision <= ?"
_ENDED = "removed_revision > ? AND added_revision <= ?"


def _copy_members(columns: str, values: str) -> tuple[str, str]:
    """The statements that copy living members, and ended ones; with some columns beside those of all."""
    target = (
        "INSERT INTO member (tenant_id, lineage_id, branch_id, message_id, order_key, kind, added_revision,"  # nosec B608: the same
        f" body, link_id, interim{columns})"
        " SELECT tenant_id, lineage_id, ?, message_id, order_key, kind, ?, body, link_id, interim"
        f"{values} FROM member"
    )
    return (
        f"{target} INDEXED BY member_by_order WHERE {OF_BRANCH} AND {_LIVING} AND order_key <= ?"
        " ORDER BY order_key",
        f"{target} INDEXED BY ended_member_by_age WHERE {OF_BRANCH} AND {_ENDED} AND order_key <= ?",
    )


# Parameters: target branch, its revision, the source's three, then at (of ended ones twice), and up to.
COPY_MEMBERS = _copy_members("", "")
# With `adopted`, a function of the connection: it wraps a key for the target branch.
ADOPT_MEMBERS = _copy_members(", wrapped_key", ", adopted(message_id, wrapped_key)")
SHARE_BODIES = (
    "INSERT INTO body_share (tenant_id, lineage_id, body, branch_id)"
    " SELECT tenant_id, lineage_id, body, branch_id FROM member INDEXED BY member_by_order"
    f" WHERE {OF_BRANCH} AND removed_revision IS NULL"
)
MEMBERS_COPIED = (
    "SELECT count(*), coalesce(max(order_key), 0) FROM member INDEXED BY member_by_order"
    f" WHERE {OF_BRANCH} AND removed_revision IS NULL"
)

_VIEW_TARGET = (
    "INSERT INTO view_row (tenant_id, lineage_id, branch_id, epoch, message_id, order_key, added_revision)"
    " SELECT v.tenant_id, v.lineage_id, ?, ?, v.message_id, v.order_key, ? FROM view_row v"
)
_IS_MEMBER = (
    " AND EXISTS (SELECT 1 FROM member m WHERE m.tenant_id = v.tenant_id AND m.lineage_id = v.lineage_id"
    " AND m.branch_id = ? AND m.message_id = v.message_id AND m.removed_revision IS NULL)"
)
# Parameters: target branch, its epoch, its revision, the source's three, its epoch, at, target branch.
COPY_LIVING_VIEW_ROWS = (
    f"{_VIEW_TARGET} INDEXED BY view_row_by_order WHERE {OF_BRANCH} AND epoch = ? AND {_LIVING}{_IS_MEMBER}"
)
# As before, with `at` twice.
COPY_ENDED_VIEW_ROWS = (
    f"{_VIEW_TARGET} INDEXED BY ended_view_row_by_order"
    f" WHERE {OF_BRANCH} AND epoch = ? AND {_ENDED}{_IS_MEMBER}"
)
VIEW_ROWS_COPIED = (
    "SELECT count(*), coalesce(max(order_key), 0) FROM view_row"
    f" WHERE {OF_BRANCH} AND epoch = ? AND removed_revision IS NULL"
)

_COPIED = f"FROM member WHERE {OF_BRANCH} AND removed_revision IS NULL AND message_id = ?"
COPIED_MEMBER = f"SELECT body, added_revision {_COPIED}"
DROP_COPIED_MEMBER = f"DELETE {_COPIED}"
UNSHARE_BODY = "DELETE FROM body_share WHERE tenant_id = ? AND lineage_id = ? AND body = ? AND branch_id = ?"
