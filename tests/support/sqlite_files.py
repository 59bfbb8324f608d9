"""Looking at and counting what the SQLite store does, from under it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from history_service.storage.sqlite.connection import make_durable, open_writer
from history_service.storage.sqlite.migrations import known_migrations, migrate
from history_service.storage.sqlite.transaction import SqliteTransaction


class CountedStore:
    """A writing transaction on a file of its own, with its costs counted instead of timed.

    Attributes:
        connection: The connection.
        path: The database file.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / "history.sqlite3"
        self.connection = open_writer(str(self.path))
        make_durable(self.connection)
        migrate(self.connection, known_migrations())
        self.transaction = SqliteTransaction(self.connection)
        self._steps = 0
        self._pages = 0
        self.connection.set_progress_handler(self._step, 1)
        self.connection.set_wal_hook(self._note_pages)

    def _step(self) -> bool:
        self._steps += 1
        return False

    def _note_pages(self, _connection: apsw.Connection, _schema: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def run(self, work: Callable[[SqliteTransaction], Any]) -> tuple[Any, int, int]:
        """Run a work in a commit of its own; return its result, the VM's steps and the pages it wrote."""
        self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._steps = self._pages = 0
        self.connection.execute("BEGIN IMMEDIATE")
        self.transaction.begin_group(careful=False)
        self.transaction.begin_work()
        result = work(self.transaction)
        self.transaction.end_work()
        self.transaction.flush()
        self.connection.execute("COMMIT")
        return result, self._steps, self._pages

    def bytes_used(self) -> dict[str, int]:
        """Return the bytes each table and index holds, without the free room in its pages."""
        rows = self.connection.execute("SELECT name, sum(payload) FROM dbstat GROUP BY name")
        return {str(name): int(used) for name, used in rows}

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
