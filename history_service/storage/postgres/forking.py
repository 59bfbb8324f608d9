"""Forks in PostgreSQL: rows are copied by the database, bodies are shared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from history_service.storage.codec import id_blob
from history_service.storage.port import BranchKey, CopiedRows, NewMember
from history_service.storage.postgres import writing_sql as sql
from history_service.storage.postgres.columns import key_columns
from history_service.storage.postgres.writing import PostgresWriteTransaction

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys

_LAST_KEY = 2**63 - 1
"""As great as an order key can be."""
_BEFORE_ALL = -1
_PAGE_ROWS = 5000
"""Rows of an encrypted branch that are copied at a time; some megabytes."""


class ForkingTransaction(PostgresWriteTransaction):
    """The primitives of ``WriteTransaction`` that make forks.

    A fork gets an entry in ``body_share`` for every body it takes over from its
    source; the source, or whom it had them from, goes on owning them. Where the
    store is encrypted, the fork's rows have the bodies' keys wrapped for itself.
    """

    def copy_members(
        self, source: BranchKey, at: int, up_to: int | None, target: BranchKey, revision: int
    ) -> CopiedRows:
        """See ``WriteTransaction.copy_members``."""
        last = _LAST_KEY if up_to is None else up_to
        if self._keys is not None:
            return self._adopt(self._keys, source, at, last, target, revision)
        return self._copy(sql.COPY_MEMBERS, source, target, at=at, up_to=last, revision=revision)

    def _adopt(
        self, store_keys: StoreKeys, source: BranchKey, at: int, last: int, target: BranchKey, revision: int
    ) -> CopiedRows:
        """Copy members page by page, with the bodies' keys wrapped for the target."""
        self.writes()
        values = self._of(source, at=at, limit=_PAGE_ROWS)
        ciphers = self._cipher(source), self._own_cipher(target)
        columns = key_columns(target)
        tenant, lineage, branch = columns
        count, last_key, after = 0, 0, _BEFORE_ALL
        while page := [
            row for row in self._session.rows(sql.COPIED_MEMBERS, values | {"after": after}) if row[0] <= last
        ]:
            for order_key, message, kind, link, interim, body, wrapped in page:
                adopted = store_keys.adopt_key(*ciphers, message, wrapped)
                self._pending.members.append(
                    (*columns, message, order_key, kind, revision, link, interim, body, adopted)
                )
                self._pending.shares.append((tenant, lineage, body, branch))
            self.flush()
            count += len(page)
            last_key = after = page[-1][0]
        return CopiedRows(count, last_key)

    def copy_view(
        self, source: BranchKey, at: int, epoch: int, target: BranchKey, revision: int
    ) -> CopiedRows:
        """See ``WriteTransaction.copy_view``."""
        self.begin_view(target, revision)
        return self._copy(sql.COPY_VIEW, source, target, at=at, epoch=epoch, revision=revision)

    def _copy(self, statement: str, source: BranchKey, target: BranchKey, **values: Any) -> CopiedRows:
        self.writes()
        # Asked of both: what is pending of either is written first.
        self._of(target)
        copied = self._session.row(statement, self._of(source, target=key_columns(target)[-1], **values))
        assert copied is not None, "a count is a row"
        return CopiedRows(*copied)

    def rewrite_members(self, key: BranchKey, rows: Sequence[NewMember]) -> None:
        """See ``WriteTransaction.rewrite_members``."""
        self.writes()
        ids = [id_blob(row.message_id) for row in rows]
        dropped = self._session.rows(sql.DROP_COPIED_MEMBERS, self._of(key, ids=ids))
        bodies = [body for body, _ in dropped]
        self._session.run(sql.UNSHARE_BODIES, self._of(key, bodies=bodies))
        for revision in {revision for _, revision in dropped}:
            self.insert_members(key, revision, rows)
