"""Results follow their round in the order of its calls; what stood between comes after.

A round holds its results already, so that the order of the items is the right
one; this pass puts a round's calls in the order of its turn, and reports what
has moved. Stored order is never touched.
"""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from compiler_service.native.items import Item, Round, Spoken
from compiler_service.native.layout import call_order
from compiler_service.remarks import Remarks
from compiler_service.state import CompileState


def order(state: CompileState) -> CompileState:
    """Order the calls; report the results that moved, and the turns held back until the last result owed."""
    remarks = Remarks()
    items: list[Item] = [ordered(item) if type(item) is Round else item for item in state.items]
    rounds = [item for item in items if type(item) is Round]
    starts = [_start_of(each) for each in rounds]
    owed_until = iter(
        [
            _settle(each, next_start, remarks)
            for each, next_start in zip(rounds, [*starts[1:], len(state.entries)], strict=False)
        ]
    )
    until = -1
    for item in items:
        if type(item) is Round:
            until = next(owed_until)
        elif type(item) is Spoken and item.position < until:
            for message_id in item.turn.message_ids:
                remarks.add(notes_pb.COMPILE_NOTE_KIND_HELD_BACK, message_id)
    return state.having(items=tuple(items), notes=remarks.notes())


def ordered(item: Round) -> Round:
    """Return a round with its calls in the order of its turn."""
    return item._replace(calls=call_order(item)) if len(item.calls) > 1 else item


def _start_of(item: Round) -> int:
    responses, calls = item
    if not calls:
        return responses[0].position
    start = min([call.position for call in calls]) if len(calls) > 1 else calls[0].position
    return min(start, responses[0].position) if responses else start


def _settle(item: Round, next_start: int, remarks: Remarks) -> int:
    """Return the position of a round's last record in place; report the results out of place.

    A result is in place behind all of the round and the results of the calls
    before, and before the next round. One that was made has no place.
    """
    reached = item.responses[-1].position if item.responses else -1
    if not item.calls:
        return reached
    for call in item.calls:
        reached = max(reached, call.position)
    for call in item.calls:
        position, message = call.outcomes[0]
        if message is None:
            continue
        if reached < position < next_start:
            reached = position
        else:
            remarks.add(notes_pb.COMPILE_NOTE_KIND_RESULT_REORDERED, message.id)
    return reached
