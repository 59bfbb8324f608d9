"""Reading the change log (ADR-0006 P6, D4): what a watcher is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.errors import (
    BranchNotFoundError,
    RevisionExpiredError,
    RevisionInFutureError,
    StoreCorruptError,
)
from history_service.domain.changes import ChangeKind
from history_service.storage.port import BranchRow, ChangeRow, ReadTransaction


@dataclass(frozen=True, slots=True)
class Watch:
    """What is watched.

    Attributes:
        tenant_id: Who watches.
        branch_id: The branch, deleted or not.
        incarnation: The branch's as the watcher knows it; empty when it knows none.
    """

    tenant_id: str
    branch_id: str
    incarnation: str


class Watched(NamedTuple):
    """Part of a change log and what the branch was when it was read."""

    branch: BranchRow
    changes: list[ChangeRow]
    complete: bool
    """Whether no record that is still kept follows."""


def read_changes(tx: ReadTransaction, watch: Watch, after_revision: int, limit: int) -> Watched:
    """Read up to ``limit`` change records of revisions over one, 0 for all that are kept.

    Of a deleted branch the records may be erased, but for the last: the
    deletion follows every revision before it, after a gap where it must.

    Raises:
        BranchNotFoundError: There is no such branch.
        RevisionExpiredError: A record that should come next was dropped, or the
            branch is another incarnation.
        RevisionInFutureError: The branch has not reached the revision.
    """
    branch = tx.branch(watch.tenant_id, watch.branch_id)
    if branch is None:
        raise BranchNotFoundError.of(watch.branch_id)
    if watch.incarnation not in ("", branch.incarnation):
        raise RevisionExpiredError(
            f"revision {after_revision} belongs to another incarnation of branch {watch.branch_id}",
            metadata={"oldest": str(branch.oldest_revision)},
        )
    if after_revision > branch.revision:
        raise RevisionInFutureError.of(after_revision, actual=branch.revision)
    # Whoever has seen the revision before the oldest one has missed nothing.
    if 0 < after_revision < branch.oldest_revision - 1:
        raise RevisionExpiredError.of(after_revision, oldest=branch.oldest_revision)
    return _read(tx, branch, after_revision, limit)


def _read(tx: ReadTransaction, branch: BranchRow, after_revision: int, limit: int) -> Watched:
    """Read records and prove that none is missing: every write leaves one, of the next revision."""
    start = max(after_revision, branch.oldest_revision - 1)
    rows = tx.changes(branch.key, start, limit)
    if branch.deleted and rows and rows[0].revision > start + 1:
        # What should come next was erased with the branch. Who asks for all that is kept gets that;
        # who has a place in the log gets its end alone, since nothing between would fit on.
        if after_revision == 0:
            start = rows[0].revision - 1
        else:
            start = branch.revision - 1
            rows = tx.changes(branch.key, start, limit)
    whole = [row for revision, row in enumerate(rows, start + 1) if row.revision == revision]
    reached = start + len(whole)
    # Erasing begins with the oldest record and spares the last: it makes no gap further on.
    if len(whole) < len(rows) or (len(rows) < limit and reached < branch.revision):
        raise StoreCorruptError(f"the change record of revision {reached + 1} is missing")
    return Watched(branch, whole, len(whole) < limit)


def describe_change(row: ChangeRow, incarnation: str) -> history_pb.BranchChange | None:
    """Return a stored record as a watcher gets it; None for one that it may do without.

    Raises:
        StoreCorruptError: The record is of a kind that this release does not
            know and must not skip, or it cannot be read.
    """
    kind = _KINDS.get(row.kind)
    if kind is None:
        if row.ignorable:
            return None
        raise StoreCorruptError(
            f"the change record of revision {row.revision} is of kind {row.kind}, unknown to this release"
        )
    change = history_pb.BranchChange(
        revision=row.revision, incarnation=incarnation, kind=kind, ignorable=row.ignorable
    )
    change.position.writer_id = row.writer_id
    change.position.counter = row.counter
    try:
        change.operations.extend(_operations(row))
    except (ValueError, LookupError, TypeError):
        raise StoreCorruptError(f"the change record of revision {row.revision} cannot be read") from None
    return change


_KINDS: dict[int, history_pb.BranchChangeKind.ValueType] = {
    ChangeKind.BRANCH_CREATED: history_pb.BRANCH_CHANGE_KIND_CREATED,
    ChangeKind.METADATA_REPLACED: history_pb.BRANCH_CHANGE_KIND_METADATA,
    ChangeKind.BRANCH_DELETED: history_pb.BRANCH_CHANGE_KIND_DELETED,
    ChangeKind.MEMBERSHIP: history_pb.BRANCH_CHANGE_KIND_MEMBERSHIP,
    ChangeKind.VIEW_SELECTED: history_pb.BRANCH_CHANGE_KIND_VIEW,
    ChangeKind.VIEW_CLEARED: history_pb.BRANCH_CHANGE_KIND_VIEW,
}

Steps = Iterable[history_pb.BranchOperation]


def _operations(row: ChangeRow) -> Iterator[history_pb.BranchOperation]:
    """Yield the steps of a record; its payload is as ``history_service.domain.changes`` says."""
    if row.kind == ChangeKind.VIEW_SELECTED:
        yield from _view(json.loads(row.payload)["count"])
    elif row.kind == ChangeKind.VIEW_CLEARED:
        yield history_pb.BranchOperation(view_cleared=history_pb.ViewCleared())
    elif row.kind == ChangeKind.MEMBERSHIP:
        for name, *operands in json.loads(row.payload):
            yield from _MEMBERSHIP[name](*operands)


def _system(message_id: str, former: str | None) -> Steps:
    return (*(() if former is None else _remove([former])), _added(message_id, 0))


def _append(index: int, message_ids: list[str]) -> Steps:
    return (_added(message_id, index + offset) for offset, message_id in enumerate(message_ids))


def _replace(_index: int, message_id: str) -> Steps:
    return _relink([message_id])


def _relink(message_ids: list[str]) -> Steps:
    return (
        history_pb.BranchOperation(replaced=history_pb.MessageReplaced(message_id=message_id))
        for message_id in message_ids
    )


def _remove(message_ids: list[str]) -> Steps:
    return (
        history_pb.BranchOperation(removed=history_pb.MessageRemoved(message_id=message_id))
        for message_id in message_ids
    )


def _move(message_id: str, index: int) -> Steps:
    moved = history_pb.MessageMoved(message_id=message_id, index=index)
    return (history_pb.BranchOperation(moved=moved),)


def _view(count: int) -> Steps:
    return (history_pb.BranchOperation(view_selected=history_pb.ViewSelected(message_count=count)),)


def _clear() -> Steps:
    return (history_pb.BranchOperation(cleared=history_pb.MessagesCleared()),)


def _added(message_id: str, index: int) -> history_pb.BranchOperation:
    added = history_pb.MessageAdded(message_id=message_id, index=index)
    return history_pb.BranchOperation(added=added)


_MEMBERSHIP: dict[str, Callable[..., Any]] = {
    "system": _system,
    "append": _append,
    "replace": _replace,
    "relink": _relink,
    "remove": _remove,
    "move": _move,
    "clear": _clear,
    "view": _view,
}
