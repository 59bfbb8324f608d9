"""Membership and order (ADR-0006 P4, D3): add, replace, system, remove, move, clear."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.errors import (
    ContentKindFixedError,
    FieldInvalidError,
    MessageNotFoundError,
    SystemRecordFixedError,
)
from history_service.domain import changes as change_log
from history_service.domain import links
from history_service.domain.changeset import Changeset, Entry
from history_service.domain.order_keys import GAP, SYSTEM_KEY, between, make_room
from history_service.domain.prepared import ACTION_REQUEST, ACTION_RESPONSE, SYSTEM, PreparedMessage
from history_service.storage.port import BranchRow, NewMember, WriteTransaction


def add_messages(
    tx: WriteTransaction, branch: BranchRow, batch: Sequence[PreparedMessage], allow_unresolved: bool
) -> history_pb.AddMessagesResponse:
    """Add or replace messages, one after another, all or none.

    Raises:
        ContentKindFixedError: A replacement is of another kind.
        FieldInvalidError: A replaced response's state or link may not change so.
        ActionRequestUnknownError: A response names no request of the branch.
        ActionAlreadyAnsweredError: A response names a request that has its answer.
    """
    if branch.view_epoch is None and all(map(_concerns_no_other, batch)):
        return _append(tx, branch, batch)
    changes = Changeset(tx, branch)
    _look_ahead(changes, batch)
    written = [
        put(changes, prepared, f"messages[{index}]", allow_unresolved) for index, prepared in enumerate(batch)
    ]
    return store_batch(changes, written)


def _concerns_no_other(prepared: PreparedMessage) -> bool:
    """Tell whether a message is appended whatever a branch without a view holds, and nothing else changes.

    Nothing can await a request whose id the server has just made.
    """
    return prepared.fresh and prepared.link_id is None and prepared.kind != SYSTEM


def _append(
    tx: WriteTransaction, branch: BranchRow, batch: Sequence[PreparedMessage]
) -> history_pb.AddMessagesResponse:
    """Append messages that concern no other: what a changeset would do, at half its cost.

    Nearly every write is one of these.
    """
    index = branch.message_count
    last_key = branch.last_key + GAP * len(batch)
    order_keys = range(branch.last_key + GAP, last_key + 1, GAP)
    rows = [
        NewMember(prepared.message_id, order_key, prepared.kind, None, prepared.interim, prepared.body)
        for prepared, order_key in zip(batch, order_keys, strict=True)
    ]
    message_ids = [prepared.message_id for prepared in batch]
    branch.last_key = last_key
    branch.message_count = index + len(batch)
    tx.insert_members(branch.key, branch.revision, rows)
    operations = [("append", index, message_ids)]
    change_log.record(tx, branch, change_log.ChangeKind.MEMBERSHIP, operations)
    tx.save_head(branch)
    response = history_pb.AddMessagesResponse()
    place = response.placements.add
    for place_index, message_id in enumerate(message_ids, index):
        place(message_id=message_id, index=place_index)
    return response


def _look_ahead(changes: Changeset, batch: Sequence[PreparedMessage]) -> None:
    """Find in two look-ups what the batch's rules will ask for."""
    given = [prepared.message_id for prepared in batch if not prepared.fresh]
    named = [prepared.link_id for prepared in batch if prepared.link_id is not None]
    changes.load([*given, *named])
    awaited = [p.message_id for p in batch if p.kind == ACTION_REQUEST and not p.fresh]
    # A request in the branch knows its answer; one that is absent does not.
    absent = [request_id for request_id in named if changes.find(request_id) is None]
    changes.load_links([*awaited, *absent])


def put(
    changes: Changeset, prepared: PreparedMessage, field: str, allow_unresolved: bool
) -> tuple[Entry, bool]:
    """Apply one message of a write; return its entry and whether it replaced one.

    ``field`` is its path in errors. Raises as ``add_messages`` does.
    """
    current = None if prepared.fresh else changes.find(prepared.message_id)
    if current is None:
        if prepared.kind == SYSTEM:
            return changes.put_system(prepared), False
        return links.append(changes, prepared, allow_unresolved=allow_unresolved), False
    check_kind(current, prepared)
    if prepared.kind == ACTION_RESPONSE:
        links.replace_response(changes, current, prepared, field=field, allow_unresolved=allow_unresolved)
    else:
        changes.replace(current, prepared)
    return current, True


def check_kind(current: Entry, prepared: PreparedMessage) -> None:
    """Check that a replacement is of the kind of what it replaces.

    Raises:
        ContentKindFixedError: It is not.
    """
    if current.kind != prepared.kind:
        raise ContentKindFixedError(
            f"message {current.message_id} is of another content kind",
            metadata={"message_id": current.message_id},
        )


