"""The writing half of the storage port, over the one writing session of a replica."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import psycopg

from history_service.storage.codec import id_blob, optional_id_blob
from history_service.storage.port import BranchKey, BranchRow, Member, NewMember, RecordedResponse
from history_service.storage.postgres import writing_sql as sql
from history_service.storage.postgres.columns import key_columns, of_branch
from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.key_making import KeyMakingTransaction
from history_service.storage.postgres.pending import Address
from history_service.storage.postgres.places import WriterPlace

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys


class PostgresWriteTransaction(KeyMakingTransaction):
    """The primitives of ``WriteTransaction``, and what the group writer needs to take works back.

    One object serves the works of one group, one after another, over one
    transaction of the database; what it remembers is as that transaction sees it.

    New rows and heads wait in ``PendingRows`` for the end of the group. A
    primitive that looks at a branch that has some there has them written
    first, but for the two that every append asks.

    Every write asks whether its request id was used before, and nearly none
    was; asking costs a round trip, and an entry in the one page of an index
    that all writers write to would make them conflict. So an id is taken to be
    new, and the primary key says at the end of the group when it was not. A
    work that did not record its response after all has it looked up at its end.

    A response found recorded is an acknowledgement like the first one was. It may
    be of a commit that no standby has confirmed, where somebody cancelled its
    wait; a commit that writes nothing would not wait either. So a work that found
    one writes to a row of the writer's own.

    Attributes:
        group_bytes: Bytes of bodies and payloads written so far.
    """

    def __init__(
        self, session: Session, place: WriterPlace, *, careful: bool, store_keys: StoreKeys | None = None
    ) -> None:
        """Begin a group of works, inside a transaction that has just begun.

        Args:
            session: The writing session.
            place: The writer's place.
            careful: Whether each work gets a savepoint, so that it alone can be
                undone, and request ids are looked up.
            store_keys: The keys of an encrypted store.
        """
        super().__init__(session, store_keys)
        self._place = place
        self._careful = careful
        self._counter_before = place.counter
        self._counter_of_work = place.counter
        self._heads: dict[Address, BranchRow] = {}
        self._assumed_new: set[Address] = set()
        self._wrote = False
        self._answers_again = False
        self.group_bytes = 0

    # Groups and works

    def give_up(self) -> None:
        """Take back what the group took from the writer's place: it is not committed."""
        self._place.counter = self._counter_before

    def flush(self) -> None:
        """Write what is pending; comes before COMMIT.

        Raises:
            psycopg.Error: The group has to be rolled back.
        """
        if self._answers_again:
            self._session.run(sql.TOUCH_WRITER, {"number": self._place.number})
            self._answers_again = False
        self._pending.write(self._session)

    def begin_work(self) -> None:
        """Start a work."""
        self._wrote = self._answers_again = False
        self._touched.clear()
        self._assumed_new.clear()
        self._counter_of_work = self._place.counter
        if self._careful:
            self._session.run("SAVEPOINT work")

    def undo_work(self, error: BaseException) -> bool:
        """Take back what a work that failed wrote, and nothing another work wrote.

        Args:
            error: Why it failed. After one of the database's, the transaction is of
                no use but from a savepoint on.

        Returns:
            Whether that was possible, and all it assumed is so; where not, the
            group has to be rolled back and run again, carefully.
        """
        if not self._careful:
            return not self._wrote and not isinstance(error, psycopg.Error) and self._assumptions_hold()
        self._pending.clear()
        self._session.run("ROLLBACK TO SAVEPOINT work")
        self._session.run("RELEASE SAVEPOINT work")
        for address in self._touched:
            self._forget_head(address)
        self._forget_keys(self._touched)
        self._place.counter = self._counter_of_work
        return True

    def end_work(self) -> bool:
        """End a work that succeeded.

        Returns:
            Whether all it assumed is so; where not, as for ``undo_work``.

        Raises:
            psycopg.Error: See ``flush``; only of careful groups.
        """
        if self._careful:
            self.flush()
            self._session.run("RELEASE SAVEPOINT work")
        return self._assumptions_hold()

    def _assumptions_hold(self) -> bool:
        look_up = super().recorded_response
        return all(look_up(*request) is None for request in self._assumed_new)

    def writes(self, size: int = 0) -> None:
        """Note that the work writes so many bytes; every writing primitive calls it first."""
        self.group_bytes += size
        self._wrote = True

    def new_body(self) -> int:
        """Return a number no body has."""
        return self._place.new_body()

    def _of(self, key: BranchKey, **values: Any) -> dict[str, Any]:
        if key in self._pending.branches:
            self.flush()
        return of_branch(key, **values)

    def _look_at_heads(self) -> None:
        if self._pending.heads or self._pending.new_branches:
            self.flush()

    def _head_revision(self, key: BranchKey) -> int:
        head = self._heads.get((key.tenant_id, key.branch_id))
        return super()._head_revision(key) if head is None else head.revision

    # Directory

    def branch(self, tenant_id: str, branch_id: str) -> BranchRow | None:
        """See ``ReadTransaction.branch``."""
        address = tenant_id, branch_id
        head = self._heads.get(address)
        if head is None:
            head = super().branch(tenant_id, branch_id)
            if head is None:
                return None
            self._heads[address] = head
        return head.copied()

    def _forget_head(self, address: Address) -> None:
        self._heads.pop(address, None)
        self._revisions.pop(address, None)

    def insert_branch(self, branch: BranchRow, metadata_json: str) -> None:
        """See ``WriteTransaction.insert_branch``."""
        self.writes()
        address = branch.key.tenant_id, branch.key.branch_id
        self._pending.new_branches[address] = self._change_head(branch)
        self.put_metadata(branch.key, branch.revision, metadata_json)

    def save_head(self, branch: BranchRow) -> None:
        """See ``WriteTransaction.save_head``."""
        self.writes()
        address = branch.key.tenant_id, branch.key.branch_id
        head = self._change_head(branch)
        if address in self._pending.new_branches:
            self._pending.new_branches[address] = head
        else:
            self._pending.heads[address] = head

    def _change_head(self, branch: BranchRow) -> BranchRow:
        """Remember a branch's head; return the copy remembered."""
        address = branch.key.tenant_id, branch.key.branch_id
        self._pending.branches.add(branch.key)
        self._touched.append(address)
        head = self._heads[address] = branch.copied()
        return head

    def put_metadata(self, key: BranchKey, revision: int, metadata_json: str) -> None:
        """See ``WriteTransaction.put_metadata``."""
        cipher = self._own_cipher(key)
        text = (metadata_json if cipher is None else cipher.seal_metadata(revision, metadata_json)).encode()
        self.writes(len(text))
        self._pending.branches.add(key)
        self._pending.metadata.append((*key_columns(key), revision, text))

    def record_response(
        self, tenant_id: str, request_id: str, recorded: RecordedResponse, recorded_at: int
    ) -> None:
        """See ``WriteTransaction.record_response``."""
        self.writes(len(recorded.response))
        self._assumed_new.discard((tenant_id, request_id))
        self._pending.responses[tenant_id, request_id] = recorded
        blob = id_blob(request_id)
        if self._keys is not None:
            recorded = RecordedResponse(*self._keys.store.seal_response(tenant_id, blob, *recorded))
        self._pending.recorded.append((tenant_id.encode(), blob, *recorded, recorded_at))

    def recorded_response(self, tenant_id: str, request_id: str) -> RecordedResponse | None:
        """See ``ReadTransaction.recorded_response``; an id that nothing here uses is taken to be new."""
        pending = self._pending.responses.get((tenant_id, request_id))
        if pending is not None:
            return pending
        if self._careful:
            found = super().recorded_response(tenant_id, request_id)
            self._answers_again = self._answers_again or found is not None
            return found
        self._assumed_new.add((tenant_id, request_id))
        return None

    def forget_responses(self, tenant_id: str, request_ids: Sequence[str]) -> None:
        """See ``WriteTransaction.forget_responses``."""
        self.writes()
        self.flush()
        requests = [id_blob(request_id) for request_id in request_ids]
        self._session.run(sql.FORGET_RESPONSES, {"tenant": tenant_id.encode(), "requests": requests})

    def expire_responses(self, recorded_before: int, limit: int) -> int:
        """See ``WriteTransaction.expire_responses``."""
        self.writes()
        self.flush()
        return self._session.run(sql.EXPIRE_RESPONSES, {"before": recorded_before, "limit": limit})

    def append_change(
        self, key: BranchKey, revision: int, kind: int, ignorable: bool, payload: bytes
    ) -> None:
        """See ``WriteTransaction.append_change``."""
        self.writes(len(payload))
        position = self._place.writer_id, self._place.counter
        self._place.counter += 1
        self._pending.branches.add(key)
        self._pending.changes.append((*key_columns(key), revision, kind, ignorable, payload, *position))

    # Members

    def members(self, key: BranchKey, message_ids: Collection[str]) -> dict[str, Member]:
        """See ``ReadTransaction.members``."""
        living = self._pending.living.get(key)
        if living is None:
            return self._stored_members(key, message_ids)
        found = {message_id: living[message_id] for message_id in message_ids if message_id in living}
        others = [message_id for message_id in message_ids if message_id not in living]
        return found | self._stored_members(key, others)

    def insert_members(self, key: BranchKey, revision: int, rows: Sequence[NewMember]) -> None:
        """See ``WriteTransaction.insert_members``."""
        columns = key_columns(key)
        pending = self._pending
        self.writes(sum(len(row.body) for row in rows if not isinstance(row.body, int)))
        wrapped_keys = self._keys_of_bodies(key, rows)
        cipher = self._own_cipher(key)
        pending.branches.add(key)
        living = pending.living.setdefault(key, {})
        for message_id, order_key, kind, link_id, interim, body in rows:
            message, link = id_blob(message_id), optional_id_blob(link_id)
            if isinstance(body, int):
                number = body
                wrapped = wrapped_keys.get((message, number))
            else:
                number = self._place.new_body()
                wrapped = None
                if cipher is not None:
                    wrapped, body = cipher.seal_body(message, number, body)
                pending.bodies.append((*columns[:2], number, body))
            living[message_id] = Member(message_id, order_key, kind, revision, link_id, interim, number)
            member = (*columns, message, order_key, kind, revision, link, interim, number, wrapped)
            pending.members.append(member)

    def remove_members(self, key: BranchKey, revision: int, message_ids: Collection[str]) -> None:
        """See ``WriteTransaction.remove_members``."""
        self.writes()
        self._session.run(sql.END_MEMBERS, self._of(key, revision=revision, ids=_blobs(message_ids)))

    def remove_all_members(self, key: BranchKey, revision: int, keep: str | None) -> None:
        """See ``WriteTransaction.remove_all_members``."""
        self.writes()
        values = self._of(key, revision=revision, keep=optional_id_blob(keep))
        self._session.run(sql.END_OTHER_MEMBERS, values)

    def order_keys_between(self, key: BranchKey, low: int, high: int) -> list[int]:
        """See ``WriteTransaction.order_keys_between``."""
        rows = self._session.rows(sql.ORDER_KEYS_BETWEEN, self._of(key, low=low, high=high))
        return [order_key for (order_key,) in rows]

    def relabel(self, key: BranchKey, new_keys: Mapping[int, int]) -> None:
        """See ``WriteTransaction.relabel``."""
        self.writes()
        values = self._of(key)
        if new_keys:
            for statement in sql.RELABEL:
                self._session.run(statement.text, values | statement.values(list(new_keys.items())))

    # Views

    def begin_view(self, key: BranchKey, epoch: int) -> None:
        """See ``WriteTransaction.begin_view``."""
        self.writes()
        self._session.run(sql.BEGIN_VIEW, of_branch(key, epoch=epoch))

    def end_view(self, key: BranchKey, epoch: int, revision: int) -> None:
        """See ``WriteTransaction.end_view``."""
        self.writes()
        self._session.run(sql.END_VIEW, of_branch(key, epoch=epoch, revision=revision))

    def insert_view_rows(
        self, key: BranchKey, epoch: int, revision: int, rows: Sequence[tuple[int, str]]
    ) -> None:
        """See ``WriteTransaction.insert_view_rows``."""
        self.writes()
        columns = key_columns(key)
        self._pending.branches.add(key)
        self._pending.view_rows.extend(
            (*columns, epoch, id_blob(message_id), order_key, revision) for order_key, message_id in rows
        )

    def remove_view_rows(
        self, key: BranchKey, epoch: int, revision: int, message_ids: Collection[str]
    ) -> int:
        """See ``WriteTransaction.remove_view_rows``."""
        self.writes()
        values = self._of(key, epoch=epoch, revision=revision, ids=_blobs(message_ids))
        return self._session.run(sql.END_VIEW_ROWS, values)

    def remove_all_view_rows(self, key: BranchKey, epoch: int, revision: int, keep: str | None) -> None:
        """See ``WriteTransaction.remove_all_view_rows``."""
        self.writes()
        values = self._of(key, epoch=epoch, revision=revision, keep=optional_id_blob(keep))
        self._session.run(sql.END_OTHER_VIEW_ROWS, values)


def _blobs(message_ids: Collection[str]) -> list[bytes]:
    return [id_blob(message_id) for message_id in message_ids]
