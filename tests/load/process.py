"""What the system says of a running process: its memory, and the files it keeps."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

MIB = 2**20
_RESIDENT = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)


def resident_bytes(pid: int) -> int:
    """Return the memory of a process that is in use, in bytes.

    Raises:
        OSError: There is no such process any more.
    """
    found = _RESIDENT.search(Path(f"/proc/{pid}/status").read_text())
    return int(found.group(1)) * 1024 if found else 0


def file_bytes(path: Path) -> int:
    """Return the size of a file in bytes; 0 where there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


class MemoryWatch:
    """Notes the most memory a process had, several times a second, as an asynchronous context.

    Attributes:
        peak: The most so far, in bytes.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._task: asyncio.Task[None] | None = None
        self.peak = resident_bytes(pid)

    async def __aenter__(self) -> MemoryWatch:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait((self._task,))
        self.peak = max(self.peak, resident_bytes(self._pid))

    async def _watch(self) -> None:
        while True:
            self.peak = max(self.peak, resident_bytes(self._pid))
            await asyncio.sleep(0.02)
