"""What a pass or a projection has to report, gathered as it goes."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.compiler.v1.compiled_message_pb2 import CompileNoteKind
from compiler_service.report import Note, notes_about

DETAIL_LENGTH = 200
"""Most characters of a detail, so that a note always fits in a frame of a stream."""

_Key = tuple[CompileNoteKind.ValueType, str]


class Remarks:
    """Notes in the order of their first message: one for all messages of a kind and detail, each once."""

    def __init__(self) -> None:
        self._ids: dict[_Key, dict[str, None]] = {}
        self._groups: list[tuple[CompileNoteKind.ValueType, tuple[str, ...]]] = []

    def add(self, kind: CompileNoteKind.ValueType, message_id: str = "", detail: str = "") -> None:
        """Add a remark about a message; "" is the request itself or its own instruction.

        Args:
            kind: What was done.
            message_id: The message concerned.
            detail: What precisely, in few words; names in it may be the caller's,
                so that what is too long is cut.
        """
        cut = detail if len(detail) <= DETAIL_LENGTH else f"{detail[:DETAIL_LENGTH]}..."
        self._ids.setdefault((kind, cut), {})[message_id] = None

    def add_all(self, kind: CompileNoteKind.ValueType, message_ids: Iterable[str], detail: str = "") -> None:
        """Add a remark about several messages."""
        for message_id in message_ids:
            self.add(kind, message_id, detail)

    def add_group(self, kind: CompileNoteKind.ValueType, message_ids: Iterable[str]) -> None:
        """Add a note of its own, behind the others, about messages that were put together."""
        self._groups.append((kind, tuple(message_ids)))

    def notes(self) -> list[Note]:
        """Return the notes."""
        notes: list[Note] = []
        for (kind, detail), ids in self._ids.items():
            if "" in ids:
                notes.append(Note(kind, (), detail))
            notes += notes_about(kind, [message_id for message_id in ids if message_id], detail=detail)
        for kind, group in self._groups:
            notes += notes_about(kind, group) or [Note(kind, ())]
        return notes
