"""Keys of branches while they are written to: made, looked up and taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from history_service.storage.codec import id_blob
from history_service.storage.port import BranchKey, NewMember
from history_service.storage.postgres import keys, reading_sql
from history_service.storage.postgres.columns import key_columns
from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.pending import Address, PendingRows
from history_service.storage.postgres.reading import PostgresReadTransaction

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import BranchCipher, KeyRing, StoreKeys


class KeyMakingTransaction(PostgresReadTransaction):
    """What a writing transaction asks of keys; of a store in clear it gets None throughout."""

    def __init__(self, session: Session, store_keys: StoreKeys | None = None) -> None:
        """See ``PostgresReadTransaction``."""
        super().__init__(session, store_keys)
        self._pending = PendingRows()
        self._touched: list[Address] = []
        self._master_is_named = False

    def _own_cipher(self, key: BranchKey) -> BranchCipher | None:
        """What a branch's new contents are encrypted with, its key made where there is none yet.

        None where the store is not encrypted.
        """
        if self._keys is None:
            return None
        cipher = self._cipher(key)
        return self._give_key(key, self._keys.ring) if cipher is None else cipher

    def _give_key(self, key: BranchKey, ring: KeyRing) -> BranchCipher:
        _, lineage, branch = key_columns(key)
        wrapped = ring.new_branch_key(key.tenant_id, lineage, branch)
        address = key.tenant_id, key.branch_id
        self._name_master(ring)
        self._touched.append(address)
        self._wrapped_keys[address] = wrapped
        self._pending.branches.add(key)
        self._pending.branch_keys.append((*key_columns(key), wrapped))
        return ring.branch_cipher(wrapped, key.tenant_id, lineage, branch)

    def _name_master(self, ring: KeyRing) -> None:
        """Have the database name the master key that a new key is wrapped by.

        Another replica, started with a newer one, may have taken it out: that one
        has wrapped anew all keys there were, and not those that come after it.
        """
        values = keys.named(ring)
        if not self._master_is_named and self._session.value(keys.IS_NAMED, values) is None:
            self._session.run(keys.NAME_MASTER, values)
        self._master_is_named = True

    def _keys_of_bodies(
        self, key: BranchKey, rows: Sequence[NewMember]
    ) -> dict[tuple[bytes, int], bytes | None]:
        """The wrapped keys that rows of the branch have for bodies which other rows of it are to have too."""
        stored = [(id_blob(row.message_id), row.body) for row in rows if isinstance(row.body, int)]
        if self._keys is None or not stored:
            return {}
        messages, numbers = zip(*stored, strict=True)
        values = self._of(key, ids=list(messages), numbers=list(numbers))
        found = self._session.rows(reading_sql.WRAPPED_KEYS, values)
        return {(message, number): wrapped for message, number, wrapped in found}

    def _forget_keys(self, branches: Iterable[Address]) -> None:
        """Forget the keys of branches, and what else was found: a work is taken back."""
        for address in branches:
            self._wrapped_keys.pop(address, None)
        self._master_is_named = False
