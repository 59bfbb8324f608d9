"""How long things are kept: delete, purge, trim, and the sweep that erases what was dropped.

Dropping is one short write, after which nobody can read what was dropped; the
bytes are erased by sweeps, each a short write too, so that other writers wait
for none of them long. A branch carries from when on it is due for a sweep, so
that one cut short by a crash is taken up again.
"""

from __future__ import annotations

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.errors import RevisionInFutureError
from history_service.domain import changes
from history_service.domain.branches import open_branch
from history_service.domain.writes import WriteCall, check_expected, write_branch, write_once
from history_service.storage.port import BranchRow, WriteTransaction

AT_ONCE = 0
"""A time at which a sweep is due, whatever a clock says."""
SWEPT_AT_ONCE = 500
"""Rows one sweep erases, about."""


def delete_branch(
    tx: WriteTransaction, call: WriteCall, request: history_pb.DeleteBranchRequest, keep_until: int
) -> bytes:
    """Delete a branch for good, or mark a deleted one for purging; return the encoded response.

    Args:
        tx: The transaction.
        call: The write as it was asked.
        request: The request. With ``purge`` a sweep is due at once.
        keep_until: When a sweep is due otherwise, in nanoseconds since the epoch.

    Raises:
        RequestIdReusedError: The request id was used for another request.
        BranchNotFoundError: There is no such branch.
        BranchDeletedError: It was deleted before, and this is no purge.
        RevisionConflictError: It is not at the expected revision.
    """
    expected = request.expected_revision if request.HasField("expected_revision") else None
    due = AT_ONCE if request.purge else keep_until

    def rule(tx: WriteTransaction, branch: BranchRow) -> history_pb.DeleteBranchResponse:
        branch.deleted, branch.sweep_after = True, due
        changes.record(tx, branch, changes.ChangeKind.BRANCH_DELETED)
        tx.save_head(branch)
        tx.save_retention(branch)
        return history_pb.DeleteBranchResponse()

    branch = tx.branch(call.tenant_id, request.branch_id)
    if branch is None or not branch.deleted or not request.purge:
        return write_branch(tx, call, request.branch_id, expected, rule)
    return write_once(tx, call, lambda tx: _purge_deleted(tx, branch, expected))


def _purge_deleted(
    tx: WriteTransaction, branch: BranchRow, expected_revision: int | None
) -> history_pb.DeleteBranchResponse:
    check_expected(branch, expected_revision)
    branch.sweep_after = AT_ONCE
    tx.save_retention(branch)
    return history_pb.DeleteBranchResponse(revision=branch.revision)


def trim_history(tx: WriteTransaction, tenant_id: str, branch_id: str, before_revision: int) -> int:
    """Drop the revisions before one; return the oldest that can be read now.

    Raises:
        BranchNotFoundError: There is no such branch.
        BranchDeletedError: It was deleted.
        RevisionInFutureError: The branch has not reached the revision.
    """
    branch = open_branch(tx, tenant_id, branch_id)
    if before_revision > branch.revision:
        raise RevisionInFutureError.of(before_revision, actual=branch.revision)
    _drop_before(tx, branch, before_revision)
    return branch.oldest_revision


def _drop_before(tx: WriteTransaction, branch: BranchRow, revision: int) -> None:
    if revision > branch.oldest_revision:
        branch.oldest_revision, branch.sweep_after = revision, AT_ONCE
        tx.save_retention(branch)


def keep_newest(tx: WriteTransaction, branch: BranchRow, kept_revisions: int) -> None:
    """Drop what is older than a branch's newest revisions, once as many again have gathered.

    Args:
        tx: The transaction.
        branch: The branch after a write.
        kept_revisions: How many revisions are kept at least; 0 keeps all.
    """
    held = branch.revision - branch.oldest_revision + 1
    if kept_revisions and held >= 2 * kept_revisions and not branch.deleted:
        _drop_before(tx, branch, branch.revision - kept_revisions + 1)


def sweep(tx: WriteTransaction, tenant_id: str, branch_id: str, now: int) -> bool:
    """Erase some of what a branch has dropped, if that is due; return whether nothing is left to do now."""
    branch = tx.branch(tenant_id, branch_id)
    if branch is None or branch.sweep_after is None or branch.sweep_after > now:
        return True
    if not tx.sweep(branch, SWEPT_AT_ONCE):
        return False
    branch.sweep_after = None
    tx.save_retention(branch)
    return True
