"""Forks in SQLite: rows are copied by the database, bodies are shared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from history_service.storage.codec import id_blob, optional_id_blob
from history_service.storage.port import BranchKey, BranchRow, CopiedRows, NewMember
from history_service.storage.sqlite import forking_sql as sql
from history_service.storage.sqlite.codec import key_columns
from history_service.storage.sqlite.writing import SqliteWriteTransaction

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import BranchCipher, StoreKeys

_LAST_KEY = 2**63 - 1
"""As great as an order key can be."""


class ForkingTransaction(SqliteWriteTransaction):
    """The primitives of ``WriteTransaction`` that make forks.

    A fork gets an entry in ``body_share`` for every body it takes over from its
    source; the source, or whom it had them from, goes on owning them. Where the
    store is encrypted, the fork's rows have the bodies' keys wrapped for itself.
    """

    def __init__(self, connection: apsw.Connection, store_keys: StoreKeys | None = None) -> None:
        """See ``SqliteWriteTransaction``."""
        super().__init__(connection, store_keys)
        self._adopters: tuple[BranchCipher | None, BranchCipher | None] = (None, None)
        if store_keys is not None:
            # SQLite calls it for each row that it copies.
            connection.create_scalar_function("adopted", partial(self._adopted, store_keys), 2)

    def insert_branch(self, branch: BranchRow, metadata_json: str) -> None:
        """See ``WriteTransaction.insert_branch``."""
        super().insert_branch(branch, metadata_json)
        origin = branch.forked_from
        if origin is not None:
            tenant, _, branch_id = key_columns(branch.key)
            values = (id_blob(origin.branch_id), origin.revision, optional_id_blob(origin.up_to_message_id))
            self._connection.execute(sql.MARK_FORK, (*values, tenant, branch_id))

    def copy_members(
        self, source: BranchKey, at: int, up_to: int | None, target: BranchKey, revision: int
    ) -> CopiedRows:
        """See ``WriteTransaction.copy_members``."""
        self._writes()
        columns = self._columns(target)
        head = (columns[-1], revision, *self._columns(source))
        last = _LAST_KEY if up_to is None else up_to
        copy_living, copy_ended = sql.COPY_MEMBERS if self._keys is None else sql.ADOPT_MEMBERS
        self._adopters = self._cipher(source), self._own_cipher(target)
        self._connection.execute(copy_living, (*head, at, last))
        self._connection.execute(copy_ended, (*head, at, at, last))
        self._connection.execute(sql.SHARE_BODIES, columns)
        return self._copied(sql.MEMBERS_COPIED, columns)

    def _adopted(self, store_keys: StoreKeys, *row: Any) -> bytes | None:
        return store_keys.adopt_key(*self._adopters, *row)

    def copy_view(
        self, source: BranchKey, at: int, epoch: int, target: BranchKey, revision: int
    ) -> CopiedRows:
        """See ``WriteTransaction.copy_view``."""
        self._writes()
        self.begin_view(target, revision)
        columns = self._columns(target)
        head = (columns[-1], revision, revision, *self._columns(source), epoch)
        self._connection.execute(sql.COPY_LIVING_VIEW_ROWS, (*head, at, columns[-1]))
        self._connection.execute(sql.COPY_ENDED_VIEW_ROWS, (*head, at, at, columns[-1]))
        return self._copied(sql.VIEW_ROWS_COPIED, (*columns, revision))

    def _copied(self, statement: str, values: tuple[Any, ...]) -> CopiedRows:
        count, last_key = self._connection.execute(statement, values).get
        return CopiedRows(count, last_key)

    def rewrite_members(self, key: BranchKey, rows: Sequence[NewMember]) -> None:
        """See ``WriteTransaction.rewrite_members``."""
        self._writes()
        columns = self._columns(key)
        for row in rows:
            member = (*columns, id_blob(row.message_id))
            former, revision = self._connection.execute(sql.COPIED_MEMBER, member).get
            self._connection.execute(sql.DROP_COPIED_MEMBER, member)
            self._connection.execute(sql.UNSHARE_BODY, (*columns[:2], former, columns[-1]))
            self.insert_members(key, revision, [row])
