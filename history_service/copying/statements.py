"""The statements over one table of the destination, composed of the names in ``tables``."""

from __future__ import annotations

from functools import lru_cache

from history_service.copying.tables import TABLES, Table
from history_service.storage.postgres.statements import ManyRows, insert_many, rows_of

_remembered = lru_cache(maxsize=len(TABLES))


def any_row(table: Table) -> str:
    """Ask whether the table has a row."""
    return f"SELECT EXISTS (SELECT 1 FROM {table.name})"


@_remembered
def first_page(table: Table) -> str:
    """Read the first rows by their key, ``limit`` of them."""
    return f"{_page(table)} {_onward(table)}"


@_remembered
def next_page(table: Table) -> str:
    """Read the rows after a key, whose columns are bound by their names."""
    values = ", ".join(f"%({name})s" for name in table.key_names)
    return f"{_page(table)} WHERE ({', '.join(table.key_names)}) > ({values}) {_onward(table)}"


def _page(table: Table) -> str:
    columns = [
        f"sha256({name})" if name == table.long else f"{name}::int" if at in table.truths else name
        for at, name in enumerate(table.names)
    ]
    return f"SELECT {', '.join(columns)} FROM {table.name}"


def _onward(table: Table) -> str:
    return f"ORDER BY {', '.join(table.key_names)} LIMIT %(limit)s"


@_remembered
def insert_rows(table: Table) -> ManyRows:
    """Insert rows that are not there."""
    return insert_many(table.name, table.columns)


@_remembered
def delete_rows(table: Table) -> ManyRows:
    """Delete rows by their keys."""
    gone, names = rows_of(table.key)
    same = " AND ".join(f"{table.name}.{name} = gone.{name}" for name in names)
    text = f"DELETE FROM {table.name} USING {gone} AS gone ({', '.join(names)}) WHERE {same}"
    return ManyRows(text, names)
