"""What the importer of OpenAI chat conversations kept beside a record, applied to its message."""

from __future__ import annotations

from typing import Any

from antiphon_client.importing.residue import apply
from antiphon_client.json_text import dump_json_text
from antiphon_client.openai_chat.marks import (
    AFTER,
    DIFFERENCE,
    FUNCTION_CALL,
    METADATA_KEY,
    PARTS,
    POSITION,
    ROLE,
)
from compiler_service.json_values import parse_checked
from compiler_service.projection.import_entries import EntryReader
from compiler_service.projection.splicing import Object, as_written, write


class Extras:
    """The marks of one record; none where it was not imported.

    Attributes:
        role: The message's role, where the record's kind does not say it.
        position: Index of a system message among the messages.
        after: Id of the record before it there; "" where it was the first.
        has_parts: Whether the content was a list of parts.
        is_function_call: Whether the call was its message's ``function_call``.
    """

    __slots__ = (
        "_added",
        "_added_text",
        "_difference",
        "after",
        "has_parts",
        "is_function_call",
        "position",
        "role",
    )

    def __init__(self, marks: Any) -> None:
        found = marks if isinstance(marks, dict) else {}
        role, position = found.get(ROLE), found.get(POSITION)
        self.role: str | None = role if isinstance(role, str) else None
        self.position: int = position if isinstance(position, int) else 0
        after = found.get(AFTER)
        self.after: str = after if isinstance(after, str) else ""
        self.has_parts = bool(found.get(PARTS))
        self.is_function_call = bool(found.get(FUNCTION_CALL))
        self._difference = found.get(DIFFERENCE)
        self._added = _only_added(self._difference)
        self._added_text = dump_json_text(self._added)[1:-1]

    def applied(self, message: dict[str, Any], keys: frozenset[str]) -> Object:
        """Return a message with what is kept of the original put back.

        Args:
            message: The message, for `write`.
            keys: Its keys, and those it might have.

        Cost: that of parsing and writing the message, unless keys are only added.
        """
        if self._difference is None:
            return message
        text = write(message)
        if self._added and keys.isdisjoint(self._added):
            return as_written(f"{text[:-1]},{self._added_text}}}")
        return as_written(dump_json_text(apply(parse_checked(text), self._difference)))


def extras_reader() -> EntryReader[Extras]:
    """Return what reads the extras of records."""
    return EntryReader(METADATA_KEY, Extras)


def _only_added(difference: Any) -> dict[str, Any]:
    """Return the members that a difference adds where it does nothing else, else none."""
    if not isinstance(difference, dict) or set(difference) != {"set"}:
        return {}
    added = difference["set"]
    return added if isinstance(added, dict) else {}
