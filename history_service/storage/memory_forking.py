"""Forks, trims and purges in the memory store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from antiphon_client.errors import StoreCorruptError
from history_service.storage.memory_retention import bodies_of, copied_row, living_at, swept, to_sweep
from history_service.storage.memory_rows import Row, Rows
from history_service.storage.memory_transaction import Transaction
from history_service.storage.port import BranchKey, BranchRow, CopiedRows, CutMember, NewMember


class MemoryTransaction(Transaction):
    """Every primitive of ``WriteTransaction``: reading needs nothing that writing does not have."""

    def held_since(self, key: BranchKey, revision: int, message_ids: Collection[str]) -> set[str]:
        """See ``ReadTransaction.held_since``."""
        versions = self._branch(key).members.versions
        return {
            message_id
            for message_id in message_ids
            if any(row.removed is None or row.removed > revision for row in versions.get(message_id, ()))
        }

    def order_key(self, key: BranchKey, at: int, message_id: str) -> int | None:
        """See ``ReadTransaction.order_key``."""
        row = self._branch(key).members.at(message_id, at)
        return None if row is None else row.order_key

    def cut_members(self, key: BranchKey, at: int, up_to: int) -> list[CutMember]:
        """See ``ReadTransaction.cut_members``."""
        members = self._branch(key).members
        found = []
        for row in living_at(members, at):
            other = None if row.link_id is None else members.at(row.link_id, at)
            if other is not None and row.order_key <= up_to < other.order_key:
                found.append(CutMember(row.message_id, row.kind, other.kind, row.body))
        return found

    def branches_to_sweep(self, due: int, limit: int) -> list[BranchRow]:
        """See ``ReadTransaction.branches_to_sweep``."""
        return to_sweep((branch.row for branch in self._store.branches.values()), due, limit)

    def copy_members(
        self, source: BranchKey, at: int, up_to: int | None, target: BranchKey, revision: int
    ) -> CopiedRows:
        """See ``WriteTransaction.copy_members``."""
        living = living_at(self._branch(source).members, at)
        copies = [copied_row(row, revision) for row in living if up_to is None or row.order_key <= up_to]
        for copy in copies:
            self._add(self._branch(target).members, copy)
        self._refer((copy.body for copy in copies), 1)
        return CopiedRows(len(copies), copies[-1].order_key if copies else 0)

    def copy_view(
        self, source: BranchKey, at: int, epoch: int, target: BranchKey, revision: int
    ) -> CopiedRows:
        """See ``WriteTransaction.copy_view``."""
        members = self._branch(target).members
        self.begin_view(target, revision)
        living = living_at(self._rows(source, epoch), at)
        copies = [copied_row(row, revision) for row in living if members.live(row.message_id) is not None]
        for copy in copies:
            self._add(self._rows(target, revision), copy)
        return CopiedRows(len(copies), copies[-1].order_key if copies else 0)

    def rewrite_members(self, key: BranchKey, rows: Sequence[NewMember]) -> None:
        """See ``WriteTransaction.rewrite_members``."""
        members = self._branch(key).members
        for new in rows:
            former = members.live(new.message_id)
            if former is None:
                raise StoreCorruptError("a copied message is missing")
            self._drop(members, former)
            self.insert_members(key, former.added, [new])
            self._refer([former.body], -1)

    def _drop(self, rows: Rows, row: Row) -> None:
        rows.discard(row)
        self._undo.append(lambda: rows.add(row))

    def save_retention(self, branch: BranchRow) -> None:
        """See ``WriteTransaction.save_retention``."""
        stored = self._branch(branch.key)
        former, changed = stored.row, stored.row.copied()
        changed.oldest_revision, changed.sweep_after = branch.oldest_revision, branch.sweep_after
        stored.row = changed
        self._undo.append(lambda: setattr(stored, "row", former))

    def sweep(self, branch: BranchRow, limit: int) -> bool:
        """See ``WriteTransaction.sweep``."""
        address = branch.key.tenant_id, branch.key.branch_id
        former = self._store.branches[address]
        left = self._store.branches[address] = swept(former)
        self._undo.append(lambda: self._store.branches.update({address: former}))
        dropped = Counter(bodies_of(former.members)) - Counter(bodies_of(left.members))
        self._refer(dropped.elements(), -1)
        return True
