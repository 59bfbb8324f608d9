"""What the memory store keeps of a branch once its past, or the branch, is dropped."""

from __future__ import annotations

from collections.abc import Iterator

from history_service.storage.memory_rows import BranchRecord, Row, Rows, View
from history_service.storage.port import BranchRow


def swept(record: BranchRecord) -> BranchRecord:
    """Return a branch without what it has dropped; see ``WriteTransaction.sweep``."""
    return _tombstone(record) if record.row.deleted else _trimmed(record, record.row.oldest_revision)


def _tombstone(record: BranchRecord) -> BranchRecord:
    row = record.row.copied()
    row.external_key = None
    return BranchRecord(row, [], changes=record.changes[-1:])


def _trimmed(record: BranchRecord, oldest: int) -> BranchRecord:
    def kept(row: Row) -> bool:
        return row.removed is None or row.removed > oldest

    last = max(revision for revision, _ in record.metadata if revision <= oldest)
    return BranchRecord(
        record.row,
        [version for version in record.metadata if version[0] >= last],
        record.members.only(kept),
        {
            epoch: View(view.begun, view.ended, view.rows.only(kept))
            for epoch, view in record.views.items()
            if view.ended is None or view.ended > oldest
        },
        [change for change in record.changes if change.revision >= oldest],
    )


def bodies_of(rows: Rows) -> Iterator[int]:
    """Yield the body each member row refers to."""
    return (row.body for row in rows.ordered)


def living_at(rows: Rows, at: int) -> Iterator[Row]:
    """Yield the rows living at a revision, in order."""
    return rows.scan(at, None)


def copied_row(row: Row, revision: int) -> Row:
    """Return a row like another that lives from a revision on."""
    return Row(row.order_key, row.message_id, revision, None, row.kind, row.link_id, row.interim, row.body)


def to_sweep(rows: Iterator[BranchRow], due: int, limit: int) -> list[BranchRow]:
    """Return the branches due for a sweep, the earliest first."""
    found = [(row.sweep_after, row.key, row) for row in rows if row.sweep_after is not None]
    return [row.copied() for sweep_after, _, row in sorted(found) if sweep_after <= due][:limit]
