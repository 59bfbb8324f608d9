"""The statements of the writing half; ``writing`` runs them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

OF_BRANCH = "tenant_id = ? AND lineage_id = ? AND branch_id = ?"


@dataclass(frozen=True, slots=True)
class ManyRows:
    """A statement that takes one row of values or many."""

    before: str
    row: str
    after: str = ""

    @lru_cache(maxsize=64)  # noqa: B019 (the instances are this module's constants)
    def of(self, count: int) -> str:
        """Return the statement for a number of rows."""
        return f"{self.before}{', '.join([self.row] * count)}{self.after}"


def insert_many(table: str, columns: str) -> ManyRows:
    """Return the statement that inserts rows."""
    row = ", ".join("?" * len(columns.split(",")))
    return ManyRows(f"INSERT INTO {table} ({columns}) VALUES ", f"({row})")  # nosec B608: of constants of the code


def _insert(table: str, columns: str) -> str:
    return insert_many(table, columns).of(1)


INSERT_BRANCH = _insert(
    "branch",
    "tenant_id, branch_id, lineage_id, incarnation, created_at, external_key, parent_branch_id, revision,"
    " message_count, last_key, system_id, view_epoch, view_count, view_last_key, deleted",
)
# Of each row: the branch's number, its head, its last change.
SAVE_HEADS = ManyRows(
    "UPDATE branch SET revision = head.column2, message_count = head.column3, last_key = head.column4,"
    " system_id = head.column5, view_epoch = head.column6, view_count = head.column7,"
    " view_last_key = head.column8, last_change = head.column9 FROM (VALUES ",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ") AS head WHERE branch.number = head.column1",
)
# Apart from the head: naming the column would rewrite three indexes with every write.
SAVE_DELETED = "UPDATE branch SET deleted = ? WHERE number = ?"
INSERT_METADATA = _insert("branch_metadata", "tenant_id, lineage_id, branch_id, revision, metadata_json")
INSERT_RESPONSES = insert_many(
    "recorded_response", "tenant_id, request_id, request_hash, response, recorded_at"
)
# One look-up for each tenant, not a walk over all ids.
GREATEST_REQUEST = (
    "WITH RECURSIVE tenant (id) AS (SELECT min(tenant_id) FROM recorded_response UNION ALL"
    " SELECT (SELECT min(tenant_id) FROM recorded_response WHERE tenant_id > tenant.id)"
    " FROM tenant WHERE tenant.id IS NOT NULL)"
    " SELECT max((SELECT max(request_id) FROM recorded_response WHERE tenant_id = tenant.id)) FROM tenant"
)
FORGET_RESPONSE = "DELETE FROM recorded_response WHERE tenant_id = ? AND request_id = ?"
EXPIRE_RESPONSES = (
    "DELETE FROM recorded_response WHERE rowid IN"
    " (SELECT rowid FROM recorded_response WHERE recorded_at < ? ORDER BY recorded_at LIMIT ?)"
)
INSERT_CHANGES = insert_many(
    "change",
    "tenant_id, lineage_id, branch_id, revision, kind, ignorable, payload, writer, counter, number, previous",
)
INSERT_WRITER = _insert("writer", "writer_id, started_at")

LAST_CHANGE = "SELECT coalesce(max(number), 0) FROM change"
LAST_BODY = "SELECT coalesce(max(number), 0) FROM message_body"
INSERT_BODIES = insert_many("message_body", "number, tenant_id, lineage_id, bytes")
INSERT_MEMBERS = insert_many(
    "member",
    "tenant_id, lineage_id, branch_id, message_id, order_key, kind, added_revision, body, link_id, interim,"
    " wrapped_key",
)
END_MEMBERS = f"UPDATE member SET removed_revision = ? WHERE {OF_BRANCH} AND removed_revision IS NULL"
END_MEMBER = f"{END_MEMBERS} AND message_id = ?"
END_OTHER_MEMBERS = f"{END_MEMBERS} AND message_id IS NOT ?"
KEYS_BETWEEN = f"SELECT order_key FROM member WHERE {OF_BRANCH} AND order_key BETWEEN ? AND ?"
ORDER_KEYS_BETWEEN = (
    f"{KEYS_BETWEEN} AND removed_revision IS NULL"
    f" UNION {KEYS_BETWEEN} AND removed_revision IS NOT NULL ORDER BY order_key"
)
# Two passes, by way of negative keys, which no row has otherwise: a new key may be another row's
# old one. Living and ended rows apart, as their indexes are.
RELABEL_AWAY = [
    f"UPDATE member SET order_key = -1 - ? WHERE {OF_BRANCH} AND removed_revision {state} AND order_key = ?"
    for state in ("IS NULL", "IS NOT NULL")
]
RELABEL_BACK = [
    "UPDATE member SET order_key = -1 - order_key"
    f" WHERE {OF_BRANCH} AND removed_revision {state} AND order_key < 0"
    for state in ("IS NULL", "IS NOT NULL")
]

INSERT_VIEW = _insert("view", "tenant_id, lineage_id, branch_id, epoch")
END_VIEW = f"UPDATE view SET ended_revision = ? WHERE {OF_BRANCH} AND epoch = ?"
INSERT_VIEW_ROWS = insert_many(
    "view_row", "tenant_id, lineage_id, branch_id, epoch, message_id, order_key, added_revision"
)
END_VIEW_ROWS = (
    f"UPDATE view_row SET removed_revision = ? WHERE {OF_BRANCH} AND epoch = ? AND removed_revision IS NULL"
)
END_VIEW_ROW = f"{END_VIEW_ROWS} AND message_id = ?"
END_OTHER_VIEW_ROWS = f"{END_VIEW_ROWS} AND message_id IS NOT ?"
