"""Turns become text and images (ADR-0007 D2.5).

Only the request's own instruction shows tools and a response format. What
renders to nothing is left out with a note; a request without its question is
an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.message.v1 import message_pb2
from antiphon_client.errors import FieldInvalidError
from antiphon_client.messages.rendering import render_instruction_text
from compiler_service.json_values import parse_checked
from compiler_service.report import Note, note, notes_about
from compiler_service.state import AssistantTurn, InstructionTurn, TurnRow
from compiler_service.texts import is_blank

_USER = message_pb2.ROLE_USER
_ASSISTANT = message_pb2.ROLE_ASSISTANT


class CallSections(NamedTuple):
    """The sections that last for one call; history instructions have none."""

    tools: tuple[Any, ...] = ()
    response_schema: Any = None
    response_format: Any = None


NO_SECTIONS = CallSections()


class Rendered(NamedTuple):
    """Finished turns, and notes about what is left out."""

    turns: list[TurnRow]
    notes: list[Note]


def render(turns: Iterable[InstructionTurn | AssistantTurn]) -> Rendered:
    """Render the history's turns. Cost: linear in the turns; nearly all of a compilation's."""
    rendered = Rendered([], [])
    for turn in turns:
        if isinstance(turn, InstructionTurn):
            render_user(turn, NO_SECTIONS, rendered)
        elif turn.text:
            rendered.turns.append((_ASSISTANT, turn.text, (), turn.message_ids))
        else:
            rendered.notes.extend(notes_about(notes_pb.COMPILE_NOTE_KIND_EMPTY_DROPPED, turn.message_ids))
    return rendered


def render_user(turn: InstructionTurn, sections: CallSections, rendered: Rendered) -> None:
    """Render an instruction and add it."""
    text = turn.plain_content
    if text:
        rendered.notes.extend(_replaced_notes(turn, sections))
    elif sections is NO_SECTIONS:
        text = render_instruction_text(guidance=turn.guidance, instruction=turn.text, context=turn.context)
    else:
        text = render_instruction_text(
            guidance=turn.guidance,
            instruction=turn.text,
            context=turn.context,
            tools=sections.tools,
            response_schema=sections.response_schema,
            response_format=sections.response_format,
        )
    if text or turn.images:
        message_ids = () if turn.message_id is None else (turn.message_id,)
        rendered.turns.append((_USER, text, turn.images, message_ids))
    else:
        rendered.notes.append(note(notes_pb.COMPILE_NOTE_KIND_EMPTY_DROPPED, turn.message_id))


def _replaced_notes(turn: InstructionTurn, sections: CallSections) -> list[Note]:
    """Make the notes about all that the turn's plain content replaces."""
    notes: list[Note] = []
    folded = turn.folded
    if folded is not None and folded.system_id is not None:
        notes.append(note(notes_pb.COMPILE_NOTE_KIND_SYSTEM_NOT_RENDERED, folded.system_id))
    if folded is not None and folded.summary_id is not None:
        notes.append(note(notes_pb.COMPILE_NOTE_KIND_SUMMARY_NOT_RENDERED, folded.summary_id))
    if folded is not None and folded.has_context_blocks:
        notes.append(note(notes_pb.COMPILE_NOTE_KIND_CONTEXT_BLOCKS_NOT_RENDERED))
    has_guidance = turn.guidance not in (None, "") if folded is None else folded.has_own_guidance
    for is_replaced, kind in (
        (has_guidance, notes_pb.COMPILE_NOTE_KIND_GUIDANCE_NOT_RENDERED),
        (turn.text, notes_pb.COMPILE_NOTE_KIND_INSTRUCTION_NOT_RENDERED),
        (turn.context, notes_pb.COMPILE_NOTE_KIND_PROMPT_CONTEXT_NOT_RENDERED),
        (sections.tools, notes_pb.COMPILE_NOTE_KIND_TOOLS_NOT_RENDERED),
        (
            sections.response_format is not None,
            notes_pb.COMPILE_NOTE_KIND_RESPONSE_FORMAT_NOT_RENDERED,
        ),
    ):
        if is_replaced:
            notes.append(note(kind, turn.message_id))
    return notes


def call_sections(request: CompileRequest) -> CallSections:
    """Read the request's tools and response format; any structure name resolves to JSON."""
    tools = tuple([parse_checked(schema) for schema in request.tool_schemas_json])
    form = request.response_format
    kind = form.WhichOneof("format")
    if kind == "schema":
        return CallSections(
            tools, parse_checked(form.schema.json_schema), parse_checked(form.schema.template_json)
        )
    return CallSections(tools, None, parse_checked(form.example_json) if kind == "example_json" else None)


def refuse_lost_question(request: CompileRequest, turn: InstructionTurn, field_prefix: str) -> None:
    """Refuse an instruction that asks something and renders to nothing, such as blank text alone.

    What is folded in front and what belongs to the call (system text, context
    blocks, tools, response format) does not count: with them alone a request
    would go out without its question. Plain content and images always render;
    text and blocks may not.

    Args:
        request: The request.
        turn: Its own instruction's turn.
        field_prefix: What stands before the request's field paths in errors.

    Raises:
        FieldInvalidError: That is so.
    """
    content = request.instruction.instruction
    given = "instruction" if content.HasField("instruction") else "blocks" if content.blocks else None
    if given is None or not is_blank(turn.text) or turn.plain_content or turn.images:
        return
    keeps_guidance = turn.folded is None or turn.folded.has_own_guidance
    guidance = turn.guidance if keeps_guidance else None
    if not render_instruction_text(guidance=guidance, context=turn.context):
        path = f"{field_prefix}instruction.instruction.{given}"
        raise FieldInvalidError.of(path, "is given but renders to nothing")
