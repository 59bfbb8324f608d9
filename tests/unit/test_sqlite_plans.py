"""No statement walks a table: each finds its rows through an index."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from history_service.storage.port import BranchAnchor, BranchKey, BranchRow
from history_service.storage.sqlite import (
    change_chain,
    exchange_sql,
    forking_sql,
    reading,
    sweeping_sql,
    writing_sql,
)
from history_service.storage.sqlite.migrations import known_migrations, migrate
from history_service.storage.sqlite.reading import SqliteReadTransaction
from history_service.storage.sqlite.scans import Scan, scan_sql
from history_service.storage.sqlite.writing import SqliteWriteTransaction
from tests.support.history import uuid_of

FRAGMENTS = {
    *("KEYS_BETWEEN", "_MEMBERS", "_MEMBER_TARGET", "_VIEW_TARGET"),
    *("_PAGE", "_DEAD_PAGE", "_AVAILABLE"),
    *("_MILESTONE", "_LAST"),
}


def statements() -> dict[str, str]:
    """Every constant statement of the store that finds rows."""
    found: dict[str, str] = {}
    for module in (reading, writing_sql, change_chain, forking_sql, sweeping_sql, exchange_sql):
        for name, value in vars(module).items():
            if name.isupper() and name not in FRAGMENTS and isinstance(value, str | list):
                for number, sql in enumerate([value] if isinstance(value, str) else value):
                    if sql.startswith(("SELECT", "UPDATE", "DELETE")) or " SELECT " in sql:
                        found[f"{name}.{number}"] = sql
    return found


def scans() -> list[Scan]:
    """Every shape of scan."""
    flags = (False, True)
    shapes = itertools.product(("bodies", "ids"), flags, flags, (0, 1, 3), flags, flags)
    return [
        Scan(what, of_view, at_head, kinds, anchored, descending)  # type: ignore[arg-type]
        for what, of_view, at_head, kinds, anchored, descending in shapes
        if not (of_view and kinds)
    ]


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    """An empty database with the schema."""
    connection = apsw.Connection(str(tmp_path / "history.sqlite3"))
    migrate(connection, known_migrations())
    yield connection
    connection.close()


def plan(connection: apsw.Connection, sql: str) -> list[str]:
    """The steps of a statement's query plan."""
    names = ("tenant", "lineage", "branch", "at", "epoch", "after", "limit", "kind0", "kind1", "kind2")
    if ":tenant" in sql:
        values: dict[str, int] | tuple[int, ...] = dict.fromkeys(names, 1)
    else:
        values = (1,) * (max(map(int, re.findall(r"\?(\d+)", sql)), default=0) or sql.count("?"))
    return [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


@pytest.mark.parametrize("name", sorted(statements()))
def test_statements_search_an_index(connection: apsw.Connection, name: str) -> None:
    steps = plan(connection, statements()[name])
    assert any(step.startswith("SEARCH") for step in steps)
    # The rows of a recursion are few: one for each tenant, or for each change record up to a milestone.
    steps = [step for step in steps if step not in ("SCAN tenant", "SCAN step")]
    assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step]


@pytest.mark.parametrize("scan", scans(), ids=str)
def test_scans_walk_indexes_in_order(connection: apsw.Connection, scan: Scan) -> None:
    steps = plan(connection, scan_sql(scan))
    assert any(step.startswith("SEARCH") for step in steps)
    assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step]
    if scan.what == "bodies" and not scan.of_view:
        assert all("COVERING" in step for step in steps if step.startswith("SEARCH v"))


BRANCHES = 1000
PARENT, PARENT_OF_FEW = uuid_of(1), uuid_of(2)


def list_of_branches(
    connection: apsw.Connection, prefix: str | None, parent: str | None, after: BranchAnchor | None = None
) -> tuple[int, int]:
    """Read a page of ten branches: how many came, and the steps of SQLite's machine that took."""
    taken = 0

    def count() -> bool:
        nonlocal taken
        taken += 1
        return False

    reader = SqliteReadTransaction(connection)
    connection.set_progress_handler(count, 1)
    page = reader.list_branches(
        "", external_key_prefix=prefix, parent_branch_id=parent, after=after, limit=10
    )
    connection.set_progress_handler(None)
    return len(page), taken


@pytest.fixture
def many_branches(connection: apsw.Connection) -> apsw.Connection:
    """The database with many branches, the last ten under a parent of their own."""
    writer = SqliteWriteTransaction(connection)
    with connection:
        for number in range(BRANCHES):
            key = BranchKey("", uuid_of(number), uuid_of(number))
            parent = PARENT if number < BRANCHES - 10 else PARENT_OF_FEW
            writer.insert_branch(BranchRow(key, uuid_of(number), number, f"key/{number:06}", parent), "")
    return connection


@pytest.mark.parametrize("prefix", [None, "", "key/"])
@pytest.mark.parametrize("parent", [None, PARENT])
def test_a_late_page_of_branches_costs_what_the_first_does(
    many_branches: apsw.Connection, prefix: str | None, parent: str | None
) -> None:
    late = BRANCHES - 50
    first = list_of_branches(many_branches, prefix, parent)
    last = list_of_branches(
        many_branches, prefix, parent, BranchAnchor(f"key/{late:06}", late, uuid_of(late))
    )
    assert first[0] == last[0] == 10
    assert last[1] < 2 * first[1]


@pytest.mark.parametrize("prefix", [None, "", "key/"])
def test_few_branches_of_a_parent_are_found_among_many(
    many_branches: apsw.Connection, prefix: str | None
) -> None:
    few = list_of_branches(many_branches, prefix, PARENT_OF_FEW)
    many = list_of_branches(many_branches, prefix, PARENT)
    assert few[0] == many[0] == 10
    assert few[1] < 2 * many[1]
