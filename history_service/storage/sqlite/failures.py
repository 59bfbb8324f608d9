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
names the condition for whoever operates the store.
"""

from __future__ import annotations

import apsw

from antiphon_client.errors import AntiphonError, StoreBusyError, StoreCorruptError

_BUSY = (apsw.BusyError, apsw.LockedError)
_UNAVAILABLE: dict[type[Exception], str] = {
    apsw.FullError: "the disk is full",
    apsw.IOError: "the disk reports an input/output error",
    apsw.CantOpenError: "the database file cannot be opened",
    apsw.NoMemError: "there is no memory",
    apsw.ReadOnlyError: "the database file cannot be written",
    apsw.PermissionsError: "access to the database file is denied",
    apsw.AuthError: "access to the database file is denied",
    apsw.ProtocolError: "the database file cannot be locked",
}
_CORRUPT = (apsw.CorruptError, apsw.NotADBError)


def translate(error: BaseException) -> BaseException:
    """Return the service's error for an error of SQLite, or the same error where there is none."""
    if isinstance(error, _BUSY):
        return _caused(StoreBusyError("the store is busy"), error)
    if isinstance(error, _CORRUPT):
        return _caused(StoreCorruptError("the database file is damaged"), error)
    for kind, text in _UNAVAILABLE.items():
        if isinstance(error, kind):
            return _caused(StoreBusyError(f"the store cannot be used just now: {text}"), error)
    return error


def _caused(error: AntiphonError, cause: BaseException) -> AntiphonError:
    error.__cause__ = cause
    return error
