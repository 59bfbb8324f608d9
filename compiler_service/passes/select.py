"""Pass 1: the selection, in progression order (ADR-0007 D2.1)."""

from __future__ import annotations

from antiphon_client.errors import ProgressionInvalidError
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
    seen: set[str] = set()
    missing: dict[str, None] = {}
    duplicate: dict[str, None] = {}
    for message_id in state.request.progression.message_ids:
        if message_id in seen:
            duplicate[message_id] = None
        elif message_id not in by_id:
            missing[message_id] = None
        seen.add(message_id)
    if missing or duplicate:
        raise ProgressionInvalidError.of(list(missing), list(duplicate))
    return state.having(
        messages=tuple(by_id[message_id] for message_id in state.request.progression.message_ids)
    )
