"""Reading conversations from files: an OpenAI chat array, ``{id, messages}``, or JSON lines of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon_client.json_text import JsonTextError, dump_json_text, parse_json_text
from antiphon_client.limits import DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file.

    Attributes:
        line: The line it begins at, from 1.
        source_id: Its id in the file, or the file's name where it has none.
        messages: Its OpenAI chat messages.
    """

    line: int
    source_id: str
    messages: list[dict[str, Any]]

    @property
    def identity(self) -> str:
        """A hash of what it says: equal for equal conversations, wherever they are read from."""
        return hashlib.sha256(dump_json_text(self.messages).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class BadEntry:
    """A place in a file where no conversation could be read, and why."""

    line: int
    reason: str


class TranscriptFile:
    """A file of conversations, read one at a time.

    Raises:
        OSError: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_lines = path.suffix == ".jsonl" or not _is_one_document(path)
        self.count = self._count()
        """Conversations in it, bad entries included."""

    def __iter__(self) -> Iterator[Conversation | BadEntry]:
        """Yield every conversation, or what stands in its place, in order; an id twice is bad."""
        seen: dict[str, int] = {}
        for line, text in self._entries():
            entry = _read(line, text, self._path.stem, needs_id=self._is_lines)
            if isinstance(entry, Conversation):
                first = seen.setdefault(entry.source_id, line)
                if first != line:
                    entry = BadEntry(line, f"the id {entry.source_id!r} stands on line {first} already")
            yield entry

    def _entries(self) -> Iterator[tuple[int, bytes]]:
        if not self._is_lines:
            yield 1, self._path.read_bytes()
            return
        with self._path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line

    def _count(self) -> int:
        return sum(1 for _ in self._entries()) if self._is_lines else 1


def _is_one_document(path: Path) -> bool:
    """Whether a file is one JSON document, not lines that are each a conversation."""
    with path.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"")
        more = any(line.strip() for line in lines)
    return not more or not isinstance(_read(1, first, "", needs_id=False), Conversation)


def _read(line: int, text: bytes, default_id: str, *, needs_id: bool) -> Conversation | BadEntry:
    try:
        value = parse_json_text(text.decode())
    except UnicodeDecodeError as error:
        return BadEntry(line, f"not UTF-8: byte {error.start}")
    except JsonTextError as error:
        return BadEntry(line, str(error))
    if isinstance(value, list):
        if value and isinstance(value[0], dict) and "messages" in value[0] and "role" not in value[0]:
            return BadEntry(
                line, 'an array of conversations; write JSON lines, one {"id", "messages"} a line'
            )
        value = {"messages": value}
    if not isinstance(value, dict):
        return BadEntry(line, "neither an array of messages nor an object with id and messages")
    messages = value.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return BadEntry(line, "messages is not an array of objects")
    if not messages:
        return BadEntry(line, "there are no messages")
    source_id = value.get("id", None if needs_id else default_id)
    if not isinstance(source_id, str) or not source_id:
        return BadEntry(line, "there is no id, which must be text")
    if len(source_id.encode()) > DEFAULT_LIMITS.external_key_bytes:
        return BadEntry(line, f"the id is longer than {DEFAULT_LIMITS.external_key_bytes} bytes")
    return Conversation(line, source_id, messages)
