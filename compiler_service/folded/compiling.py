"""FOLDED as a pass: opening, settled stretches and tail, and what the rules say of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import (
    ConsecutiveInstructionsError,
    FirstMessageNotInstructionError,
    UnsupportedContentError,
    id_list,
)
from compiler_service.folded.digests import follow
from compiler_service.folded.division import divide, placed
from compiler_service.folded.findings import Findings, overview
from compiler_service.folded.fold import Prefix
from compiler_service.folded.history import FoldedHistory
from compiler_service.folded.outcome import FoldedOutcome
from compiler_service.folded.render import refuse_lost_question
from compiler_service.folded.settling import settle
from compiler_service.folded.stretch import (
    Stretch,
    consecutive_instructions,
    finish_stretch,
    finish_tail,
)
from compiler_service.passes.screen import refuse_unknown, screen_system
from compiler_service.passes.summary import choose_summary
from compiler_service.report import Note, notes_about
from compiler_service.state import CompileState

_CONSECUTIVE = "Consecutive instructions require an intervening assistant response"
_FIRST = "First message in progression must be an Instruction or System"


def compile_folded(state: CompileState) -> CompileState:
    """Compile the selection and the request's own instruction.

    Raises:
        UnsupportedContentError: Records of a kind or status, or instructions
            with blocks of a kind, that this compiler does not know.
        ProgressionInvalidError: More than one summary is selected.
        ConsecutiveInstructionsError: Two instructions follow each other.
        FirstMessageNotInstructionError: There is a system record and the first
            turn is an assistant's.
        FieldInvalidError: The request's instruction has content and renders to nothing.

    Cost: linear in the messages that were not compiled before.
    """
    former, request = state.former, state.request
    messages = state.messages if state.plain is None else state.plain
    division = divide(messages, () if former is None else former.held)
    opening, settled, tail = settle(division, messages)
    findings = [opening.findings, *[stretch.findings for stretch in settled], tail.findings]
    found = overview(findings)
    refuse_unknown(found.unknown)
    system, excluded, interrupted = screen_system(state.system, found.excluded, found.interrupted)
    found = found._replace(excluded=tuple(excluded), interrupted=tuple(interrupted))
    summary, summary_notes = _summary_of(found, state)
    _refuse_unknown_blocks(found.unknown_blocks)

    prefix = Prefix(system, summary, request)
    first = [finish_stretch(opening, prefix)] if opening.length else []
    last, question = finish_tail(tail, None if first else prefix, request)
    stretches = (*first, *settled, last)
    _check_order(stretches, system)
    refuse_lost_question(request, question, state.field_prefix)

    trail = follow(None if former is None else former.trail, first[0].rows if first else (), settled)
    outcome = FoldedOutcome(
        stretches=stretches,
        first_notes=_first_notes(found, _unanswered(found.calls, findings), summary_notes),
        history=FoldedHistory(placed(opening.length, settled), trail),
        digest=trail.ending(last.rows),
    )
    return replace(state, system=system, summary=summary, folded=outcome)


def _summary_of(found: Findings, state: CompileState) -> tuple[Message | None, list[Note]]:
    if not found.summaries:
        return None, []
    ids = state.message_ids
    selected = {message.id for message in state.messages} if ids is None else ids
    return choose_summary(found.summaries, selected, found.leading[0])


def _refuse_unknown_blocks(message_ids: Sequence[str]) -> None:
    if message_ids:
        raise UnsupportedContentError(
            "instructions with content blocks of a kind this compiler does not know",
            metadata=id_list("message_ids", message_ids),
        )


def _check_order(stretches: Sequence[Stretch], system: Message | None) -> None:
    pair = next(consecutive_instructions(stretches), None)
    if pair is not None:
        raise ConsecutiveInstructionsError(_CONSECUTIVE, metadata={"message_ids": ",".join(pair)})
    first_assistant = stretches[0].first_assistant
    if system is not None and first_assistant is not None:
        raise FirstMessageNotInstructionError(_FIRST, metadata={"message_id": first_assistant})


def _unanswered(calls: Sequence[str], findings: Sequence[Findings]) -> list[str]:
    """Return the calls that no response names, of those without one in their own stretch."""
    if not calls:
        return []
    answered = frozenset(chain.from_iterable([found.answered for found in findings]))
    return [message_id for message_id in calls if message_id not in answered]


def _first_notes(
    found: Findings, unanswered: Sequence[str], summary_notes: Sequence[Note]
) -> tuple[Note, ...]:
    return (
        *notes_about(notes_pb.COMPILE_NOTE_KIND_EXCLUDED_DROPPED, found.excluded),
        *notes_about(notes_pb.COMPILE_NOTE_KIND_INTERIM_DROPPED, found.interim),
        *notes_about(notes_pb.COMPILE_NOTE_KIND_INTERRUPTED_KEPT, found.interrupted),
        *summary_notes,
        *notes_about(notes_pb.COMPILE_NOTE_KIND_GENERIC_DROPPED, found.generic),
        *notes_about(notes_pb.COMPILE_NOTE_KIND_UNANSWERED_CALL_DROPPED, unanswered),
        *notes_about(notes_pb.COMPILE_NOTE_KIND_BLOCKS_NOT_RENDERED, found.with_blocks),
    )
