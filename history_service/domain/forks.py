"""Forks: a new branch with what another holds at a revision.

With ids kept, rows are copied and bodies shared. With new ids all that is taken
is read and cloned (``history_service.domain.clones``) before the write begins,
which is sound because what a branch holds at a revision never changes. The write
asks of the source only that it was not deleted meanwhile: it may have gone on,
and may have dropped the revision.
"""

from __future__ import annotations

from antiphon.history.v1 import history_service_pb2 as history_pb
from history_service.domain import changes
from history_service.domain.branches import check_free, describe, open_branch
from history_service.domain.clones import Clone, Clones
from history_service.domain.fork_source import ForkSource, set_link
from history_service.domain.order_keys import GAP, SYSTEM_KEY
from history_service.domain.prepared import SYSTEM, Stamper, decode, encode
from history_service.domain.views import begin_view
from history_service.storage.port import (
    BranchKey,
    BranchRow,
    ForkOrigin,
    Member,
    NewMember,
    WriteTransaction,
)

_INSERTED_AT_ONCE = 1000


def fork_branch(
    tx: WriteTransaction,
    tenant_id: str,
    request: history_pb.ForkBranchRequest,
    stamper: Stamper,
    clones: Clones | None,
) -> history_pb.ForkBranchResponse:
    """Make a fork at revision 1.

    Args:
        tx: The transaction.
        tenant_id: Who asks.
        request: The request.
        stamper: Gives ids and times.
        clones: The messages of a fork with new ids; None keeps ids.

    Raises:
        BranchExistsError: The id or the external key is taken.
        BranchDeletedError: The id was a deleted branch's; and see ``ForkSource``.
    """
    if clones is None:
        source = ForkSource(tx, tenant_id, request)
        branch = _new_branch(tx, request, stamper, source.branch.key, source.at)
        _store_branch(tx, request, branch, tx.metadata(source.branch.key, source.at))
        _copy(tx, source, branch)
    else:
        key = open_branch(tx, tenant_id, request.source_branch_id).key
        branch = _new_branch(tx, request, stamper, key, clones.at)
        _store_branch(tx, request, branch, clones.metadata_json)
        _insert(tx, clones, branch)
    changes.record(tx, branch, changes.ChangeKind.BRANCH_CREATED)
    tx.save_head(branch)
    return history_pb.ForkBranchResponse(branch=describe(tx, branch, branch.revision))


def _new_branch(
    tx: WriteTransaction,
    request: history_pb.ForkBranchRequest,
    stamper: Stamper,
    source: BranchKey,
    at: int,
) -> BranchRow:
    branch_id = request.branch_id or stamper.new_id()
    external_key = request.external_key if request.HasField("external_key") else None
    check_free(tx, source.tenant_id, branch_id, external_key)
    up_to = request.up_to_message_id if request.HasField("up_to_message_id") else None
    return BranchRow(
        key=BranchKey(source.tenant_id, source.lineage_id, branch_id),
        incarnation=stamper.new_id(),
        created_at=stamper.clock(),
        external_key=external_key,
        forked_from=ForkOrigin(source.branch_id, at, up_to),
    )


def _store_branch(
    tx: WriteTransaction, request: history_pb.ForkBranchRequest, branch: BranchRow, inherited: str
) -> None:
    """Insert the fork with its own metadata, else what it inherits."""
    own = request.HasField("metadata_json")
    tx.insert_branch(branch, request.metadata_json if own else inherited)


def _copy(tx: WriteTransaction, source: ForkSource, branch: BranchRow) -> None:
    """Copy rows, and with them the view; clear the links of cut pairs."""
    key, revision = source.branch.key, branch.revision
    branch.message_count, branch.last_key = tx.copy_members(
        key, source.at, source.up_to, branch.key, revision
    )
    past = describe(tx, source.branch, source.at)
    branch.system_id = past.system_message_id if past.HasField("system_message_id") else None
    epoch = tx.view_at(key, source.at)
    if epoch is not None:
        branch.view_epoch = revision
        branch.view_count, branch.view_last_key = tx.copy_view(key, source.at, epoch, branch.key, revision)
    cut = source.cut_pairs(tx)
    if cut:
        members = tx.members(branch.key, [member.message_id for member in cut])
        tx.rewrite_members(
            branch.key, [_unlinked(tx, branch.key, members[member.message_id]) for member in cut]
        )


def _unlinked(tx: WriteTransaction, key: BranchKey, member: Member) -> NewMember:
    message = decode(tx.body(key, member.message_id, member.body))
    set_link(message, None)
    return NewMember(member.message_id, member.order_key, member.kind, None, member.interim, encode(message))


def _insert(tx: WriteTransaction, clones: Clones, branch: BranchRow) -> None:
    """Store cloned messages as the branch's, and their view."""
    rows = [_placed(branch, clone) for clone in clones.messages]
    branch.message_count = len(rows)
    for start in range(0, len(rows), _INSERTED_AT_ONCE):
        tx.insert_members(branch.key, branch.revision, rows[start : start + _INSERTED_AT_ONCE])
    if clones.view is not None:
        begin_view(tx, branch, clones.view)


def _placed(branch: BranchRow, clone: Clone) -> NewMember:
    """Return the row of the branch's next message."""
    if clone.kind == SYSTEM:
        order_key, branch.system_id = SYSTEM_KEY, clone.message_id
    else:
        branch.last_key += GAP
        order_key = branch.last_key
    return NewMember(clone.message_id, order_key, clone.kind, clone.link_id, clone.interim, clone.body)
