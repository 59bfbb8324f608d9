"""Writing for people: results on standard output, everything else on standard error."""

from __future__ import annotations

import codecs
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from antiphon_client.errors import AntiphonError
from antiphon_client.json_text import dump_json_text
from antiphon_client.transport_errors import ServiceUnreachableError

# Line breaks, and the joiners that emoji and several scripts are written with.
_KEPT = "\n\t\u200c\u200d"

# What a terminal obeys, and what some readers of lines take for a line's end; JSON itself escapes the rest.
_ESCAPED_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_HINTS = {
    "OPEN_CALLS": "or give an --instruction",
    "TARGET_UNKNOWN": '"antiphon targets" lists them',
}
"""By the reason of an error, what helps on the command line."""

_NOT_ASCII = re.compile("[^\x00-\x7e]")


def say(text: str = "") -> None:
    """Print a line of the result; characters that the output's encoding lacks become escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def say_json(value: Any) -> None:
    """Print a value as one line of JSON that no terminal obeys and any output's encoding has."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    escaped = _ESCAPED_IN_JSON if codecs.lookup(encoding).name == "utf-8" else _NOT_ASCII
    say(escaped.sub(_json_escape, dump_json_text(value)))


def say_json_text(text: str) -> None:
    """Print JSON text: byte for byte and nothing else, but to a terminal as :func:`say_json` does."""
    if sys.stdout.isatty():
        say(_ESCAPED_IN_JSON.sub(_json_escape, text))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()


def say_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, else lines of columns, their titles first."""
    console = Console()
    if console.is_terminal:
        drawn = Table(*titles)
        for row in rows:
            drawn.add_row(*map(Text, row))
        console.print(drawn)
        return
    lines = [titles, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def complain(text: str) -> None:
    """Print one line about a failure, or about what is missing in a result."""
    print(f"antiphon: {_one_line(text)}", file=sys.stderr, flush=True)


def error_text(error: Exception) -> str:
    """Return one line about an error, its reason first where it has one, and what helps if that is known."""
    if isinstance(error, ServiceUnreachableError) and "service" in error.metadata:
        start = f'start one with "antiphon serve", or name another with --{error.metadata["service"]}'
        return f"{error.reason}: {error.message}; {start}"
    if isinstance(error, AntiphonError):
        hint = _HINTS.get(error.reason)
        return f"{error.reason}: {error.message}{'' if hint is None else f'; {hint}'}"
    return str(error) or type(error).__name__


def visible(text: str) -> str:
    """Return text that a terminal shows and does not obey: control characters become escapes."""
    return "".join(
        character
        if character in _KEPT or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
        else character.encode("unicode_escape").decode()
        for character in text
    )


def time_text(seconds: float | None) -> str:
    """Return a time in UTC, to the second."""
    if seconds is None:
        return "-"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):  # the last moment of the year 9999, rounded up
        return f"{seconds:.0f} s since 1970"


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 message``, ``1,306 messages``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


class Bar(Protocol):
    """A progress bar."""

    def advance(self) -> None:
        """Count one more."""
        ...


class _RichBar:
    def __init__(self, progress: Progress, total: int | None, title: str) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=total)

    def advance(self) -> None:
        self._progress.advance(self._task)


class _NoBar:
    def advance(self) -> None:
        return None


@contextmanager
def progress_bar(title: str, total: int | None) -> Iterator[Bar]:
    """Show a progress bar on standard error while it is a terminal, else nothing."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _NoBar()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _RichBar(progress, total, title)


@contextmanager
def byte_progress(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many bytes were moved, on standard error while it is a terminal, else nothing."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda moved: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda moved: progress.update(task, completed=moved)


@contextmanager
def row_progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how many of some rows are done, on standard error while it is a terminal, else nothing.

    Yields what is told of how many more there are.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda more: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda more: progress.advance(task, more)


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())
