"""What was answered, as lines that are equal in every language (the scenarios' README, Transcript)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from typing import Any

from tests.polyglot.pointers import step

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class Transcript:
    """The lines of one scenario, in the making."""

    def __init__(self, volatile: Collection[str]) -> None:
        """Begin; ``volatile`` are the names whose values a server makes anew each time."""
        self._volatile = volatile
        self._uuids: dict[str, str] = {}
        self.lines: list[str] = []

    def add(self, number: int, reply: int | str, value: Any) -> None:
        """Add the leaves of a reply, or of an error, of a step."""
        leaves = sorted(_leaves(value, "", ""), key=lambda leaf: leaf[0].encode())
        for pointer, name, kind, leaf in leaves:
            text = f"<{name}>" if kind != "o" and name in self._volatile else self._normal(leaf)
            self.lines.append(f"{number}\t{reply}\t{pointer}\t{kind}\t{text.translate(_ESCAPES)}\n")

    def text(self) -> str:
        """Return all lines."""
        return "".join(self.lines)

    def digest(self) -> str:
        """Return the SHA-256 of the lines in UTF-8, in hexadecimal."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def _normal(self, text: str) -> str:
        return _UUID.sub(lambda found: self._uuid(found.group()), text)

    def _uuid(self, value: str) -> str:
        return self._uuids.setdefault(value, f"<uuid-{len(self._uuids) + 1}>")


def _leaves(value: Any, pointer: str, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield each leaf's pointer, the name of the member it is or is listed in, its type and its text."""
    if isinstance(value, dict):
        if not value:
            yield pointer, name, "o", ""
        for key, member in value.items():
            yield from _leaves(member, step(pointer, key), key)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _leaves(member, step(pointer, index), name)
    elif isinstance(value, bool):
        yield pointer, name, "b", "true" if value else "false"
    elif isinstance(value, int):
        yield pointer, name, "n", str(value)
    elif isinstance(value, str):
        yield pointer, name, "s", value
    elif value is not None:
        raise TypeError(f"no field of the contract is a {type(value).__name__}")
