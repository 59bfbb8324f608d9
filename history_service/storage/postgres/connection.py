"""Connections to the database, with the settings each needs."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import psycopg
from psycopg import conninfo, errors
from psycopg.types.array import ListBinaryDumper
from psycopg.types.numeric import Int8BinaryDumper

from history_service.storage.postgres.committing import LateCommitError, commit, has_answered
from history_service.storage.postgres_limits import PostgresLimits

Values: TypeAlias = Mapping[str, Any]
Row: TypeAlias = tuple[Any, ...]

# The driver warns of what follows from an error, which it raises as well.
logging.getLogger("psycopg").setLevel(logging.ERROR)

WRITE = "BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE"
READ = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"

_DEFAULTS = {
    "application_name": "antiphon",
    # A database that is silent, and not only one that refuses, is noticed.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    # Of several hosts, the one that takes writes.
    "target_session_attrs": "read-write",
}
"""What a URL need not say."""

_PREPARED_AFTER = 2
_PREPARED_MOST = 300

# The statements are look-ups by index and walks along one. With small tables or old
# statistics a planner thinks otherwise, and a walk over a table would conflict with every writer.
_PLANNER = ("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit")


def check_url(url: str) -> None:
    """Refuse a text that is no libpq URL.

    Raises:
        ValueError: It cannot be read. The error does not repeat it: it may hold a secret.
    """
    try:
        conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise ValueError("the PostgreSQL URL cannot be read, or has a parameter libpq lacks") from None


class Session:
    """A connection, outside a transaction until ``begin``; rows come as tuples, bytes as bytes.

    Attributes:
        connection: The connection.
        warnings: Warnings the server has sent since this was emptied.
        is_late: Whether a commit has not been answered in time.
    """

    def __init__(self, url: str, limits: PostgresLimits) -> None:
        """Connect.

        Args:
            url: A libpq URL.
            limits: Bounds of times.

        Raises:
            psycopg.OperationalError: The database cannot be reached or refuses.
        """
        parameters: dict[str, Any] = _DEFAULTS | conninfo.conninfo_to_dict(url)
        parameters.setdefault("connect_timeout", max(2, round(limits.connect_seconds)))
        self.warnings: list[str] = []
        self.is_late = False
        self._begin: str | None = None
        self._patience = limits.statement_seconds
        self.connection = psycopg.connect(**parameters, autocommit=True)
        try:
            # One type for all numbers, so that a statement is prepared once; arrays not as text.
            self.connection.adapters.register_dumper(int, Int8BinaryDumper)
            self.connection.adapters.register_dumper(list, ListBinaryDumper)
            self.connection.add_notice_handler(self._note)
            self.connection.prepare_threshold = _PREPARED_AFTER
            self.connection.prepared_max = _PREPARED_MOST
            self._cursor = self.connection.cursor(binary=True)
            self._set_up(limits)
        except BaseException:
            self.connection.close()
            raise

    def _set_up(self, limits: PostgresLimits) -> None:
        milliseconds = str(int(limits.statement_seconds * 1000))
        self._set("statement_timeout", milliseconds)
        self._set("idle_in_transaction_session_timeout", milliseconds)
        for name in _PLANNER:
            try:
                self._set(name, "off")
            except (errors.UndefinedObject, errors.FeatureNotSupported):
                continue  # Another database that speaks the protocol; its planner is its own.

    def _set(self, name: str, value: str) -> None:
        self.connection.execute(f"SET {name} = '{value}'")

    def _note(self, diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.severity_nonlocalized == "WARNING":
            self.warnings.append(diagnostic.message_primary or "")

    def begin(self, statement: str) -> None:
        """Begin a transaction with the next statement, in the same round trip."""
        self._begin = statement

    def run(self, statement: str, values: Values | None = None) -> int:
        """Run a statement; return how many rows it touched."""
        return self._execute(statement, values).rowcount

    def run_all(self, statements: Sequence[tuple[str, Values]]) -> list[int]:
        """Run statements in one round trip; return how many rows each touched.

        Raises:
            psycopg.Error: One of them failed; those after it were not run.
        """
        with self._round_trip():
            # Not prepared: the driver would take those after a failure to be.
            cursors = [self.connection.execute(*statement, prepare=False) for statement in statements]
        return [cursor.rowcount for cursor in cursors]

    def rows(self, statement: str, values: Values | None = None) -> list[Row]:
        """Run a statement; return its rows."""
        return self._execute(statement, values).fetchall()

    def row(self, statement: str, values: Values | None = None) -> Row | None:
        """Run a statement; return its first row, or None."""
        return self._execute(statement, values).fetchone()

    def value(self, statement: str, values: Values | None = None) -> Any:
        """Run a statement; return the first column of the first row, or None."""
        row = self.row(statement, values)
        return None if row is None else row[0]

    def _execute(self, statement: str, values: Values | None) -> psycopg.Cursor[Row]:
        if self._begin is None:
            return self._cursor.execute(statement, values)
        with self._round_trip():
            return self._cursor.execute(statement, values)

    @contextmanager
    def _round_trip(self) -> Iterator[None]:
        """Send what is executed in it at once, after what begins the transaction."""
        begin, self._begin = self._begin, None
        with self.connection.pipeline():
            if begin is not None:
                self.connection.execute(begin.encode(), prepare=False)
            yield

    def commit(self) -> None:
        """End the transaction, if a statement has begun one, with its effects.

        Raises:
            LateCommitError: It is not known whether they are there, or will be. The
                session can only be asked whether it ``has_answered``, and closed.
            psycopg.Error: They are not there, or it is not known, where the connection is lost.
        """
        begun, self._begin = self._begin is None, None
        try:
            if begun and not commit(self.connection, self._patience):
                raise errors.InFailedSqlTransaction("the transaction had failed before its commit")
        except LateCommitError:
            self.is_late = True
            raise

    def has_answered(self) -> bool:
        """Tell whether a late commit has been answered by now, or never will be."""
        return has_answered(self.connection)

    def rollback(self) -> None:
        """End the transaction, if one is open, without its effects."""
        self._begin = None
        if self.connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            self.run("ROLLBACK")

    def close(self) -> None:
        """Close the connection. Safe to call twice."""
        self.connection.close()
