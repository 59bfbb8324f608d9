"""Every call keeps one result at most; a result without a call becomes a user's note.

The first final result counts, and without one the latest news. What a result
without its call says is not lost, but it is no structural result: a provider
refuses one that answers nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import Message
from compiler_service.native.blank_texts import without_blanks
from compiler_service.native.items import Call, Item, Orphan, Outcome, Round, Spoken
from compiler_service.native.outcome import outcome_content
from compiler_service.native.turns import JsonPart, NativeTurn, Part, TextPart
from compiler_service.native.unknown_blocks import listing_unknown_blocks
from compiler_service.remarks import Remarks
from compiler_service.state import CompileState

_INTERIM = message_pb2.ACTION_RESPONSE_STATE_INTERIM
_USER = message_pb2.ROLE_USER


def drop(state: CompileState) -> CompileState:
    """Leave out superfluous results and turn orphans into notes of a user.

    Raises:
        UnsupportedContentError: An orphan has a block of a kind this compiler
            does not know; all messages with one are listed.
    """
    remarks = Remarks()
    items: list[Item] = []
    with listing_unknown_blocks(state.records):
        for item in state.items:
            if type(item) is Round:
                items.append(_with_single_outcomes(item, remarks))
            elif type(item) is Orphan:
                items.append(Spoken(item.position, _note_of(item.message, remarks)))
            else:
                items.append(item)
    return state.having(items=tuple(items), notes=remarks.notes())


def _with_single_outcomes(item: Round, remarks: Remarks) -> Round:
    for call in item.calls:
        if len(call.outcomes) > 1:
            return item._replace(calls=tuple([_with_single_outcome(call, remarks) for call in item.calls]))
    return item


def _with_single_outcome(call: Call, remarks: Remarks) -> Call:
    outcomes = call.outcomes
    if len(outcomes) < 2:
        return call
    final = [outcome for outcome in outcomes if not is_interim(outcome)]
    kept = final[0] if final else outcomes[-1]
    for outcome in outcomes:
        if outcome is not kept and outcome.message is not None:
            is_news = bool(final) and is_interim(outcome)
            kind = (
                notes_pb.COMPILE_NOTE_KIND_INTERIM_DROPPED
                if is_news
                else notes_pb.COMPILE_NOTE_KIND_DUPLICATE_RESULT_DROPPED
            )
            remarks.add(kind, outcome.message.id)
    return call._replace(outcomes=(kept,))


def is_interim(outcome: Outcome) -> bool:
    """Tell whether a result is news on the way, which does not answer its call."""
    message = outcome.message
    return message is not None and message.action_response.state == _INTERIM


def _note_of(message: Message, remarks: Remarks) -> NativeTurn:
    response = message.action_response
    remarks.add(notes_pb.COMPILE_NOTE_KIND_ORPHAN_RESULT_NOTED, message.id)
    parts: list[Part] = [TextPart(_head_of(response.function, response.provider_call_id), message.id)]
    parts += outcome_content(message, remarks)
    texts = _texts_of(parts)
    is_text = texts is not None
    # Texts alone are one text, as a user would write it.
    parts = without_blanks(parts, remarks) if texts is None else [TextPart("\n".join(texts), message.id)]
    # What an importer kept with it is about a result, which this is no more.
    return NativeTurn(_USER, tuple(parts), (message.id,), is_text)


def _head_of(function: str, provider_call_id: str) -> str:
    named = f" {function}" if function else ""
    called = f" ({provider_call_id})" if provider_call_id else ""
    return f"[Result of a call that is not in this conversation:{named or ' unknown'}{called}]"


def _texts_of(parts: Sequence[Part]) -> list[str] | None:
    texts: list[str] = []
    for part in parts:
        if type(part) is TextPart and part.cache_mark is None:
            texts.append(part.text)
        elif type(part) is JsonPart:
            texts.append(part.value_json)
        else:
            return None
    return texts
