"""The reading half of the storage port over a SQLite connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import apsw

from antiphon_client.errors import StoreCorruptError
from history_service.storage import codec
from history_service.storage.codec import MEMBER_COLUMNS, id_blob, id_text
from history_service.storage.port import (
    AnchorNotFoundError,
    BranchAnchor,
    BranchKey,
    BranchRow,
    ChangeRow,
    CutMember,
    Member,
    MessagePage,
    Place,
    RecordedResponse,
)
from history_service.storage.sqlite import bodies_sql, keys
from history_service.storage.sqlite.bodies_sql import at_revision
from history_service.storage.sqlite.change_chain import CHANGES
from history_service.storage.sqlite.codec import (
    BRANCH_COLUMNS,
    KeyColumns,
    NumberedBranch,
    branch_row,
    key_columns,
)
from history_service.storage.sqlite.exchange import SqliteExchangeReads
from history_service.storage.sqlite.scans import Scan, joined_ids_sql, scan_sql

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import BranchCipher, StoreKeys

_OF_BRANCH = "tenant_id = ? AND lineage_id = ? AND branch_id = ?"

_BRANCH = f"SELECT {BRANCH_COLUMNS} FROM branch WHERE tenant_id = ? AND branch_id = ?"
_HEAD_REVISION = "SELECT revision FROM branch WHERE tenant_id = ? AND branch_id = ?"
_BRANCH_OF_EXTERNAL_KEY = (
    "SELECT branch_id FROM branch WHERE tenant_id = ? AND external_key = ? AND deleted = 0"
)
_BRANCH_LIST_INDEXES = {
    (False, False): "branch_by_age",
    (False, True): "branch_by_external_key",
    (True, False): "branch_by_parent",
    (True, True): "branch_by_parent_and_key",
}
"""By whether the list is of a parent's branches, and whether it is by external key."""
_METADATA = (
    f"SELECT revision, metadata_json FROM branch_metadata WHERE {_OF_BRANCH} AND revision <= ?"
    " ORDER BY revision DESC LIMIT 1"
)
_RECORDED = "SELECT request_hash, response FROM recorded_response WHERE tenant_id = ? AND request_id = ?"

_LIVE_MEMBER = f"FROM member WHERE {_OF_BRANCH} AND removed_revision IS NULL"
_MEMBER = f"SELECT {MEMBER_COLUMNS} {_LIVE_MEMBER} AND message_id = ?"
_LINKED = f"SELECT {MEMBER_COLUMNS} {_LIVE_MEMBER} AND link_id = ?"
_INDEX_OF = f"SELECT count(*) {_LIVE_MEMBER} AND order_key < ?"
_ORDER_KEYS_AT = f"SELECT order_key {_LIVE_MEMBER} ORDER BY order_key LIMIT ? OFFSET ?"
_VIEW_MEMBER = (
    f"SELECT message_id FROM view_row WHERE {_OF_BRANCH} AND epoch = ?"
    " AND removed_revision IS NULL AND message_id = ?"
)
_VIEW_AT = (
    f"SELECT epoch FROM view WHERE {_OF_BRANCH} AND epoch <= ?"
    " AND (ended_revision IS NULL OR ended_revision > ?) ORDER BY epoch DESC LIMIT 1"
)


