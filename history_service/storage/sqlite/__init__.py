"""The SQLite store of the history service.

``migrations/0001_initial.sql`` is the schema and explains it. One writing
connection on one thread (``writer``), a few reading ones (``readers``), the
port's primitives as prepared statements (``reading``, ``writing``, ``scans``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from history_service.storage.sqlite.store import SqliteStore
from history_service.storage.sqlite.writer import WriterLimits

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing

__all__ = ["SqliteStore", "WriterLimits", "open_sqlite_store"]


def open_sqlite_store(path: str, ring: KeyRing | None = None) -> SqliteStore:
    """Return the store of a database file; ``start`` opens it, and makes it where there is none."""
    return SqliteStore(path, ring=ring)
