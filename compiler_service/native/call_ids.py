"""The ids under which a round's calls and their results find each other."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from compiler_service.native.items import Call
from compiler_service.remarks import Remarks


def own_call_id(call: Call) -> str:
    """Return a call's id: the provider's, else the record's."""
    message = call.message
    return message.action_request.provider_call_id or message.id


def call_ids(calls: Sequence[Call], remarks: Remarks) -> list[str]:
    """Return an id for each call of a round, no two alike: each one's own where that can be.

    Of calls with one provider's id the first keeps it and the others take their
    record's.
    """
    given = [own_call_id(call) for call in calls]
    if len(set(given)) == len(given):
        return given
    taken: set[str] = set()
    reserved = set(given)
    ids: list[str] = []
    for call, call_id in zip(calls, given, strict=True):
        chosen = call_id
        if chosen in taken:
            chosen = _free_id(call.message.id, reserved)
            reserved.add(chosen)
            remarks.add(
                notes_pb.COMPILE_NOTE_KIND_CALL_ID_MAPPED, call.message.id, "a call beside it has it too"
            )
        taken.add(chosen)
        ids.append(chosen)
    return ids


def _free_id(message_id: str, taken: set[str]) -> str:
    chosen, number = message_id, 1
    while chosen in taken:
        number += 1
        chosen = f"{message_id}-{number}"
    return chosen
