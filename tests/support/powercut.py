"""A disk that remembers what was not yet on stable storage, and can lose it.

A kill -9 leaves the page cache whole, so it cannot show a missing fsync. Here a
SQLite VFS passes every call on to the system's own and keeps a log of it.
``DiskLog.image_at`` then answers: had the power gone at this entry, which bytes
might be on the disk? Everything synced is there. Of what was written since the
last sync, each 512-byte sector holds any of its versions, or one torn in the
middle; a size change or a directory entry that was not synced may be there or
not. Bytes outside a write are never damaged (SQLite's "powersafe overwrite",
which its unix VFS promises too).
"""

from __future__ import annotations

import os
import random
import threading
from dataclasses import dataclass, field

import apsw

SECTOR = 512

_JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL


@dataclass(frozen=True)
class Write:
    """Bytes written to a file."""

    file: int
    offset: int
    data: bytes


@dataclass(frozen=True)
class Truncate:
    """A file cut, or extended with zeros, to a size."""

    file: int
    size: int


@dataclass(frozen=True)
class Sync:
    """A file put on stable storage; ``directory`` says whether its entry is, too."""

    file: int
    directory: bool


@dataclass(frozen=True)
class Create:
    """A new file under a name."""

    file: int
    name: str


@dataclass(frozen=True)
class Delete:
    """A name taken out of the directory; ``directory`` says whether that was synced."""

    name: str
    directory: bool


@dataclass(frozen=True)
class Acknowledged:
    """Not input or output: the moment a client was told something."""

    what: object


Entry = Write | Truncate | Sync | Create | Delete | Acknowledged


@dataclass
class _File:
    stable: bytearray
    pending: list[Write | Truncate] = field(default_factory=list)

    def sync(self) -> None:
        for entry in self.pending:
            _apply(self.stable, entry)
        self.pending.clear()

    def survive(self, chance: random.Random) -> bytes:
        """One of the contents a power cut might leave."""
        luck = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        content = bytearray(self.stable)
        versions: dict[int, list[bytes]] = {}
        sizes = [len(content)]
        current = bytearray(self.stable)
        for entry in self.pending:
            before = len(current)
            _apply(current, entry)
            sizes.append(len(current))
            for sector in _touched(entry, before):
                start = sector * SECTOR
                old = versions.setdefault(sector, [_sector(self.stable, start)])
                old.append(_sector(current, start))
        size = sizes[-1] if luck == 1.0 else sizes[0] if luck == 0.0 else chance.choice(sizes)
        for sector in sorted(versions):
            chosen = _surviving_version(versions[sector], luck, chance)
            start = sector * SECTOR
            if len(content) < start + SECTOR:
                content.extend(bytes(start + SECTOR - len(content)))
            content[start : start + SECTOR] = chosen
        del content[size:]
        content.extend(bytes(size - len(content)))
        return bytes(content)


def _apply(content: bytearray, entry: Write | Truncate) -> None:
    if isinstance(entry, Write):
        if len(content) < entry.offset:
            content.extend(bytes(entry.offset - len(content)))
        content[entry.offset : entry.offset + len(entry.data)] = entry.data
    else:
        del content[entry.size :]
        content.extend(bytes(entry.size - len(content)))


