"""Branches themselves: create, read, list, metadata, delete."""

from __future__ import annotations

from dataclasses import dataclass

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.errors import (
    BranchDeletedError,
    BranchExistsError,
    BranchNotFoundError,
    RevisionExpiredError,
    RevisionInFutureError,
)
from history_service.domain import changes
from history_service.domain.prepared import SYSTEM, Stamper, id_of
from history_service.storage.port import (
    BranchAnchor,
    BranchKey,
    BranchRow,
    ForkOrigin,
    ReadTransaction,
    WriteTransaction,
)


def open_branch(tx: ReadTransaction, tenant_id: str, branch_id: str) -> BranchRow:
    """Return a living branch.

    Raises:
        BranchNotFoundError: There is none for this tenant.
        BranchDeletedError: It was deleted.
    """
    branch = tx.branch(tenant_id, branch_id)
    if branch is None:
        raise BranchNotFoundError.of(branch_id)
    if branch.deleted:
        raise BranchDeletedError(f"branch {branch_id} was deleted", metadata={"branch_id": branch_id})
    return branch


def revision_to_read(branch: BranchRow, at_revision: int | None) -> int:
    """Return the revision a read is at.

    Raises:
        RevisionInFutureError: The branch has not reached it.
        RevisionExpiredError: It was dropped.
    """
    if at_revision is None:
        return branch.revision
    if at_revision < branch.oldest_revision:
        raise RevisionExpiredError.of(at_revision, oldest=branch.oldest_revision)
    if at_revision > branch.revision:
        raise RevisionInFutureError.of(at_revision, actual=branch.revision)
    return at_revision


def create_branch(
    tx: WriteTransaction, tenant_id: str, request: history_pb.CreateBranchRequest, stamper: Stamper
) -> history_pb.CreateBranchResponse:
    """Make an empty branch at revision 1.

    Raises:
        BranchExistsError: The id or the external key is taken.
        BranchDeletedError: The id was a deleted branch's, or the parent was deleted.
        BranchNotFoundError: There is no such parent.
    """
    if request.HasField("parent_branch_id"):
        open_branch(tx, tenant_id, request.parent_branch_id)
    branch_id = request.branch_id or stamper.new_id()
    external_key = request.external_key if request.HasField("external_key") else None
    check_free(tx, tenant_id, branch_id, external_key)
    branch = BranchRow(
        key=BranchKey(tenant_id, branch_id, branch_id),
        incarnation=stamper.new_id(),
        created_at=stamper.clock(),
        external_key=external_key,
        parent_branch_id=request.parent_branch_id if request.HasField("parent_branch_id") else None,
    )
    tx.insert_branch(branch, request.metadata_json)
    changes.record(tx, branch, changes.ChangeKind.BRANCH_CREATED)
    return history_pb.CreateBranchResponse(branch=describe(tx, branch, branch.revision))


def check_free(tx: WriteTransaction, tenant_id: str, branch_id: str, external_key: str | None) -> None:
    """Check that a new branch may have an id and an external key.

    Raises:
        BranchExistsError: One of them is taken.
        BranchDeletedError: The id was a deleted branch's.
    """
    holder = tx.branch(tenant_id, branch_id)
    if holder is not None and holder.deleted:
        raise BranchDeletedError(
            f"branch {branch_id} was deleted; its id stays taken", metadata={"branch_id": branch_id}
        )
    if holder is not None:
        raise BranchExistsError(f"branch {branch_id} exists", metadata={"branch_id": branch_id})
    owner = None if external_key is None else tx.branch_id_of_external_key(tenant_id, external_key)
    if owner is not None:
        raise BranchExistsError(f"the external key is branch {owner}'s", metadata={"branch_id": owner})


