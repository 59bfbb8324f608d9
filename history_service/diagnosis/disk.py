"""What is to be said of the disk under a store."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from antiphon_client.findings import Finding, Level, timed

LITTLE_BYTES = 2**30
"""Less free than this is a warning: a log, a backup and a migration all want room."""
NO_BYTES = 64 * 2**20
"""Less free than this is a failure: writes are about to be refused."""
SLOW_SYNC_SECONDS = 0.1
"""A sync that takes this long is a warning: every commit waits for one."""


def disk_findings(folder: Path) -> Iterator[Finding]:
    """Look at the disk of a folder: its room, and whether what is written there can be made durable."""
    if not folder.is_dir():
        yield Finding("disk.folder", "failure", f"{folder} is no folder", "make it, or name another store")
        return
    yield _room(folder)
    yield _sync(folder)


def _room(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    text = f"{free:,} bytes free"
    if free < LITTLE_BYTES:
        level: Level = "failure" if free < NO_BYTES else "warning"
        return Finding("disk.room", level, text, "make room: on a full disk writes are refused, reads go on")
    return Finding("disk.room", "ok", text)


def _sync(folder: Path) -> Finding:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".antiphon-doctor-") as file:
            file.write(b"\0" * 4096)
            file.flush()
            seconds = timed(lambda: os.fsync(file.fileno()))
    except OSError as error:
        advice = "let the service's user write there; is the disk mounted read-only?"
        return Finding("disk.sync", "failure", f"cannot write and sync in {folder}: {error.strerror}", advice)
    text = f"a sync takes {seconds * 1000:.1f} ms"
    if seconds >= SLOW_SYNC_SECONDS:
        return Finding(
            "disk.sync", "warning", text, "use a faster or a less busy disk: every commit waits for one"
        )
    return Finding("disk.sync", "ok", text)
