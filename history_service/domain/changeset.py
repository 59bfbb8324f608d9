"""One write to one branch, gathered in memory and stored at its end.

Rules read through it and change through it; nothing reaches the transaction
before ``flush``, so that a rule that refuses leaves nothing to undo, and a
message changed twice in a write is stored once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from antiphon.message.v1 import message_pb2 as message_pb
from history_service.domain import changes
from history_service.domain.order_keys import GAP, SYSTEM_KEY
from history_service.domain.prepared import ACTION_REQUEST, PreparedMessage, decode, encode
from history_service.domain.views import replace_view
from history_service.storage.port import BranchRow, Member, NewMember, WriteTransaction

_ORDER_KEY = attrgetter("order_key")
_SINGLE_SCANS = 4
"""Indexes counted one by one; for more, one scan of the whole order serves all."""


@dataclass(slots=True)
class Entry:
    """One message of the branch as the write leaves it.

    Attributes:
        message_id: Its id.
        kind: Its ``MessageKind``.
        order_key: Where it stands.
        link_id: The other side of its action link.
        interim: Whether it is a response that does not answer.
        stored: Its live row before the write; None for a new message.
        body: Its new encoding, or the number of the stored one.
        message: It, decoded; None until someone needs it.
        dirty: Whether the write gives it a new version.
        stale: Whether ``message`` must be encoded again.
    """

    message_id: str
    kind: int
    order_key: int
    link_id: str | None
    interim: bool
    stored: Member | None
    body: bytes | int
    message: message_pb.Message | None = None
    dirty: bool = False
    stale: bool = False

    def new_row(self) -> NewMember:
        """Return the row that stores this version."""
        if self.stale and self.message is not None:
            self.body = encode(self.message)
        return NewMember(self.message_id, self.order_key, self.kind, self.link_id, self.interim, self.body)


class Changeset:
    """The write that makes ``branch.revision``, under way."""

    def __init__(self, tx: WriteTransaction, branch: BranchRow) -> None:
        self.tx = tx
        self.branch = branch
        self.operations: list[changes.Operation] = []
        self._entries: dict[str, Entry | None] = {}
        self._by_link: dict[str, dict[str, Entry]] = {}
        self._links_loaded: set[str] = set()
        self._appended: list[Entry] = []
        self._relinked: set[str] = set()
        self._removed: list[str] = []
        self._view_head: str | None = None
        self._view_removed: list[str] = []
        self._new_view: Sequence[str] | None = None
        self._had_system = branch.system_id is not None
        self._stored_count = branch.message_count
        self._scans = 0
        self._order_keys: list[int] | None = None

    # Reading

    @property
    def former_revision(self) -> int:
        """The revision the write begins from."""
        return self.branch.revision - 1

    def load(self, message_ids: Iterable[str]) -> None:
        """Look up messages ahead, all at once."""
        unknown = {message_id for message_id in message_ids if message_id not in self._entries}
        if not unknown:
            return
        found = self.tx.members(self.branch.key, unknown)
        for message_id in unknown:
            member = found.get(message_id)
            self._admit(message_id, member)

    def load_links(self, message_ids: Iterable[str]) -> None:
        """Look up, all at once, who is linked to messages."""
        unknown = {message_id for message_id in message_ids if message_id not in self._links_loaded}
        if not unknown:
            return
        self._links_loaded |= unknown
        for member in self.tx.linked_members(self.branch.key, unknown):
            if member.message_id not in self._entries:
                self._admit(member.message_id, member)

    def _admit(self, message_id: str, member: Member | None) -> None:
        if member is None:
            self._entries[message_id] = None
            return
        entry = Entry(
            message_id, member.kind, member.order_key, member.link_id, member.interim, member, member.body
        )
        self._entries[message_id] = entry
        if entry.link_id is not None:
            self._by_link.setdefault(entry.link_id, {})[message_id] = entry

    def find(self, message_id: str) -> Entry | None:
        """Return a message of the branch as the write has it so far."""
        if message_id not in self._entries:
            self.load([message_id])
        return self._entries[message_id]

    def linked_to(self, message_id: str) -> list[Entry]:
        """Return the messages whose link is this one, as the write has them so far."""
        self.load_links([message_id])
        return list(self._by_link.get(message_id, {}).values())

    def message(self, entry: Entry) -> message_pb.Message:
        """Return an entry's message, decoded. Change it through this class only."""
        if entry.message is None:
            body = entry.body
            if isinstance(body, int):
                body = self.tx.body(self.branch.key, entry.message_id, body)
            entry.message = decode(body)
        return entry.message

    def index_of(self, entry: Entry) -> int:
        """Return the index, after this write, of a message that the branch had before it.

        For a write that removes and moves nothing. Scans the index of the order,
        but a few times at most, however many messages are asked for.
        """
        if entry.order_key == SYSTEM_KEY:
            return 0
        system_came = self.branch.system_id is not None and not self._had_system
        return self._stored_index(entry.order_key) + system_came

    def _stored_index(self, order_key: int) -> int:
        tx, key = self.tx, self.branch.key
        if self._scans < _SINGLE_SCANS:
            self._scans += 1
            return tx.index_of(key, order_key)
        if self._order_keys is None:
            self._order_keys = tx.order_keys_at(key, 0, self._stored_count)
        return bisect_left(self._order_keys, order_key)

    # Changing

    def append(self, prepared: PreparedMessage) -> Entry:
        """Add a message at the end of the order, and of a selected view."""
        self.branch.last_key += GAP
        entry = self._enter(prepared, self.branch.last_key)
        self._appended.append(entry)
        return entry

    def put_system(self, prepared: PreparedMessage) -> Entry:
        """Put a system record of a new id at index 0, in the former one's place."""
        branch = self.branch
        former = branch.system_id
        if branch.view_epoch is not None:
            heads = former is None
            if former is not None and self.tx.view_members(branch.key, branch.view_epoch, [former]):
                heads = True
                self._view_removed.append(former)
            self._view_head = prepared.message_id if heads else None
        if former is not None:
            self._entries[former] = None
            self._removed.append(former)
            branch.message_count -= 1
        branch.system_id = prepared.message_id
        self.operations.append(("system", prepared.message_id, former))
        return self._enter(prepared, SYSTEM_KEY)

    def _enter(self, prepared: PreparedMessage, order_key: int) -> Entry:
        entry = Entry(
            message_id=prepared.message_id,
            kind=prepared.kind,
            order_key=order_key,
            link_id=prepared.link_id,
            interim=prepared.interim,
            stored=None,
            body=prepared.body,
            dirty=True,
        )
        self._entries[entry.message_id] = entry
        if entry.link_id is not None:
            self._by_link.setdefault(entry.link_id, {})[entry.message_id] = entry
        self.branch.message_count += 1
        return entry

    def replace(self, entry: Entry, prepared: PreparedMessage) -> None:
        """Give a message a new version in its place; its link stays, and its time unless a new one came."""
        # Decoded before the former version is let go.
        former = None if prepared.timed else self.message(entry)
        entry.body, entry.message = prepared.body, None
        entry.interim = prepared.interim
        entry.dirty = True
        entry.stale = False
        if former is not None:
            self.message(entry).created_at.CopyFrom(former.created_at)
            entry.stale = True
        if entry.link_id not in (None, prepared.link_id):
            self._write_link(entry)

    def set_link(self, entry: Entry, link_id: str | None) -> None:
        """Set or clear one side of an action link, in the row and in the message."""
        if entry.link_id is not None:
            self._by_link[entry.link_id].pop(entry.message_id, None)
        if link_id is not None:
            self._by_link.setdefault(link_id, {})[entry.message_id] = entry
        entry.link_id = link_id
        self._write_link(entry)
        if not entry.dirty:
            self._relinked.add(entry.message_id)
        entry.dirty = True

    def _write_link(self, entry: Entry) -> None:
        message = self.message(entry)
        if entry.kind == ACTION_REQUEST:
            _set_or_clear(message.action_request, "action_response_id", entry.link_id)
        else:
            _set_or_clear(message.action_response, "action_request_id", entry.link_id)
        entry.stale = True

    def move(self, entry: Entry, order_key: int) -> None:
        """Give a message another place."""
        entry.order_key = order_key
        self.branch.last_key = max(self.branch.last_key, order_key)
        entry.dirty = True

    def remove(self, message_ids: Collection[str]) -> None:
        """Take messages of the branch out of it and of its view; links are the caller's."""
        for message_id in message_ids:
            entry = self._entries[message_id]
            self._entries[message_id] = None
            if entry is not None and entry.link_id is not None:
                self._by_link[entry.link_id].pop(message_id, None)
        self.branch.message_count -= len(message_ids)
        self._removed.extend(message_ids)
        self._view_removed.extend(message_ids)
        self.operations.append(("remove", list(message_ids)))

    def select_view(self, message_ids: Sequence[str]) -> None:
        """Select messages of the branch, as the write leaves it, as its view in place of any other."""
        self._new_view = message_ids

    # Storing

    def flush(self) -> None:
        """Store the write: rows, view, change record and head."""
        tx, key, revision = self.tx, self.branch.key, self.branch.revision
        dirty = [entry for entry in self._entries.values() if entry is not None and entry.dirty]
        ended = self._removed + [entry.message_id for entry in dirty if entry.stored is not None]
        if ended:
            tx.remove_members(key, revision, ended)
        if dirty:
            dirty.sort(key=_ORDER_KEY)
            tx.insert_members(key, revision, [entry.new_row() for entry in dirty])
        if self._new_view is not None:
            replace_view(tx, self.branch, self._new_view)
        elif self.branch.view_epoch is not None:
            self._flush_view(self.branch.view_epoch)
        if self._appended:
            self.operations.append(
                ("append", self.first_appended_index, [e.message_id for e in self._appended])
            )
        if self._relinked:
            self.operations.append(("relink", sorted(self._relinked)))
        if self._new_view is not None:
            self.operations.append(("view", len(self._new_view)))
        changes.record(tx, self.branch, changes.ChangeKind.MEMBERSHIP, self.operations)
        tx.save_head(self.branch)

    def _flush_view(self, epoch: int) -> None:
        tx, branch = self.tx, self.branch
        if self._view_removed:
            branch.view_count -= tx.remove_view_rows(branch.key, epoch, branch.revision, self._view_removed)
        rows = [] if self._view_head is None else [(SYSTEM_KEY, self._view_head)]
        for entry in self._appended:
            branch.view_last_key += GAP
            rows.append((branch.view_last_key, entry.message_id))
        if rows:
            branch.view_count += len(rows)
            tx.insert_view_rows(branch.key, epoch, branch.revision, rows)

    @property
    def first_appended_index(self) -> int:
        """Index of the first message appended by this write."""
        return self.branch.message_count - len(self._appended)


def _set_or_clear(
    content: message_pb.ActionRequestContent | message_pb.ActionResponseContent, field: str, value: str | None
) -> None:
    if value is None:
        content.ClearField(field)  # type: ignore[arg-type]  # the stubs want a literal
    else:
        setattr(content, field, value)
