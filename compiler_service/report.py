"""The report: a note for everything a compilation drops, moves, merges or leaves out.

A kind's reason is a fixed text, and a detail after it depends on the input only,
so that the same compilation gives the same report in every process. Cost: linear
in what there is to report.
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
    pb.COMPILE_NOTE_KIND_SUMMARY_DROPPED: "messages that it stands for are selected",
    pb.COMPILE_NOTE_KIND_SUMMARY_MOVED: "a summary heads the retained part",
    pb.COMPILE_NOTE_KIND_RESULT_SYNTHESIZED: "no result of the call is selected; one of fixed text was made",
    pb.COMPILE_NOTE_KIND_ORPHAN_RESULT_NOTED: "its call is not selected; what it says became a user's note",
    pb.COMPILE_NOTE_KIND_DUPLICATE_RESULT_DROPPED: "the call has its result",
    pb.COMPILE_NOTE_KIND_RESULT_REORDERED: "results follow their call, in the order of the calls",
    pb.COMPILE_NOTE_KIND_HELD_BACK: "nothing stands between a call and its results",
    pb.COMPILE_NOTE_KIND_USERS_MERGED: "the target takes no user turns that follow each other",
    pb.COMPILE_NOTE_KIND_THINKING_DROPPED: "the reasoning cannot be replayed here",
    pb.COMPILE_NOTE_KIND_SIGNATURE_DROPPED: "the signature cannot be replayed here",
    pb.COMPILE_NOTE_KIND_EMPTY_PART_DROPPED: "blank text parts say nothing",
    pb.COMPILE_NOTE_KIND_CACHE_MARK_DROPPED: "the cache mark has no place here",
    pb.COMPILE_NOTE_KIND_CALL_ID_MAPPED: "the id cannot stand here; call and result bear another",
    pb.COMPILE_NOTE_KIND_NAME_MAPPED: "the target refuses the action's name; it bears another",
    pb.COMPILE_NOTE_KIND_ARGUMENTS_WRAPPED: "the target takes an object only; the arguments were made one",
    pb.COMPILE_NOTE_KIND_PART_DROPPED: "a part has no place here",
    pb.COMPILE_NOTE_KIND_PART_CONVERTED: "a part was put in a form that the target takes",
    pb.COMPILE_NOTE_KIND_ERROR_FLAG_DROPPED: "the target has no flag for a failed result",
    pb.COMPILE_NOTE_KIND_RESPONSE_FORMAT_DOWNGRADED: "the format does not survive the target's strict form",
    pb.COMPILE_NOTE_KIND_TOOL_DOWNGRADED: "the target does not take the tool's schema; it was weakened",
    pb.COMPILE_NOTE_KIND_OPENING_TURN_MADE: "the target needs a user's turn first; a fixed one was made",
    pb.COMPILE_NOTE_KIND_DEFAULT_APPLIED: "the target needs a value that was not given",
    pb.COMPILE_NOTE_KIND_TOOL_CHOICE_DROPPED: "the tool choice has no place in the target",
    pb.COMPILE_NOTE_KIND_SYSTEM_TEXT_AS_USER: "system text within the history is a marked user turn",
    pb.COMPILE_NOTE_KIND_ARGUMENTS_REPAIRED: "the arguments' text was no JSON and was repaired",
    pb.COMPILE_NOTE_KIND_SUMMARY_NOT_RENDERED: _REPLACED,
    pb.COMPILE_NOTE_KIND_KEYWORD_NAME_FOREIGN: "the target has another name for it; it was sent as it is",
}


class Note(NamedTuple):
    """One thing to report.

    Attributes:
        kind: What was done.
        message_ids: The messages concerned, in order; none for the request's
            own instruction and what belongs to it.
        detail: What exactly, after the kind's fixed reason: the same text for
            the same input. "" for nothing to add.
    """

    kind: CompileNoteKind.ValueType
    message_ids: tuple[str, ...]
    detail: str = ""

    def to_proto(self) -> CompileNote:
        """Return the note as it travels, its reason in words."""
        reason = _REASONS[self.kind]
        if self.detail:
            reason = f"{reason}: {self.detail}"
        return CompileNote(kind=self.kind, message_ids=self.message_ids, reason=reason)


def note(kind: CompileNoteKind.ValueType, message_id: str | None = None, detail: str = "") -> Note:
    """Make a note about one message; None means the request's own instruction."""
    return Note(kind, () if message_id is None else (message_id,), detail)


def notes_about(
    kind: CompileNoteKind.ValueType,
    message_ids: Sequence[str],
    *,
    target: str | None = None,
    detail: str = "",
) -> list[Note]:
    """Make the notes about several messages; none where there are no messages.

    Args:
        kind: What was done.
        message_ids: The messages concerned, in order.
        target: An id that stands last in every note.
        detail: As in Note.
    """
    if not message_ids:
        return []
    tail = () if target is None else (target,)
    if len(message_ids) <= IDS_PER_NOTE:
        return [Note(kind, (*message_ids, *tail), detail)]
    return [
        Note(kind, (*message_ids[start : start + IDS_PER_NOTE], *tail), detail)
        for start in range(0, len(message_ids), IDS_PER_NOTE)
    ]
