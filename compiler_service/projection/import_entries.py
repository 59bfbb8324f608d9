"""What importers kept in records' metadata, read once for all records that share it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from compiler_service.json_values import parse_checked

ReadT = TypeVar("ReadT")


class EntryReader(Generic[ReadT]):
    """Reads one importer's entries."""

    def __init__(self, key: str, make: Callable[[Any], ReadT]) -> None:
        """Set up the reader.

        Args:
            key: The importer's metadata key.
            make: Reads an entry; of None, what stands for no entry.
        """
        self._key = key
        self._make = make
        self._none = make(None)
        self._read: dict[str, ReadT] = {}

    def read(self, extras_json: str | None) -> ReadT:
        """Return the entry in a record's metadata, as it was read."""
        # Most metadata is the writer's own: looking for the key is cheaper than reading it.
        if extras_json is None or self._key not in extras_json:
            return self._none
        found = self._read.get(extras_json)
        if found is None:
            found = self._read[extras_json] = self._make(parse_checked(extras_json).get(self._key))
        return found
