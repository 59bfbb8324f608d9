"""The SQL of ordered scans: members or view rows, at the head or at a former revision.

Living and ended rows have separate indexes, so a scan of the present is a walk
along one index. A scan of the past takes as many rows of either walk as it may
need and merges them. Bodies are looked up for those rows alone, and sent only
as far as the page's bytes go.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from history_service.storage.postgres.statements import OF_BRANCH, OF_TREE

_LIVE = "removed_revision IS NULL"
_LIVE_PAST = f"{_LIVE} AND added_revision <= %(at)s"
_ENDED_PAST = "removed_revision > %(at)s AND added_revision <= %(at)s"


def at_revision(select: str, table: str, scope: str, *, live: bool = False) -> str:
    """Return a select of the one row of a message that lives at ``at``, or now."""
    then = "" if live else " AND added_revision <= %(at)s"
    alive = _LIVE if live else f"({_LIVE} OR removed_revision > %(at)s)"
    return (
        f"SELECT {select} FROM (SELECT * FROM {table} WHERE {scope}{then}"
        f" ORDER BY added_revision DESC LIMIT 1) AS version WHERE {alive}"
    )


@dataclass(frozen=True, slots=True)
class Scan:
    """Which rows to walk, and how.

    Attributes:
        of_view: View rows rather than members.
        at_head: Whether the revision is the branch's current one.
        kinds: Whether kinds narrow the members.
        anchored: Whether the walk starts after an order key.
        descending: The direction.
        sealed: Whether bodies may be encrypted.
    """

    of_view: bool
    at_head: bool
    kinds: bool = False
    anchored: bool = False
    descending: bool = False
    sealed: bool = False


@lru_cache(maxsize=64)
def ids_sql(scan: Scan) -> str:
    """Return the statement that reads the message ids of a scan.

    Its values: those of the branch; ``at`` where it reads the past; ``epoch``
    for a view; ``kinds`` for kinds; ``after`` where anchored; ``limit``.
    """
    return f"SELECT message_id FROM ({page_sql(scan, 'message_id')}) AS page ORDER BY {_order(scan)}"


@lru_cache(maxsize=64)
def bodies_sql(scan: Scan) -> str:
    """Return the statement that reads the bodies of a scan.

    Its values: those of ``ids_sql``, and those of ``cut_bodies``, as its rows are.
    """
    wanted = SEALED_BODY if scan.sealed else CLEAR_BODY
    if not scan.of_view:
        page = page_sql(scan, wanted)
        return cut_bodies(
            f"SELECT order_key, {wanted} FROM ({page}) AS page", _order(scan), sealed=scan.sealed
        )
    of_message = f"{OF_BRANCH} AND message_id = page.message_id"
    member = at_revision(wanted, "member", of_message, live=scan.at_head)
    page = page_sql(scan, "message_id")
    return cut_bodies(
        f"SELECT order_key, member.* FROM ({page}) AS page LEFT JOIN LATERAL ({member}) AS member ON true",
        _order(scan),
        sealed=scan.sealed,
    )


CLEAR_BODY = "body"
SEALED_BODY = "message_id, body, wrapped_key"
"""The columns of a member row that it takes to read its body, and to open one that may be encrypted."""


def cut_bodies(selected: str, order: str, *, sealed: bool) -> str:
    """Return the statement that reads the bodies of selected rows, up to ``max_bytes``.

    Its rows: the body as it is stored, null where it does not fit or there is
    none; whether it fits; whether there is one. The first one fits always.
    Where bodies may be encrypted, the columns of ``SEALED_BODY`` follow, and
    ``overhead`` is what a body that has a key takes beyond its own bytes.

    Each body is looked up by itself: of a join a planner that knows nothing of the
    tables yet makes one that reads all bodies of the tree for each of the rows.

    Args:
        selected: A select of order, and of ``CLEAR_BODY`` or ``SEALED_BODY``.
        order: What it is ordered by.
        sealed: Whether bodies may be encrypted.
    """
    wanted, also, size = CLEAR_BODY, "", "octet_length(bytes)"
    if sealed:
        wanted, also = SEALED_BODY, f", {SEALED_BODY}"
        size += " - CASE WHEN wrapped_key IS NULL THEN 0 ELSE %(overhead)s END"
    return (
        f"SELECT CASE WHEN fits THEN bytes END, fits, bytes IS NOT NULL{also} FROM ("
        f"SELECT bytes, place{also}, place = 1 OR sum({size}) OVER"
        " (ORDER BY place ROWS UNBOUNDED PRECEDING) <= %(max_bytes)s AS fits FROM ("
        f"SELECT {wanted}, row_number() OVER (ORDER BY {order}) AS place FROM ({selected}) AS chosen"
        f") AS placed LEFT JOIN LATERAL (SELECT bytes FROM message_body WHERE {OF_TREE}"
        " AND number = placed.body LIMIT 1) AS found ON true) AS cut ORDER BY place"
    )


def _order(scan: Scan) -> str:
    return "order_key DESC" if scan.descending else "order_key"


def page_sql(scan: Scan, what: str) -> str:
    """Return the statement that reads the first rows of all walks together: order key, then what is asked."""
    anchor = "" if not scan.anchored else f" AND order_key {'<' if scan.descending else '>'} %(after)s"
    table, scope = (
        ("view_row", f"{OF_BRANCH} AND epoch = %(epoch)s") if scan.of_view else ("member", OF_BRANCH)
    )
    live = _LIVE if scan.at_head else _LIVE_PAST
    end = f" ORDER BY {_order(scan)} LIMIT %(limit)s"
    walk = f"SELECT order_key, {what} FROM {table} WHERE {scope}{anchor}"
    by_order = f"{walk} AND order_key >= 0"
    if scan.kinds:
        # A walk a kind, each along the index by kind.
        walks = [
            f"SELECT walk.* FROM unnest(%(kinds)s::smallint[]) AS wanted (kind) CROSS JOIN LATERAL"
            f" ({walk} AND member.kind = wanted.kind AND member.kind >= 0 AND {live}{end}) AS walk"
        ]
        by_order += " AND kind = ANY(%(kinds)s::smallint[])"
    else:
        walks = [f"{by_order} AND {live}{end}"]
    if not scan.at_head:
        walks.append(f"{by_order} AND {_ENDED_PAST}{end}")
    together = " UNION ALL ".join(f"({each})" for each in walks)
    return f"SELECT * FROM ({together}) AS walks{end}"
