"""Pass 4: the order rules, and runs of assistant responses made one (ADR-0007 D2.3)."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon_client.errors import ConsecutiveInstructionsError, FirstMessageNotInstructionError
from compiler_service.report import Note, notes_about
from compiler_service.state import AssistantTurn, CompileState, InstructionTurn

_CONSECUTIVE = "Consecutive instructions require an intervening assistant response"
_FIRST = "First message in progression must be an Instruction or System"
_SEPARATOR = "\n\n"


def merge(state: CompileState) -> CompileState:
    """Check the order of the retained turns and merge consecutive assistant responses.

    Raises:
        ConsecutiveInstructionsError: Two instructions follow each other.
        FirstMessageNotInstructionError: There is a system record and the first
            turn is an assistant's.
    """
    turns: list[InstructionTurn | AssistantTurn] = []
    notes: list[Note] = []
    run: list[AssistantTurn] = []
    for turn in state.turns:
        if isinstance(turn, AssistantTurn):
            run.append(turn)
            continue
        if run:
            turns.append(_merged(run, notes))
            run = []
        elif turns:
            _refuse_consecutive(turns[-1], turn)
        turns.append(turn)
    if run:
        turns.append(_merged(run, notes))
    if state.system is not None and turns and isinstance(turns[0], AssistantTurn):
        raise FirstMessageNotInstructionError(_FIRST, metadata={"message_id": turns[0].message_ids[0]})
    return state.having(turns=tuple(turns), notes=notes)


def _merged(run: Sequence[AssistantTurn], notes: list[Note]) -> AssistantTurn:
    if len(run) == 1:
        return run[0]
    ids = tuple([message_id for turn in run for message_id in turn.message_ids])
    notes += notes_about(notes_pb.COMPILE_NOTE_KIND_ASSISTANTS_MERGED, ids)
    text = _SEPARATOR.join([turn.text for turn in run if not turn.is_calling])
    return AssistantTurn(ids, text, all(turn.is_calling for turn in run))


def _refuse_consecutive(former: InstructionTurn | AssistantTurn, latter: InstructionTurn) -> None:
    if isinstance(former, InstructionTurn):
        ids = (former.message_id or "", latter.message_id or "")
        raise ConsecutiveInstructionsError(_CONSECUTIVE, metadata={"message_ids": ",".join(ids)})
