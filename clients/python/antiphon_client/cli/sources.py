"""What is imported: a file or standard input, and the conversations in it.

A source holds an array of messages, an object ``{id, messages}``, or JSON lines of either.
Gemini's ``contents`` stand for messages, and a system text may stand beside them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import typer

from antiphon_client.branch_file import FORMAT, is_branch_file, resembles_branch_file
from antiphon_client.cli.formats import system_beside, with_messages
from antiphon_client.json_text import JsonTextError, dump_json_text, parse_json_text
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.openai_chat import conversation_metadata

STANDARD_INPUT = Path("-")
"""The path that stands for standard input."""

_KEY = "messages"

_RECOGNIZED_BY = 1024
"""Bytes at a source's start that tell its format."""


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes that can be read again from their start.

    Attributes:
        name: What to call them in reports.
        file: The bytes.
        default_id: What to call a conversation that is all of them and has no id; None: by what it says.
        has_lines: Whether their name says that each line is a conversation.
    """

    name: str
    file: BinaryIO
    default_id: str | None
    has_lines: bool

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self.file.seek(0, 2)

    @property
    def is_branch_file(self) -> bool:
        """Whether they are a branch that was exported."""
        self.file.seek(0)
        return is_branch_file(self.file.read(_RECOGNIZED_BY))


def source_path(text: str) -> Path:
    """Return the path that a command line names.

    typer's own check of paths has no way to let ``-`` pass.

    Raises:
        typer.BadParameter: There is no such file, or it may not be read.
    """
    if text == str(STANDARD_INPUT):
        return STANDARD_INPUT
    path = Path(text)
    if not path.exists():
        raise typer.BadParameter(f"File {text!r} does not exist.")
    if path.is_dir():
        raise typer.BadParameter(f"File {text!r} is a directory.")
    if not os.access(path, os.R_OK):
        raise typer.BadParameter(f"File {text!r} is not readable.")
    # To a path, ./- is the same as -.
    return path.absolute() if path == STANDARD_INPUT else path


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open a file, or standard input for ``-``.

    What comes through a pipe goes to an unnamed temporary file first, as it is read more than once.

    Raises:
        OSError: It cannot be read.
    """
    if path == STANDARD_INPUT:
        if sys.stdin is None:  # So Python says that a process was started without one.
            raise OSError("standard input is closed")
        with _copied(sys.stdin.buffer) as file:
            yield Source("standard input", file, None, has_lines=False)
        return
    with path.open("rb") as opened:
        if opened.seekable():
            yield Source(str(path), opened, path.stem, has_lines=path.suffix == ".jsonl")
            return
        with _copied(opened) as file:
            yield Source(str(path), file, None, has_lines=False)