_COUNT = at_revision("count(*)", "member", _OF_BRANCH)
_COUNT_VIEW = at_revision("count(*)", "view_row", f"{_OF_BRANCH} AND epoch = ?")
_KEY_AT = at_revision("order_key", "member", f"{_OF_BRANCH} AND message_id = ?")
_VIEW_KEY_AT = at_revision("order_key", "view_row", f"{_OF_BRANCH} AND epoch = ? AND message_id = ?")
_PLACE_AT = at_revision("message_id, order_key, body", "member", f"{_OF_BRANCH} AND message_id = ?")
_VIEW_PLACE_AT = at_revision(
    "message_id, order_key", "view_row", f"{_OF_BRANCH} AND epoch = ? AND message_id = ?"
)
_BETWEEN = "order_key > ? AND order_key < ?"
_COUNT_BETWEEN = at_revision("count(*)", "member", f"{_OF_BRANCH} AND {_BETWEEN}")
_COUNT_VIEW_BETWEEN = at_revision("count(*)", "view_row", f"{_OF_BRANCH} AND epoch = ? AND {_BETWEEN}")
_NO_BOUND = 2**63 - 1
_HELD_SINCE = (
    f"SELECT message_id {_LIVE_MEMBER} AND message_id = ? UNION ALL"
    f" SELECT message_id FROM member INDEXED BY ended_member_by_message WHERE {_OF_BRANCH}"
    " AND message_id = ? AND removed_revision > ?"
)
_KIND_AT = at_revision("kind, order_key", "member", f"{_OF_BRANCH} AND message_id = ?")
# Parameters: the branch's three, at, up to; then the branch's three, at twice, up to.
_LINKED_AT = (
    "SELECT order_key, message_id, kind, link_id, body FROM member INDEXED BY member_by_link"
    f" WHERE {_OF_BRANCH} AND removed_revision IS NULL AND link_id IS NOT NULL AND added_revision <= ?"
    " AND order_key <= ?"
    " UNION ALL SELECT order_key, message_id, kind, link_id, body FROM member INDEXED BY ended_member_by_age"
    f" WHERE {_OF_BRANCH} AND removed_revision > ? AND added_revision <= ? AND order_key <= ?"
    " AND link_id IS NOT NULL"
)
_LAST = itemgetter(-1)
_TO_SWEEP = f"SELECT {BRANCH_COLUMNS} FROM branch WHERE sweep_after <= ? ORDER BY sweep_after LIMIT ?"