def read_branch(
    tx: ReadTransaction, tenant_id: str, branch_id: str, at_revision: int | None
) -> branch_pb.Branch:
    """Return what a branch is at a revision; None for the current one.

    Raises:
        BranchNotFoundError: There is no such branch.
        BranchDeletedError: It was deleted.
        RevisionInFutureError: The branch has not reached the revision.
        RevisionExpiredError: The revision was dropped.
    """
    branch = open_branch(tx, tenant_id, branch_id)
    return describe(tx, branch, revision_to_read(branch, at_revision))


def describe(tx: ReadTransaction, branch: BranchRow, at: int) -> branch_pb.Branch:
    """Return what a branch is at a revision. Constant cost at the current one."""
    described = branch_pb.Branch(
        branch_id=branch.key.branch_id,
        external_key=branch.external_key,
        parent_branch_id=branch.parent_branch_id,
        lineage_id=branch.key.lineage_id,
        incarnation=branch.incarnation,
        metadata_json=tx.metadata(branch.key, at),
        revision=at,
        oldest_revision=branch.oldest_revision,
        forked_from=_fork_point(branch.forked_from),
    )
    described.created_at.FromNanoseconds(branch.created_at)
    if at == branch.revision:
        described.message_count = branch.message_count
        if branch.system_id is not None:
            described.system_message_id = branch.system_id
        if branch.view_epoch is not None:
            described.view_count = branch.view_count
    else:
        _describe_past(tx, branch.key, at, described)
    return described


def _fork_point(origin: ForkOrigin | None) -> branch_pb.ForkPoint | None:
    return None if origin is None else branch_pb.ForkPoint(**origin._asdict())


def _describe_past(tx: ReadTransaction, key: BranchKey, at: int, described: branch_pb.Branch) -> None:
    described.message_count = tx.count(key, at, None)
    system = system_at(tx, key, at)
    if system is not None:
        described.system_message_id = id_of(system)
    view = tx.view_at(key, at)
    if view is not None:
        described.view_count = tx.count(key, at, view)


def system_at(tx: ReadTransaction, key: BranchKey, at: int) -> bytes | None:
    """Return the encoded system record at a revision, or None."""
    page = tx.read_messages(key, at, view=None, after=None, limit=1, max_bytes=0, kinds=(SYSTEM,))
    return page.bodies[0] if page.bodies else None


def update_branch(
    tx: WriteTransaction, branch: BranchRow, metadata_json: str
) -> history_pb.UpdateBranchResponse:
    """Replace a branch's metadata."""
    tx.put_metadata(branch.key, branch.revision, metadata_json)
    changes.record(tx, branch, changes.ChangeKind.METADATA_REPLACED)
    tx.save_head(branch)
    return history_pb.UpdateBranchResponse()


@dataclass(frozen=True, slots=True)
class BranchList:
    """Which branches a list holds.

    Attributes:
        tenant_id: Whose.
        external_key_prefix: Only those under it, by key; None for all, by age.
        parent_branch_id: Only those filed under it.
    """

    tenant_id: str
    external_key_prefix: str | None
    parent_branch_id: str | None


def list_branches(
    tx: ReadTransaction, wanted: BranchList, after: BranchAnchor | None, limit: int, max_bytes: int
) -> tuple[list[branch_pb.Branch], BranchAnchor | None]:
    """Read a page of branches; return it and where the next one starts, None at the end.

    The page ends before it passes ``max_bytes``, but holds one branch at least.
    """
    rows = tx.list_branches(
        wanted.tenant_id,
        external_key_prefix=wanted.external_key_prefix,
        parent_branch_id=wanted.parent_branch_id,
        after=after,
        limit=limit + 1,
    )
    page: list[branch_pb.Branch] = []
    for row in rows[:limit]:
        branch = describe(tx, row, row.revision)
        max_bytes -= branch.ByteSize()
        if page and max_bytes < 0:
            break
        page.append(branch)
    if len(page) == len(rows):
        return page, None
    last = rows[len(page) - 1]
    return page, BranchAnchor(last.external_key or "", last.created_at, last.key.branch_id)
