"""What status and state leave out, and the kinds nobody may guess at.

EXCLUDED records are never compiled. News of an action goes once its outcome is
selected. A record of a kind this compiler does not know is an error, never
taken for generic content (ADR-0007 D2.2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import UnsupportedContentError, and_more, id_list
from compiler_service.report import notes_about
from compiler_service.state import (
    PLAIN_KINDS,
    PLAIN_OUTCOME,
    AnyRecord,
    CompileState,
    FoldedRecord,
)

_EXCLUDED = message_pb2.MESSAGE_STATUS_EXCLUDED
_INTERRUPTED = message_pb2.MESSAGE_STATUS_INTERRUPTED
_KNOWN_STATUSES = frozenset(message_pb2.MessageStatus.values())
_INTERIM = message_pb2.ACTION_RESPONSE_STATE_INTERIM
_FOLDED_KINDS = frozenset(("system", "instruction", "assistant_response", "action_response", "summary"))
"""Kinds of records that FOLDED compiles; of a call it renders nothing but its outcome."""
_NATIVE_KINDS = _FOLDED_KINDS | {"action_request"}
"""Kinds of records that NATIVE compiles."""


class Screened(NamedTuple):
    """Messages by what their status and kind make of them.

    Attributes:
        records: Those that take part, answered interim responses among them.
        excluded: Ids of the excluded ones.
        unknown: Ids of those of a kind or status that this compiler does not know.
        interrupted: Ids of the interrupted records that are compiled.
        interims: The action requests that interim responses name.
        finals: The action requests that final responses answer.
    """

    records: list[AnyRecord]
    excluded: list[str]
    unknown: list[str]
    interrupted: list[str]
    interims: list[str]
    finals: list[str]


def screen(state: CompileState) -> CompileState:
    """Leave out excluded records and answered interim responses; of the profile NATIVE.

    Raises:
        UnsupportedContentError: Selected records of a kind or status that this
            compiler does not know; all of them are listed.
    """
    screened = screen_messages(state.messages, _NATIVE_KINDS)
    refuse_unknown(screened.unknown)
    records, interim = without_answered_interims(screened, frozenset(screened.finals))
    system, excluded, interrupted = screen_system(
        state.system, screened.excluded, still_interrupted(screened, interim)
    )
    return state.having(
        system=system,
        records=tuple(records),
        notes=[
            *notes_about(notes_pb.COMPILE_NOTE_KIND_EXCLUDED_DROPPED, excluded),
            *notes_about(notes_pb.COMPILE_NOTE_KIND_INTERIM_DROPPED, interim),
            *notes_about(notes_pb.COMPILE_NOTE_KIND_INTERRUPTED_KEPT, interrupted),
        ],
    )


def takes_part(message: Message) -> bool:
    """Tell whether a message is neither excluded nor of a status that this compiler does not know."""
    return message.status != _EXCLUDED and message.status in _KNOWN_STATUSES


def screen_messages(
    messages: Iterable[FoldedRecord], compiled_kinds: Collection[str] = _FOLDED_KINDS
) -> Screened:
    """Sort messages.

    Args:
        messages: The messages, or what plain ones are, which take part.
        compiled_kinds: Kinds of records that the profile compiles.

    Cost: linear in the messages.
    """
    screened = Screened([], [], [], [], [], [])
    records, excluded, unknown, interrupted, interims, finals = screened
    message: Any
    for message in messages:
        plain = PLAIN_KINDS.get(type(message))
        if plain is not None:
            records.append((plain, message))
            if plain == PLAIN_OUTCOME and message.request_id:
                finals.append(message.request_id)
            continue
        status = message.status
        if status == _EXCLUDED:
            excluded.append(message.id)
            continue
        kind = message.WhichOneof("content")
        if kind is None or status not in _KNOWN_STATUSES:
            unknown.append(message.id)
            continue
        records.append((kind, message))
        if status == _INTERRUPTED and kind in compiled_kinds:
            interrupted.append(message.id)
        if kind == "action_response":
            response = message.action_response
            if response.action_request_id:
                (interims if response.state == _INTERIM else finals).append(response.action_request_id)
    return screened


def refuse_unknown(unknown: Sequence[str]) -> None:
    """Refuse records that nobody may guess at.

    Raises:
        UnsupportedContentError: There are some; all of them are listed.
    """
    if unknown:
        raise UnsupportedContentError(
            f"of a kind that this compiler does not know: message {unknown[0]}{and_more(unknown)}",
            metadata=id_list("message_ids", unknown),
        )


def without_answered_interims(
    screened: Screened, answered: Collection[str]
) -> tuple[list[AnyRecord], list[str]]:
    """Split off the interim responses to requests that a selected final response answers.

    Args:
        screened: The messages.
        answered: Those requests, of the whole selection.

    Returns:
        The other records, and the ids of those split off.
    """
    if not any(request_id in answered for request_id in screened.interims):
        return screened.records, []
    kept: list[AnyRecord] = []
    dropped: list[str] = []
    for record in screened.records:
        kind, message = record
        if kind == "action_response" and _is_answered_interim(message, answered):
            dropped.append(message.id)
        else:
            kept.append(record)
    return kept, dropped


def _is_answered_interim(message: Message, answered: Collection[str]) -> bool:
    response = message.action_response
    return response.state == _INTERIM and response.action_request_id in answered


def still_interrupted(screened: Screened, dropped: Collection[str]) -> list[str]:
    """Return the interrupted records that are left without some."""
    gone = set(dropped)
    return [message_id for message_id in screened.interrupted if message_id not in gone]


def screen_system(
    system: Message | None, excluded: Sequence[str], interrupted: Sequence[str]
) -> tuple[Message | None, list[str], list[str]]:
    """Leave out an excluded system record.

    Args:
        system: The branch's system record, which may be in the selection too.
        excluded: The selection's excluded ids.
        interrupted: The ids of its interrupted records.

    Returns:
        The system record that is compiled, and both lists with it at their
        head where it belongs there.
    """
    if system is None:
        return None, list(excluded), list(interrupted)
    if system.status == _EXCLUDED:
        return None, _headed_by(system.id, excluded), list(interrupted)
    if system.status == _INTERRUPTED:
        return system, list(excluded), _headed_by(system.id, interrupted)
    return system, list(excluded), list(interrupted)


def _headed_by(message_id: str, ids: Sequence[str]) -> list[str]:
    return list(ids) if message_id in ids else [message_id, *ids]
