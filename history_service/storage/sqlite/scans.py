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

_BRANCH = "v.tenant_id = :tenant AND v.lineage_id = :lineage AND v.branch_id = :branch"
_LIVE_PAST = "v.removed_revision IS NULL AND v.added_revision <= :at"
_ENDED_PAST = "v.removed_revision > :at AND v.added_revision <= :at"


def _member_of_view_row(column: str, *, at_head: bool) -> str:
    """An expression: a column of the member row of a view row's message, at the scan's revision."""
    member = (
        f"SELECT m.{column} FROM member m"  # nosec B608: of constants of the code
        " WHERE m.tenant_id = :tenant AND m.lineage_id = :lineage AND m.branch_id = :branch"
        " AND m.message_id = v.message_id AND"
    )
    if at_head:
        return f"({member} m.removed_revision IS NULL)"
    return (
        f"coalesce(({member} m.removed_revision IS NULL AND m.added_revision <= :at),"
        f" ({member} m.removed_revision > :at AND m.added_revision <= :at))"
    )


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
        sealed: Whether bodies come with what it takes to open them, as ``bodies_sql`` has it.
    """

    what: Literal["bodies", "ids"]
    of_view: bool
    at_head: bool
    kinds: int = 0
    anchored: bool = False
    descending: bool = False
    sealed: bool = False


@lru_cache(maxsize=256)
def scan_sql(scan: Scan) -> str:
    """Return the statement of a scan.

    Its parameters: tenant, lineage, branch; at where it reads the past; epoch
    for a view; kind0, kind1 ... for kinds; after where anchored; limit. Its
    rows: order key, then what is wanted.
    """
    direction = " DESC" if scan.descending else ""
    return f"{' UNION ALL '.join(_parts(scan))} ORDER BY 1{direction} LIMIT :limit"


@lru_cache(maxsize=64)
def joined_ids_sql(scan: Scan) -> str:
    """Return the statement that reads the ids of a scan as one blob, None for no ids.

    As many rows are one step of the statement. They are taken in the order of
    the subquery, as that is limited; and bytes that are joined as text stay as
    they are, as the database is in UTF-8. Its parameters: those of the scan.
    """
    return (
        f"WITH page (order_key, id) AS ({scan_sql(scan)})"  # nosec B608: of constants of the code
        " SELECT CAST(group_concat(id, '') AS BLOB) FROM page"
    )


def _parts(scan: Scan) -> list[str]:
    """The selects, each in order along one index, that a scan merges."""
    anchor = "" if not scan.anchored else f" AND v.order_key {'<' if scan.descending else '>'} :after"
    table, scope = (
        ("view_row v", f"{_BRANCH} AND v.epoch = :epoch") if scan.of_view else ("member v", _BRANCH)
    )
    value, joined = _bodies(scan) if scan.what == "bodies" else ("v.message_id", "")
    select = f"SELECT v.order_key, {value} FROM {table}"  # nosec B608: of constants of the code
    live = "v.removed_revision IS NULL" if scan.at_head else _LIVE_PAST
    live_index = "view_row_by_order" if scan.of_view else "member_by_order"
    ended_index = f"ended_{live_index}"
    narrowings = [f" AND v.kind = :kind{number}" for number in range(scan.kinds)]
    if narrowings:
        live_index = "member_by_kind"
    parts = [
        f"{select} INDEXED BY {live_index}{joined} WHERE {scope}{narrowing} AND {live}{anchor}"
        for narrowing in narrowings or [""]
    ]
    if not scan.at_head:
        among = (
            f" AND v.kind IN ({', '.join(f':kind{number}' for number in range(scan.kinds))})"
            if narrowings
            else ""
        )
        ended = f"{select} INDEXED BY {ended_index}{joined} WHERE {scope}{among} AND {_ENDED_PAST}{anchor}"
        parts.append(ended)
    return parts


def _bodies(scan: Scan) -> tuple[str, str]:
    """What selects the bodies of a scan's rows, and the joins that takes.

    Outer ones, as a row without a body is to be noticed.
    """
    if scan.of_view and not scan.sealed:
        body = _member_of_view_row("body", at_head=scan.at_head)
        return f"(SELECT bytes FROM message_body WHERE number = {body})", ""  # nosec B608: the same
    # A join costs two thirds of a subquery.
    member, joined = "v", ""
    if scan.of_view:
        rowid = _member_of_view_row("rowid", at_head=scan.at_head)
        member, joined = "held", f" LEFT JOIN member held ON held.rowid = {rowid}"
    joined += f" LEFT JOIN message_body ON number = {member}.body"
    return (f"v.message_id, {member}.body, {member}.wrapped_key, bytes" if scan.sealed else "bytes"), joined
