"""Pass 2: what status and state leave out, and the kinds nobody may guess at.

EXCLUDED records are never compiled. News of an action goes once its outcome is
selected. A record of a kind this compiler does not know is an error, never
taken for generic content (ADR-0007 D2.2).
"""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import UnsupportedContentError, id_list
from compiler_service.report import notes_about
from compiler_service.state import CompileState, Record

_EXCLUDED = message_pb2.MESSAGE_STATUS_EXCLUDED
_INTERRUPTED = message_pb2.MESSAGE_STATUS_INTERRUPTED
_KNOWN_STATUSES = frozenset(message_pb2.MessageStatus.values())
_INTERIM = message_pb2.ACTION_RESPONSE_STATE_INTERIM
_COMPILED_KINDS = frozenset(("system", "instruction", "assistant_response", "action_response"))


def screen(state: CompileState) -> CompileState:
    """Leave out excluded records and answered interim responses.

    Raises:
        UnsupportedContentError: Selected records of a kind or status that this
            compiler does not know; all of them are listed.
    """
    excluded: list[str] = []
    unknown: list[str] = []
    interrupted: list[Message] = []
    records: list[Record] = []
    for message in state.messages:
        status = message.status
        if status == _EXCLUDED:
            excluded.append(message.id)
            continue
        kind = message.WhichOneof("content")
        if kind is None or status not in _KNOWN_STATUSES:
            unknown.append(message.id)
            continue
        records.append((kind, message))
        if status == _INTERRUPTED and kind in _COMPILED_KINDS:
            interrupted.append(message)
    if unknown:
        raise UnsupportedContentError(
            f"{len(unknown)} selected message(s) of a kind this compiler does not know, first {unknown[0]}",
            metadata=id_list("message_ids", unknown),
        )
    system = state.system
    if system is not None and system.status == _EXCLUDED:
        if system.id not in excluded:
            excluded.insert(0, system.id)
        system = None
    kept, interim = _without_answered_interims(records)
    kept_interrupted = _interrupted(system, interrupted, interim)
    return state.having(
        system=system,
        records=tuple(kept),
        notes=[
            *notes_about(notes_pb.COMPILE_NOTE_KIND_EXCLUDED_DROPPED, excluded),
            *notes_about(notes_pb.COMPILE_NOTE_KIND_INTERIM_DROPPED, interim),
            *notes_about(notes_pb.COMPILE_NOTE_KIND_INTERRUPTED_KEPT, kept_interrupted),
        ],
    )


def _without_answered_interims(records: list[Record]) -> tuple[list[Record], list[str]]:
    """Split off the interim responses whose final response is among the records."""
    responses = [message for kind, message in records if kind == "action_response"]
    if not any(response.action_response.state == _INTERIM for response in responses):
        return records, []
    answered = {
        response.action_response.action_request_id
        for response in responses
        if response.action_response.state != _INTERIM
    }
    answered.discard("")
    kept: list[Record] = []
    dropped: list[str] = []
    for record in records:
        kind, message = record
        if kind == "action_response" and _is_answered_interim(message, answered):
            dropped.append(message.id)
        else:
            kept.append(record)
    return kept, dropped


def _is_answered_interim(message: Message, answered: set[str]) -> bool:
    response = message.action_response
    return response.state == _INTERIM and response.action_request_id in answered


def _interrupted(system: Message | None, interrupted: list[Message], dropped: list[str]) -> list[str]:
    """List the interrupted records that are compiled; the system record first."""
    gone = set(dropped)
    ids = [message.id for message in interrupted if message.id not in gone]
    if system is not None and system.status == _INTERRUPTED and system.id not in ids:
        ids.insert(0, system.id)
    return ids
