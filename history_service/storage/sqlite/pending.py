"""Rows that wait to be written, so that one statement writes those of many works.

Every step of a statement gives the interpreter's lock up and takes it back, and
beside a busy event loop that costs more than the step itself: a group of works
is cheap when it takes few steps. ``executemany`` would step once a row, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import apsw

from history_service.storage.codec import head_columns
from history_service.storage.port import BranchKey, RecordedResponse
from history_service.storage.sqlite import writing_sql as sql
from history_service.storage.sqlite.codec import NumberedBranch

Row = tuple[Any, ...]
Address = tuple[str, str]
"""Tenant and branch id."""

ROWS_AT_ONCE = (64, 32, *range(16, 0, -1))
"""Rows that one statement may take. Each size is a statement of its own, prepared when first met and kept."""


class PendingRows:
    """What works have written and no statement has yet.

    Attributes:
        branches: The branches that have something here.
        heads: The last head of each branch.
        responses: What request ids of here were used for.
        bodies: Rows of ``message_body``.
        members: Rows of ``member``.
        view_rows: Rows of ``view_row``.
        changes: Rows of ``change``.
        recorded: Rows of ``recorded_response``.
    """

    def __init__(self) -> None:
        """Hold nothing."""
        self.branches: set[BranchKey] = set()
        self.heads: dict[Address, NumberedBranch] = {}
        self.responses: dict[Address, RecordedResponse] = {}
        self.bodies: list[Row] = []
        self.members: list[Row] = []
        self.view_rows: list[Row] = []
        self.changes: list[Row] = []
        self.recorded: list[Row] = []

    def clear(self) -> None:
        """Drop everything."""
        for rows in (
            self.branches, self.heads, self.responses,
            self.bodies, self.members, self.view_rows, self.changes, self.recorded,
        ):  # fmt: skip
            rows.clear()

    def write(self, connection: apsw.Connection) -> None:
        """Write everything, and hold nothing then.

        Raises:
            apsw.Error: Some of it may be written: the transaction has to be undone.
        """
        write_rows(connection, sql.INSERT_BODIES, self.bodies)
        write_rows(connection, sql.INSERT_MEMBERS, self.members)
        write_rows(connection, sql.INSERT_VIEW_ROWS, self.view_rows)
        write_rows(connection, sql.INSERT_CHANGES, self.changes)
        write_rows(connection, sql.INSERT_RESPONSES, self.recorded)
        heads = [(head.number, *head_columns(head.row), head.last_change) for head in self.heads.values()]
        write_rows(connection, sql.SAVE_HEADS, heads)
        self.clear()


def write_rows(connection: apsw.Connection, statement: sql.ManyRows, rows: Sequence[Row]) -> None:
    """Run a statement over rows, many at a time."""
    begin = 0
    for count in ROWS_AT_ONCE:
        while len(rows) - begin >= count:
            values = tuple(chain.from_iterable(rows[begin : begin + count]))
            connection.execute(statement.of(count), values)
            begin += count