class SqliteReadTransaction:
    """The primitives of ``ReadTransaction``, each one prepared statement or a few."""

    def __init__(self, connection: apsw.Connection, store_keys: StoreKeys | None = None) -> None:
        """Read through a connection; who made it begins and ends its transactions.

        Args:
            connection: The connection.
            store_keys: The keys of an encrypted store.
        """
        self._connection = connection
        self._keys = store_keys
        self._bodies_sql = bodies_sql.CLEAR if store_keys is None else bodies_sql.SEALED
        self._exchange_reads = SqliteExchangeReads(connection, store_keys)

    @property
    def exchange(self) -> SqliteExchangeReads:
        """See ``ReadTransaction.exchange``."""
        return self._exchange_reads

    # Directory

    def branch(self, tenant_id: str, branch_id: str) -> BranchRow | None:
        """See ``ReadTransaction.branch``."""
        found = self._numbered_branch(tenant_id, branch_id)
        return None if found is None else found.row

    def _numbered_branch(self, tenant_id: str, branch_id: str) -> NumberedBranch | None:
        columns: Any = self._connection.execute(_BRANCH, (tenant_id, id_blob(branch_id))).fetchone()
        return None if columns is None else branch_row(columns)

    def revisions(self, branches: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """See ``ReadTransaction.revisions``."""
        found = {address: self.branch(*address) for address in branches}
        return {address: row.revision for address, row in found.items() if row is not None}

    def branch_id_of_external_key(self, tenant_id: str, external_key: str) -> str | None:
        """See ``ReadTransaction.branch_id_of_external_key``."""
        blob = self._value(_BRANCH_OF_EXTERNAL_KEY, (tenant_id, external_key.encode()))
        return codec.optional_id_text(blob)

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
        self._look_at_heads()
        conditions = ["tenant_id = :tenant", "deleted = 0"]
        values: dict[str, Any] = {"tenant": tenant_id, "limit": limit}
        if parent_branch_id is not None:
            conditions.append("parent_branch_id = :parent")
            values["parent"] = id_blob(parent_branch_id)
        if external_key_prefix is None:
            order = "created_at, branch_id"
            if after is not None:
                conditions.append("(created_at, branch_id) > (:created_at, :after)")
                values |= {"created_at": after.created_at, "after": id_blob(after.branch_id)}
        else:
            order = "external_key"
            prefix = external_key_prefix.encode()
            anchor = None if after is None else after.external_key.encode()
            # One lower bound: of two, SQLite seeks by the first and walks up to the other.
            if anchor is None or anchor < prefix:
                conditions.append("external_key >= :low")
                values["low"] = prefix
            else:
                conditions.append("external_key > :low")
                values["low"] = anchor
            conditions.append("external_key < :high")
            values["high"] = _end_of_prefix(prefix)
        where = " AND ".join(conditions)
        index = _BRANCH_LIST_INDEXES[parent_branch_id is not None, external_key_prefix is not None]
        sql = (
            f"SELECT {BRANCH_COLUMNS} FROM branch INDEXED BY {index}"  # nosec B608: of constants of the code
            f" WHERE {where} ORDER BY {order} LIMIT :limit"
        )
        rows: Any = self._connection.execute(sql, values)
        return [branch_row(columns).row for columns in rows]

    def metadata(self, key: BranchKey, at: int) -> str:
        """See ``ReadTransaction.metadata``."""
        found: Any = self._connection.execute(_METADATA, (*self._columns(key), at)).fetchone()
        if found is None:
            raise StoreCorruptError("a branch has no metadata row")
        revision: int = found[0]
        text: str = found[1]
        return text if self._keys is None else self._keys.open_metadata(self._cipher(key), revision, text)

    def recorded_response(self, tenant_id: str, request_id: str) -> RecordedResponse | None:
        """See ``ReadTransaction.recorded_response``."""
        blob = id_blob(request_id)
        found: Any = self._connection.execute(_RECORDED, (tenant_id, blob)).fetchone()
        if found is not None and self._keys is not None:
            found = self._keys.store.open_response(tenant_id, blob, *found)
        return None if found is None else RecordedResponse(*found)

    # Live members

    def members(self, key: BranchKey, message_ids: Collection[str]) -> dict[str, Member]:
        """See ``ReadTransaction.members``."""
        found = (
            codec.member(columns) for columns in self._for_each_id(_MEMBER, self._columns(key), message_ids)
        )
        return {member.message_id: member for member in found}

    def linked_members(self, key: BranchKey, message_ids: Collection[str]) -> list[Member]:
        """See ``ReadTransaction.linked_members``."""
        rows = self._for_each_id(_LINKED, self._columns(key), message_ids)
        return sorted((codec.member(columns) for columns in rows), key=lambda member: member.order_key)

    def body(self, key: BranchKey, message_id: str, number: int) -> bytes:
        """See ``ReadTransaction.body``."""
        row = (*self._columns(key), id_blob(message_id), number)
        found: Any = self._connection.execute(self._bodies_sql.body, row + row).fetchall()
        return _present(next(self._opened(key, found), None))

    def index_of(self, key: BranchKey, order_key: int) -> int:
        """See ``ReadTransaction.index_of``."""
        return int(self._value(_INDEX_OF, (*self._columns(key), order_key)))

    def order_keys_at(self, key: BranchKey, index: int, count: int) -> list[int]:
        """See ``ReadTransaction.order_keys_at``."""
        rows: Any = self._connection.execute(_ORDER_KEYS_AT, (*self._columns(key), count, index))
        return [order_key for (order_key,) in rows]

    def view_members(self, key: BranchKey, epoch: int, message_ids: Collection[str]) -> set[str]:
        """See ``ReadTransaction.view_members``."""
        rows = self._for_each_id(_VIEW_MEMBER, (*self._columns(key), epoch), message_ids)
        return {id_text(message_id) for (message_id,) in rows}

    # Any revision

    def view_at(self, key: BranchKey, at: int) -> int | None:
        """See ``ReadTransaction.view_at``."""
        epoch = self._value(_VIEW_AT, (*self._columns(key), at, at))
        return None if epoch is None else int(epoch)

    def count(self, key: BranchKey, at: int, view: int | None) -> int:
        """See ``ReadTransaction.count``."""
        scope: tuple[Any, ...] = self._columns(key) if view is None else (*self._columns(key), view)
        sql = _COUNT if view is None else _COUNT_VIEW
        rows: Any = self._connection.execute(sql, _twice(scope, at))
        return sum(number for (number,) in rows)

    def message_sizes(self, key: BranchKey, at: int, message_ids: Collection[str]) -> dict[str, int]:
        """See ``ReadTransaction.message_sizes``."""
        return {
            id_text(message_id): size if self._keys is None else self._keys.size_of(size, wrapped)
            for message_id, size, wrapped in self._at_revision(self._bodies_sql.size_at, key, at, message_ids)
        }

    def read_selected(
        self, key: BranchKey, at: int, message_ids: Sequence[str], max_bytes: int
    ) -> list[bytes]:
        """See ``ReadTransaction.read_selected``."""
        bodies: list[bytes] = []
        total = 0
        rows = self._at_revision(self._bodies_sql.body_at, key, at, message_ids)
        for found in self._opened(key, rows):
            body = _present(found)
            total += len(body)
            if bodies and total > max_bytes:
                return bodies
            bodies.append(body)
        if len(bodies) != len(message_ids):
            raise StoreCorruptError("a selected message is missing")
        return bodies

    def read_ids(
        self, key: BranchKey, at: int, *, view: int | None, after: str | None, limit: int
    ) -> list[str]:
        """See ``ReadTransaction.read_ids``."""
        scan, values = self._plan("ids", key, at, view=view, after=after, limit=limit)
        found: Any = self._connection.execute(joined_ids_sql(scan), values).fetchone()
        return codec.joined_id_texts(found[0] or b"")

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
        scan, values = self._plan(
            # One row more than asked tells whether the selection goes on.
            "bodies",
            key,
            at,
            view=view,
            after=after,
            limit=limit + 1,
            kinds=kinds,
            descending=descending,
        )
        bodies: list[bytes] = []
        total = 0
        for body in self._opened(key, self._connection.execute(scan_sql(scan), values)):
            if body is None:
                raise _no_body()
            total += len(body)
            if total > max_bytes and bodies:
                return MessagePage(bodies[:limit], False)
            bodies.append(body)
        return MessagePage(bodies[:limit], len(bodies) <= limit)

    def places(
        self, key: BranchKey, at: int, view: int | None, message_ids: Collection[str]
    ) -> dict[str, Place]:
        """See ``ReadTransaction.places``."""
        members = {
            message_id: Place(order_key, body)
            for message_id, order_key, body in self._at_revision(_PLACE_AT, key, at, message_ids)
        }
        if view is not None:
            scope = (*self._columns(key), view)
            values = [_twice((*scope, message_id), at) for message_id in members]
            rows: Any = self._connection.executemany(_VIEW_PLACE_AT, values)
            members = {
                message_id: Place(order_key, members[message_id].body) for message_id, order_key in rows
            }
        return {id_text(message_id): place for message_id, place in members.items()}

    def count_between(self, key: BranchKey, at: int, view: int | None, low: int, high: int | None) -> int:
        """See ``ReadTransaction.count_between``."""
        scope: tuple[Any, ...] = self._columns(key) if view is None else (*self._columns(key), view)
        sql = _COUNT_BETWEEN if view is None else _COUNT_VIEW_BETWEEN
        bounds = (low, _NO_BOUND if high is None else high)
        rows: Any = self._connection.execute(sql, _twice((*scope, *bounds), at))
        return sum(number for (number,) in rows)

    def changes(self, key: BranchKey, after_revision: int, limit: int) -> list[ChangeRow]:
        """See ``ReadTransaction.changes``."""
        rows: list[Any] = []
        columns, after, beyond = self._columns(key), after_revision, True
        while beyond and len(rows) < limit:
            wanted = after + limit - len(rows)
            newest_first: Any = self._connection.execute(CHANGES, (*columns, wanted, after + 1)).fetchall()
            rows += [row for row in reversed(newest_first) if row[0] > after]
            # Where records were erased, a milestone may be far off and yet have few before it.
            beyond = bool(newest_first) and newest_first[0][0] >= wanted
            after = newest_first[0][0] if newest_first else after
        return [
            ChangeRow(revision, kind, bool(ignorable), payload, id_text(writer_id), counter)
            for revision, kind, ignorable, payload, writer_id, counter in rows[:limit]
        ]

    # Forks and retention

    def order_key(self, key: BranchKey, at: int, message_id: str) -> int | None:
        """See ``ReadTransaction.order_key``."""
        found = self._value(_KEY_AT, _twice((*self._columns(key), id_blob(message_id)), at))
        return None if found is None else int(found)

    def held_since(self, key: BranchKey, revision: int, message_ids: Collection[str]) -> set[str]:
        """See ``ReadTransaction.held_since``."""
        columns = self._columns(key)
        values = [(*columns, blob, *columns, blob, revision) for blob in map(id_blob, message_ids)]
        return {id_text(message_id) for (message_id,) in self._connection.executemany(_HELD_SINCE, values)}

    def cut_members(self, key: BranchKey, at: int, up_to: int) -> list[CutMember]:
        """See ``ReadTransaction.cut_members``."""
        columns = self._columns(key)
        linked: Any = self._connection.execute(_LINKED_AT, (*columns, at, up_to, *columns, at, at, up_to))
        found = []
        for _, message_id, kind, link_id, body in sorted(linked):
            other: Any = self._connection.execute(_KIND_AT, _twice((*columns, link_id), at)).fetchone()
            if other is not None and other[1] > up_to:
                found.append(CutMember(id_text(message_id), kind, other[0], body))
        return found

    def branches_to_sweep(self, due: int, limit: int) -> list[BranchRow]:
        """See ``ReadTransaction.branches_to_sweep``."""
        rows: Any = self._connection.execute(_TO_SWEEP, (due, limit))
        return [branch_row(columns).row for columns in rows]

    # Shared by the primitives

    def _look_at_heads(self) -> None:
        """Comes before a look at many branches' heads."""

    def _columns(self, key: BranchKey) -> KeyColumns:
        """The leading columns of a branch's rows; every primitive that looks at them asks here first."""
        return key_columns(key)

    def _cipher(self, key: BranchKey) -> BranchCipher | None:
        """What a branch's contents are encrypted with; None for a branch without a key."""
        if self._keys is None:
            return None
        tenant, lineage, branch = key_columns(key)
        wrapped = self._value(keys.OF_BRANCH, (tenant, branch))
        return None if wrapped is None else self._keys.ring.branch_cipher(wrapped, tenant, lineage, branch)

    def _opened(self, key: BranchKey, rows: Iterable[Any]) -> Iterator[bytes | None]:
        """The bodies of rows that end as ``bodies_sql`` has it; None where one is missing."""
        if self._keys is None:
            return map(_LAST, rows)
        return self._decrypted(key, rows, self._keys)

    def _decrypted(
        self, key: BranchKey, rows: Iterable[Any], store_keys: StoreKeys
    ) -> Iterator[bytes | None]:
        cipher = self._cipher(key)
        for *_, message_id, number, wrapped, stored in rows:
            if stored is None:
                yield None
            else:
                yield store_keys.open_body(cipher, message_id, number, wrapped, stored)

    def _value(self, sql: str, values: tuple[Any, ...]) -> Any:
        """The first column of the first row, or None."""
        row = self._connection.execute(sql, values).fetchone()
        return None if row is None else row[0]

    def _for_each_id(self, sql: str, scope: tuple[Any, ...], message_ids: Iterable[str]) -> Iterator[Any]:
        """The rows of one statement run for each id, which is its last parameter."""
        return self._connection.executemany(
            sql, [(*scope, id_blob(message_id)) for message_id in message_ids]
        )

    def _at_revision(self, sql: str, key: BranchKey, at: int, message_ids: Iterable[str]) -> Iterator[Any]:
        """The rows of an ``_at_revision`` statement run for each id, read as they are consumed."""
        scope = self._columns(key)
        values = (_twice((*scope, id_blob(message_id)), at) for message_id in message_ids)
        return self._connection.executemany(sql, values)

    def _plan(
        self,
        what: Any,
        key: BranchKey,
        at: int,
        *,
        view: int | None,
        after: str | None,
        limit: int,
        kinds: Collection[int] = (),
        descending: bool = False,
    ) -> tuple[Scan, dict[str, Any]]:
        """A scan and its parameters."""
        tenant, lineage, branch = self._columns(key)
        at_head = at >= self._value(_HEAD_REVISION, (tenant, branch))
        values: dict[str, Any] = {"tenant": tenant, "lineage": lineage, "branch": branch, "limit": limit}
        if not at_head:
            values["at"] = at
        if view is not None:
            values["epoch"] = view
        if after is not None:
            values["after"] = self._order_key(key, at, view, after)
        values |= {f"kind{number}": kind for number, kind in enumerate(sorted(kinds))}
        sealed = self._bodies_sql.sealed and what == "bodies"
        scan = Scan(what, view is not None, at_head, len(kinds), after is not None, descending, sealed)
        return scan, values

    def _order_key(self, key: BranchKey, at: int, view: int | None, message_id: str) -> int:
        scope: tuple[Any, ...] = self._columns(key) if view is None else (*self._columns(key), view)
        sql = _KEY_AT if view is None else _VIEW_KEY_AT
        found = self._value(sql, _twice((*scope, id_blob(message_id)), at))
        if found is None:
            raise AnchorNotFoundError(message_id)
        return int(found)


def _twice(scope: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    """The parameters of an ``_at_revision`` statement."""
    return (*scope, at, *scope, at, at)


def _present(body: bytes | None) -> bytes:
    if body is None:
        raise _no_body()
    return body


def _no_body() -> StoreCorruptError:
    return StoreCorruptError("a message has no body")


def _end_of_prefix(prefix: bytes) -> bytes:
    """The least bytes after all that start with a prefix of UTF-8 (which never holds 0xFF)."""
    return prefix[:-1] + bytes([prefix[-1] + 1]) if prefix else b"\xff"
