"""The statements that erase what branches have dropped; ``sweeping`` runs them."""

from __future__ import annotations

from history_service.storage.sqlite.writing_sql import OF_BRANCH

SAVE_RETENTION = "UPDATE branch SET oldest_revision = ?, sweep_after = ? WHERE number = ?"

# Members: found with what is needed to see whether their bodies are still in use.
_MEMBERS = "SELECT rowid, message_id, body FROM member INDEXED BY"
ENDED_MEMBERS = (
    f"{_MEMBERS} ended_member_by_age"
    f" WHERE {OF_BRANCH} AND removed_revision IS NOT NULL AND removed_revision <= ? LIMIT ?"
)
LIVING_MEMBERS = f"{_MEMBERS} member_by_order WHERE {OF_BRANCH} AND removed_revision IS NULL LIMIT ?"
ERASE_MEMBER = "DELETE FROM member WHERE rowid = ?"
# Parameters: the branch's three, message, body, and all of them again.
BODY_IN_BRANCH = (
    f"SELECT 1 FROM member WHERE {OF_BRANCH} AND message_id = ? AND removed_revision IS NULL AND body = ?"
    " UNION ALL SELECT 1 FROM member"
    f" WHERE {OF_BRANCH} AND message_id = ? AND removed_revision IS NOT NULL AND body = ? LIMIT 1"
)
NEXT_OWNER = "SELECT branch_id FROM body_share WHERE tenant_id = ? AND lineage_id = ? AND body = ? LIMIT 1"
ERASE_BODY = "DELETE FROM message_body WHERE number = ?"


def _erase(table: str, index: str, condition: str) -> str:
    """Erase up to a limit, the last parameter, of a branch's rows."""
    return (
        f"DELETE FROM {table} WHERE rowid IN"  # nosec B608: of constants of the code
        f" (SELECT rowid FROM {table} INDEXED BY {index} WHERE {OF_BRANCH} AND {condition} LIMIT ?)"
    )


# Views.
ERASE_ENDED_VIEW_ROWS = _erase(
    "view_row", "ended_view_row_by_age", "removed_revision IS NOT NULL AND removed_revision <= ?"
)
ENDED_VIEW = (
    "SELECT epoch FROM view INDEXED BY ended_view_by_age"
    f" WHERE {OF_BRANCH} AND ended_revision IS NOT NULL AND ended_revision <= ? LIMIT 1"
)
ERASE_LIVING_ROWS_OF_VIEW = _erase("view_row", "view_row_by_order", "epoch = ? AND removed_revision IS NULL")
ERASE_ENDED_ROWS_OF_VIEW = _erase(
    "view_row", "ended_view_row_by_order", "epoch = ? AND removed_revision IS NOT NULL"
)
ERASE_VIEW = f"DELETE FROM view WHERE {OF_BRANCH} AND epoch = ?"
ANY_VIEW = f"SELECT epoch FROM view WHERE {OF_BRANCH} LIMIT 1"

# Metadata: the version that holds at the oldest revision stays.
METADATA_HORIZON = (
    f"SELECT coalesce(max(revision), 0) FROM branch_metadata WHERE {OF_BRANCH} AND revision <= ?"
)
ERASE_METADATA = _erase("branch_metadata", "branch_metadata_by_revision", "revision < ?")
FORGET_EXTERNAL_KEY = "UPDATE branch SET external_key = NULL WHERE number = ?"
