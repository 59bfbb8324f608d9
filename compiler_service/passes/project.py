"""Pass 3: from records to turns, in one walk (ADR-0007 D2.2).

Action results wait for the next instruction and go into its context; those left
at the end go into the context of the request's own instruction. Nothing of a
record but its durable content gets here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import (
    ActionResponseContent,
    AssistantResponseContent,
    InstructionContent,
    Message,
)
from antiphon_client.errors import UnsupportedContentError, id_list
from antiphon_client.messages.rendering import response_projection
from compiler_service.instruction_view import BlockUse, prompt_context, view_instruction
from compiler_service.json_values import ProjectionSet, parse_checked
from compiler_service.report import Note, note, notes_about
from compiler_service.state import AssistantTurn, CompileState, InstructionTurn, Record

_INTERRUPTED = message_pb2.MESSAGE_STATUS_INTERRUPTED


@dataclass(slots=True)
class _Walk:
    """What one walk has gathered; lives no longer than the pass."""

    turns: list[InstructionTurn | AssistantTurn] = field(default_factory=list)
    pending: list[Message] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    with_blocks: list[str] = field(default_factory=list)
    unknown_blocks: list[str] = field(default_factory=list)
    generic: list[str] = field(default_factory=list)


def project(state: CompileState) -> CompileState:
    """Turn the records into the turns of the retained history, and the request's instruction into one.

    Raises:
        UnsupportedContentError: An instruction has to be rendered from blocks
            of a kind that this compiler does not know.
    """
    walk = _Walk()
    for kind, message in state.records:
        _project_record(kind, message, walk)
    current = _project_current(state, walk)
    if walk.unknown_blocks:
        raise UnsupportedContentError(
            "instructions with content blocks of a kind this compiler does not know",
            metadata=id_list("message_ids", walk.unknown_blocks),
        )
    notes = [
        *notes_about(notes_pb.COMPILE_NOTE_KIND_GENERIC_DROPPED, walk.generic),
        *notes_about(notes_pb.COMPILE_NOTE_KIND_UNANSWERED_CALL_DROPPED, _unanswered_calls(state.records)),
        *notes_about(notes_pb.COMPILE_NOTE_KIND_BLOCKS_NOT_RENDERED, walk.with_blocks),
        *walk.notes,
    ]
    return state.having(turns=tuple(walk.turns), current=current, notes=notes)


def _project_record(kind: str, message: Message, walk: _Walk) -> None:
    if kind == "assistant_response":
        walk.turns.append(_project_assistant(message.assistant_response, message.id, walk))
    elif kind == "action_response":
        if message.action_response.blocks:
            walk.with_blocks.append(message.id)
        walk.pending.append(message)
    elif kind == "instruction":
        content, message_id = message.instruction, message.id
        turn, use = view_instruction(content, message_id, _context_of(content, message_id, walk))
        if use is not BlockUse.RENDERED:
            walk.with_blocks.append(message_id)
            if use is BlockUse.UNKNOWN:
                walk.unknown_blocks.append(message_id)
        walk.turns.append(turn)
    elif kind == "generic":
        walk.generic.append(message.id)
    # A system record in the selection is the branch's own, which the fold
    # uses; an action request stands in the response that answers it.


def _project_assistant(content: AssistantResponseContent, message_id: str, walk: _Walk) -> AssistantTurn:
    text = content.assistant_response
    is_calling = False
    if content.blocks:
        is_calling = not text and _is_calling(content)
        if _leaves_blocks_out(content):
            walk.with_blocks.append(message_id)
    return AssistantTurn((message_id,), text, is_calling)


def _project_current(state: CompileState, walk: _Walk) -> InstructionTurn:
    instruction = state.request.instruction
    content = instruction.instruction
    turn, use = view_instruction(content, None, ())
    if use is not BlockUse.RENDERED:
        walk.notes.append(note(notes_pb.COMPILE_NOTE_KIND_BLOCKS_NOT_RENDERED))
    if instruction.status == _INTERRUPTED:
        walk.notes.append(note(notes_pb.COMPILE_NOTE_KIND_INTERRUPTED_KEPT))
    return turn._replace(context=tuple(_context_of(content, None, walk)))


def _context_of(content: InstructionContent, message_id: str | None, walk: _Walk) -> list[Any]:
    """Return the instruction's own context items and then the waiting results, each value once."""
    context = prompt_context(content)
    pending = walk.pending
    if not pending:
        return context
    # One result beside nothing has nothing to be compared with.
    present = ProjectionSet(context) if context or len(pending) > 1 else None
    moved: list[str] = []
    repeated: list[str] = []
    for message in pending:
        projection = _projection_of(message.action_response)
        if present is None or present.add(projection):
            context.append(projection)
            moved.append(message.id)
        else:
            repeated.append(message.id)
    walk.pending = []
    walk.notes += notes_about(notes_pb.COMPILE_NOTE_KIND_RESULTS_MOVED, moved, target=message_id)
    walk.notes += notes_about(notes_pb.COMPILE_NOTE_KIND_RESULT_DEDUPLICATED, repeated)
    return context


def _projection_of(response: ActionResponseContent) -> dict[str, Any]:
    arguments = response.arguments_json
    return response_projection(
        response.function,
        parse_checked(arguments) if arguments else {},
        parse_checked(response.output_json) if response.HasField("output_json") else None,
        response.error if response.HasField("error") else None,
    )


def _is_calling(content: AssistantResponseContent) -> bool:
    """Tell whether the blocks of a response without text only call actions, at least one."""
    calls = False
    for block in content.blocks:
        kind = block.WhichOneof("block")
        if kind == "tool_call":
            calls = True
        elif kind == "text" and block.text.text.strip():
            return False
    return calls


def _leaves_blocks_out(content: AssistantResponseContent) -> bool:
    """Tell whether blocks say what neither the response's text nor its calls' records say."""
    has_text = bool(content.assistant_response)
    for block in content.blocks:
        kind = block.WhichOneof("block")
        # A tool call's block only marks where the call stood.
        if kind != "tool_call" and (kind != "text" or (block.text.text and not has_text)):
            return True
    return False


def _unanswered_calls(records: Sequence[Record]) -> list[str]:
    requests = [message.id for kind, message in records if kind == "action_request"]
    if not requests:
        return []
    answered = {
        message.action_response.action_request_id for kind, message in records if kind == "action_response"
    }
    return [message_id for message_id in requests if message_id not in answered]
