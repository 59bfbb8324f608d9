"""The report: a note for everything a compilation drops, moves, merges or leaves out.

A kind's reason is a fixed text, so that the same compilation gives the same
report in every process. Cost: linear in what there is to report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from antiphon.compiler.v1 import compiled_message_pb2 as pb
from antiphon.compiler.v1.compiled_message_pb2 import CompileNote, CompileNoteKind

IDS_PER_NOTE = 1000
"""Most ids in one note, so that a note always fits in a frame of a stream."""

_REPLACED = "plain content replaces the text that would have carried it"

_REASONS: dict[CompileNoteKind.ValueType, str] = {
    pb.COMPILE_NOTE_KIND_EXCLUDED_DROPPED: "the status is EXCLUDED",
    pb.COMPILE_NOTE_KIND_INTERIM_DROPPED: "the final response to the same action request is selected",
    pb.COMPILE_NOTE_KIND_GENERIC_DROPPED: "generic content is no conversation turn",
    pb.COMPILE_NOTE_KIND_UNANSWERED_CALL_DROPPED: "no response to the action request is selected",
    pb.COMPILE_NOTE_KIND_RESULT_DEDUPLICATED: "an equal item is in the instruction's context already",
    pb.COMPILE_NOTE_KIND_RESULTS_MOVED: "action results go into the context of the next instruction",
    pb.COMPILE_NOTE_KIND_ASSISTANTS_MERGED: "consecutive assistant responses make one turn",
    pb.COMPILE_NOTE_KIND_EMPTY_DROPPED: "it renders to nothing",
    pb.COMPILE_NOTE_KIND_INTERRUPTED_KEPT: "the status is INTERRUPTED; it is compiled as it stands",
    pb.COMPILE_NOTE_KIND_SYSTEM_NOT_RENDERED: _REPLACED,
    pb.COMPILE_NOTE_KIND_CONTEXT_BLOCKS_NOT_RENDERED: _REPLACED,
    pb.COMPILE_NOTE_KIND_GUIDANCE_NOT_RENDERED: _REPLACED,
    pb.COMPILE_NOTE_KIND_INSTRUCTION_NOT_RENDERED: _REPLACED,
    pb.COMPILE_NOTE_KIND_PROMPT_CONTEXT_NOT_RENDERED: _REPLACED,
    pb.COMPILE_NOTE_KIND_TOOLS_NOT_RENDERED: _REPLACED,
    pb.COMPILE_NOTE_KIND_RESPONSE_FORMAT_NOT_RENDERED: _REPLACED,
    pb.COMPILE_NOTE_KIND_BLOCKS_NOT_RENDERED: "these blocks have no place in folded text",
}


class Note(NamedTuple):
    """One thing to report: what was done, and the messages concerned, in order."""

    kind: CompileNoteKind.ValueType
    message_ids: tuple[str, ...]

    def to_proto(self) -> CompileNote:
        """Return the note as it travels, its reason in words."""
        return CompileNote(kind=self.kind, message_ids=self.message_ids, reason=_REASONS[self.kind])


def note(kind: CompileNoteKind.ValueType, message_id: str | None = None) -> Note:
    """Make a note about one message; None means the request's own instruction."""
    return Note(kind, () if message_id is None else (message_id,))


def notes_about(
    kind: CompileNoteKind.ValueType, message_ids: Sequence[str], *, target: str | None = None
) -> list[Note]:
    """Make the notes about several messages; none where there are no messages.

    Args:
        kind: What was done.
        message_ids: The messages concerned, in order.
        target: An id that stands last in every note.
    """
    if not message_ids:
        return []
    tail = () if target is None else (target,)
    if len(message_ids) <= IDS_PER_NOTE:
        return [Note(kind, (*message_ids, *tail))]
    return [
        Note(kind, (*message_ids[start : start + IDS_PER_NOTE], *tail))
        for start in range(0, len(message_ids), IDS_PER_NOTE)
    ]
