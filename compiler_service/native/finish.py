"""Passes 7 and 8, as far as no target has a say: the request's own turn comes last, and the whole is checked.

Cache marks are on their parts already; how many of them stay, and which turns
may follow each other, is the target's.
"""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import message_pb2
from antiphon_client.errors import FieldInvalidError
from antiphon_client.messages.rendering import render_summary
from compiler_service.context_section import render_context_section
from compiler_service.native.instruction import instruction_turn
from compiler_service.native.turns import Conversation, NativeTurn, TextPart
from compiler_service.remarks import Remarks
from compiler_service.state import CompileState
from compiler_service.texts import system_text

_USER = message_pb2.ROLE_USER
_INTERRUPTED = message_pb2.MESSAGE_STATUS_INTERRUPTED


def finish(state: CompileState) -> CompileState:
    """Put the conversation together: system text beside; summary, history and the request's own turn.

    The retrieved context goes in front of the request's own turn, so that
    nothing before it depends on the call.

    Raises:
        FieldInvalidError: The request's instruction says nothing, or there is
            neither an instruction nor a history to continue.
    """
    remarks = Remarks()
    turns = list(state.native_turns)
    if state.summary is not None:
        turns.insert(0, _summary_turn(state.summary))
    is_continuation = not state.request.HasField("instruction")
    if not is_continuation:
        turns.append(_current_turn(state, remarks))
    elif not turns:
        path = f"{state.field_prefix}instruction"
        raise FieldInvalidError.of(path, "is required: there is no history to continue")
    text, system_id, extras = _system_of(state)
    conversation = Conversation(text, tuple(turns), system_id, is_continuation, extras)
    return state.having(conversation=conversation, notes=remarks.notes())


def _system_of(state: CompileState) -> tuple[str | None, str | None, str | None]:
    record = state.system
    if record is None:
        return None, None, None
    return system_text(record.system), record.id, record.metadata_json or None


def _summary_turn(record: message_pb2.Message) -> NativeTurn:
    part = TextPart(render_summary(record.summary.text), record.id)
    return NativeTurn(_USER, (part,), (record.id,), True, record.metadata_json or None, is_summary=True)


def _current_turn(state: CompileState, remarks: Remarks) -> NativeTurn:
    instruction = state.request.instruction
    turn = instruction_turn(instruction, "", remarks)
    if turn is None:
        content = instruction.instruction
        given = "instruction" if content.HasField("instruction") else "blocks" if content.blocks else None
        path = f"{state.field_prefix}instruction" + (f".instruction.{given}" if given else "")
        raise FieldInvalidError.of(path, "renders to nothing")
    if instruction.status == _INTERRUPTED:
        remarks.add(notes_pb.COMPILE_NOTE_KIND_INTERRUPTED_KEPT, "")
    section = render_context_section(state.request.context_blocks)
    if section:
        turn = turn._replace(parts=(TextPart(section, ""), *turn.parts), is_text=False)
    return turn
