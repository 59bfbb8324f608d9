"""System text, summary and retrieved context go before one instruction's guidance (ADR-0007 D2.4)."""

from __future__ import annotations

from dataclasses import dataclass

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.messages.rendering import render_guidance
from compiler_service.context_section import render_context_section
from compiler_service.state import FoldedSections, InstructionTurn
from compiler_service.texts import is_blank, system_text

_SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class Prefix:
    """What goes before the guidance of the first retained instruction, else of the request's own.

    Attributes:
        system: The system record; None for none.
        summary: The summary record; None for none.
        request: The request: its context blocks.
    """

    system: Message | None
    summary: Message | None
    request: CompileRequest

    def fold_into(self, turn: InstructionTurn) -> InstructionTurn:
        """Return the turn with its guidance replaced.

        The new one is the non-empty ones of system text, summary, context
        section and the turn's own guidance, joined by two newlines.
        """
        rules = "" if self.system is None else system_text(self.system.system)
        summary_text = "" if self.summary is None else self.summary.summary.text
        section = render_context_section(self.request.context_blocks)
        guidance = "" if turn.guidance is None else render_guidance(turn.guidance)
        prefix = _SEPARATOR.join([text for text in (rules, summary_text, section) if text])
        return turn._replace(
            guidance=_SEPARATOR.join([text for text in (prefix, guidance) if text]),
            folded=FoldedSections(
                has_own_guidance=not is_blank(guidance),
                system_id=self.system.id if self.system is not None and rules else None,
                has_context_blocks=bool(section),
                summary_id=self.summary.id if self.summary is not None else None,
            ),
        )
