"""The statements that find change records; ``reading`` and ``sweeping`` run them.

A record names the one before it in its branch, the branch names its last, and
an index has the milestones: every 32nd. So an append writes no page of an index
of change records, and a reader begins at the milestone that follows what it
wants and goes back from there.
"""

from __future__ import annotations

_OF_BRANCH = "tenant_id = ?1 AND lineage_id = ?2 AND branch_id = ?3"
# As the condition of ``change_by_milestone`` spells it.
_MILESTONE = (
    f"SELECT number FROM change INDEXED BY change_by_milestone WHERE {_OF_BRANCH} AND revision % 32 = 0"
)
_LAST = "SELECT last_change FROM branch WHERE tenant_id = ?1 AND branch_id = ?3"


def _back_from(milestone: str, *, while_: str = "true") -> str:
    """Begin a statement over ``step``: a milestone, or else the last record, and all before it."""
    return (
        "WITH RECURSIVE step (number, revision, previous) AS ("  # nosec B608: of constants of the code
        f"SELECT number, revision, previous FROM change WHERE number = coalesce(({milestone}), ({_LAST}))"
        " UNION ALL SELECT c.number, c.revision, c.previous FROM step JOIN change c"
        f" ON c.number = step.previous AND c.branch_id = ?3 WHERE {while_})"
    )


# Newest first. Parameters: the branch's three, the revision the newest has at least, that of the oldest.
CHANGES = (
    _back_from(f"{_MILESTONE} AND revision >= ?4 ORDER BY revision LIMIT 1", while_="step.revision >= ?5")
    + " SELECT c.revision, kind, ignorable, payload, writer_id, counter FROM step"
    " JOIN change c ON c.number = step.number JOIN writer ON writer.number = c.writer"
)
# The oldest milestone with what is left before it, newest first.
# Parameters: the branch's three, the oldest revision to keep.
ERASABLE_CHANGES = (
    _back_from(f"{_MILESTONE} ORDER BY revision LIMIT 1") + " SELECT number FROM step WHERE revision < ?4"
)
ERASE_CHANGE = "DELETE FROM change WHERE number = ?"
