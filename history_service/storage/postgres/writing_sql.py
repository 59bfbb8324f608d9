"""The statements of the writing half; ``writing``, ``pending`` and ``forking`` run them."""

from __future__ import annotations

from history_service.storage.postgres.copies import NO_UNFINISHED
from history_service.storage.postgres.scans import Scan, page_sql
from history_service.storage.postgres.statements import (
    BRANCH_KEY,
    OF_BRANCH,
    OF_TREE,
    ManyRows,
    insert_many,
    rows_of,
)

LAST_WRITER = "SELECT coalesce(max(number), 0) FROM writer"
INSERT_WRITER = (
    "INSERT INTO writer (number, writer_id, started_at)"
    f" SELECT %(number)s, %(id)s, %(at)s WHERE {NO_UNFINISHED}"
)
TOUCH_WRITER = "UPDATE writer SET started_at = started_at WHERE number = %(number)s"

_HEAD = (
    "revision bigint, message_count bigint, last_key bigint, system_id bytea, view_epoch bigint,"
    " view_count bigint, view_last_key bigint, deleted boolean"
)
INSERT_BRANCHES = insert_many(
    "branch",
    f"{BRANCH_KEY}, incarnation bytea, created_at bigint, external_key bytea, parent_branch_id bytea,"
    f" {_HEAD}, forked_from bytea, forked_revision bigint, forked_up_to bytea, oldest_revision bigint,"
    " sweep_after bigint",
)
_heads, _head_names = rows_of(f"tenant_id bytea, branch_id bytea, {_HEAD}")
_changed = ", ".join(f"{name} = head.{name}" for name in _head_names[2:])
SAVE_HEADS = ManyRows(
    f"UPDATE branch SET {_changed} FROM {_heads} AS head ({', '.join(_head_names)})"
    " WHERE branch.tenant_id = head.tenant_id AND branch.branch_id = head.branch_id",
    _head_names,
)
INSERT_METADATA = insert_many("branch_metadata", f"{BRANCH_KEY}, revision bigint, metadata_json bytea")
INSERT_RESPONSES = insert_many(
    "recorded_response",
    "tenant_id bytea, request_id bytea, request_hash bytea, response bytea, recorded_at bigint",
)
FORGET_RESPONSES = (
    "DELETE FROM recorded_response WHERE tenant_id = %(tenant)s"
    " AND request_id IN (SELECT unnest(%(requests)s::bytea[]))"
)
EXPIRE_RESPONSES = (
    "DELETE FROM recorded_response WHERE (tenant_id, request_id) IN (SELECT tenant_id, request_id"
    " FROM recorded_response WHERE recorded_at < %(before)s ORDER BY recorded_at LIMIT %(limit)s)"
)
INSERT_CHANGES = insert_many(
    "change",
    f"{BRANCH_KEY}, revision bigint, kind smallint, ignorable boolean, payload bytea, writer_id bytea,"
    " counter bigint",
)

INSERT_BODIES = insert_many("message_body", "tenant_id bytea, lineage_id bytea, number bigint, bytes bytea")
INSERT_MEMBERS = insert_many(
    "member",
    f"{BRANCH_KEY}, message_id bytea, order_key bigint, kind smallint, added_revision bigint, link_id bytea,"
    " interim boolean, body bigint, wrapped_key bytea",
)
_LIVE = "removed_revision IS NULL"
_END_MEMBERS = f"UPDATE member SET removed_revision = %(revision)s WHERE {OF_BRANCH} AND {_LIVE}"
END_MEMBERS = f"{_END_MEMBERS} AND message_id IN (SELECT unnest(%(ids)s::bytea[]))"
END_OTHER_MEMBERS = f"{_END_MEMBERS} AND message_id IS DISTINCT FROM %(keep)s::bytea"
# Living and ended rows apart, as their indexes are.
_KEYS_BETWEEN = (
    f"SELECT order_key FROM member WHERE {OF_BRANCH}"
    " AND order_key >= 0 AND order_key BETWEEN %(low)s AND %(high)s"
)
ORDER_KEYS_BETWEEN = (
    f"{_KEYS_BETWEEN} AND {_LIVE} UNION {_KEYS_BETWEEN} AND removed_revision IS NOT NULL ORDER BY order_key"
)
_moves, _move_names = rows_of("old_key bigint, new_key bigint")
# A statement sees no row it has changed itself, so a new key may be another row's old one.
RELABEL = [
    ManyRows(
        f"UPDATE member SET order_key = new_key FROM {_moves} AS move (old_key, new_key)"
        f" WHERE {OF_BRANCH} AND removed_revision {state} AND order_key >= 0 AND order_key = old_key",
        _move_names,
    )
    for state in ("IS NULL", "IS NOT NULL")
]

