"""Pass 3: from records to turns, in one walk (ADR-0007 D2.2).

Action results wait for the next instruction and go into its context; those left
at the end go into the context of the request's own instruction. Nothing of a
record but its durable content gets here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.compiler.v1.compiled_message_pb2 import CompileNote
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import AssistantResponseContent, Message
from antiphon_client.errors import UnsupportedContentError, id_list
from antiphon_client.messages.rendering import response_projection
from compiler_service.instruction_view import InstructionView, view_instruction
from compiler_service.json_values import ProjectionSet, parse_checked
from compiler_service.report import note, notes_about
from compiler_service.state import AssistantTurn, CompileState, InstructionTurn, Record

_INTERRUPTED = message_pb2.MESSAGE_STATUS_INTERRUPTED


@dataclass(slots=True)
class _Walk:
    """What one walk has gathered; lives no longer than the pass."""

    turns: list[InstructionTurn | AssistantTurn] = field(default_factory=list)
    pending: list[Message] = field(default_factory=list)
    notes: list[CompileNote] = field(default_factory=list)
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
    for record in state.records:
        _project_record(record, walk)
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


def _project_record(record: Record, walk: _Walk) -> None:
    kind, message = record
    if kind == "assistant_response":
        content = message.assistant_response
        if content.blocks and _leaves_blocks_out(content):
            walk.with_blocks.append(message.id)
        walk.turns.append(AssistantTurn((message.id,), content.assistant_response, _is_calling(content)))
    elif kind == "action_response":
        if message.action_response.blocks:
            walk.with_blocks.append(message.id)
        walk.pending.append(message)
    elif kind == "instruction":
        view = view_instruction(message.instruction, message.id)
        if view.leaves_blocks_out:
            walk.with_blocks.append(message.id)
        if view.has_unknown_block:
            walk.unknown_blocks.append(message.id)
        walk.turns.append(_with_results(view, walk))
    elif kind == "generic":
        walk.generic.append(message.id)
    # A system record in the selection is the branch's own, which the fold
    # uses; an action request stands in the response that answers it.


def _project_current(state: CompileState, walk: _Walk) -> InstructionTurn:
    instruction = state.request.instruction
    view = view_instruction(instruction.instruction, None)
    if view.leaves_blocks_out:
        walk.notes.append(note(notes_pb.COMPILE_NOTE_KIND_BLOCKS_NOT_RENDERED))
    if instruction.status == _INTERRUPTED:
        walk.notes.append(note(notes_pb.COMPILE_NOTE_KIND_INTERRUPTED_KEPT))
    return _with_results(view, walk)


def _with_results(view: InstructionView, walk: _Walk) -> InstructionTurn:
    """Append the waiting results to the instruction's context, each value once."""
    turn = view.turn
    if not walk.pending:
        return turn
    present = ProjectionSet(turn.context)
    context = list(turn.context)
    moved: list[str] = []
    repeated: list[str] = []
    for message in walk.pending:
        projection = _projection_of(message)
        if present.add(projection):
            context.append(projection)
            moved.append(message.id)
        else:
            repeated.append(message.id)
    walk.pending = []
    walk.notes += notes_about(notes_pb.COMPILE_NOTE_KIND_RESULTS_MOVED, moved, target=turn.message_id)
    walk.notes += notes_about(notes_pb.COMPILE_NOTE_KIND_RESULT_DEDUPLICATED, repeated)
    return turn._replace(context=tuple(context))


def _projection_of(message: Message) -> dict[str, Any]:
    response = message.action_response
    arguments = response.arguments_json
    return response_projection(
        response.function,
        parse_checked(arguments) if arguments else {},
        parse_checked(response.output_json) if response.HasField("output_json") else None,
        response.error if response.HasField("error") else None,
    )


def _is_calling(content: AssistantResponseContent) -> bool:
    """Tell whether the response only calls actions: no text, and at least one call's marker."""
    if content.assistant_response or not content.blocks:
        return False
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


def _unanswered_calls(records: tuple[Record, ...]) -> list[str]:
    requests = [record.message.id for record in records if record.kind == "action_request"]
    if not requests:
        return []
    answered = {
        record.message.action_response.action_request_id
        for record in records
        if record.kind == "action_response"
    }
    return [message_id for message_id in requests if message_id not in answered]