def _touched(entry: Write | Truncate, size_before: int) -> range:
    if isinstance(entry, Write):
        return range(entry.offset // SECTOR, (entry.offset + len(entry.data) - 1) // SECTOR + 1)
    low, high = sorted((entry.size, size_before))
    return range(low // SECTOR, (high + SECTOR - 1) // SECTOR)


def _sector(content: bytearray, start: int) -> bytes:
    return bytes(content[start : start + SECTOR]).ljust(SECTOR, b"\0")


def _surviving_version(versions: list[bytes], luck: float, chance: random.Random) -> bytes:
    if luck == 1.0:
        return versions[-1]
    if luck == 0.0:
        return versions[0]
    index = len(versions) - 1 if chance.random() < luck else chance.randrange(len(versions))
    if index and chance.random() < 0.2:
        tear = chance.randrange(1, SECTOR)
        return versions[index][:tear] + versions[index - 1][tear:]
    return versions[index]


class DiskLog:
    """What happened to the files of one directory, in order, from a known start.

    Attributes:
        start: The directory's files at the beginning, all of it stable.
        entries: What happened since.
    """

    def __init__(self, start: dict[str, bytes]) -> None:
        self.start = dict(start)
        self.entries: list[Entry] = []
        self._lock = threading.Lock()
        self._start_numbers = {name: number for number, name in enumerate(sorted(start))}
        self._numbers = dict(self._start_numbers)
        self._next = len(start)

    def add(self, entry: Entry) -> None:
        """Log one entry."""
        with self._lock:
            self.entries.append(entry)

    def acknowledge(self, what: object) -> None:
        """Log that a client was told ``what``."""
        self.add(Acknowledged(what))

    def number(self, name: str, *, create: bool) -> int:
        """The number of the file under a name; a name unknown so far is a new file."""
        with self._lock:
            if name not in self._numbers:
                self._numbers[name] = self._next
                self._next += 1
                if create:
                    self.entries.append(Create(self._numbers[name], name))
                else:
                    self.start[name] = b""
                    self._start_numbers[name] = self._numbers[name]
            return self._numbers[name]

    def delete(self, name: str, *, directory: bool) -> None:
        """Log a deletion."""
        with self._lock:
            self._numbers.pop(name, None)
            self.entries.append(Delete(name, directory))

    def image_at(self, position: int, chance: random.Random) -> dict[str, bytes]:
        """Files that a power cut after the first ``position`` entries might leave."""
        files = {number: _File(bytearray(self.start[name])) for name, number in self._start_numbers.items()}
        names = dict(self._start_numbers)
        name_states = [dict(names)]
        for entry in self.entries[:position]:
            match entry:
                case Write() | Truncate():
                    files[entry.file].pending.append(entry)
                case Sync():
                    files[entry.file].sync()
                    if entry.directory:
                        name_states = [dict(names)]
                case Create():
                    files[entry.file] = _File(bytearray())
                    names[entry.name] = entry.file
                    name_states.append(dict(names))
                case Delete():
                    names.pop(entry.name, None)
                    name_states = [dict(names)] if entry.directory else [*name_states, dict(names)]
                case Acknowledged():
                    pass
        surviving = chance.choice(name_states)
        return {name: files[number].survive(chance) for name, number in sorted(surviving.items())}

    def acknowledged_at(self, position: int) -> list[object]:
        """What clients had been told by then."""
        return [entry.what for entry in self.entries[:position] if isinstance(entry, Acknowledged)]


class RecordingVfs(apsw.VFS):
    """A VFS that does what the system's does and logs it."""

    def __init__(self, name: str, log: DiskLog) -> None:
        self.log = log
        self.name = name
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file; temporary files without a name are not logged."""
        if name is None:
            return super().xOpen(name, flags)
        path = name if isinstance(name, str) else name.filename()
        create = not os.path.exists(path)
        file = _RecordingFile(name, flags)
        file.begin(self.log, self.log.number(os.path.basename(path), create=create), flags[0], create)
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Delete a file."""
        self.log.delete(os.path.basename(filename), directory=syncdir)
        super().xDelete(filename, syncdir)


class _RecordingFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename, flags: list[int]) -> None:
        super().__init__("", name, flags)

    def begin(self, log: DiskLog, number: int, flags: int, created: bool) -> None:
        self._log = log
        self._number = number
        # As in SQLite's unix VFS: the first sync of a new journal also syncs its directory.
        self._directory_due = created and bool(flags & _JOURNALS)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._log.add(Write(self._number, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._log.add(Truncate(self._number, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._log.add(Sync(self._number, self._directory_due))
        self._directory_due = False
