"""Answers that find the calls they answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.importing.open_calls import OpenCalls


def calls_elsewhere(records: Iterable[pb.Message]) -> bool:
    """Whether an answer among new records names a call that is not among those before it."""
    made: set[str] = set()
    for record in records:
        if record.HasField("action_request"):
            made.add(record.action_request.provider_call_id)
        elif record.HasField("action_response"):
            call_id = record.action_response.provider_call_id
            if call_id and call_id not in made:
                return True
    return False


def link_answers(records: Sequence[pb.Message], waiting: Iterable[pb.Message] = ()) -> None:
    """Let each answer name the nearest call before it that has its provider's id and no answer yet.

    Args:
        records: New records, in order; changed in place.
        waiting: Calls of the branch that have no answer, in order.
    """
    calls = OpenCalls()
    for call in waiting:
        calls.open_round([(call, (call.action_request.provider_call_id,))])
    for record in records:
        if record.HasField("action_request"):
            calls.open_round([(record, (record.action_request.provider_call_id,))])
        elif record.HasField("action_response"):
            answer = record.action_response
            call_id = answer.provider_call_id
            asked = calls.answer(call_id) if call_id else None
            if asked is not None:
                answer.action_request_id = asked.id
                answer.function = asked.action_request.function
                answer.arguments_json = asked.action_request.arguments_json


def unlink_answers(records: Sequence[pb.Message]) -> None:
    """Take from new answers the names of calls that are not new themselves."""
    made = {record.id for record in records if record.HasField("action_request")}
    for record in records:
        if record.HasField("action_response") and record.action_response.action_request_id not in made:
            record.action_response.ClearField("action_request_id")
