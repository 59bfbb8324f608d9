"""Runs of assistant responses made one, and instructions that follow each other (ADR-0007 D2.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from compiler_service.report import Note, notes_about
from compiler_service.state import AssistantTurn, InstructionTurn

_SEPARATOR = "\n\n"


class Merged(NamedTuple):
    """Turns of which no two assistants' follow each other, and what was found on the way."""

    turns: list[InstructionTurn | AssistantTurn]
    notes: list[Note]
    consecutive: list[tuple[str, str]]
    """Instructions that directly follow each other."""


def merge(turns: Iterable[InstructionTurn | AssistantTurn]) -> Merged:
    """Merge consecutive assistant responses. Cost: linear in the turns."""
    merged = Merged([], [], [])
    run: list[AssistantTurn] = []
    for turn in turns:
        if isinstance(turn, AssistantTurn):
            run.append(turn)
            continue
        if run:
            merged.turns.append(_merged(run, merged.notes))
            run = []
        elif merged.turns:
            former = merged.turns[-1]
            if isinstance(former, InstructionTurn):
                merged.consecutive.append((former.message_id or "", turn.message_id or ""))
        merged.turns.append(turn)
    if run:
        merged.turns.append(_merged(run, merged.notes))
    return merged


def _merged(run: Sequence[AssistantTurn], notes: list[Note]) -> AssistantTurn:
    if len(run) == 1:
        return run[0]
    ids = tuple([message_id for turn in run for message_id in turn.message_ids])
    notes += notes_about(notes_pb.COMPILE_NOTE_KIND_ASSISTANTS_MERGED, ids)
    text = _SEPARATOR.join([turn.text for turn in run if not turn.is_calling])
    return AssistantTurn(ids, text, all(turn.is_calling for turn in run))