def store_batch(changes: Changeset, written: Sequence[tuple[Entry, bool]]) -> history_pb.AddMessagesResponse:
    """Store a write that only put messages, as ``put`` told of them; return their places."""
    response = history_pb.AddMessagesResponse()
    place = response.placements.add
    index = changes.first_appended_index
    for entry, replaced in written:
        if replaced:
            at = changes.index_of(entry)
            changes.operations.append(("replace", at, entry.message_id))
            place(message_id=entry.message_id, index=at)
        elif entry.order_key == SYSTEM_KEY:
            place(message_id=entry.message_id, index=0)
        else:
            place(message_id=entry.message_id, index=index)
            index += 1
    changes.flush()
    return response


def set_system(
    tx: WriteTransaction, branch: BranchRow, prepared: PreparedMessage
) -> history_pb.SetSystemResponse:
    """Set the branch's one system record.

    Raises:
        ContentKindFixedError: The id is another message's.
    """
    changes = Changeset(tx, branch)
    written = put(changes, prepared, "", allow_unresolved=False)
    return history_pb.SetSystemResponse(placement=store_batch(changes, [written]).placements[0])


def remove_messages(
    tx: WriteTransaction, branch: BranchRow, message_ids: Sequence[str]
) -> history_pb.RemoveMessagesResponse:
    """Remove messages and clear the links of those left behind.

    Raises:
        MessageNotFoundError: Some are not in the branch.
        SystemRecordFixedError: The system record is among them.
    """
    changes = Changeset(tx, branch)
    changes.load(message_ids)
    found = [entry for message_id in message_ids if (entry := changes.find(message_id)) is not None]
    if len(found) < len(message_ids):
        missing = [i for i in message_ids if changes.find(i) is None]
        raise MessageNotFoundError.of(missing, at_revision=changes.former_revision)
    if branch.system_id in message_ids:
        raise SystemRecordFixedError("the system record cannot be removed; replace it with SetSystem")
    changes.remove(message_ids)
    links.clear_links_to(changes, found)
    changes.flush()
    return history_pb.RemoveMessagesResponse()


def move_message(
    tx: WriteTransaction, branch: BranchRow, message_id: str, index: int
) -> history_pb.MoveMessageResponse:
    """Move a message to another index of the full order.

    Raises:
        MessageNotFoundError: It is not in the branch.
        FieldInvalidError: There is no such index.
        SystemRecordFixedError: It is the system record, or would stand before it.
    """
    changes = Changeset(tx, branch)
    entry = changes.find(message_id)
    if entry is None:
        raise MessageNotFoundError.of([message_id], at_revision=changes.former_revision)
    if index >= branch.message_count:
        raise FieldInvalidError.of("index", f"must be less than the message count, {branch.message_count}")
    if branch.system_id is not None and (message_id == branch.system_id or index == 0):
        raise SystemRecordFixedError("the system record stays at index 0")
    current = tx.index_of(branch.key, entry.order_key)
    if index != current:
        changes.move(entry, _key_at(changes, current, index))
    changes.operations.append(("move", message_id, index))
    changes.flush()
    placement = branch_pb.Placement(message_id=message_id, index=index)
    return history_pb.MoveMessageResponse(placement=placement)


def _key_at(changes: Changeset, current: int, index: int) -> int:
    """Return a key that puts the message now at ``current`` at ``index``."""
    tx, branch = changes.tx, changes.branch
    # Its neighbours-to-be, by their indexes while it still stands at `current`.
    before = index - 1 if index < current else index
    neighbours = tx.order_keys_at(branch.key, max(before, 0), 2 if before >= 0 else 1)
    low = neighbours[0] if before >= 0 else SYSTEM_KEY
    if before >= 0 and len(neighbours) == 1:
        return branch.last_key + GAP
    high = neighbours[-1]
    key = between(low, high)
    if key is not None:
        return key
    room = make_room(low, lambda first, last: tx.order_keys_between(branch.key, first, last))
    tx.relabel(branch.key, room.new_keys)
    branch.last_key = room.moved(branch.last_key)
    key = between(room.moved(low), room.moved(high))
    assert key is not None, "a relabelling leaves room"
    return key


def clear_messages(tx: WriteTransaction, branch: BranchRow) -> history_pb.ClearMessagesResponse:
    """Remove every message but the system record; a selected view stays selected."""
    key, system_id = branch.key, branch.system_id
    tx.remove_all_members(key, branch.revision, system_id)
    branch.message_count = 0 if system_id is None else 1
    if branch.view_epoch is not None:
        system_in_view = system_id is not None and tx.view_members(key, branch.view_epoch, [system_id])
        tx.remove_all_view_rows(key, branch.view_epoch, branch.revision, system_id)
        branch.view_count = 1 if system_in_view else 0
    change_log.record(tx, branch, change_log.ChangeKind.MEMBERSHIP, [("clear",)])
    tx.save_head(branch)
    return history_pb.ClearMessagesResponse()
