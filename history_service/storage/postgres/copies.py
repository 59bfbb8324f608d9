"""The mark of a database that another store is being copied into (``history_service.copying``).

Who copies sets the mark in a SERIALIZABLE transaction in which it has seen that
there is no writer and no key; who becomes a writer, or makes keys, does so in one
in which it has seen no mark. So one of the two is refused, however close they come.
"""

from __future__ import annotations

from antiphon_client.errors import StoreBusyError
from history_service.storage.postgres.connection import Session

NO_UNFINISHED = "NOT EXISTS (SELECT 1 FROM store_copy WHERE finished_at IS NULL)"
"""The condition under which the database may be served."""


def refuse_unfinished(session: Session) -> None:
    """Refuse a database that holds a part of another store.

    Raises:
        StoreBusyError: It does.
    """
    if not session.value(f"SELECT {NO_UNFINISHED}"):
        raise unfinished()


def unfinished() -> StoreBusyError:
    """Make the error for a database that may not be served yet."""
    return StoreBusyError(
        'the database holds an unfinished copy of another store: finish it with "antiphon store copy"'
    )
