"""One process per database file: an operating-system lock beside it.

SQLite itself lets several processes take turns writing one file. This store
does not (history design, Storage: exactly one writing connection), because its
group commit and its cache of branch heads hold only while nobody else writes.
"""

from __future__ import annotations

import fcntl
import os

from antiphon_client.errors import StoreBusyError


class ProcessLock:
    """An exclusive lock on ``PATH.lock``, held until released or until the process ends.

    The kernel drops it when the process dies, however it dies, so that a
    killed server never keeps its successor out. The lock file itself stays.
    """

    def __init__(self, database_path: str) -> None:
        """Take the lock.

        Args:
            database_path: The database file, free of symbolic links, so that
                two spellings of one file meet in one lock.

        Raises:
            StoreBusyError: Another process, or another store of this one,
                holds it; or the lock file cannot be opened.
        """
        path = database_path + ".lock"
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreBusyError(f"cannot open {path}: {error.strerror}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            raise StoreBusyError(
                f"{database_path} is already open in {_holder_text(holder)}; one process serves a "
                "database file: stop that one, or start this one with another file"
            ) from error
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode("ascii"), 0)

    def release(self) -> None:
        """Give the lock up; again is harmless."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _holder_text(pid_text: str) -> str:
    if not pid_text.isdigit():
        return "another process"
    if int(pid_text) == os.getpid():
        return "this process"
    return f"process {pid_text}"
