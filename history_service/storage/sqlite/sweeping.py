"""Erasing in SQLite: what trimmed and deleted branches have dropped.

Whether a body is still used needs no count of references. Within a branch all
rows that refer to it are of one message, whose rows an index finds. Between the
branches of a fork tree, a body has one owner and ``body_share`` names the
others: when a branch lets go of a body, an entry of its own goes; without one
it was the owner, and another takes over or, where there is none, the body goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from history_service.storage.port import BranchRow
from history_service.storage.sqlite import change_chain, forking_sql, keys
from history_service.storage.sqlite import sweeping_sql as sql
from history_service.storage.sqlite.codec import KeyColumns, key_columns
from history_service.storage.sqlite.connection import overwrite_deleted
from history_service.storage.sqlite.writing import SqliteWriteTransaction

_EVERYTHING = 2**63 - 1


class SweepingTransaction(SqliteWriteTransaction):
    """The primitives of ``WriteTransaction`` that drop and erase.

    Attributes:
        erased: Whether a sweep has ended, or erased a key, since it was last set
            to False: what it erased stands in the write-ahead log until that is emptied.
    """

    erased = False

    def save_retention(self, branch: BranchRow) -> None:
        """See ``WriteTransaction.save_retention``."""
        self._writes()
        address = branch.key.tenant_id, branch.key.branch_id
        former = self._head(*address)
        if former is None:
            raise LookupError("retention is saved for a branch that was not inserted")
        values = (branch.oldest_revision, branch.sweep_after, former.number)
        self._connection.execute(sql.SAVE_RETENTION, values)
        changed = former.row.copied()
        changed.oldest_revision, changed.sweep_after = branch.oldest_revision, branch.sweep_after
        self._touched.append(address)
        self._remember(address, former._replace(row=changed))

    def sweep(self, branch: BranchRow, limit: int) -> bool:
        """See ``WriteTransaction.sweep``."""
        self._writes()
        with self._overwriting():
            if branch.deleted:
                self._erase_key(branch)
            for part in (self._sweep_members, self._sweep_views, self._sweep_records):
                limit -= part(branch, limit)
                if limit <= 0:
                    return False
        self.erased = True
        return True

    @contextmanager
    def _overwriting(self) -> Iterator[None]:
        overwrite_deleted(self._connection, thorough=True)
        try:
            yield
        finally:
            overwrite_deleted(self._connection, thorough=False)

    def _erase_key(self, branch: BranchRow) -> None:
        """Erase a deleted branch's key: nothing of the branch can be read then, erased yet or not."""
        tenant, _, branch_id = key_columns(branch.key)
        if self._keys is not None and self._erase(keys.ERASE_KEY, (tenant, branch_id)):
            self._ciphers.pop((branch.key.tenant_id, branch.key.branch_id), None)
            self._keys.ring.forget()
            self.erased = True

    # Members and bodies

    def _sweep_members(self, branch: BranchRow, limit: int) -> int:
        columns = self._columns(branch.key)
        horizon = _EVERYTHING if branch.deleted else branch.oldest_revision
        rows = self._rows(sql.ENDED_MEMBERS, (*columns, horizon, limit))
        if branch.deleted and len(rows) < limit:
            rows += self._rows(sql.LIVING_MEMBERS, (*columns, limit - len(rows)))
        self._connection.executemany(sql.ERASE_MEMBER, [(rowid,) for rowid, _, _ in rows])
        for message, body in {(message, body): None for _, message, body in rows}:
            used = (*columns, message, body)
            if self._value(sql.BODY_IN_BRANCH, used + used) is None:
                self._let_go(columns, body)
        return len(rows)

    def _let_go(self, columns: KeyColumns, body: int) -> None:
        """Note that a branch does not use a body any more."""
        tenant, lineage, branch_id = columns
        if self._unshare(tenant, lineage, body, branch_id):
            return
        heir = self._value(sql.NEXT_OWNER, (tenant, lineage, body))
        if heir is None:
            self._connection.execute(sql.ERASE_BODY, (body,))
        else:
            self._unshare(tenant, lineage, body, heir)

    def _unshare(self, *entry: Any) -> bool:
        self._connection.execute(forking_sql.UNSHARE_BODY, entry)
        return self._connection.changes() > 0

    # Views

    def _sweep_views(self, branch: BranchRow, limit: int) -> int:
        columns = self._columns(branch.key)
        horizon = _EVERYTHING if branch.deleted else branch.oldest_revision
        erased = self._erase(sql.ERASE_ENDED_VIEW_ROWS, (*columns, horizon, limit))
        while erased < limit:
            epoch = self._value(sql.ENDED_VIEW, (*columns, horizon))
            if epoch is None and branch.deleted:
                epoch = self._value(sql.ANY_VIEW, columns)
            if epoch is None:
                break
            erased += self._sweep_view(columns, epoch, limit - erased)
        return erased

    def _sweep_view(self, columns: KeyColumns, epoch: int, limit: int) -> int:
        erased = self._erase(sql.ERASE_LIVING_ROWS_OF_VIEW, (*columns, epoch, limit))
        erased += self._erase(sql.ERASE_ENDED_ROWS_OF_VIEW, (*columns, epoch, limit - erased))
        if erased < limit:
            erased += self._erase(sql.ERASE_VIEW, (*columns, epoch))
        return erased

    # Metadata and change records

    def _sweep_records(self, branch: BranchRow, limit: int) -> int:
        columns = self._columns(branch.key)
        if branch.deleted:
            kept_metadata, kept_changes = _EVERYTHING, branch.revision
        else:
            kept_metadata = self._value(sql.METADATA_HORIZON, (*columns, branch.oldest_revision))
            kept_changes = branch.oldest_revision
        erased = self._erase(sql.ERASE_METADATA, (*columns, kept_metadata, limit))
        erased += self._erase_changes(columns, kept_changes, limit - erased)
        if branch.deleted:
            self._forget_external_key(branch)
        return erased

    def _erase_changes(self, columns: KeyColumns, kept: int, limit: int) -> int:
        """Erase up to ``limit`` records before a revision, oldest first."""
        erased = 0
        while erased < limit:
            newest_first = self._rows(change_chain.ERASABLE_CHANGES, (*columns, kept))
            if not newest_first:
                break
            numbers = newest_first[erased - limit :]
            self._connection.executemany(change_chain.ERASE_CHANGE, numbers)
            erased += len(numbers)
        return erased

    def _forget_external_key(self, branch: BranchRow) -> None:
        address = branch.key.tenant_id, branch.key.branch_id
        found = self._head(*address)
        if found is not None:
            self._connection.execute(sql.FORGET_EXTERNAL_KEY, (found.number,))
            changed = found.row.copied()
            changed.external_key = None
            self._touched.append(address)
            self._remember(address, found._replace(row=changed))

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        return self._connection.execute(statement, values).fetchall()

    def _erase(self, statement: str, values: tuple[Any, ...]) -> int:
        self._connection.execute(statement, values)
        return self._connection.changes()
