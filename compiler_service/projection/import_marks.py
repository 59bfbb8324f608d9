"""What importers kept in records' metadata, read once for all records that share it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from compiler_service.json_values import parse_checked

MarksT = TypeVar("MarksT")


class MarksReader(Generic[MarksT]):
    """Reads one importer's entries."""

    def __init__(self, key: str, make: Callable[[Any], MarksT]) -> None:
        """Take the importer's metadata key, and what makes the marks of an entry; of None, no marks."""
        self._key = key
        self._make = make
        self._none = make(None)
        self._read: dict[str, MarksT] = {}

    def read(self, extras_json: str | None) -> MarksT:
        """Return the marks in a record's metadata."""
        # Most metadata is the writer's own: looking for the key is cheaper than reading it.
        if extras_json is None or self._key not in extras_json:
            return self._none
        marks = self._read.get(extras_json)
        if marks is None:
            marks = self._read[extras_json] = self._make(parse_checked(extras_json).get(self._key))
        return marks
