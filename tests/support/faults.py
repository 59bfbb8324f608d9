"""A VFS whose disk fails when a test says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


class FaultyVfs(apsw.VFS):
    """The system's VFS, but for the faults switched on.

    Attributes:
        name: What a connection asks for.
        on_read: Raised by every read while set.
        on_write: Raised by every write while set.
        on_sync: Raised by every sync while set.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.on_read: apsw.Error | None = None
        self.on_write: apsw.Error | None = None
        self.on_sync: apsw.Error | None = None
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        file = _FaultyFile("", name, flags)
        file.vfs = self
        return file


class _FaultyFile(apsw.VFSFile):
    vfs: FaultyVfs

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        if self.vfs.on_read is not None:
            raise self.vfs.on_read
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self.vfs.on_write is not None:
            raise self.vfs.on_write
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self.vfs.on_sync is not None:
            raise self.vfs.on_sync
        super().xSync(flags)


@contextmanager
def faulty_disk(name: str) -> Iterator[FaultyVfs]:
    """Register a faulty VFS for a while."""
    vfs = FaultyVfs(name)
    try:
        yield vfs
    finally:
        vfs.unregister()
