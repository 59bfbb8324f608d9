"""Erasing in PostgreSQL: what trimmed and deleted branches have dropped.

Whether a body is still used needs no count of references. Within a branch all
rows that refer to it are of one message, whose rows an index finds. Between the
branches of a fork tree, a body has one owner and ``body_share`` names the
others: when a branch lets go of a body, an entry of its own goes; without one
it was the owner, and another takes over or, where there is none, the body goes.
"""

from __future__ import annotations

from history_service.storage.port import BranchRow
from history_service.storage.postgres import keys
from history_service.storage.postgres import sweeping_sql as sql
from history_service.storage.postgres.columns import of_branch
from history_service.storage.postgres.writing import PostgresWriteTransaction
from history_service.storage.postgres.writing_sql import UNSHARE_BODIES

_EVERYTHING = 2**63 - 1


class SweepingTransaction(PostgresWriteTransaction):
    """The primitives of ``WriteTransaction`` that drop and erase."""

    def save_retention(self, branch: BranchRow) -> None:
        """See ``WriteTransaction.save_retention``."""
        self.writes()
        oldest, sweep_after = branch.oldest_revision, branch.sweep_after
        values = self._of(branch.key, oldest=oldest, sweep_after=sweep_after)
        self._session.run(sql.SAVE_RETENTION, values)
        self._look_again(branch)

    def _look_again(self, branch: BranchRow) -> None:
        """Forget what is remembered of a branch whose row was changed beside its head."""
        self._forget_head((branch.key.tenant_id, branch.key.branch_id))

    def sweep(self, branch: BranchRow, limit: int) -> bool:
        """See ``WriteTransaction.sweep``."""
        self.writes()
        self._of(branch.key)
        if branch.deleted:
            self._erase_key(branch)
        for part in (self._sweep_members, self._sweep_views, self._sweep_records):
            limit -= part(branch, limit)
            if limit <= 0:
                return False
        return True

    def _erase_key(self, branch: BranchRow) -> None:
        """Erase a deleted branch's key: nothing of the branch can be read then, erased yet or not."""
        if self._keys is not None and self._session.run(keys.ERASE_KEY, of_branch(branch.key)):
            address = branch.key.tenant_id, branch.key.branch_id
            self._touched.append(address)
            self._forget_keys([address])
            self._keys.ring.forget()

    # Members and bodies

    def _sweep_members(self, branch: BranchRow, limit: int) -> int:
        values = of_branch(branch.key, horizon=_horizon(branch), limit=limit)
        erased = self._session.rows(sql.ERASE_ENDED_MEMBERS, values)
        if branch.deleted and len(erased) < limit:
            values["limit"] = limit - len(erased)
            erased += self._session.rows(sql.ERASE_LIVING_MEMBERS, values)
        if erased:
            messages, bodies = zip(*erased, strict=True)
            values |= {"ids": list(messages), "bodies": list(bodies)}
            unused = [body for (body,) in self._session.rows(sql.UNUSED_BODIES, values)]
            self._let_go(branch, unused)
        return len(erased)

    def _let_go(self, branch: BranchRow, bodies: list[int]) -> None:
        """Note that a branch does not use bodies any more."""
        values = of_branch(branch.key, bodies=bodies)
        shared = {body for (body,) in self._session.rows(UNSHARE_BODIES, values)}
        values["bodies"] = [body for body in bodies if body not in shared]
        heirs: dict[int, bytes] = dict(self._session.rows(sql.NEXT_OWNERS, values))
        if heirs:
            taken_over = {"bodies": list(heirs), "heirs": list(heirs.values())}
            self._session.run(sql.END_SHARES, values | taken_over)
        values["bodies"] = [body for body in values["bodies"] if body not in heirs]
        self._session.run(sql.ERASE_BODIES, values)

    # Views

    def _sweep_views(self, branch: BranchRow, limit: int) -> int:
        values = of_branch(branch.key, horizon=_horizon(branch), limit=limit)
        erased = self._session.run(sql.ERASE_ENDED_VIEW_ROWS, values)
        while erased < limit:
            epoch = self._session.value(sql.ENDED_VIEW, values)
            if epoch is None and branch.deleted:
                epoch = self._session.value(sql.ANY_VIEW, values)
            if epoch is None:
                break
            values |= {"epoch": epoch, "limit": limit - erased}
            erased += self._session.run(sql.ERASE_ROWS_OF_VIEW, values)
            if erased < limit:
                erased += self._session.run(sql.ERASE_VIEW, values)
        return erased

    # Metadata and change records

    def _sweep_records(self, branch: BranchRow, limit: int) -> int:
        values = of_branch(branch.key, oldest=branch.oldest_revision, limit=limit)
        if branch.deleted:
            values["kept"] = _EVERYTHING
        else:
            values["kept"] = self._session.value(sql.METADATA_HORIZON, values)
        erased = self._session.run(sql.ERASE_METADATA, values)
        values |= {
            "kept": branch.revision if branch.deleted else branch.oldest_revision,
            "limit": limit - erased,
        }
        erased += self._session.run(sql.ERASE_CHANGES, values)
        if branch.deleted:
            self._session.run(sql.FORGET_EXTERNAL_KEY, values)
            self._look_again(branch)
        return erased


def _horizon(branch: BranchRow) -> int:
    """What ended by this revision is shown by none that is kept."""
    return _EVERYTHING if branch.deleted else branch.oldest_revision
