"""How failures of SQLite become errors of the service.

=====================================  ==================  ===========================================
SQLite                                 error               why
=====================================  ==================  ===========================================
BUSY, LOCKED                           StoreBusyError      another connection is in the way; retry
FULL, IOERR, CANTOPEN, NOMEM,          StoreBusyError      nothing acknowledged is lost; a retry works
READONLY, PERM, AUTH, PROTOCOL                             once space or the disk is back
CORRUPT, NOTADB                        StoreCorruptError   the file is not what was written
anything else                          unchanged           a defect of ours; the edge reports INTERNAL
=====================================  ==================  ===========================================

A full disk is STORE_BUSY and has no reason of its own: the registry holds no
other that tells a caller "not now; retry with the same request_id". The text
and the metadata's ``condition`` name what is wrong for whoever operates the
store. An input/output error is told by the system's own number where that says
more: a file size limit or a quota is as good as a full disk.
"""

from __future__ import annotations

import errno
import traceback
from typing import NamedTuple

import apsw

from antiphon_client.errors import AntiphonError, StoreBusyError, StoreCorruptError

CONDITION = "condition"
"""Metadata of STORE_BUSY that names what is wrong with the store."""


class _Condition(NamedTuple):
    name: str
    text: str


_FULL = _Condition("disk_full", "the disk is full")
_READ_ONLY = _Condition("read_only", "the database file cannot be written")
_DENIED = _Condition("access_denied", "access to the database file is denied")
_BUSY = (apsw.BusyError, apsw.LockedError)
_UNAVAILABLE: dict[type[Exception], _Condition] = {
    apsw.FullError: _FULL,
    apsw.IOError: _Condition("io_error", "the disk reports an input/output error"),
    apsw.CantOpenError: _Condition("cannot_open", "the database file cannot be opened"),
    apsw.NoMemError: _Condition("no_memory", "there is no memory"),
    apsw.ReadOnlyError: _READ_ONLY,
    apsw.PermissionsError: _DENIED,
    apsw.AuthError: _DENIED,
    apsw.ProtocolError: _Condition("cannot_lock", "the database file cannot be locked"),
}
_BY_NUMBER = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EROFS: _READ_ONLY,
}
"""What an input/output error is, by the number the system gave for it."""
_CORRUPT = (apsw.CorruptError, apsw.NotADBError)
_PERSISTENT = frozenset({_FULL, _READ_ONLY})
"""Conditions that somebody has to end."""
_PERSISTENT_RETRY_SECONDS = 1.0


def translate(error: BaseException, connection: apsw.Connection | None = None) -> BaseException:
    """Return the service's error for an error of SQLite, or the same error where there is none.

    ``connection`` is the one that met the error, before it is used again.
    """
    if isinstance(error, _BUSY):
        return _caused(StoreBusyError("the store is busy", metadata={CONDITION: "busy"}), error)
    if isinstance(error, _CORRUPT):
        return _caused(StoreCorruptError("the database file is damaged"), error)
    for kind, condition in _UNAVAILABLE.items():
        if isinstance(error, kind):
            if kind is apsw.IOError and connection is not None:
                condition = _BY_NUMBER.get(connection.system_errno, condition)
            return _caused(_unavailable(condition), error)
    return error


def end_statements(error: BaseException) -> None:
    """End the statements that a failed work left unfinished.

    The error's traceback holds their cursors, and with them the connection would
    go on seeing the database as it is now for as long as somebody keeps the error.
    """
    traceback.clear_frames(error.__traceback__)


def _unavailable(condition: _Condition) -> StoreBusyError:
    return StoreBusyError(
        f"the store cannot be used just now: {condition.text}",
        metadata={CONDITION: condition.name},
        retry_after=_PERSISTENT_RETRY_SECONDS if condition in _PERSISTENT else None,
    )


def _caused(error: AntiphonError, cause: BaseException) -> AntiphonError:
    error.__cause__ = cause
    return error
