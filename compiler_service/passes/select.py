"""The selection, in progression order (ADR-0007 D2.1)."""

from __future__ import annotations

from antiphon_client.selection import check_selection
from compiler_service.state import CompileState


def select(state: CompileState) -> CompileState:
    """Narrow the snapshot to the request's progression, in its order.

    An absent progression leaves the snapshot as it is; an empty one selects
    nothing.

    Raises:
        ProgressionInvalidError: Ids that are not in the snapshot, or given
            twice; all of them are listed.
    """
    if not state.request.HasField("progression"):
        return state
    by_id = {message.id: message for message in state.messages}
    message_ids = state.request.progression.message_ids
    check_selection(message_ids, by_id)
    return state.having(messages=tuple(by_id[message_id] for message_id in message_ids))
