"""The statements of the reading half; ``reading`` runs them."""

from __future__ import annotations

from history_service.storage.codec import MEMBER_COLUMNS
from history_service.storage.postgres.columns import BRANCH_COLUMNS
from history_service.storage.postgres.scans import CLEAR_BODY, SEALED_BODY, at_revision, cut_bodies
from history_service.storage.postgres.statements import OF_BRANCH, OF_TREE

_LIVE = "removed_revision IS NULL"
OF_VIEW = f"{OF_BRANCH} AND epoch = %(epoch)s"
_OF_WANTED = f"{OF_BRANCH} AND message_id = wanted.id"
_OF_WANTED_IN_VIEW = f"{OF_VIEW} AND message_id = wanted.id"


def _of_each(select: str, row: str, ids: str = "ids") -> str:
    """A statement over one row of each of many messages."""
    wanted = f"unnest(%({ids})s::bytea[]) WITH ORDINALITY AS wanted (id, place)"
    return f"SELECT {select} FROM {wanted} CROSS JOIN LATERAL ({row}) AS found"


def _count(table: str, scope: str) -> str:
    """Count rows at a revision, the living and the ended by their own indexes."""
    return (
        f"SELECT (SELECT count(*) FROM {table} WHERE {scope} AND {_LIVE} AND added_revision <= %(at)s)"
        f" + (SELECT count(*) FROM {table} WHERE {scope}"
        " AND removed_revision > %(at)s AND added_revision <= %(at)s)"
    )


# Directory
BRANCH = f"SELECT {BRANCH_COLUMNS} FROM branch WHERE tenant_id = %(tenant)s AND branch_id = %(branch)s"
_key = "wrapped FROM branch_key k WHERE k.tenant_id = b.tenant_id AND k.lineage_id = b.lineage_id"
BRANCH_WITH_KEY = (
    f"SELECT {BRANCH_COLUMNS}, (SELECT {_key} AND k.branch_id = b.branch_id) FROM branch b"
    " WHERE tenant_id = %(tenant)s AND branch_id = %(branch)s"
)
HEAD_REVISION = "SELECT revision FROM branch WHERE tenant_id = %(tenant)s AND branch_id = %(branch)s"
REVISIONS = (
    "SELECT branch.tenant_id, branch.branch_id, branch.revision"
    " FROM unnest(%(tenants)s::bytea[], %(branches)s::bytea[]) AS wanted (tenant_id, branch_id)"
    " JOIN branch ON branch.tenant_id = wanted.tenant_id AND branch.branch_id = wanted.branch_id"
)
BRANCH_OF_EXTERNAL_KEY = (
    "SELECT branch_id FROM branch WHERE tenant_id = %(tenant)s AND external_key = %(external_key)s"
    " AND NOT deleted"
)
METADATA = (
    f"SELECT revision, metadata_json FROM branch_metadata WHERE {OF_BRANCH} AND revision <= %(at)s"
    " ORDER BY revision DESC LIMIT 1"
)
RECORDED = (
    "SELECT request_hash, response FROM recorded_response"
    " WHERE tenant_id = %(tenant)s AND request_id = %(request)s"
)
TO_SWEEP = (
    f"SELECT {BRANCH_COLUMNS} FROM branch WHERE sweep_after <= %(due)s ORDER BY sweep_after LIMIT %(limit)s"
)

# Living members
MEMBERS = _of_each(MEMBER_COLUMNS, at_revision("*", "member", _OF_WANTED, live=True))
LINKED = (
    f"SELECT {MEMBER_COLUMNS} FROM member WHERE {OF_BRANCH} AND {_LIVE} AND link_id IS NOT NULL"
    " AND link_id IN (SELECT unnest(%(ids)s::bytea[])) ORDER BY order_key"
)
BODY = f"SELECT bytes FROM message_body WHERE {OF_TREE} AND number = %(number)s"
BODY_TO_OPEN = (
    f"SELECT {SEALED_BODY}, (SELECT bytes FROM message_body WHERE {OF_TREE} AND number = body) FROM member"
    f" WHERE {OF_BRANCH} AND message_id = %(message)s AND body = %(number)s LIMIT 1"
)
WRAPPED_KEYS = (
    "SELECT wanted.id, wanted.number, found.wrapped_key"
    " FROM unnest(%(ids)s::bytea[], %(numbers)s::bigint[]) AS wanted (id, number) CROSS JOIN LATERAL"
    f" (SELECT wrapped_key FROM member WHERE {_OF_WANTED} AND body = wanted.number LIMIT 1) AS found"
)
INDEX_OF = (
    f"SELECT count(*) FROM member WHERE {OF_BRANCH} AND {_LIVE}"
    " AND order_key >= 0 AND order_key < %(order_key)s"
)
ORDER_KEYS_AT = (
    f"SELECT order_key FROM member WHERE {OF_BRANCH} AND {_LIVE} AND order_key >= 0 ORDER BY order_key"
    " LIMIT %(count)s OFFSET %(index)s"
)
VIEW_MEMBERS = _of_each("message_id", at_revision("message_id", "view_row", _OF_WANTED_IN_VIEW, live=True))

