"""Reading messages at a revision: by id, and as a snapshot in many short reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon_client.errors import MessageNotFoundError, SizeLimitExceededError, StoreCorruptError
from antiphon_client.selection import check_selection
from history_service.domain import changes
from history_service.domain.branches import describe, open_branch, revision_to_read, system_at
from history_service.storage.port import AnchorNotFoundError, BranchKey, ReadTransaction


class MessagesRead(NamedTuple):
    """Messages at a revision."""

    revision: int
    bodies: list[bytes]


def get_messages(
    tx: ReadTransaction,
    tenant_id: str,
    branch_id: str,
    message_ids: Sequence[str],
    at_revision: int | None,
    *,
    reply_bytes: int,
    overhead: int,
) -> MessagesRead:
    """Read messages by id, in the order asked.

    Args:
        tx: The transaction.
        tenant_id: Who asks.
        branch_id: The branch.
        message_ids: The messages; an id given twice is read twice.
        at_revision: The revision to read at; None for the current one.
        reply_bytes: The most bytes the reply may have.
        overhead: Bytes each message adds to the reply beside its own.

    Raises:
        BranchNotFoundError: There is no such branch.
        BranchDeletedError: It was deleted.
        RevisionInFutureError: The branch has not reached the revision.
        RevisionExpiredError: The revision was dropped.
        MessageNotFoundError: Some are not in the branch at that revision.
        SizeLimitExceededError: Together they are too large for one reply.
    """
    branch = open_branch(tx, tenant_id, branch_id)
    at = revision_to_read(branch, at_revision)
    sizes = tx.message_sizes(branch.key, at, message_ids)
    missing = [message_id for message_id in dict.fromkeys(message_ids) if message_id not in sizes]
    if missing:
        raise MessageNotFoundError.of(missing, at_revision=at)
    total = sum(sizes[message_id] + overhead for message_id in message_ids)
    if total > reply_bytes:
        raise SizeLimitExceededError.of(
            "the reply",
            limit_name="reply_bytes",
            limit=reply_bytes,
            actual=total,
            advice="use ListMessages or ReadSnapshot",
        )
    return MessagesRead(at, tx.read_selected(branch.key, at, message_ids, total))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot under way: what all its frames have in common.

    Attributes:
        branch: The branch at the revision read.
        key: Its key.
        at: The pinned revision.
        view: Epoch of the view it follows; None for the full order.
        chosen: The ids of a selection the caller gave; None without one.
        message_count: Messages in the selection.
        system: The encoded system record at the revision.
    """

    branch: branch_pb.Branch
    key: BranchKey
    at: int
    view: int | None
    chosen: Sequence[str] | None
    message_count: int
    system: bytes | None


def open_snapshot(
    tx: ReadTransaction,
    tenant_id: str,
    branch_id: str,
    at_revision: int | None,
    chosen: Sequence[str] | None,
) -> Snapshot:
    """Pin a revision and a selection.

    Raises:
        BranchNotFoundError: There is no such branch.
        BranchDeletedError: It was deleted.
        RevisionInFutureError: The branch has not reached the revision.
        RevisionExpiredError: The revision was dropped.
        ProgressionInvalidError: The selection has unknown or repeated ids.
    """
    row = open_branch(tx, tenant_id, branch_id)
    at = revision_to_read(row, at_revision)
    if chosen is not None:
        check_selection(chosen, tx.message_sizes(row.key, at, chosen))
    branch = describe(tx, row, at)
    view = None
    if chosen is not None:
        count = len(chosen)
    elif branch.HasField("view_count"):
        view, count = tx.view_at(row.key, at), branch.view_count
    else:
        count = branch.message_count
    system = system_at(tx, row.key, at) if branch.HasField("system_message_id") else None
    return Snapshot(branch, row.key, at, view, chosen, count, system)


def snapshot_ids(
    tx: ReadTransaction, snapshot: Snapshot, sent: int, after: str | None, limit: int
) -> Sequence[str]:
    """Read the next ids of a snapshot's order: ``sent`` were read, the last of them is ``after``.

    The snapshot is one that ``check_kept`` lets pass in this transaction.
    """
    if snapshot.chosen is not None:
        return snapshot.chosen[sent : sent + limit]
    return tx.read_ids(snapshot.key, snapshot.at, view=snapshot.view, after=after, limit=limit)


def check_kept(tx: ReadTransaction, snapshot: Snapshot) -> None:
    """Check that a snapshot's branch and revision are still there to be read.

    Raises:
        BranchDeletedError: The branch was deleted since.
        RevisionExpiredError: The revision was dropped since.
    """
    branch = open_branch(tx, snapshot.key.tenant_id, snapshot.key.branch_id)
    revision_to_read(branch, snapshot.at)


def snapshot_batch(
    tx: ReadTransaction, snapshot: Snapshot, sent: int, after: str | None, limit: int, max_bytes: int
) -> list[bytes]:
    """Read the next messages of a snapshot: ``sent`` were read, the last of them is ``after``.

    The snapshot is one that ``check_kept`` lets pass in this transaction.

    Raises:
        StoreCorruptError: The last message's bytes hold another id than its own.
    """
    key, at = snapshot.key, snapshot.at
    if snapshot.chosen is not None:
        return tx.read_selected(key, at, snapshot.chosen[sent : sent + limit], max_bytes)
    try:
        page = tx.read_messages(key, at, view=snapshot.view, after=after, limit=limit, max_bytes=max_bytes)
    except AnchorNotFoundError:
        raise StoreCorruptError("a stored message is not the one it should be") from None
    return page.bodies


class Growth(NamedTuple):
    """How a branch's selection grew from one revision to another."""

    renewed: set[str]
    """Messages that stand where they stood and have another version."""
    appended: list[str]
    """Ids that came to its end."""


def growth(
    tx: ReadTransaction, snapshot: Snapshot, since: int, last_id: str | None, limit: int
) -> Growth | None:
    """Tell how a selection grew out of the one at an earlier revision; None if it did more than grow.

    Args:
        tx: The transaction.
        snapshot: The snapshot, without a chosen selection.
        since: The earlier revision.
        last_id: The last message then; None if there was none.
        limit: The most revisions and the most ids looked at; None for more of either.

    Raises:
        BranchDeletedError: The branch was deleted since.
        RevisionExpiredError: The revision was dropped since.
    """
    if snapshot.at - since > limit:
        return None
    check_kept(tx, snapshot)
    renewed = changes.renewed_between(tx, snapshot.key, since, snapshot.at)
    if renewed is None:
        return None
    try:
        appended = tx.read_ids(snapshot.key, snapshot.at, view=snapshot.view, after=last_id, limit=limit + 1)
    except AnchorNotFoundError:
        return None
    return None if len(appended) > limit else Growth(renewed, appended)
