"""The file that a whole branch is exported to; ``docs/branch-file.md`` is its description.

What its writer (the history service) and those who pass it on have in common:
how it is recognized, and how to tell that it is whole.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from antiphon_client.json_text import parse_json_text

FORMAT = "antiphon.branch"
"""The format's name, in the first line of every file."""

VERSION = 1
"""The version that is written."""

READABLE_VERSIONS = frozenset({1})
"""The versions that are read: this one and every earlier one."""

LINE_END = b"\n"

_RECORD = re.compile(rb'\{[ \t]*"(?:message|view|end)"[ \t]*:')
_NAMED = re.compile(rb'"format"[ \t]*:[ \t]*"antiphon\.')
_CONVERSATION = re.compile(rb'"(?:messages|contents)"[ \t]*:[ \t]*\[')
_START = re.compile(rb'\{[ \t]*"format"[ \t]*:[ \t]*"' + re.escape(FORMAT).encode() + rb'"')


class BranchFileError(ValueError):
    """A branch file is incomplete or was altered."""


def is_branch_file(start: bytes) -> bool:
    """Tell whether bytes begin a branch file, of whatever version; a first kilobyte is enough."""
    return _START.match(start) is not None


def resembles_branch_file(first_line: bytes) -> bool:
    """Tell whether a line that begins no branch file was probably meant to, or is a later line of one."""
    if _CONVERSATION.search(first_line):
        return False
    return _RECORD.match(first_line) is not None or _NAMED.search(first_line) is not None


class FileCheck:
    """Follows the bytes of a branch file and proves, at its end, that it is whole.

    Cost: hashing; the last line is kept.
    """

    def __init__(self) -> None:
        self._before = hashlib.sha256()
        self._tail = b""
        self.lines = 0
        """Whole lines seen."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        self._tail += data
        self.lines += data.count(LINE_END)
        # What stands before the last whole line is settled.
        last = self._tail.rfind(LINE_END, 0, len(self._tail) - 1) + 1 if data else 0
        if last:
            self._before.update(self._tail[:last])
            self._tail = self._tail[last:]

    def finish(self) -> None:
        """Note the end.

        Raises:
            BranchFileError: The last line is no footer, or its hash is of other bytes.
        """
        footer = _footer(self._tail)
        if footer is None:
            raise BranchFileError(
                f"the branch file ends after {self.lines} lines, before its last line, `end`"
            )
        if footer.get("sha256") != self._before.hexdigest():
            raise BranchFileError("the branch file does not match the hash in its last line, `end`")


def _footer(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(LINE_END):
        return None
    try:
        record = parse_json_text(line.decode())
    except ValueError:
        return None
    footer = record.get("end") if isinstance(record, dict) else None
    return footer if isinstance(footer, dict) else None
