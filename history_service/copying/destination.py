"""The PostgreSQL database that a store is copied into: its mark, its rows, and writing them."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import psycopg

from antiphon_client.errors import StoreCorruptError
from history_service.copying import CopyError
from history_service.copying import statements as sql
from history_service.copying.tables import TABLES, Table
from history_service.storage import masked_url
from history_service.storage.postgres.connection import WRITE, Session, check_url
from history_service.storage.postgres.failures import CONFLICTS
from history_service.storage.postgres.migrations import known_migrations, migrate
from history_service.storage.postgres_limits import PostgresLimits

T = TypeVar("T")
Row = tuple[Any, ...]

_LIMITS = PostgresLimits(statement_seconds=600.0)
"""A copy waits longer than a caller would: a batch is many rows, and nobody waits behind it."""
_PAGE_ROWS = 2000
_ATTEMPTS = 20
_PAUSE_SECONDS = 0.05

_MARKS = "SELECT source_id, finished_at IS NOT NULL FROM store_copy"
_SET_MARK = "INSERT INTO store_copy (source_id, copier, started_at) VALUES (%(source)s, %(copier)s, %(at)s)"
_TAKE_OVER = "UPDATE store_copy SET copier = %(copier)s WHERE source_id = %(source)s"
_OURS = "source_id = %(source)s AND copier = %(copier)s AND finished_at IS NULL"
_HOLD = f"SELECT 1 FROM store_copy WHERE {_OURS} FOR UPDATE"
_FINISH = f"UPDATE store_copy SET finished_at = %(at)s WHERE {_OURS}"


class Destination:
    """A database that holds a copy of one store, or the beginning of one.

    Attributes:
        finished: Whether the copy was finished before: it is a store of its own then, and is not written.
    """

    def __init__(self, session: Session, source_id: bytes) -> None:
        """Mark the database as an unfinished copy of a store, unless it is a finished one.

        Raises:
            CopyError: It holds something else.
        """
        self._session = session
        self._mark = {"source": source_id, "copier": secrets.token_bytes(16)}
        self.finished = self._retried(self._take)

    def _retried(self, step: Callable[[], T]) -> T:
        """Run a SERIALIZABLE transaction, again where a service that starts is in its way."""
        for attempt in range(_ATTEMPTS):
            try:
                self._session.begin(WRITE)
                result = step()
                self._session.commit()
            except CONFLICTS:
                self._session.rollback()
                if attempt + 1 == _ATTEMPTS:
                    raise
                time.sleep(_PAUSE_SECONDS)
            except BaseException:
                self._session.rollback()
                raise
            else:
                return result
        raise AssertionError("unreachable")

    def _take(self) -> bool:
        """Set the mark, or take it over; return whether the copy is finished."""
        marks = self._session.rows(_MARKS)
        if not marks:
            filled = [table.name for table in TABLES if self._session.value(sql.any_row(table))]
            if filled:
                raise CopyError(
                    f"the destination holds a store of its own (rows in {', '.join(filled)}):"
                    " give an empty database or schema"
                )
            self._session.run(_SET_MARK, {**self._mark, "at": time.time_ns()})
            return False
        ((source, finished),) = marks
        if source != self._mark["source"]:
            raise CopyError("the destination holds a copy of another store: give an empty database or schema")
        if not finished:
            self._session.run(_TAKE_OVER, self._mark)
        return bool(finished)

    def finish(self) -> None:
        """Let services serve the copy; the mark stays as its origin."""
        if self._session.run(_FINISH, {**self._mark, "at": time.time_ns()}) != 1:
            raise _superseded()

    def rows(self, table: Table) -> Iterator[Row]:
        """Yield a table's rows in the order of its key, long values as their SHA-256; a page at a time."""
        length = len(table.key_names)
        page = self._session.rows(sql.first_page(table), {"limit": _PAGE_ROWS})
        while page:
            yield from page
            last = dict(zip(table.key_names, page[-1][:length], strict=True))
            page = self._session.rows(sql.next_page(table), {**last, "limit": _PAGE_ROWS})

    def write(self, table: Table, keys: Sequence[Row], rows: Sequence[Row]) -> None:
        """Delete rows by their keys, then insert rows, in one transaction.

        Raises:
            CopyError: Another copy of the store has begun meanwhile.
        """
        session = self._session
        session.begin("BEGIN")
        try:
            if session.run(_HOLD, self._mark) != 1:
                raise _superseded()
            both = ((sql.delete_rows(table), keys), (sql.insert_rows(table), rows))
            session.run_all([(each.text, each.values(given)) for each, given in both if given])
            session.commit()
        except BaseException:
            with contextlib.suppress(psycopg.Error):
                session.rollback()
            raise


def _superseded() -> CopyError:
    return CopyError("another copy of this store into the same database has begun meanwhile, and goes on")


@contextlib.contextmanager
def open_destination(url: str, source_id: bytes) -> Iterator[Destination]:
    """Open a database for one pass, and bring its schema up to date.

    Raises:
        CopyError: It cannot be reached, fails, or holds something else than a copy of the source.
    """
    try:
        check_url(url)
    except ValueError as error:
        raise CopyError(str(error)) from None
    try:
        session = Session(url, _LIMITS)
        try:
            migrate(session, known_migrations())
            yield Destination(session, source_id)
        finally:
            session.close()
    except StoreCorruptError as error:
        raise CopyError(f"cannot write {masked_url(url)}: {error.message}") from error
    except psycopg.Error as error:
        # The one place where the operator is told what the database says.
        raise CopyError(
            f"cannot write {masked_url(url)}: {error}".rstrip() + "; the same command goes on from there"
        ) from error