# Any revision
VIEW_AT = (
    f"SELECT epoch FROM selected_view WHERE {OF_BRANCH} AND epoch <= %(at)s"
    " AND (ended_revision IS NULL OR ended_revision > %(at)s) ORDER BY epoch DESC LIMIT 1"
)
COUNT = _count("member", OF_BRANCH)
COUNT_VIEW = _count("view_row", OF_VIEW)
_BETWEEN = "order_key >= 0 AND order_key > %(low)s AND order_key < %(high)s"
COUNT_BETWEEN = _count("member", f"{OF_BRANCH} AND {_BETWEEN}")
COUNT_VIEW_BETWEEN = _count("view_row", f"{OF_VIEW} AND {_BETWEEN}")
PLACES = _of_each(
    "message_id, order_key, body", at_revision("message_id, order_key, body", "member", _OF_WANTED)
)
VIEW_PLACES = _of_each(
    "message_id, order_key", at_revision("message_id, order_key", "view_row", _OF_WANTED_IN_VIEW)
)
SIZES = _of_each(
    f"message_id, (SELECT octet_length(bytes) FROM message_body WHERE {OF_TREE} AND number = found.body),"
    " wrapped_key",
    at_revision("message_id, body, wrapped_key", "member", _OF_WANTED),
)


def _selected(columns: str, *, sealed: bool) -> str:
    chosen = _of_each(f"place, {columns}", at_revision(columns, "member", _OF_WANTED))
    return cut_bodies(chosen, "chosen.place", sealed=sealed)


SELECTED = _selected(CLEAR_BODY, sealed=False)
SELECTED_TO_OPEN = _selected(SEALED_BODY, sealed=True)
CHANGES = (
    f"SELECT revision, kind, ignorable, payload, writer_id, counter FROM change WHERE {OF_BRANCH}"
    " AND revision > %(after)s ORDER BY revision LIMIT %(limit)s"
)

# Forks
HELD_SINCE = _of_each(
    "message_id",
    f"SELECT message_id FROM member WHERE {_OF_WANTED} AND ({_LIVE} OR removed_revision > %(revision)s)"
    " ORDER BY added_revision DESC LIMIT 1",
)
CUT_MEMBERS = (
    "SELECT linked.message_id, linked.kind, other.kind, linked.body FROM ("
    f"SELECT order_key, message_id, kind, link_id, body FROM member WHERE {OF_BRANCH} AND {_LIVE}"
    " AND link_id IS NOT NULL AND added_revision <= %(at)s AND order_key <= %(up_to)s UNION ALL"
    f" SELECT order_key, message_id, kind, link_id, body FROM member WHERE {OF_BRANCH}"
    " AND removed_revision > %(at)s AND removed_revision >= 0 AND added_revision <= %(at)s"
    " AND order_key <= %(up_to)s"
    " AND link_id IS NOT NULL) AS linked CROSS JOIN LATERAL ("
    + at_revision("kind, order_key", "member", f"{OF_BRANCH} AND message_id = linked.link_id")
    + ") AS other WHERE other.order_key > %(up_to)s ORDER BY linked.order_key"
)


def list_branches(*, by_external_key: bool, of_parent: bool, anchored: bool) -> str:
    """Return the statement that lists branches.

    Its values: ``tenant``, ``limit``; ``parent`` of a parent's; by external key
    ``low`` and ``high``; where anchored ``after``, and by age ``created_at``.
    """
    conditions = ["tenant_id = %(tenant)s", "NOT deleted"]
    if of_parent:
        conditions.append("parent_branch_id IS NOT NULL AND parent_branch_id = %(parent)s")
    if by_external_key:
        order = "external_key"
        above = ">" if anchored else ">="
        conditions.append(f"external_key IS NOT NULL AND external_key {above} %(low)s")
        conditions.append("external_key < %(high)s")
    else:
        order = "created_at, branch_id"
        conditions.append("created_at >= 0")
        if anchored:
            conditions.append("(created_at, branch_id) > (%(created_at)s, %(after)s)")
    where = " AND ".join(conditions)
    return f"SELECT {BRANCH_COLUMNS} FROM branch WHERE {where} ORDER BY {order} LIMIT %(limit)s"
