"""The primitives of the memory store's transactions, over plain lists and dictionaries."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from antiphon_client.errors import StoreCorruptError
from history_service.storage.memory_exchange import MemoryExchange
from history_service.storage.memory_rows import BranchRecord, Row, Rows, StoredBranches, View, order_key_of
from history_service.storage.port import (
    BranchAnchor,
    BranchKey,
    BranchRow,
    ChangeRow,
    Member,
    MessagePage,
    NewMember,
    Place,
    RecordedResponse,
)


class Transaction:
    """Both kinds of transaction: reading needs nothing that writing does not have."""

    def __init__(self, store: StoredBranches) -> None:
        self._store = store
        self._undo: list[Callable[[], object]] = []
        self.exchange = MemoryExchange(store.exchanges, self._undo)

    def roll_back(self) -> None:
        """Take back everything this transaction did."""
        while self._undo:
            self._undo.pop()()

    def _branch(self, key: BranchKey) -> BranchRecord:
        return self._store.branches[key.tenant_id, key.branch_id]

    def _rows(self, key: BranchKey, view: int | None) -> Rows:
        branch = self._branch(key)
        return branch.members if view is None else branch.views[view].rows

    # Directory

    def branch(self, tenant_id: str, branch_id: str) -> BranchRow | None:
        """See ``ReadTransaction.branch``."""
        found = self._store.branches.get((tenant_id, branch_id))
        return None if found is None else found.row.copied()

    def revisions(self, branches: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """See ``ReadTransaction.revisions``."""
        found = self._store.branches
        return {address: found[address].row.revision for address in branches if address in found}

    def branch_id_of_external_key(self, tenant_id: str, external_key: str) -> str | None:
        """See ``ReadTransaction.branch_id_of_external_key``."""
        for row in self._living(tenant_id):
            if row.external_key == external_key:
                return row.key.branch_id
        return None

    def _living(self, tenant_id: str) -> Iterator[BranchRow]:
        rows = (branch.row for (tenant, _), branch in self._store.branches.items() if tenant == tenant_id)
        return (row for row in rows if not row.deleted)

    def list_branches(
        self,
        tenant_id: str,
        *,
        external_key_prefix: str | None,
        parent_branch_id: str | None,
        after: BranchAnchor | None,
        limit: int,
    ) -> list[BranchRow]:
        """See ``ReadTransaction.list_branches``."""
        rows = [
            row
            for row in self._living(tenant_id)
            if parent_branch_id is None or row.parent_branch_id == parent_branch_id
        ]
        if external_key_prefix is None:
            by_age = sorted(((row.created_at, row.key.branch_id), row) for row in rows)
            start = None if after is None else (after.created_at, after.branch_id)
            found = [row for rank, row in by_age if start is None or rank > start]
        else:
            keyed = [(row.external_key, row) for row in rows if row.external_key is not None]
            by_key = sorted((key.encode(), row) for key, row in keyed if key.startswith(external_key_prefix))
            after_key = None if after is None else after.external_key.encode()
            found = [row for key, row in by_key if after_key is None or key > after_key]
        return [row.copied() for row in found[:limit]]

    def metadata(self, key: BranchKey, at: int) -> str:
        """See ``ReadTransaction.metadata``."""
        versions = self._branch(key).metadata
        return versions[bisect_right(versions, at, key=lambda version: version[0]) - 1][1]

    def recorded_response(self, tenant_id: str, request_id: str) -> RecordedResponse | None:
        """See ``ReadTransaction.recorded_response``."""
        found = self._store.responses.get((tenant_id, request_id))
        return None if found is None else found[1]

    # Live members

    def members(self, key: BranchKey, message_ids: Collection[str]) -> dict[str, Member]:
        """See ``ReadTransaction.members``."""
        rows = map(self._branch(key).members.live, message_ids)
        return {row.message_id: row.as_member() for row in rows if row is not None}

    def linked_members(self, key: BranchKey, message_ids: Collection[str]) -> list[Member]:
        """See ``ReadTransaction.linked_members``."""
        return [row.as_member() for row in self._branch(key).members.all_live() if row.link_id in message_ids]

    def body(self, key: BranchKey, message_id: str, number: int) -> bytes:
        """See ``ReadTransaction.body``."""
        try:
            return self._store.bodies[number]
        except KeyError:
            raise StoreCorruptError("a stored message is missing") from None

    def index_of(self, key: BranchKey, order_key: int) -> int:
        """See ``ReadTransaction.index_of``."""
        return sum(row.order_key < order_key for row in self._branch(key).members.all_live())

    def order_keys_at(self, key: BranchKey, index: int, count: int) -> list[int]:
        """See ``ReadTransaction.order_keys_at``."""
        live = self._branch(key).members.all_live()
        return [row.order_key for row in islice(live, index, index + count)]

    def view_members(self, key: BranchKey, epoch: int, message_ids: Collection[str]) -> set[str]:
        """See ``ReadTransaction.view_members``."""
        rows = self._rows(key, epoch)
        return {message_id for message_id in message_ids if rows.live(message_id) is not None}

    # Any revision

    def view_at(self, key: BranchKey, at: int) -> int | None:
        """See ``ReadTransaction.view_at``."""
        for epoch, view in self._branch(key).views.items():
            if view.begun <= at and (view.ended is None or view.ended > at):
                return epoch
        return None

    def count(self, key: BranchKey, at: int, view: int | None) -> int:
        """See ``ReadTransaction.count``."""
        return sum(1 for _ in self._rows(key, view).scan(at, None))

    def message_sizes(self, key: BranchKey, at: int, message_ids: Collection[str]) -> dict[str, int]:
        """See ``ReadTransaction.message_sizes``."""
        members = self._branch(key).members
        rows = (members.at(message_id, at) for message_id in message_ids)
        return {row.message_id: len(self._store.bodies[row.body]) for row in rows if row is not None}

    def read_selected(
        self, key: BranchKey, at: int, message_ids: Sequence[str], max_bytes: int
    ) -> list[bytes]:
        """See ``ReadTransaction.read_selected``."""
        bodies: list[bytes] = []
        for message_id in message_ids:
            body = self._body_at(key, at, message_id)
            max_bytes -= len(body)
            if bodies and max_bytes < 0:
                break
            bodies.append(body)
        return bodies

    def _body_at(self, key: BranchKey, at: int, message_id: str) -> bytes:
        row = self._branch(key).members.at(message_id, at)
        if row is None:
            raise StoreCorruptError("a selected message is missing")
        return self.body(key, message_id, row.body)

    def read_ids(
        self, key: BranchKey, at: int, *, view: int | None, after: str | None, limit: int
    ) -> list[str]:
        """See ``ReadTransaction.read_ids``."""
        return [row.message_id for row in islice(self._rows(key, view).scan(at, after), limit)]

    def read_messages(
        self,
        key: BranchKey,
        at: int,
        *,
        view: int | None,
        after: str | None,
        limit: int,
        max_bytes: int,
        kinds: Collection[int] = (),
        descending: bool = False,
    ) -> MessagePage:
        """See ``ReadTransaction.read_messages``."""
        bodies: list[bytes] = []
        for row in self._rows(key, view).scan(at, after, descending):
            if kinds and row.kind not in kinds:
                continue
            body = self._body_at(key, at, row.message_id)
            max_bytes -= len(body)
            if len(bodies) == limit or (bodies and max_bytes < 0):
                return MessagePage(bodies, complete=False)
            bodies.append(body)
        return MessagePage(bodies, complete=True)

    def places(
        self, key: BranchKey, at: int, view: int | None, message_ids: Collection[str]
    ) -> dict[str, Place]:
        """See ``ReadTransaction.places``."""
        rows, members = self._rows(key, view), self._branch(key).members
        found = ((rows.at(message_id, at), members.at(message_id, at)) for message_id in message_ids)
        return {
            row.message_id: Place(row.order_key, member.body)
            for row, member in found
            if row is not None and member is not None
        }

    def count_between(self, key: BranchKey, at: int, view: int | None, low: int, high: int | None) -> int:
        """See ``ReadTransaction.count_between``."""
        rows = self._rows(key, view).ordered
        start = bisect_right(rows, low, key=order_key_of)
        end = len(rows) if high is None else bisect_left(rows, high, key=order_key_of)
        return sum(row.lives_at(at) for row in rows[start:end])

    def changes(self, key: BranchKey, after_revision: int, limit: int) -> list[ChangeRow]:
        """See ``ReadTransaction.changes``."""
        changes = self._branch(key).changes
        start = bisect_right(changes, after_revision, key=lambda change: change.revision)
        return changes[start : start + limit]

    # Writing: the directory

    def insert_branch(self, branch: BranchRow, metadata_json: str) -> None:
        """See ``WriteTransaction.insert_branch``."""
        address = branch.key.tenant_id, branch.key.branch_id
        self._store.branches[address] = BranchRecord(branch.copied(), [(branch.revision, metadata_json)])
        self._undo.append(lambda: self._store.branches.pop(address))

    def save_head(self, branch: BranchRow) -> None:
        """See ``WriteTransaction.save_head``."""
        stored = self._branch(branch.key)
        former, stored.row = stored.row, branch.copied()
        self._undo.append(lambda: setattr(stored, "row", former))

    def put_metadata(self, key: BranchKey, revision: int, metadata_json: str) -> None:
        """See ``WriteTransaction.put_metadata``."""
        versions = self._branch(key).metadata
        versions.append((revision, metadata_json))
        self._undo.append(versions.pop)

    def record_response(
        self, tenant_id: str, request_id: str, recorded: RecordedResponse, recorded_at: int
    ) -> None:
        """See ``WriteTransaction.record_response``."""
        address = tenant_id, request_id
        self._store.responses[address] = recorded_at, recorded
        self._undo.append(lambda: self._store.responses.pop(address))

    def forget_responses(self, tenant_id: str, request_ids: Sequence[str]) -> None:
        """See ``WriteTransaction.forget_responses``."""
        responses = self._store.responses
        addresses = [(tenant_id, request_id) for request_id in request_ids]
        dropped = {address: responses.pop(address) for address in addresses if address in responses}
        self._undo.append(lambda: responses.update(dropped))

    def expire_responses(self, recorded_before: int, limit: int) -> int:
        """See ``WriteTransaction.expire_responses``."""
        responses = self._store.responses
        old = [(entry[0], address) for address, entry in responses.items() if entry[0] < recorded_before]
        addresses = [address for _, address in sorted(old)[:limit]]
        dropped = {address: responses.pop(address) for address in addresses}
        self._undo.append(lambda: responses.update(dropped))
        return len(dropped)

    def append_change(
        self, key: BranchKey, revision: int, kind: int, ignorable: bool, payload: bytes
    ) -> None:
        """See ``WriteTransaction.append_change``."""
        store = self._store
        changes = self._branch(key).changes
        changes.append(ChangeRow(revision, kind, ignorable, payload, store.writer_id, store.next_counter()))
        self._undo.append(changes.pop)

    # Writing: members

    def insert_members(self, key: BranchKey, revision: int, rows: Sequence[NewMember]) -> None:
        """See ``WriteTransaction.insert_members``."""
        for new in rows:
            body = self._store.add_body(new.body) if isinstance(new.body, bytes) else new.body
            row = Row(new.order_key, new.message_id, revision, None, new.kind, new.link_id, new.interim, body)
            self._add(self._branch(key).members, row)
            self._refer([body], 1)

    def _add(self, rows: Rows, row: Row) -> None:
        rows.add(row)
        self._undo.append(lambda: rows.discard(row))

    def _refer(self, bodies: Iterable[int], times: int) -> None:
        """Count rows that refer to bodies, or do not any more; a body nobody refers to goes."""
        numbers = list(bodies)
        uses, stored = self._store.body_uses, self._store.bodies
        for number in numbers:
            uses[number] += times
        gone = {number: stored.pop(number) for number in set(numbers) if uses[number] == 0}

        def restore() -> None:
            stored.update(gone)
            for number in numbers:
                uses[number] -= times
                if uses[number] == 0:
                    stored.pop(number, None)

        self._undo.append(restore)

    def _end(self, rows: Iterable[Row], revision: int) -> int:
        ended = list(rows)
        for row in ended:
            row.removed = revision

        def restore() -> None:
            for row in ended:
                row.removed = None

        self._undo.append(restore)
        return len(ended)

    def remove_members(self, key: BranchKey, revision: int, message_ids: Collection[str]) -> None:
        """See ``WriteTransaction.remove_members``."""
        rows = map(self._branch(key).members.live, message_ids)
        self._end((row for row in rows if row is not None), revision)

    def remove_all_members(self, key: BranchKey, revision: int, keep: str | None) -> None:
        """See ``WriteTransaction.remove_all_members``."""
        live = self._branch(key).members.all_live()
        self._end((row for row in live if row.message_id != keep), revision)

    def order_keys_between(self, key: BranchKey, low: int, high: int) -> list[int]:
        """See ``WriteTransaction.order_keys_between``."""
        rows = self._branch(key).members.ordered
        start = bisect_left(rows, low, key=order_key_of)
        end = bisect_right(rows, high, key=order_key_of)
        return sorted({row.order_key for row in rows[start:end]})

    def relabel(self, key: BranchKey, new_keys: Mapping[int, int]) -> None:
        """See ``WriteTransaction.relabel``."""
        rows = self._branch(key).members.ordered
        former = [row.order_key for row in rows]
        for row in rows:
            row.order_key = new_keys.get(row.order_key, row.order_key)
        rows.sort(key=order_key_of)

        def restore() -> None:
            # The relative order is the same before and after.
            for row, order_key in zip(rows, former, strict=True):
                row.order_key = order_key

        self._undo.append(restore)

    # Writing: views

    def begin_view(self, key: BranchKey, epoch: int) -> None:
        """See ``WriteTransaction.begin_view``."""
        views = self._branch(key).views
        views[epoch] = View(epoch)
        self._undo.append(lambda: views.pop(epoch))

    def end_view(self, key: BranchKey, epoch: int, revision: int) -> None:
        """See ``WriteTransaction.end_view``."""
        view = self._branch(key).views[epoch]
        view.ended = revision
        self._undo.append(lambda: setattr(view, "ended", None))

    def insert_view_rows(
        self, key: BranchKey, epoch: int, revision: int, rows: Sequence[tuple[int, str]]
    ) -> None:
        """See ``WriteTransaction.insert_view_rows``."""
        for order_key, message_id in rows:
            self._add(self._rows(key, epoch), Row(order_key, message_id, revision))

    def remove_view_rows(
        self, key: BranchKey, epoch: int, revision: int, message_ids: Collection[str]
    ) -> int:
        """See ``WriteTransaction.remove_view_rows``."""
        rows = map(self._rows(key, epoch).live, message_ids)
        return self._end((row for row in rows if row is not None), revision)

    def remove_all_view_rows(self, key: BranchKey, epoch: int, revision: int, keep: str | None) -> None:
        """See ``WriteTransaction.remove_all_view_rows``."""
        live = self._rows(key, epoch).all_live()
        self._end((row for row in live if row.message_id != keep), revision)
