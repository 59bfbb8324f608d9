"""The reading half of the storage port over a connection to PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from antiphon_client.errors import StoreCorruptError
from history_service.storage import codec
from history_service.storage.codec import id_blob, id_text
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
from history_service.storage.postgres import keys
from history_service.storage.postgres import reading_sql as sql
from history_service.storage.postgres.columns import branch_row, key_columns, of_branch
from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.exchange import PostgresExchangeReads
from history_service.storage.postgres.scans import Scan, bodies_sql, ids_sql
from history_service.storage.sealed import require_clear, require_clear_text

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import BranchCipher, StoreKeys

_Row = tuple["bytes | None", bool, bool]
"""A body, whether it fits, whether there is one."""
_NO_BOUND = 2**63 - 1


class PostgresReadTransaction:
    """The primitives of ``ReadTransaction``, each one statement or two."""

    def __init__(self, session: Session, store_keys: StoreKeys | None = None) -> None:
        """Read through a session, for the time of one transaction; who made it begins and ends it.

        Args:
            session: The session.
            store_keys: The keys of an encrypted store.
        """
        self._session = session
        self._keys = store_keys
        self._revisions: dict[tuple[str, str], int] = {}
        self._wrapped_keys: dict[tuple[str, str], bytes | None] = {}
        self._exchange_reads = PostgresExchangeReads(session, store_keys)

    @property
    def exchange(self) -> PostgresExchangeReads:
        """See ``ReadTransaction.exchange``."""
        return self._exchange_reads

    # Directory

    def branch(self, tenant_id: str, branch_id: str) -> BranchRow | None:
        """See ``ReadTransaction.branch``."""
        values = {"tenant": tenant_id.encode(), "branch": id_blob(branch_id)}
        columns = self._session.row(sql.BRANCH if self._keys is None else sql.BRANCH_WITH_KEY, values)
        if columns is None:
            return None
        if self._keys is not None:
            columns, self._wrapped_keys[tenant_id, branch_id] = columns[:-1], columns[-1]
        row = branch_row(columns)
        self._revisions[tenant_id, branch_id] = row.revision
        return row

    def revisions(self, branches: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """See ``ReadTransaction.revisions``."""
        self._look_at_heads()
        values = {
            "tenants": [tenant_id.encode() for tenant_id, _ in branches],
            "branches": [id_blob(branch_id) for _, branch_id in branches],
        }
        return {
            (tenant.decode(), id_text(branch)): revision
            for tenant, branch, revision in self._session.rows(sql.REVISIONS, values)
        }

    def branch_id_of_external_key(self, tenant_id: str, external_key: str) -> str | None:
        """See ``ReadTransaction.branch_id_of_external_key``."""
        self._look_at_heads()
        values = {"tenant": tenant_id.encode(), "external_key": external_key.encode()}
        return codec.optional_id_text(self._session.value(sql.BRANCH_OF_EXTERNAL_KEY, values))

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
        values: dict[str, Any] = {"tenant": tenant_id.encode(), "limit": limit}
        anchored = after is not None
        if parent_branch_id is not None:
            values["parent"] = id_blob(parent_branch_id)
        if external_key_prefix is not None:
            prefix = external_key_prefix.encode()
            anchor = b"" if after is None else after.external_key.encode()
            anchored = anchored and anchor >= prefix
            values |= {"low": anchor if anchored else prefix, "high": _end_of_prefix(prefix)}
        elif after is not None:
            values |= {"created_at": after.created_at, "after": id_blob(after.branch_id)}
        statement = sql.list_branches(
            by_external_key=external_key_prefix is not None,
            of_parent=parent_branch_id is not None,
            anchored=anchored,
        )
        return [branch_row(columns) for columns in self._session.rows(statement, values)]

    def metadata(self, key: BranchKey, at: int) -> str:
        """See ``ReadTransaction.metadata``."""
        found = self._session.row(sql.METADATA, self._of(key, at=at))
        if found is None:
            raise StoreCorruptError("a branch has no metadata row")
        revision, text = found[0], str(found[1], "utf-8")
        if self._keys is None:
            return require_clear_text(text)
        return self._keys.open_metadata(self._cipher(key), revision, text)

    def recorded_response(self, tenant_id: str, request_id: str) -> RecordedResponse | None:
        """See ``ReadTransaction.recorded_response``."""
        blob = id_blob(request_id)
        found = self._session.row(sql.RECORDED, {"tenant": tenant_id.encode(), "request": blob})
        if found is None:
            return None
        if self._keys is not None:
            return RecordedResponse(*self._keys.store.open_response(tenant_id, blob, *found))
        return RecordedResponse(found[0], require_clear(found[1]))

    # Live members

    def members(self, key: BranchKey, message_ids: Collection[str]) -> dict[str, Member]:
        """See ``ReadTransaction.members``."""
        return self._stored_members(key, message_ids)

    def _stored_members(self, key: BranchKey, message_ids: Collection[str]) -> dict[str, Member]:
        rows: list[Any] = self._session.rows(sql.MEMBERS, of_branch(key, ids=_blobs(message_ids)))
        return {member.message_id: member for member in map(codec.member, rows)}

    def linked_members(self, key: BranchKey, message_ids: Collection[str]) -> list[Member]:
        """See ``ReadTransaction.linked_members``."""
        rows: list[Any] = self._session.rows(sql.LINKED, self._of(key, ids=_blobs(message_ids)))
        return [codec.member(columns) for columns in rows]

    def body(self, key: BranchKey, message_id: str, number: int) -> bytes:
        """See ``ReadTransaction.body``."""
        stored: bytes | None
        if self._keys is None:
            stored = self._session.value(sql.BODY, self._of(key, number=number))
            if stored is None:
                raise _no_body()
            return require_clear(stored)
        values = self._of(key, message=id_blob(message_id), number=number)
        found = self._session.row(sql.BODY_TO_OPEN, values)
        if found is None or found[-1] is None:
            raise _no_body()
        return self._keys.open_body(self._cipher(key), *found)

    def index_of(self, key: BranchKey, order_key: int) -> int:
        """See ``ReadTransaction.index_of``."""
        return int(self._session.value(sql.INDEX_OF, self._of(key, order_key=order_key)))

    def order_keys_at(self, key: BranchKey, index: int, count: int) -> list[int]:
        """See ``ReadTransaction.order_keys_at``."""
        rows = self._session.rows(sql.ORDER_KEYS_AT, self._of(key, index=index, count=count))
        return [order_key for (order_key,) in rows]

    def view_members(self, key: BranchKey, epoch: int, message_ids: Collection[str]) -> set[str]:
        """See ``ReadTransaction.view_members``."""
        values = self._of(key, epoch=epoch, ids=_blobs(message_ids))
        return {id_text(message_id) for (message_id,) in self._session.rows(sql.VIEW_MEMBERS, values)}

    # Any revision

    def view_at(self, key: BranchKey, at: int) -> int | None:
        """See ``ReadTransaction.view_at``."""
        epoch: int | None = self._session.value(sql.VIEW_AT, self._of(key, at=at))
        return epoch

    def count(self, key: BranchKey, at: int, view: int | None) -> int:
        """See ``ReadTransaction.count``."""
        statement = sql.COUNT if view is None else sql.COUNT_VIEW
        return int(self._session.value(statement, self._of(key, at=at, epoch=view)))

    def message_sizes(self, key: BranchKey, at: int, message_ids: Collection[str]) -> dict[str, int]:
        """See ``ReadTransaction.message_sizes``."""
        rows = self._session.rows(sql.SIZES, self._of(key, at=at, ids=_blobs(message_ids)))
        return {
            id_text(message_id): size if self._keys is None else self._keys.size_of(size, wrapped)
            for message_id, size, wrapped in rows
        }

    def read_selected(
        self, key: BranchKey, at: int, message_ids: Sequence[str], max_bytes: int
    ) -> list[bytes]:
        """See ``ReadTransaction.read_selected``."""
        statement = sql.SELECTED if self._keys is None else sql.SELECTED_TO_OPEN
        values = self._of(key, at=at, ids=_blobs(message_ids))
        page = _take(self._bodies(key, statement, values, max_bytes), len(message_ids))
        if page.complete and len(page.bodies) != len(message_ids):
            raise StoreCorruptError("a selected message is missing")
        return page.bodies

    def read_ids(
        self, key: BranchKey, at: int, *, view: int | None, after: str | None, limit: int
    ) -> list[str]:
        """See ``ReadTransaction.read_ids``."""
        scan, values = self._scan(key, at, view=view, after=after, limit=limit)
        return codec.id_texts([message_id for (message_id,) in self._session.rows(ids_sql(scan), values)])

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
        # One row more than asked tells whether the selection goes on.
        scan, values = self._scan(
            key, at, view=view, after=after, limit=limit + 1, kinds=kinds, descending=descending
        )
        return _take(self._bodies(key, bodies_sql(scan), values, max_bytes), limit)

    def places(
        self, key: BranchKey, at: int, view: int | None, message_ids: Collection[str]
    ) -> dict[str, Place]:
        """See ``ReadTransaction.places``."""
        rows = self._session.rows(sql.PLACES, self._of(key, at=at, ids=_blobs(message_ids)))
        members = {message_id: Place(order_key, body) for message_id, order_key, body in rows}
        if view is not None:
            values = self._of(key, at=at, epoch=view, ids=list(members))
            members = {
                message_id: Place(order_key, members[message_id].body)
                for message_id, order_key in self._session.rows(sql.VIEW_PLACES, values)
            }
        return {id_text(message_id): place for message_id, place in members.items()}

    def count_between(self, key: BranchKey, at: int, view: int | None, low: int, high: int | None) -> int:
        """See ``ReadTransaction.count_between``."""
        statement = sql.COUNT_BETWEEN if view is None else sql.COUNT_VIEW_BETWEEN
        bound = _NO_BOUND if high is None else high
        return int(self._session.value(statement, self._of(key, at=at, epoch=view, low=low, high=bound)))

    def changes(self, key: BranchKey, after_revision: int, limit: int) -> list[ChangeRow]:
        """See ``ReadTransaction.changes``."""
        rows = self._session.rows(sql.CHANGES, self._of(key, after=after_revision, limit=limit))
        return [
            ChangeRow(revision, kind, ignorable, payload, id_text(writer_id), counter)
            for revision, kind, ignorable, payload, writer_id, counter in rows
        ]

    # Forks and retention

    def order_key(self, key: BranchKey, at: int, message_id: str) -> int | None:
        """See ``ReadTransaction.order_key``."""
        place = self.places(key, at, None, [message_id]).get(message_id)
        return None if place is None else place.order_key

    def held_since(self, key: BranchKey, revision: int, message_ids: Collection[str]) -> set[str]:
        """See ``ReadTransaction.held_since``."""
        values = self._of(key, revision=revision, ids=_blobs(message_ids))
        return {id_text(message_id) for (message_id,) in self._session.rows(sql.HELD_SINCE, values)}

    def cut_members(self, key: BranchKey, at: int, up_to: int) -> list[CutMember]:
        """See ``ReadTransaction.cut_members``."""
        rows = self._session.rows(sql.CUT_MEMBERS, self._of(key, at=at, up_to=up_to))
        return [
            CutMember(id_text(message_id), kind, linked_kind, body)
            for message_id, kind, linked_kind, body in rows
        ]

    def branches_to_sweep(self, due: int, limit: int) -> list[BranchRow]:
        """See ``ReadTransaction.branches_to_sweep``."""
        self._look_at_heads()
        return [
            branch_row(columns) for columns in self._session.rows(sql.TO_SWEEP, {"due": due, "limit": limit})
        ]

    # Shared by the primitives

    def _look_at_heads(self) -> None:
        """Comes before a look at many branches' heads."""

    def _of(self, key: BranchKey, **values: Any) -> dict[str, Any]:
        """The values of a statement over a branch's rows; every primitive that looks at them asks here."""
        return of_branch(key, **values)

    def _scan(
        self,
        key: BranchKey,
        at: int,
        *,
        view: int | None,
        after: str | None,
        limit: int,
        kinds: Collection[int] = (),
        descending: bool = False,
    ) -> tuple[Scan, dict[str, Any]]:
        values = self._of(key, at=at, epoch=view, limit=limit, kinds=sorted(kinds))
        if after is not None:
            values["after"] = self._anchor(key, at, view, after)
        at_head = at >= self._head_revision(key)
        sealed = self._keys is not None
        return Scan(view is not None, at_head, bool(kinds), after is not None, descending, sealed), values

    def _cipher(self, key: BranchKey) -> BranchCipher | None:
        """What a branch's contents are encrypted with; None for a branch without a key."""
        if self._keys is None:
            return None
        address = key.tenant_id, key.branch_id
        if address not in self._wrapped_keys:
            self._wrapped_keys[address] = self._session.value(keys.OF_KEY, of_branch(key))
        wrapped = self._wrapped_keys[address]
        if wrapped is None:
            return None
        _, lineage, branch = key_columns(key)
        return self._keys.ring.branch_cipher(wrapped, key.tenant_id, lineage, branch)

    def _bodies(
        self, key: BranchKey, statement: str, values: dict[str, Any], max_bytes: int
    ) -> Iterator[_Row]:
        """The rows of a statement of ``cut_bodies``, with the bodies themselves."""
        values["max_bytes"] = max_bytes
        if self._keys is None:
            for stored, fits, is_there in self._session.rows(statement, values):
                yield (None if stored is None else require_clear(stored)), fits, is_there
            return
        values["overhead"] = self._keys.body_overhead
        cipher = self._cipher(key)
        for stored, fits, is_there, message_id, number, wrapped in self._session.rows(statement, values):
            body = None
            if stored is not None:
                body = self._keys.open_body(cipher, message_id, number, wrapped, stored)
            yield body, fits, is_there

    def _head_revision(self, key: BranchKey) -> int:
        """The branch's revision, as this transaction sees it."""
        address = key.tenant_id, key.branch_id
        if address not in self._revisions:
            self._revisions[address] = self._session.value(sql.HEAD_REVISION, of_branch(key))
        return self._revisions[address]

    def _anchor(self, key: BranchKey, at: int, view: int | None, message_id: str) -> int:
        place = self.places(key, at, view, [message_id]).get(message_id)
        if place is None:
            raise AnchorNotFoundError(message_id)
        return place.order_key


def _blobs(message_ids: Iterable[str]) -> list[bytes]:
    return [id_blob(message_id) for message_id in message_ids]


def _take(rows: Iterable[_Row], limit: int) -> MessagePage:
    """Take a page off rows of bodies."""
    bodies: list[bytes] = []
    for body, fits, is_there in rows:
        if not is_there:
            raise _no_body()
        if body is None or not fits or len(bodies) == limit:
            return MessagePage(bodies, False)
        bodies.append(body)
    return MessagePage(bodies, True)


def _no_body() -> StoreCorruptError:
    return StoreCorruptError("a message has no body")


def _end_of_prefix(prefix: bytes) -> bytes:
    """The least bytes after all that start with a prefix of UTF-8 (which never holds 0xFF)."""
    return prefix[:-1] + bytes([prefix[-1] + 1]) if prefix else b"\xff"
