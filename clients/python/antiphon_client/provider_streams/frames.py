"""Splitting a stream's bytes, cut anywhere, into the frames they carry.

Bytes are gathered as bytes: a cut inside of a character is none inside of a
frame. Cost: linear in the bytes, however they are cut; one frame is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

_LINE_END = re.compile(rb"\r\n|\n|\r")
_STRUCTURE = re.compile(rb'["\\{}\[\]]')
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FrameSplitter(Protocol):
    """Splits bytes into frames."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take the next bytes and yield the frames that are whole now."""
        ...

    def rest(self) -> bytes:
        """Return what was begun and not ended when the bytes ended."""
        ...


class _Lines:
    """Splits bytes into lines that end in LF, CR or both."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._after_cr = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        buffer = self._buffer
        buffer += chunk
        if self._after_cr and buffer:
            # The line ended at the CR already, so that no event waits for the byte after it.
            if buffer[0] == 0x0A:
                del buffer[0]
            self._after_cr = False
        start = 0
        while (end := _LINE_END.search(buffer, max(start, self._searched))) is not None:
            line = bytes(buffer[start : end.start()])
            start = self._searched = end.end()
            self._after_cr = end[0] == b"\r" and start == len(buffer)
            yield line
        del buffer[:start]
        self._searched = len(buffer)

    def rest(self) -> bytes:
        return bytes(self._buffer)


class ServerSentEvents:
    """The data of each event of a ``text/event-stream``.

    Comments, other fields than ``data`` and events without data carry nothing
    of a response: every provider names an event's type within its data too.
    """

    def __init__(self) -> None:
        self._lines = _Lines()
        self._data: list[bytes] = []
        self._is_first = True

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take the next bytes and yield the data of the events that are whole now."""
        for line in self._lines.feed(chunk):
            if line:
                self._field(line)
            elif self._data:
                data = b"\n".join(self._data)
                self._data = []
                yield data

    def rest(self) -> bytes:
        """Return the data of the event that was begun and not ended."""
        line = self._lines.rest()
        if line:
            self._field(line)
        return b"\n".join(self._data)

    def _field(self, line: bytes) -> None:
        if self._is_first:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._is_first = False
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))


class JsonLines:
    """The lines of a stream of JSON values, one a line; blank ones are left out."""

    def __init__(self) -> None:
        self._lines = _Lines()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take the next bytes and yield the lines that are whole now."""
        return (line for line in self._lines.feed(chunk) if line.strip())

    def rest(self) -> bytes:
        """Return the line that was begun and not ended."""
        return self._lines.rest().strip()


class JsonArrayItems:
    """The objects in a JSON array that is written one after the other."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._depth = 0
        self._in_string = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take the next bytes and yield the objects that are whole now."""
        buffer = self._buffer
        buffer += chunk
        start = 0
        while (found := _STRUCTURE.search(buffer, self._searched)) is not None:
            mark = found[0]
            if mark == b"\\" and found.end() == len(buffer):
                self._searched = found.start()  # What it escapes is still to come.
                break
            self._searched = found.end() + (mark == b"\\")
            if mark == b'"':
                self._in_string = not self._in_string
            elif self._in_string or mark == b"\\":
                continue
            elif mark in b"{[":
                if self._depth == 1:
                    start = found.start()
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth == 1:
                    yield bytes(buffer[start : found.end()])
                    start = found.end()
        else:
            self._searched = len(buffer)
        if self._depth > 1:
            del buffer[:start]
            self._searched -= start
        else:
            del buffer[: self._searched]
            self._searched = 0

    def rest(self) -> bytes:
        """Return the object that was begun and not ended."""
        return bytes(self._buffer)


class JsonObject:
    """One JSON object that is the whole body: no stream, but what a server says in place of one."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take the next bytes; nothing is whole before the end."""
        self._pieces.append(chunk)
        return iter(())

    def rest(self) -> bytes:
        """Return the body."""
        return b"".join(self._pieces)


class EventsOrJson:
    """Events; or an object, or the items of an array: the first byte tells which."""

    def __init__(self, *, may_be_array: bool = False) -> None:
        """Take whether an array is a stream: else it is read as events."""
        self._may_be_array = may_be_array
        self._head = b""
        self._inner: FrameSplitter | None = None

    @property
    def is_object(self) -> bool:
        """Whether the body is an object."""
        return isinstance(self._inner, JsonObject)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take the next bytes and yield the frames that are whole now."""
        if self._inner is None:
            chunk = self._head + chunk
            start = chunk.removeprefix(_BYTE_ORDER_MARK).lstrip()
            if _BYTE_ORDER_MARK.startswith(start):
                # Nothing but white space, or the beginning of a mark.
                self._head = chunk
                return iter(())
            self._inner = self._splitter_of(start)
        return self._inner.feed(chunk)

    def rest(self) -> bytes:
        """Return what was begun and not ended."""
        return b"" if self._inner is None else self._inner.rest()

    def _splitter_of(self, start: bytes) -> FrameSplitter:
        if start.startswith(b"{"):
            return JsonObject()
        return JsonArrayItems() if self._may_be_array and start.startswith(b"[") else ServerSentEvents()