@contextmanager
def _copied(stream: BinaryIO) -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(stream, file)
        yield file


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a source.

    Attributes:
        line: The line it begins at, from 1.
        source_id: Its id there; where it has none, the file's name or one made of what it says.
        messages: Its messages.
        metadata: What its branch must remember of the keys beside its messages.
        system: The system text that stands beside its messages; None for none.
    """

    line: int
    source_id: str
    messages: list[dict[str, Any]]
    metadata: dict[str, Any] = field(default_factory=dict)
    system: Any = None

    @property
    def identity(self) -> str:
        """A hash of what it says: equal for equal conversations, wherever they are read from."""
        return _identity(self.messages, self.metadata)


@dataclass(frozen=True, slots=True)
class BadEntry:
    """A place in a source where no conversation could be read, and why."""

    line: int
    reason: str


class TranscriptFile:
    """The conversations of a source, read one at a time."""

    def __init__(self, source: Source) -> None:
        """Count what the source holds.

        Raises:
            OSError: The source cannot be read.
            ValueError: It is empty, or a damaged branch's file.
        """
        self._file = source.file
        first = _first_line(source.file)
        if not first:
            raise ValueError(f"{source.name}: nothing to import: the input is empty")
        if resembles_branch_file(first.removeprefix(BOM_UTF8).lstrip()):
            raise ValueError(
                f'{source.name}: looks like a branch file, whose first bytes are {{"format":"{FORMAT}"'
            )
        self._is_lines = source.has_lines or not _is_one_document(source.file)
        self._default_id = None if self._is_lines else source.default_id
        self.count = sum(1 for _ in self._entries())
        """Conversations in it, bad entries included."""

    def __iter__(self) -> Iterator[Conversation | BadEntry]:
        """Yield every conversation, or what stands in its place, in order; an id twice is bad.

        Equal conversations without ids are told apart by their number.
        """
        first_lines: dict[str, int] = {}
        unnamed: Counter[str] = Counter()
        for line, text in self._entries():
            entry = _read(line, text, self._default_id, unnamed)
            if isinstance(entry, Conversation):
                first = first_lines.setdefault(entry.source_id, line)
                if first != line:
                    entry = BadEntry(line, f"the id {entry.source_id!r} stands on line {first} already")
            yield entry

    def _entries(self) -> Iterator[tuple[int, bytes]]:
        self._file.seek(0)
        if not self._is_lines:
            yield 1, self._file.read()
            return
        for number, line in enumerate(self._file, start=1):
            if line.strip():
                yield number, line


def _is_one_document(file: BinaryIO) -> bool:
    """Whether a file is one JSON document, not lines that are each a conversation."""
    first = _first_line(file)
    more = any(line.strip() for line in file)
    return not more or not isinstance(_read(1, first, "", Counter()), Conversation)


def _first_line(file: BinaryIO) -> bytes:
    """Return the first line that is not blank, and stand after it; nothing where there is none."""
    file.seek(0)
    return next((line for line in file if line.strip()), b"")


def _read(line: int, text: bytes, default_id: str | None, unnamed: Counter[str]) -> Conversation | BadEntry:
    """Read one conversation; ``unnamed`` counts those that are called by what they say."""
    try:
        decoded = text.decode()
        value = parse_json_text(decoded)
    except UnicodeDecodeError as error:
        return BadEntry(line, f"not UTF-8: byte {error.start}")
    except JsonTextError as error:
        return BadEntry(line + _lines_before_fault(decoded), str(error))
    try:
        conversation = _object(value)
        source_id = _given_id(conversation) or default_id
        messages, metadata = conversation["messages"], {}
        if isinstance(value, dict):
            metadata = conversation_metadata(conversation)
        source_id = source_id or _made_id(messages, metadata, unnamed)
        return Conversation(line, source_id, messages, metadata, system_beside(value))
    except ValueError as error:
        return BadEntry(line, str(error))


def _lines_before_fault(text: str) -> int:
    """Return how many lines of a text come before the one where it stops being JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return min(error.lineno - 1, text.rstrip().count("\n"))
    except (ValueError, RecursionError):
        pass
    return 0


def _object(value: Any) -> dict[str, Any]:
    key = "contents" if isinstance(value, dict) and "messages" not in value and "contents" in value else _KEY
    value = with_messages(value)
    if isinstance(value, list):
        if value and isinstance(value[0], dict) and "messages" in value[0] and "role" not in value[0]:
            raise ValueError('an array of conversations; write JSON lines, one {"id", "messages"} a line')
        value = {"messages": value}
    if not isinstance(value, dict):
        raise ValueError("neither an array of messages nor an object with id and messages")
    if _KEY not in value:
        beside = ' ("input", of OpenAI\'s Responses, is not imported)' if "input" in value else ""
        raise ValueError(
            "there is no \"messages\", as of OpenAI's chat and of Anthropic's Messages, "
            f'and no "contents", as of Gemini{beside}'
        )
    messages = value[_KEY]
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ValueError(f"{key} is not an array of objects")
    if not messages:
        raise ValueError(f"there are no {key}")
    return value


def _given_id(conversation: dict[str, Any]) -> str | None:
    if "id" not in conversation:
        return None
    source_id = conversation["id"]
    if not isinstance(source_id, str) or not source_id:
        raise ValueError("the id must be text, and not empty; it may be left out")
    if len(source_id.encode()) > DEFAULT_LIMITS.external_key_bytes:
        raise ValueError(f"the id is longer than {DEFAULT_LIMITS.external_key_bytes} bytes")
    return source_id


def _made_id(messages: list[dict[str, Any]], metadata: dict[str, Any], unnamed: Counter[str]) -> str:
    """Return an id made of what a conversation says, so that another run finds it again."""
    made = f"conversation-{_identity(messages, metadata)[:16]}"
    unnamed[made] += 1
    return made if unnamed[made] == 1 else f"{made}-{unnamed[made]}"


def _identity(messages: list[dict[str, Any]], metadata: dict[str, Any]) -> str:
    said = [messages, metadata] if metadata else messages
    return hashlib.sha256(dump_json_text(said).encode()).hexdigest()
