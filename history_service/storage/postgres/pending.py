"""Rows that wait to be written, so that one statement writes those of many works.

A statement is a round trip to the database; a group of works is cheap when it
takes few of them.
"""

from __future__ import annotations

from typing import Any

from antiphon_client.errors import StoreCorruptError
from history_service.storage.codec import head_columns, id_blob
from history_service.storage.port import BranchKey, BranchRow, Member, RecordedResponse
from history_service.storage.postgres import keys
from history_service.storage.postgres import writing_sql as sql
from history_service.storage.postgres.columns import branch_columns
from history_service.storage.postgres.connection import Session

Row = tuple[Any, ...]
Address = tuple[str, str]
"""Tenant and branch id, or tenant and request id."""


class PendingRows:
    """What works have written and no statement has yet.

    Attributes:
        branches: The branches that have something here.
        new_branches: Branches to insert.
        heads: The last head of each other branch.
        living: Members to insert, by branch and message id.
        responses: What request ids of here were used for.
        bodies: Rows of ``message_body``.
        members: Rows of ``member``.
        view_rows: Rows of ``view_row``.
        branch_keys: Rows of ``branch_key``.
        shares: Rows of ``body_share``.
        metadata: Rows of ``branch_metadata``.
        changes: Rows of ``change``.
        recorded: Rows of ``recorded_response``.
    """

    def __init__(self) -> None:
        """Hold nothing."""
        self.branches: set[BranchKey] = set()
        self.new_branches: dict[Address, BranchRow] = {}
        self.heads: dict[Address, BranchRow] = {}
        self.living: dict[BranchKey, dict[str, Member]] = {}
        self.responses: dict[Address, RecordedResponse] = {}
        self.bodies: list[Row] = []
        self.members: list[Row] = []
        self.view_rows: list[Row] = []
        self.branch_keys: list[Row] = []
        self.shares: list[Row] = []
        self.metadata: list[Row] = []
        self.changes: list[Row] = []
        self.recorded: list[Row] = []

    def clear(self) -> None:
        """Drop everything."""
        for rows in (
            self.branches, self.new_branches, self.heads, self.living, self.responses,
            self.bodies, self.members, self.shares, self.view_rows, self.branch_keys, self.metadata,
            self.changes, self.recorded,
        ):  # fmt: skip
            rows.clear()

    def write(self, session: Session) -> None:
        """Write everything, and hold nothing then.

        Heads first: where another writer was faster with one of the branches,
        the database says so there, and the rest is spared.

        Raises:
            psycopg.Error: Some of it may be written: the transaction has to be undone.
            StoreCorruptError: A head is of a branch that is not there.
        """
        # In one order for all writers, so that two of them do not wait for each other.
        heads = [
            (tenant_id.encode(), id_blob(branch_id), *head_columns(row), row.deleted)
            for (tenant_id, branch_id), row in sorted(self.heads.items())
        ]
        new = [branch_columns(row) for row in self.new_branches.values()]
        statements = [
            (statement.text, statement.values(rows))
            for statement, rows in (
                (sql.INSERT_BRANCHES, new),
                (keys.INSERT_KEYS, self.branch_keys),
                (sql.INSERT_RESPONSES, self.recorded),
                (sql.INSERT_METADATA, self.metadata),
                (sql.INSERT_BODIES, self.bodies),
                (sql.INSERT_MEMBERS, self.members),
                (sql.INSERT_SHARES, self.shares),
                (sql.INSERT_VIEW_ROWS, self.view_rows),
                (sql.INSERT_CHANGES, self.changes),
            )
            if rows
        ]
        if heads:
            touched = session.run(sql.SAVE_HEADS.text, sql.SAVE_HEADS.values(heads))
            if touched != len(heads):
                raise StoreCorruptError("a head is saved of a branch that is not there")
        if statements:
            session.run_all(statements)
        self.clear()
