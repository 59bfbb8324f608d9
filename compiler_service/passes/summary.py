"""The summary: it stands for a stretch that is compacted, and heads the retained part."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import ProgressionInvalidError, id_list
from compiler_service.report import Note, note
from compiler_service.state import CompileState


def set_summary_apart(state: CompileState) -> CompileState:
    """Take the summary out of the records; the profile puts it where it belongs.

    Raises:
        ProgressionInvalidError: More than one summary is left; lists them.
    """
    summaries = [message for kind, message in state.records if kind == "summary"]
    if not summaries:
        return state
    selected = {message.id for message in state.messages}
    first_id = next(message.id for kind, message in state.records if kind != "system")
    summary, notes = choose_summary(summaries, selected, first_id)
    records = tuple([record for record in state.records if record[0] != "summary"])
    return state.having(summary=summary, records=records, notes=notes)


def choose_summary(
    summaries: Sequence[Message], selected: Collection[str], first_id: str
) -> tuple[Message | None, list[Note]]:
    """Return the summary that is compiled, None for none, and the notes.

    One that stands for messages that are selected too says nothing new, and is
    left out.

    Args:
        summaries: The selected summaries, in order.
        selected: The ids of all selected messages.
        first_id: Id of the first record that is not the system's.

    Raises:
        ProgressionInvalidError: More than one summary is left; lists them.
    """
    notes: list[Note] = []
    kept: list[Message] = []
    for message in summaries:
        summary = message.summary
        if summary.first_id in selected or summary.last_id in selected:
            notes.append(note(notes_pb.COMPILE_NOTE_KIND_SUMMARY_DROPPED, message.id))
        else:
            kept.append(message)
    if len(kept) > 1:
        ids = [message.id for message in kept]
        raise ProgressionInvalidError(
            f"{len(ids)} summaries are selected, one at most may be", metadata=id_list("summaries", ids)
        )
    if kept and first_id != kept[0].id:
        notes.append(note(notes_pb.COMPILE_NOTE_KIND_SUMMARY_MOVED, kept[0].id))
    return (kept[0] if kept else None), notes
