"""How failures of PostgreSQL become errors of the service.

=====================================  ==================  ===========================================
PostgreSQL                             error               why
=====================================  ==================  ===========================================
40001, 40P01                           StoreBusyError      after the transaction was run again in vain
no connection, 57P0x, class 08, 25006  StoreBusyError      the database is away, restarts or is a
                                                           standby; the connection is made anew
class 53, 57014, 55P03                 StoreBusyError      no room, no connection left, too slow
class XX of the damaged kind, 58       StoreCorruptError   what is read is not what was written
anything else                          unchanged           a defect of ours; the edge reports INTERNAL
=====================================  ==================  ===========================================

No message of the database goes to callers: it may hold values of rows. It is
the error's cause, for the log.
"""

from __future__ import annotations

import psycopg
from psycopg import errors

from antiphon_client.errors import AntiphonError, StoreBusyError, StoreCorruptError

CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected)
"""A transaction that ended so has done nothing and may well succeed when it runs again."""

UNKNOWN_OUTCOME = "the database has not confirmed the commit: it is not known whether the write was done"
STILL_COMMITTING = (
    "an earlier commit is not confirmed yet, as if no standby were there: this write was not begun"
)

_AWAY = (errors.ReadOnlySqlTransaction, psycopg.InterfaceError)
_BUSY: dict[type[psycopg.Error], str] = {
    errors.DiskFull: "the database's disk is full",
    errors.OutOfMemory: "the database has no memory",
    errors.TooManyConnections: "the database has no connection left",
    errors.QueryCanceled: "a statement took too long",
    errors.LockNotAvailable: "a lock is held by another",
}
_CORRUPT = (errors.DataCorrupted, errors.IndexCorrupted)


def is_away(error: BaseException, connection: psycopg.Connection) -> bool:
    """Tell whether an error means that the connection is of no use any more."""
    return isinstance(error, _AWAY) or (isinstance(error, psycopg.Error) and connection.closed)


def translate(error: BaseException) -> BaseException:
    """Return the service's error for an error of PostgreSQL, or the same error where there is none."""
    if not isinstance(error, psycopg.Error):
        return error
    if isinstance(error, CONFLICTS):
        return _caused(StoreBusyError("other writers of the database were in the way each time"), error)
    if isinstance(error, _CORRUPT):
        return _caused(StoreCorruptError("the database is damaged"), error)
    for kind, text in _BUSY.items():
        if isinstance(error, kind):
            return _caused(StoreBusyError(f"the store cannot be used just now: {text}"), error)
    if isinstance(error, (psycopg.OperationalError, *_AWAY)):
        return _caused(StoreBusyError("the database cannot be reached just now"), error)
    return error


def _caused(error: AntiphonError, cause: BaseException) -> AntiphonError:
    error.__cause__ = cause
    return error
