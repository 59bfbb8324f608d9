"""The SQL of ordered scans: members or view rows, at the head or at a former revision.

Living and ended rows have separate indexes, so a scan of the present is a walk
along one index. A scan of the past merges the walk over rows that still live
with the walk over rows that have ended; SQLite merges parts that come in order
already row by row, so the cost stays that of the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

_LIVE_BODY_OF_VIEW_ROW = (
    "(SELECT bytes FROM message_body WHERE number = (SELECT m.body FROM member m"
    " WHERE m.tenant_id = :tenant AND m.lineage_id = :lineage AND m.branch_id = :branch"
    " AND m.message_id = v.message_id AND m.removed_revision IS NULL))"
)

_PAST_BODY_OF_VIEW_ROW = (
    "(SELECT bytes FROM message_body WHERE number = coalesce((SELECT m.body FROM member m"
    " WHERE m.tenant_id = :tenant AND m.lineage_id = :lineage AND m.branch_id = :branch"
    " AND m.message_id = v.message_id AND m.removed_revision IS NULL AND m.added_revision <= :at),"
    " (SELECT m.body FROM member m"
    " WHERE m.tenant_id = :tenant AND m.lineage_id = :lineage AND m.branch_id = :branch"
    " AND m.message_id = v.message_id AND m.removed_revision > :at AND m.added_revision <= :at)))"
)

_BRANCH = "v.tenant_id = :tenant AND v.lineage_id = :lineage AND v.branch_id = :branch"
_LIVE_PAST = "removed_revision IS NULL AND added_revision <= :at"
_ENDED_PAST = "removed_revision > :at AND added_revision <= :at"


@dataclass(frozen=True, slots=True)
class Scan:
    """Which rows to walk, and how.

    Attributes:
        what: Whether bodies, ids or a count is wanted.
        of_view: View rows rather than members.
        at_head: Whether the revision is the branch's current one.
        kinds: How many kinds narrow the members; 0 is none.
        anchored: Whether the walk starts after an order key.
        descending: The direction.
    """

    what: Literal["bodies", "ids"]
    of_view: bool
    at_head: bool
    kinds: int = 0
    anchored: bool = False
    descending: bool = False


@lru_cache(maxsize=256)
def scan_sql(scan: Scan) -> str:
    """Return the statement of a scan.

    Its parameters: tenant, lineage, branch; at where it reads the past; epoch
    for a view; kind0, kind1 ... for kinds; after where anchored; limit. Its
    rows: order key, then the value wanted.
    """
    direction = " DESC" if scan.descending else ""
    return f"{' UNION ALL '.join(_parts(scan))} ORDER BY 1{direction} LIMIT :limit"


def _parts(scan: Scan) -> list[str]:
    """The selects, each in order along one index, that a scan merges."""
    anchor = "" if not scan.anchored else f" AND order_key {'<' if scan.descending else '>'} :after"
    if scan.of_view:
        table, scope = "view_row v", f"{_BRANCH} AND epoch = :epoch"
        body, joined = _LIVE_BODY_OF_VIEW_ROW if scan.at_head else _PAST_BODY_OF_VIEW_ROW, ""
    else:
        # A join costs two thirds of a subquery. An outer one, as a member without a body is to be noticed.
        table, scope = "member v", _BRANCH
        body, joined = "bytes", " LEFT JOIN message_body ON number = body"
    if scan.what == "bodies":
        value = body
    else:
        value, joined = "message_id", ""
    select = f"SELECT order_key, {value} FROM {table}"  # nosec B608: of constants of the code
    live = "removed_revision IS NULL" if scan.at_head else _LIVE_PAST
    live_index = "view_row_by_order" if scan.of_view else "member_by_order"
    ended_index = f"ended_{live_index}"
    narrowings = [f" AND kind = :kind{number}" for number in range(scan.kinds)]
    if narrowings:
        live_index = "member_by_kind"
    parts = [
        f"{select} INDEXED BY {live_index}{joined} WHERE {scope}{narrowing} AND {live}{anchor}"
        for narrowing in narrowings or [""]
    ]
    if not scan.at_head:
        among = (
            f" AND kind IN ({', '.join(f':kind{number}' for number in range(scan.kinds))})"
            if narrowings
            else ""
        )
        ended = f"{select} INDEXED BY {ended_index}{joined} WHERE {scope}{among} AND {_ENDED_PAST}{anchor}"
        parts.append(ended)
    return parts
