"""Pieces that the statements are made of, and statements over many rows at once.

Values are bound by name. Statements over many rows take one array a column,
which ``unnest`` makes rows again: one statement, one round trip and one plan,
however many rows there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

OF_BRANCH = "tenant_id = %(tenant)s AND lineage_id = %(lineage)s AND branch_id = %(branch)s"
OF_TREE = "tenant_id = %(tenant)s AND lineage_id = %(lineage)s"
OF_EXCHANGE = "tenant_id = %(tenant)s AND exchange_id = %(exchange)s"
OF_OWNER = f"{OF_EXCHANGE} AND owner_id = %(owner)s"

BRANCH_KEY = "tenant_id bytea, lineage_id bytea, branch_id bytea"
EXCHANGE_KEY = "tenant_id bytea, exchange_id bytea"


@dataclass(frozen=True, slots=True)
class ManyRows:
    """A statement that takes rows as arrays; ``values`` makes them.

    Attributes:
        text: The statement; an array is bound by its column's name.
        columns: The columns a row has, in order.
    """

    text: str
    columns: tuple[str, ...]

    def values(self, rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
        """Turn rows, one at least, into the statement's arrays."""
        return {
            name: list(column) for name, column in zip(self.columns, zip(*rows, strict=True), strict=True)
        }


def rows_of(columns: str) -> tuple[str, tuple[str, ...]]:
    """Return the expression that makes rows of arrays, and the names of the columns.

    Args:
        columns: Each with its type, as in ``"message_id bytea, kind smallint"``.
    """
    typed = [column.split() for column in columns.split(", ")]
    arrays = ", ".join(f"%({name})s::{kind}[]" for name, kind in typed)
    return f"unnest({arrays})", tuple(name for name, _ in typed)


def insert_many(table: str, columns: str, *, key: str = "") -> ManyRows:
    """Return the statement that inserts rows; with a key, that updates the rows that have it already."""
    rows, names = rows_of(columns)
    text = f"INSERT INTO {table} ({', '.join(names)}) SELECT * FROM {rows}"
    if key:
        of_key = key.split(", ")
        changes = ", ".join(f"{name} = excluded.{name}" for name in names if name not in of_key)
        text += f" ON CONFLICT ({key}) DO UPDATE SET {changes}"
    return ManyRows(text, names)
