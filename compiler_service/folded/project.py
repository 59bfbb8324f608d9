"""From records to turns, in one walk (ADR-0007 D2.2).

Action results wait for the next instruction and go into its context; those left
at the end go into the context of the request's own instruction. Nothing of a
record but its durable content gets here.
"""

from __future__ import annotations

from collections.abc import Iterable
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
from compiler_service.display_text import blocks_say
from compiler_service.folded.results import ResultSet, write_result
from compiler_service.instruction_view import BlockUse, prompt_context, view_instruction
from compiler_service.report import Note, note, notes_about
from compiler_service.state import (
    PLAIN_CALL,
    PLAIN_INSTRUCTION,
    PLAIN_OUTCOME,
    PLAIN_RESPONSE,
    ActionOutcome,
    AnyRecord,
    AssistantTurn,
    InstructionTurn,
)
from compiler_service.texts import is_blank

_INTERRUPTED = message_pb2.MESSAGE_STATUS_INTERRUPTED


@dataclass(slots=True)
class Walk:
    """What a walk over records has gathered.

    Attributes:
        turns: The turns, in order.
        pending: Action results that wait for the next instruction.
        notes: Notes about action results, and about the request's own instruction.
        with_blocks: Ids of records of which blocks are left out.
        unknown_blocks: Ids of instructions that would need blocks of an unknown kind.
        generic: Ids of generic records.
        requests: Ids of action requests.
        answered: The action requests that responses name.
        summaries: Summary records; they are no turns.
    """

    turns: list[InstructionTurn | AssistantTurn] = field(default_factory=list)
    pending: list[ActionOutcome] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    with_blocks: list[str] = field(default_factory=list)
    unknown_blocks: list[str] = field(default_factory=list)
    generic: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    summaries: list[Message] = field(default_factory=list)

    @property
    def unanswered(self) -> list[str]:
        """Ids of the action requests that no response names."""
        if not self.requests:
            return []
        answered = set(self.answered)
        return [message_id for message_id in self.requests if message_id not in answered]


def project(records: Iterable[AnyRecord]) -> Walk:
    """Turn records into turns. Cost: linear in the records."""
    walk = Walk()
    turns = walk.turns
    for kind, record in records:
        if kind == PLAIN_RESPONSE:
            turns.append(record)
        elif kind == PLAIN_INSTRUCTION:
            turns.append(_with_results(record, walk) if walk.pending else record)
        elif kind == PLAIN_OUTCOME:
            walk.answered.append(record.request_id)
            walk.pending.append(record)
        elif kind == PLAIN_CALL:
            walk.requests.append(record.message_id)
        else:
            _project_record(kind, record, walk)
    return walk


def project_question(instruction: Message, walk: Walk) -> InstructionTurn:
    """Turn the request's own instruction into a turn, with the results that a walk left waiting."""
    content = instruction.instruction
    turn, use = view_instruction(content, None, ())
    if use is not BlockUse.RENDERED:
        walk.notes.append(note(notes_pb.COMPILE_NOTE_KIND_BLOCKS_NOT_RENDERED))
    if instruction.status == _INTERRUPTED:
        walk.notes.append(note(notes_pb.COMPILE_NOTE_KIND_INTERRUPTED_KEPT))
    return turn._replace(context=tuple(_context_of(content, None, walk)))


def _project_record(kind: str, message: Message, walk: Walk) -> None:
    if kind == "assistant_response":
        walk.turns.append(_project_assistant(message.assistant_response, message.id, walk))
    elif kind == "action_response":
        response = message.action_response
        if response.blocks:
            walk.with_blocks.append(message.id)
        walk.answered.append(response.action_request_id)
        walk.pending.append(_outcome_of(response, message.id))
    elif kind == "instruction":
        content, message_id = message.instruction, message.id
        turn, use = view_instruction(content, message_id, _context_of(content, message_id, walk))
        if use is not BlockUse.RENDERED:
            walk.with_blocks.append(message_id)
            if use is BlockUse.UNKNOWN:
                walk.unknown_blocks.append(message_id)
        walk.turns.append(turn)
    elif kind == "action_request":
        # It stands in the response that answers it.
        walk.requests.append(message.id)
    elif kind == "generic":
        walk.generic.append(message.id)
    elif kind == "summary":
        walk.summaries.append(message)
    # A system record in the selection is the branch's own, which the fold uses.


def _project_assistant(content: AssistantResponseContent, message_id: str, walk: Walk) -> AssistantTurn:
    text = content.assistant_response
    is_calling = False
    if content.blocks:
        is_calling = not text and _is_calling(content)
        if _leaves_blocks_out(content):
            walk.with_blocks.append(message_id)
    return AssistantTurn((message_id,), text, is_calling)


def _outcome_of(response: ActionResponseContent, message_id: str) -> ActionOutcome:
    return ActionOutcome(
        message_id,
        response.action_request_id,
        response.function,
        response.arguments_json,
        response.output_json if response.HasField("output_json") else None,
        response.error if response.HasField("error") else None,
    )


def _context_of(content: InstructionContent, message_id: str | None, walk: Walk) -> list[Any]:
    """Return the instruction's own context items and then the waiting results, each value once."""
    context = prompt_context(content)
    if walk.pending:
        _add_results(context, message_id, walk)
    return context


def _with_results(turn: InstructionTurn, walk: Walk) -> InstructionTurn:
    """Return the turn of a plain instruction with the waiting results as its context."""
    context: list[Any] = []
    _add_results(context, turn.message_id, walk)
    return InstructionTurn(turn.message_id, turn.text, None, tuple(context), "", ())


def _add_results(context: list[Any], message_id: str | None, walk: Walk) -> None:
    """Add the waiting results to context items, each value once."""
    pending = walk.pending
    # One result beside nothing has nothing to be compared with.
    present = ResultSet(context) if context or len(pending) > 1 else None
    moved: list[str] = []
    repeated: list[str] = []
    for outcome in pending:
        if present is None or present.add(outcome):
            context.append(write_result(outcome))
            moved.append(outcome.message_id)
        else:
            repeated.append(outcome.message_id)
    walk.pending = []
    walk.notes += notes_about(notes_pb.COMPILE_NOTE_KIND_RESULTS_MOVED, moved, target=message_id)
    if repeated:
        walk.notes += notes_about(notes_pb.COMPILE_NOTE_KIND_RESULT_DEDUPLICATED, repeated)


def _is_calling(content: AssistantResponseContent) -> bool:
    """Tell whether the blocks of a response without text only call actions, at least one."""
    calls = False
    for block in content.blocks:
        kind = block.WhichOneof("block")
        if kind == "tool_call":
            calls = True
        elif kind == "text" and not is_blank(block.text.text):
            return False
    return calls


def _leaves_blocks_out(content: AssistantResponseContent) -> bool:
    """Tell whether blocks say what neither the response's text nor its calls' records say."""
    written: list[str] = []
    for block in content.blocks:
        kind = block.WhichOneof("block")
        if kind == "text":
            written.append(block.text.text)
        elif kind != "tool_call":
            # A tool call's block only marks where the call stood.
            return True
    text = content.assistant_response
    if not text:
        return any(written)
    return not all(map(is_blank, written)) and not blocks_say(written, text)
