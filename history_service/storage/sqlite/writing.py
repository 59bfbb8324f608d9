"""The writing half of the storage port, over the one writing connection."""

from __future__ import annotations

import time
import uuid
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import apsw

from history_service.storage.codec import head_columns, id_blob, optional_id_blob
from history_service.storage.port import BranchKey, BranchRow, NewMember, RecordedResponse
from history_service.storage.sqlite import bodies_sql, keys
from history_service.storage.sqlite import writing_sql as sql
from history_service.storage.sqlite.codec import KeyColumns, NumberedBranch, key_columns
from history_service.storage.sqlite.pending import Address, PendingRows
from history_service.storage.sqlite.reading import SqliteReadTransaction
from history_service.storage.sqlite.recent_requests import RecentRequests

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import BranchCipher, StoreKeys

HEADS_REMEMBERED = 4096
"""Branches whose head the writer remembers, so that a write need not read it."""


class SqliteWriteTransaction(SqliteReadTransaction):
    """The primitives of ``WriteTransaction``, and what the group writer needs to take works back.

    One object serves every work of the one writer, one after another. What it
    remembers about the database (branch heads, the next body number, the
    counter of changes) is what the open transaction says; ``undo_work``
    and ``forget`` keep it so.

    New rows and heads wait in ``PendingRows`` for the end of the group. A
    primitive that looks at a branch that has some there has them written first.

    Attributes:
        group_bytes: Bytes of bodies and payloads written since ``begin_group``.
    """

    def __init__(self, connection: apsw.Connection, store_keys: StoreKeys | None = None) -> None:
        """Take a place in the commit positions: a new writer, in a commit of its own.

        Args:
            connection: The writing connection, migrated, outside a transaction.
            store_keys: The keys of an encrypted store.
        """
        super().__init__(connection, store_keys)
        connection.execute(sql.INSERT_WRITER, (uuid.uuid4().bytes, time.time_ns()))
        self._writer = connection.last_insert_rowid()
        self._counter = 0
        self._counter_of_work = 0
        self._counter_of_commit = 0
        self._next_body = 1 + self._value(sql.LAST_BODY, ())
        self._next_change = 1 + self._value(sql.LAST_CHANGE, ())
        self._heads: OrderedDict[Address, NumberedBranch] = OrderedDict()
        self._ciphers: OrderedDict[Address, BranchCipher] = OrderedDict()
        self._requests = RecentRequests(self._value(sql.GREATEST_REQUEST, ()))
        self._pending = PendingRows()
        self._failure: Exception | None = None
        self._touched: list[Address] = []
        self._wrote = False
        self._careful = False
        self.group_bytes = 0

    # Groups and works

    def begin_group(self, *, careful: bool) -> None:
        """Start a group of works; follows BEGIN.

        Args:
            careful: Whether each work that writes gets a savepoint, so that it
                alone can be undone. SQLite then copies every page a work
                touches, and few works fail once they have written: those of
                the domain never do.
        """
        self.group_bytes = 0
        self._careful = careful
        self._counter_of_commit = self._counter

    def forget(self) -> None:
        """Drop what is remembered: the group was rolled back."""
        self._heads.clear()
        self._ciphers.clear()
        self._counter = self._counter_of_commit
        self._drop_pending()

    def flush(self) -> None:
        """Write what is pending; comes before COMMIT.

        Raises:
            apsw.Error: A row is refused, or the disk fails. The group then has
                to be rolled back, however often the caller tries again.
        """
        if self._failure is not None:
            raise self._failure
        try:
            self._pending.write(self._connection)
        except Exception as error:
            self._failure = error
            raise

    def _drop_pending(self) -> None:
        self._pending.clear()
        self._failure = None

    def begin_work(self) -> None:
        """Start a work."""
        self._wrote = False
        self._touched.clear()
        self._counter_of_work = self._counter

    def undo_work(self) -> bool:
        """Take back what the work wrote, and nothing another work wrote.

        Returns:
            Whether that was possible; where not, the group has to be rolled
            back and run again, carefully.
        """
        if not self._wrote:
            return True
        if not self._careful:
            return False
        self._drop_pending()
        self._connection.execute("ROLLBACK TO work")
        self._connection.execute("RELEASE work")
        for address in self._touched:
            self._heads.pop(address, None)
            self._ciphers.pop(address, None)
        self._counter = self._counter_of_work
        return True

    def end_work(self) -> None:
        """End a work that succeeded.

        Raises:
            apsw.Error: See ``flush``; only of careful groups, where no other
                work's rows are pending.
        """
        if self._wrote and self._careful:
            self.flush()
            self._connection.execute("RELEASE work")

    def _writes(self) -> None:
        """Note that the work writes; every writing primitive calls it first."""
        if not self._wrote:
            self._wrote = True
            if self._careful:
                self._connection.execute("SAVEPOINT work")

    def _columns(self, key: BranchKey) -> KeyColumns:
        if key in self._pending.branches:
            self.flush()
        return key_columns(key)

    def _look_at_heads(self) -> None:
        if self._pending.heads:
            self.flush()

    # Keys

    def _cipher(self, key: BranchKey) -> BranchCipher | None:
        address = key.tenant_id, key.branch_id
        found = self._ciphers.get(address)
        if found is None:
            found = super()._cipher(key)
            if found is not None:
                self._keep_cipher(address, found)
        return found

    def _keep_cipher(self, address: Address, cipher: BranchCipher) -> None:
        self._ciphers[address] = cipher
        if len(self._ciphers) > HEADS_REMEMBERED:
            self._ciphers.popitem(last=False)

    def _own_cipher(self, key: BranchKey) -> BranchCipher | None:
        """What a branch's new contents are encrypted with, its key made where there is none yet.

        None where the store is not encrypted.
        """
        cipher = self._cipher(key)
        if cipher is None and self._keys is not None:
            cipher = self._give_key(key, self._keys)
        return cipher

    def _give_key(self, key: BranchKey, store_keys: StoreKeys) -> BranchCipher:
        tenant, lineage, branch = key_columns(key)
        wrapped = store_keys.ring.new_branch_key(tenant, lineage, branch)
        self._connection.execute(keys.INSERT_KEY, (None, wrapped))
        self._connection.execute(keys.GIVE_KEY, (self._connection.last_insert_rowid(), tenant, branch))
        address = key.tenant_id, key.branch_id
        self._touched.append(address)
        cipher = store_keys.ring.branch_cipher(wrapped, tenant, lineage, branch)
        self._keep_cipher(address, cipher)
        return cipher

    # Directory

    def branch(self, tenant_id: str, branch_id: str) -> BranchRow | None:
        """See ``ReadTransaction.branch``."""
        found = self._head(tenant_id, branch_id)
        return None if found is None else found.row.copied()

    def _head(self, tenant_id: str, branch_id: str) -> NumberedBranch | None:
        address = tenant_id, branch_id
        found = self._heads.get(address)
        if found is not None:
            return found
        if address in self._pending.heads:
            self.flush()
        found = self._numbered_branch(tenant_id, branch_id)
        if found is not None:
            self._remember(address, found)
        return found

    def _remember(self, address: Address, head: NumberedBranch) -> None:
        self._heads[address] = head
        if len(self._heads) > HEADS_REMEMBERED:
            self._heads.popitem(last=False)

    def insert_branch(self, branch: BranchRow, metadata_json: str) -> None:
        """See ``WriteTransaction.insert_branch``."""
        self._writes()
        tenant, lineage, branch_id = key_columns(branch.key)
        self._touched.append((tenant, branch.key.branch_id))
        external_key = None if branch.external_key is None else branch.external_key.encode()
        self._connection.execute(
            sql.INSERT_BRANCH,
            (
                tenant,
                branch_id,
                lineage,
                id_blob(branch.incarnation),
                branch.created_at,
                external_key,
                optional_id_blob(branch.parent_branch_id),
                *head_columns(branch),
                int(branch.deleted),
            ),
        )
        self.put_metadata(branch.key, branch.revision, metadata_json)

    def save_head(self, branch: BranchRow) -> None:
        """See ``WriteTransaction.save_head``."""
        self._writes()
        address = branch.key.tenant_id, branch.key.branch_id
        former = self._head(*address)
        if former is None:
            raise LookupError("a head is saved for a branch that was not inserted")
        self._pending.branches.add(branch.key)
        if former.row.deleted != branch.deleted:
            self._connection.execute(sql.SAVE_DELETED, (int(branch.deleted), former.number))
        self._change_head(address, NumberedBranch(former.number, branch.copied(), former.last_change))

    def _change_head(self, address: Address, head: NumberedBranch) -> None:
        # Remembered already, as whoever changes it has looked at it.
        self._pending.heads[address] = self._heads[address] = head
        self._touched.append(address)

    def put_metadata(self, key: BranchKey, revision: int, metadata_json: str) -> None:
        """See ``WriteTransaction.put_metadata``."""
        self._writes()
        self.group_bytes += len(metadata_json)
        cipher = self._own_cipher(key)
        stored = metadata_json if cipher is None else cipher.seal_metadata(revision, metadata_json)
        self._connection.execute(sql.INSERT_METADATA, (*key_columns(key), revision, stored))

    def record_response(
        self, tenant_id: str, request_id: str, recorded: RecordedResponse, recorded_at: int
    ) -> None:
        """See ``WriteTransaction.record_response``."""
        self._writes()
        self.group_bytes += len(recorded.response)
        blob = id_blob(request_id)
        self._requests.add(blob)
        self._pending.responses[tenant_id, request_id] = recorded
        if self._keys is not None:
            recorded = RecordedResponse(*self._keys.store.seal_response(tenant_id, blob, *recorded))
        self._pending.recorded.append((tenant_id, blob, *recorded, recorded_at))

    def recorded_response(self, tenant_id: str, request_id: str) -> RecordedResponse | None:
        """See ``ReadTransaction.recorded_response``."""
        pending = self._pending.responses.get((tenant_id, request_id))
        if pending is not None:
            return pending
        if self._requests.surely_new(id_blob(request_id)):
            return None
        return super().recorded_response(tenant_id, request_id)

    def forget_responses(self, tenant_id: str, request_ids: Sequence[str]) -> None:
        """See ``WriteTransaction.forget_responses``."""
        self._writes()
        self.flush()
        for request_id in request_ids:
            self._connection.execute(sql.FORGET_RESPONSE, (tenant_id, id_blob(request_id)))

    def expire_responses(self, recorded_before: int, limit: int) -> int:
        """See ``WriteTransaction.expire_responses``."""
        self._writes()
        self.flush()
        self._connection.execute(sql.EXPIRE_RESPONSES, (recorded_before, limit))
        return self._connection.changes()

    def append_change(
        self, key: BranchKey, revision: int, kind: int, ignorable: bool, payload: bytes
    ) -> None:
        """See ``WriteTransaction.append_change``."""
        self._writes()
        self.group_bytes += len(payload)
        address = key.tenant_id, key.branch_id
        head = self._head(*address)
        if head is None:
            raise LookupError("a change is recorded of a branch that was not inserted")
        number = self._next_change
        self._next_change += 1
        position = self._writer, self._counter
        self._counter += 1
        self._pending.branches.add(key)
        self._pending.changes.append(
            (*key_columns(key), revision, kind, int(ignorable), payload, *position, number, head.last_change)
        )
        self._change_head(address, NumberedBranch(head.number, head.row, number))

    # Members

    def insert_members(self, key: BranchKey, revision: int, rows: Sequence[NewMember]) -> None:
        """See ``WriteTransaction.insert_members``."""
        self._writes()
        tenant, lineage, branch = key_columns(key)
        pending = self._pending
        pending.branches.add(key)
        next_body, size, encrypted = self._next_body, 0, self._keys is not None
        for message_id, order_key, kind, link_id, interim, body in rows:
            message, link = id_blob(message_id), optional_id_blob(link_id)
            if isinstance(body, int):
                number = body
                wrapped = self._wrapped_key(key, message, number)
            else:
                number = next_body
                next_body += 1
                size += len(body)
                cipher, wrapped = self._own_cipher(key) if encrypted else None, None
                if cipher is not None:
                    wrapped, body = cipher.seal_body(message, number, body)
                pending.bodies.append((number, tenant, lineage, body))
            place = tenant, lineage, branch, message, order_key
            pending.members.append((*place, kind, revision, number, link, int(interim), wrapped))
        self._next_body = next_body
        self.group_bytes += size

    def _wrapped_key(self, key: BranchKey, message: bytes, body: int) -> bytes | None:
        """The wrapped key that a row of the branch has for a body, which another row of it is to have too."""
        if self._keys is None:
            return None
        row = (*self._columns(key), message, body)
        wrapped: bytes | None = self._value(bodies_sql.WRAPPED_KEY, row + row)
        self._pending.branches.add(key)
        return wrapped

    def remove_members(self, key: BranchKey, revision: int, message_ids: Collection[str]) -> None:
        """See ``WriteTransaction.remove_members``."""
        self._writes()
        columns = self._columns(key)
        self._connection.executemany(
            sql.END_MEMBER, [(revision, *columns, id_blob(message_id)) for message_id in message_ids]
        )

    def remove_all_members(self, key: BranchKey, revision: int, keep: str | None) -> None:
        """See ``WriteTransaction.remove_all_members``."""
        self._writes()
        self._connection.execute(
            sql.END_OTHER_MEMBERS, (revision, *self._columns(key), optional_id_blob(keep))
        )

    def order_keys_between(self, key: BranchKey, low: int, high: int) -> list[int]:
        """See ``WriteTransaction.order_keys_between``."""
        columns = self._columns(key)
        rows = self._connection.execute(sql.ORDER_KEYS_BETWEEN, (*columns, low, high, *columns, low, high))
        return [order_key for (order_key,) in rows]

    def relabel(self, key: BranchKey, new_keys: Mapping[int, int]) -> None:
        """See ``WriteTransaction.relabel``."""
        self._writes()
        columns = self._columns(key)
        moves = [(new, *columns, old) for old, new in new_keys.items()]
        for statement in sql.RELABEL_AWAY:
            self._connection.executemany(statement, moves)
        for statement in sql.RELABEL_BACK:
            self._connection.execute(statement, columns)

    # Views

    def begin_view(self, key: BranchKey, epoch: int) -> None:
        """See ``WriteTransaction.begin_view``."""
        self._writes()
        self._connection.execute(sql.INSERT_VIEW, (*key_columns(key), epoch))

    def end_view(self, key: BranchKey, epoch: int, revision: int) -> None:
        """See ``WriteTransaction.end_view``."""
        self._writes()
        self._connection.execute(sql.END_VIEW, (revision, *key_columns(key), epoch))

    def insert_view_rows(
        self, key: BranchKey, epoch: int, revision: int, rows: Sequence[tuple[int, str]]
    ) -> None:
        """See ``WriteTransaction.insert_view_rows``."""
        self._writes()
        columns = key_columns(key)
        self._pending.branches.add(key)
        self._pending.view_rows.extend(
            (*columns, epoch, id_blob(message_id), order_key, revision) for order_key, message_id in rows
        )

    def remove_view_rows(
        self, key: BranchKey, epoch: int, revision: int, message_ids: Collection[str]
    ) -> int:
        """See ``WriteTransaction.remove_view_rows``."""
        self._writes()
        columns = self._columns(key)
        before = self._connection.total_changes()
        self._connection.executemany(
            sql.END_VIEW_ROW, [(revision, *columns, epoch, id_blob(message_id)) for message_id in message_ids]
        )
        return self._connection.total_changes() - before

    def remove_all_view_rows(self, key: BranchKey, epoch: int, revision: int, keep: str | None) -> None:
        """See ``WriteTransaction.remove_all_view_rows``."""
        self._writes()
        self._connection.execute(
            sql.END_OTHER_VIEW_ROWS, (revision, *self._columns(key), epoch, optional_id_blob(keep))
        )
