"""The selected view: an ordered subset of a branch (ADR-0006 D3)."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.selection import check_selection
from history_service.domain import changes
from history_service.domain.order_keys import GAP
from history_service.storage.port import BranchRow, WriteTransaction


def select_view(
    tx: WriteTransaction, branch: BranchRow, message_ids: Sequence[str]
) -> history_pb.SelectViewResponse:
    """Select a view in place of the former one, if any.

    Raises:
        ProgressionInvalidError: Ids are unknown or repeated.
    """
    check_selection(message_ids, tx.members(branch.key, message_ids).keys())
    replace_view(tx, branch, message_ids)
    content = {"epoch": branch.revision, "count": len(message_ids)}
    changes.record(tx, branch, changes.ChangeKind.VIEW_SELECTED, content)
    tx.save_head(branch)
    return history_pb.SelectViewResponse()


def replace_view(tx: WriteTransaction, branch: BranchRow, message_ids: Sequence[str]) -> None:
    """End the selected view, if there is one, and begin another; the head follows."""
    if branch.view_epoch is not None:
        tx.end_view(branch.key, branch.view_epoch, branch.revision)
    begin_view(tx, branch, message_ids)


def begin_view(tx: WriteTransaction, branch: BranchRow, message_ids: Sequence[str]) -> None:
    """Store a view of members as selected from the branch's revision on; its head follows."""
    revision = branch.revision
    tx.begin_view(branch.key, revision)
    rows = [(GAP * position, message_id) for position, message_id in enumerate(message_ids, start=1)]
    if rows:
        tx.insert_view_rows(branch.key, revision, revision, rows)
    branch.view_epoch, branch.view_count, branch.view_last_key = revision, len(rows), GAP * len(rows)


def clear_view(tx: WriteTransaction, branch: BranchRow) -> history_pb.ClearViewResponse:
    """Return to the full order."""
    if branch.view_epoch is not None:
        tx.end_view(branch.key, branch.view_epoch, branch.revision)
    branch.view_epoch, branch.view_count, branch.view_last_key = None, 0, 0
    changes.record(tx, branch, changes.ChangeKind.VIEW_CLEARED)
    tx.save_head(branch)
    return history_pb.ClearViewResponse()
