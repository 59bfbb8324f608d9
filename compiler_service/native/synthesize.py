"""Every call has a result; one that nobody recorded is made, with a fixed text.

In a continuation the calls of the last round are not made up for: their results
are still owed. News on the way does not answer a call.
"""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon_client.errors import OpenCallsError
from compiler_service.native.drop import is_interim
from compiler_service.native.items import Call, Item, Outcome, Round
from compiler_service.remarks import Remarks
from compiler_service.state import CompileState

SYNTHESIZED_TEXT = (
    "No result was recorded: the call was interrupted. It may or may not have taken effect;"
    " verify before relying on either."
)
"""What a made result says."""

SYNTHESIZED = (Outcome(-1, None),)


def synthesize(state: CompileState) -> CompileState:
    """Make an error result for every call without a result.

    Raises:
        OpenCallsError: The turn is a continuation and calls of the last round are unanswered.
    """
    if not state.request.HasField("instruction"):
        _refuse_open_calls(state.items)
    remarks = Remarks()
    items: list[Item] = []
    for item in state.items:
        items.append(with_all_outcomes(item, remarks) if type(item) is Round else item)
    return state.having(items=tuple(items), notes=remarks.notes())


def with_all_outcomes(item: Round, remarks: Remarks) -> Round:
    """Return a round whose every call has a result, with a remark on those that are made."""
    for call in item.calls:
        if not call.outcomes:
            return item._replace(calls=tuple([_answered(call, remarks) for call in item.calls]))
    return item


def _answered(call: Call, remarks: Remarks) -> Call:
    if call.outcomes:
        return call
    remarks.add(notes_pb.COMPILE_NOTE_KIND_RESULT_SYNTHESIZED, call.message.id)
    return call._replace(outcomes=SYNTHESIZED)


def _refuse_open_calls(items: tuple[Item, ...]) -> None:
    for item in reversed(items):
        if type(item) is Round:
            waiting = [call.message.id for call in item.calls if all(map(is_interim, call.outcomes))]
            if waiting:
                raise OpenCallsError.of(waiting)
            return
