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
    key, revision = branch.key, branch.revision
    check_selection(message_ids, tx.members(key, message_ids).keys())
    if branch.view_epoch is not None:
        tx.end_view(key, branch.view_epoch, revision)
    tx.begin_view(key, revision)
    rows = [(GAP * position, message_id) for position, message_id in enumerate(message_ids, start=1)]
    if rows:
        tx.insert_view_rows(key, revision, revision, rows)
    branch.view_epoch, branch.view_count = revision, len(rows)
    branch.view_last_key = GAP * len(rows)
    content = {"epoch": revision, "count": len(rows)}
    changes.record(tx, branch, changes.ChangeKind.VIEW_SELECTED, content)
    tx.save_head(branch)
    return history_pb.SelectViewResponse()


def clear_view(tx: WriteTransaction, branch: BranchRow) -> history_pb.ClearViewResponse:
    """Return to the full order."""
    if branch.view_epoch is not None:
        tx.end_view(branch.key, branch.view_epoch, branch.revision)
    branch.view_epoch, branch.view_count, branch.view_last_key = None, 0, 0
    changes.record(tx, branch, changes.ChangeKind.VIEW_CLEARED)
    tx.save_head(branch)
    return history_pb.ClearViewResponse()
