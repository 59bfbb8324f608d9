"""CommitCompaction: a summary, and the view that puts it in the place of what it stands for.

The view is the selected one, else the full order. Nothing leaves the branch; a
summary that the view holds already gets a new version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import (
    FieldInvalidError,
    MessageNotFoundError,
    RevisionConflictError,
    RevisionInFutureError,
    Violation,
)
from antiphon_client.selection import check_selection
from history_service.domain.branches import revision_to_read
from history_service.domain.changes import added_since, written_since
from history_service.domain.changeset import Changeset, Entry
from history_service.domain.membership import put, store_batch
from history_service.domain.prepared import SUMMARY, PreparedMessage, Stamper, id_of
from history_service.storage.port import BranchRow, WriteTransaction


def draft_summary(request: history_pb.CommitCompactionRequest) -> message_pb.Message:
    """Return the summary's record as far as the request alone determines it."""
    return message_pb.Message(
        id=request.message_id, metadata_json=request.metadata_json, summary=request.summary
    )


def commit_compaction(
    tx: WriteTransaction,
    branch: BranchRow,
    request: history_pb.CommitCompactionRequest,
    draft: message_pb.Message,
    stamper: Stamper,
) -> history_pb.CommitCompactionResponse:
    """Store the summary and the view.

    Args:
        tx: The transaction.
        branch: The branch.
        request: The request, its own fields checked.
        draft: The summary's record as ``draft_summary`` gives it; not changed.
        stamper: Gives id and time.

    Raises:
        RevisionInFutureError: The branch has not reached the planned revision.
        RevisionExpiredError: The planned revision was dropped.
        RevisionConflictError: The view's summary was written since the planned revision.
        ProgressionInvalidError: View ids are unknown or repeated.
        FieldInvalidError: A view id is a summary's.
        MessageNotFoundError: The first or last id never was a message of the branch.
        ContentKindFixedError: The message id is another kind of message's.
        SizeLimitExceededError: With what the service adds, the summary is too large.
    """
    changes = Changeset(tx, branch)
    planned = _planned(branch, request)
    _check_kept(changes, request.view_message_ids)
    former = _summary_in_view(changes)
    if planned is not None and former is not None:
        _check_current(changes, former, planned)
    _check_stretch(changes, draft.summary, former)
    message_id = draft.id or (former.message_id if former is not None else "")
    kept = list(request.view_message_ids)
    if planned is not None:
        kept += _arrived(changes, planned, known=kept)
    # An appended summary has its id now; the view is stored with it.
    entry, replaced = put(changes, _prepared(draft, message_id, stamper), "", allow_unresolved=False)
    view = _arranged(branch.system_id, entry.message_id, kept)
    changes.select_view(view)
    placement = store_batch(changes, [(entry, replaced)]).placements[0]
    return history_pb.CommitCompactionResponse(placement=placement, view_count=len(view))


def _planned(branch: BranchRow, request: history_pb.CommitCompactionRequest) -> int | None:
    if not request.HasField("planned_revision"):
        return None
    # The write under way has counted the branch's revision up already.
    if request.planned_revision >= branch.revision:
        raise RevisionInFutureError.of(request.planned_revision, actual=branch.revision - 1)
    return revision_to_read(branch, request.planned_revision)


def _check_kept(changes: Changeset, message_ids: Sequence[str]) -> None:
    """Check the ids that stay verbatim: members, each once, no summary."""
    changes.load(message_ids)
    found = {i: entry for i in message_ids if (entry := changes.find(i)) is not None}
    check_selection(message_ids, found.keys())
    summaries = [
        Violation(f"view_message_ids[{index}]", "is the id of a summary")
        for index, message_id in enumerate(message_ids)
        if found[message_id].kind == SUMMARY
    ]
    if summaries:
        raise FieldInvalidError.of_all(summaries)


def _summary_in_view(changes: Changeset) -> Entry | None:
    """Find the first summary in the view."""
    tx, branch = changes.tx, changes.branch
    if branch.view_epoch is None:
        page = tx.read_messages(
            branch.key, branch.revision, view=None, after=None, limit=1, max_bytes=0, kinds=(SUMMARY,)
        )
        return changes.find(id_of(page.bodies[0])) if page.bodies else None
    message_ids = _view_ids(changes)
    members = tx.members(branch.key, message_ids)
    found = next((i for i in message_ids if members[i].kind == SUMMARY), None)
    return None if found is None else changes.find(found)


def _view_ids(changes: Changeset) -> list[str]:
    tx, branch = changes.tx, changes.branch
    return tx.read_ids(
        branch.key, branch.revision, view=branch.view_epoch, after=None, limit=branch.view_count
    )


def _check_current(changes: Changeset, former: Entry, planned: int) -> None:
    """Refuse a plan that another compaction has overtaken: what that one summarized would be lost."""
    branch = changes.branch
    if former.stored is None or former.stored.added_revision <= planned:
        return
    # A move makes a newer entry too, but writes nothing.
    if former.message_id in written_since(changes.tx, branch.key, planned):
        raise RevisionConflictError.overtaken(
            branch.key.branch_id, planned=planned, actual=branch.revision - 1
        )


def _check_stretch(changes: Changeset, summary: message_pb.SummaryContent, former: Entry | None) -> None:
    """Check that the stretch's ends are, or were, messages of the branch.

    What a trim dropped is not known any more, but for the ends of the former
    summary: those are taken over by the one that updates it.
    """
    branch = changes.branch
    ends = dict.fromkeys((summary.first_id, summary.last_id))
    known = changes.tx.held_since(branch.key, branch.oldest_revision, list(ends))
    if former is not None:
        content = changes.message(former).summary
        known |= {content.first_id, content.last_id}
    missing = [message_id for message_id in ends if message_id not in known]
    if missing:
        raise MessageNotFoundError.of(missing, at_revision=changes.former_revision)


def _arrived(changes: Changeset, planned: int, known: Iterable[str]) -> list[str]:
    """Return what was added since a revision and is in the branch and its view still, in the view's order.

    Without summaries: of those only the one being written is in the new view.
    """
    tx, branch = changes.tx, changes.branch
    added = added_since(tx, branch.key, planned).difference(known)
    members = tx.members(branch.key, added)
    wanted = {message_id for message_id, member in members.items() if member.kind != SUMMARY}
    if branch.view_epoch is None:
        return sorted(wanted, key=lambda message_id: members[message_id].order_key)
    return [message_id for message_id in _view_ids(changes) if message_id in wanted]


def _prepared(draft: message_pb.Message, message_id: str, stamper: Stamper) -> PreparedMessage:
    # The store may run this work again, so the draft itself stays as it is.
    message = message_pb.Message()
    message.CopyFrom(draft)
    message.id = message_id
    return stamper.prepare_all([message])[0]


def _arranged(system_id: str | None, summary_id: str, kept: Sequence[str]) -> list[str]:
    """Return the new view: a system record in it, the summary, the rest."""
    head = [message_id for message_id in kept if message_id == system_id]
    return [*head, summary_id, *(message_id for message_id in kept if message_id != system_id)]
