"""Owning a unix socket's path: private from its first moment, stale ones replaced.

gRPC itself removes whatever socket it finds at the path, a live one too, so
ownership is settled before gRPC sees the path. A lock file beside the socket,
held for the server's life, decides between two servers that start at once; the
system releases it however the process ends.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import stat
from collections.abc import Iterator

from antiphon_client.edge.addresses import AddressError


class SocketClaim:
    """The claim of this process to one socket path."""

    def __init__(self, path: str) -> None:
        """Claim ``path``; a stale socket there is removed.

        Raises:
            AddressError: A live server has it, something that is no socket
                stands there, or its folder cannot be written.
        """
        self._path = path
        self._inode: int | None = None
        try:
            self._lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as exc:
            raise AddressError(f"cannot listen on {path}: {exc.strerror}") from None
        try:
            self._take()
        except BaseException:
            os.close(self._lock)
            raise

    def _take(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AddressError(f"a live server listens on {self._path}") from None
        try:
            mode = os.lstat(self._path).st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(mode):
            raise AddressError(f"{self._path} exists and is no socket")
        if _is_live(self._path):
            raise AddressError(f"a live server listens on {self._path}")
        os.unlink(self._path)

    def bound(self) -> None:
        """Note that the socket has been made, so that ``release`` removes only this one."""
        self._inode = os.lstat(self._path).st_ino

    def release(self) -> None:
        """Remove the socket, if it is still the one made under this claim, and give up the claim."""
        with contextlib.suppress(FileNotFoundError):
            if os.lstat(self._path).st_ino == self._inode:
                os.unlink(self._path)
        os.close(self._lock)


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """Make files with mode 0600 at most while the context lasts.

    The mask belongs to the process: other threads' new files are private too.
    """
    former = os.umask(0o177)
    try:
        yield
    finally:
        os.umask(former)


def _is_live(path: str) -> bool:
    """Tell whether somebody accepts connections at a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(path)
        except OSError as exc:
            return exc.errno not in (errno.ECONNREFUSED, errno.ENOENT)
    return True