BEGIN_VIEW = (
    "INSERT INTO selected_view (tenant_id, lineage_id, branch_id, epoch)"
    " VALUES (%(tenant)s, %(lineage)s, %(branch)s, %(epoch)s)"
)
_OF_VIEW = f"{OF_BRANCH} AND epoch = %(epoch)s"
END_VIEW = f"UPDATE selected_view SET ended_revision = %(revision)s WHERE {_OF_VIEW}"
INSERT_VIEW_ROWS = insert_many(
    "view_row", f"{BRANCH_KEY}, epoch bigint, message_id bytea, order_key bigint, added_revision bigint"
)
_END_VIEW_ROWS = f"UPDATE view_row SET removed_revision = %(revision)s WHERE {_OF_VIEW} AND {_LIVE}"
END_VIEW_ROWS = f"{_END_VIEW_ROWS} AND message_id IN (SELECT unnest(%(ids)s::bytea[]))"
END_OTHER_VIEW_ROWS = f"{_END_VIEW_ROWS} AND message_id IS DISTINCT FROM %(keep)s::bytea"

# Forks: values of the source branch, `at`, and of the target branch and its revision.
_LIVING = f"{_LIVE} AND added_revision <= %(at)s"
_ENDED = "removed_revision > %(at)s AND added_revision <= %(at)s"
_MEMBERS_AT = (
    "SELECT tenant_id, lineage_id, message_id, order_key, kind, body, link_id, interim FROM member"
    f" WHERE {OF_BRANCH} AND order_key >= 0 AND order_key <= %(up_to)s AND"
)
COPY_MEMBERS = (
    "WITH copied AS (INSERT INTO member (tenant_id, lineage_id, branch_id, message_id, added_revision,"
    " order_key, kind, body, link_id, interim)"
    " SELECT tenant_id, lineage_id, %(target)s::bytea, message_id, %(revision)s::bigint, order_key, kind,"
    f" body, link_id, interim FROM ({_MEMBERS_AT} {_LIVING} UNION ALL {_MEMBERS_AT} {_ENDED}) AS source"
    " RETURNING tenant_id, lineage_id, body, branch_id, order_key), shared AS ("
    "INSERT INTO body_share (tenant_id, lineage_id, body, branch_id)"
    " SELECT tenant_id, lineage_id, body, branch_id FROM copied)"
    " SELECT count(*), coalesce(max(order_key), 0) FROM copied"
)
INSERT_SHARES = insert_many("body_share", "tenant_id bytea, lineage_id bytea, body bigint, branch_id bytea")
# Of an encrypted store the rows are read, and written with the bodies' keys wrapped for the target.
COPIED_MEMBERS = page_sql(
    Scan(of_view=False, at_head=False, anchored=True),
    "message_id, kind, link_id, interim, body, wrapped_key",
)
_VIEW_AT = (
    "SELECT tenant_id, lineage_id, message_id, order_key FROM view_row"
    f" WHERE {OF_BRANCH} AND epoch = %(epoch)s AND order_key >= 0 AND"
)
COPY_VIEW = (
    "WITH copied AS (INSERT INTO view_row (tenant_id, lineage_id, branch_id, epoch, message_id,"
    " added_revision, order_key)"
    " SELECT tenant_id, lineage_id, %(target)s::bytea, %(revision)s::bigint, message_id,"
    f" %(revision)s::bigint, order_key FROM ({_VIEW_AT} {_LIVING} UNION ALL {_VIEW_AT} {_ENDED}) AS source"
    f" WHERE EXISTS (SELECT 1 FROM member WHERE {OF_TREE} AND branch_id = %(target)s"
    f" AND message_id = source.message_id AND {_LIVE}) RETURNING order_key)"
    " SELECT count(*), coalesce(max(order_key), 0) FROM copied"
)
DROP_COPIED_MEMBERS = (
    f"DELETE FROM member WHERE {OF_BRANCH} AND {_LIVE} AND message_id IN (SELECT unnest(%(ids)s::bytea[]))"
    " RETURNING body, added_revision"
)
UNSHARE_BODIES = (
    f"DELETE FROM body_share WHERE {OF_TREE} AND body IN (SELECT unnest(%(bodies)s::bigint[]))"
    " AND branch_id = %(branch)s RETURNING body"
)
