"""A round becomes one assistant's turn, and a tool's turn for every call."""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import message_pb2
from compiler_service.native.call_ids import call_ids, own_call_id
from compiler_service.native.items import Call, Response, Round, Spoken
from compiler_service.native.layout import lay_out
from compiler_service.native.outcome import outcome_content
from compiler_service.native.reasoning import with_one_reasoning
from compiler_service.native.synthesize import SYNTHESIZED_TEXT
from compiler_service.native.turns import CallPart, NativeTurn, ResultPart, TextPart
from compiler_service.native.unknown_blocks import listing_unknown_blocks
from compiler_service.remarks import Remarks
from compiler_service.report import Note, notes_about
from compiler_service.state import CompileState
from compiler_service.texts import is_blank

_ASSISTANT = message_pb2.ROLE_ASSISTANT
_TOOL = message_pb2.ROLE_TOOL


def merge(state: CompileState) -> CompileState:
    """Make the turns of the history; blank texts vanish, and so does a response that says nothing.

    Raises:
        UnsupportedContentError: A record has a block of a kind this compiler
            does not know; all messages with one are listed.
    """
    remarks = Remarks()
    merged: list[Note] = []
    turns: list[NativeTurn] = []
    with listing_unknown_blocks(state.records):
        for item in state.items:
            if type(item) is Spoken:
                turns.append(item.turn)
            elif type(item) is Round:
                add_round(item, turns, merged, remarks)
    return state.having(native_turns=tuple(turns), notes=[*merged, *remarks.notes()])


def add_round(item: Round, turns: list[NativeTurn], merged: list[Note], remarks: Remarks) -> None:
    """Add the turns of a round; none where it says nothing.

    Args:
        item: The round, its calls in the order of their turn and each with one outcome.
        turns: Takes the turns.
        merged: Takes the notes about responses that share a turn.
        remarks: Takes what is left out.

    Raises:
        UnsupportedContentError: A record has a block of a kind this compiler does not know.
    """
    responses, calls = item
    # Most rounds are one text or one call: nothing is laid out in them.
    if not responses and len(calls) == 1:
        _add_lone_call(calls[0], turns, remarks)
        return
    if not calls and len(responses) == 1 and not responses[0].message.assistant_response.blocks:
        _add_plain(responses[0], turns, remarks)
        return
    ids = call_ids(calls, remarks)
    call_parts = [_call_part(call, call_id) for call, call_id in zip(calls, ids, strict=True)]
    parts, records, speaking = lay_out(item, call_parts, remarks)
    if not parts:
        return
    first = records[0]
    opens_with_call = not speaking or first.HasField("action_request")
    if speaking > 1:
        parts = with_one_reasoning(parts)
    if speaking + opens_with_call > 1:
        sources = [each.id for each in records if each is first or each.HasField("assistant_response")]
        merged += notes_about(notes_pb.COMPILE_NOTE_KIND_ASSISTANTS_MERGED, sources)
    is_text = len(parts) == 1 and type(parts[0]) is TextPart and parts[0].cache_mark is None
    # A call's metadata stands on its part.
    extras = None if opens_with_call else first.metadata_json or None
    message_ids = tuple([record.id for record in records])
    turns.append(NativeTurn(_ASSISTANT, tuple(parts), message_ids, is_text, extras))
    for call, part in zip(calls, call_parts, strict=True):
        turns.append(_result_turn(call, part, remarks))


def _add_plain(response: Response, turns: list[NativeTurn], remarks: Remarks) -> None:
    """Add the turn of a response that is only text."""
    message = response.message
    text = message.assistant_response.assistant_response
    message_id = message.id
    if is_blank(text):
        remarks.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_DROPPED, message_id)
        return
    extras = message.metadata_json or None
    turns.append(NativeTurn(_ASSISTANT, (TextPart(text, message_id),), (message_id,), True, extras))


def _add_lone_call(call: Call, turns: list[NativeTurn], remarks: Remarks) -> None:
    """Add the turns of a call that no response stands with."""
    part = _call_part(call, own_call_id(call))
    # The call's metadata stands on its part.
    turns.append(NativeTurn(_ASSISTANT, (part,), (part.message_id,)))
    turns.append(_result_turn(call, part, remarks))


def _call_part(call: Call, call_id: str) -> CallPart:
    message = call.message
    request = message.action_request
    return CallPart(
        call_id,
        request.function,
        request.arguments_json or "{}",
        request.arguments_text if request.HasField("arguments_text") else None,
        request.thought_signature if request.HasField("thought_signature") else None,
        message.id,
        message.metadata_json or None,
    )


def _result_turn(call: Call, part: CallPart, remarks: Remarks) -> NativeTurn:
    message = call.outcomes[0].message
    if message is None:
        made = ResultPart(part.id, part.name, (TextPart(SYNTHESIZED_TEXT, ""),), True, True, "")
        return NativeTurn(_TOOL, (made,), ())
    message_id = message.id
    result = ResultPart(
        part.id,
        part.name,
        outcome_content(message, remarks),
        message.action_response.HasField("error"),
        False,
        message_id,
        message.metadata_json or None,
    )
    return NativeTurn(_TOOL, (result,), (message_id,))
