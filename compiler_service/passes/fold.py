"""Pass 5: system text and retrieved context go before one instruction's guidance (ADR-0007 D2.4)."""

from __future__ import annotations

from antiphon_client.messages.rendering import render_guidance, render_system
from compiler_service.context_section import render_context_section
from compiler_service.state import CompileState, FoldedSections, InstructionTurn

_SEPARATOR = "\n\n"


def fold(state: CompileState) -> CompileState:
    """Put the prefix into the first retained instruction, else into the request's own.

    The prefix is the non-empty ones of system text, context section and that
    instruction's guidance, joined by two newlines; it becomes the guidance.
    """
    for index, turn in enumerate(state.turns):
        if isinstance(turn, InstructionTurn):
            turns = (*state.turns[:index], _folded(turn, state), *state.turns[index + 1 :])
            return state.having(turns=turns)
    return state.having(current=_folded(state.current, state))


def _folded(turn: InstructionTurn, state: CompileState) -> InstructionTurn:
    system_text = ""
    if state.system is not None:
        system = state.system.system
        system_text = render_system(system.system_message, system.system_datetime or None)
    section = render_context_section(state.request.context_blocks)
    guidance = "" if turn.guidance is None else render_guidance(turn.guidance)
    prefix = _SEPARATOR.join([text for text in (system_text, section) if text])
    return turn._replace(
        guidance=_SEPARATOR.join([text for text in (prefix, guidance) if text]),
        folded=FoldedSections(
            has_own_guidance=bool(guidance.strip()),
            system_id=state.system.id if state.system is not None and system_text else None,
            has_context_blocks=bool(section),
        ),
    )
