"""A client's new messages as records of the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client import ActionRequest, Message
from antiphon_client.importing.conversation import NoteKind
from antiphon_client.messages import to_proto
from antiphon_client.openai_chat import export_messages, import_messages
from antiphon_gateway.alignment import ChatMessage
from antiphon_gateway.errors import invalid


def as_records(held: Sequence[Message], new: Sequence[ChatMessage], seed: str) -> list[pb.Message]:
    """Return the records of new messages; results are linked to the calls they answer.

    Args:
        held: What the conversation holds.
        new: What comes after it.
        seed: What the records' ids depend on, beside their places: the same
            messages under the same seed are the same bytes.

    Raises:
        GatewayError: A message is none of OpenAI's, answers no open call, or
            leaves one unanswered (400).
    """
    open_calls = [each for each in held if isinstance(each, ActionRequest) and not each.is_responded]
    before = _before(open_calls) if held else []
    try:
        imported = import_messages([*before, *new], seed=seed)
    except ValueError as error:
        raise invalid(str(error), param="messages") from None
    for note in imported.notes:
        if note.kind is NoteKind.RESULT_UNCORRELATED:
            raise invalid(note.detail, param="messages", code="CALL_UNKNOWN")
    # What stands for the conversation so far is that many records, and a system record.
    skipped = 1 + len(open_calls) if open_calls else 0
    records = list(imported.messages[skipped:] if held else imported.records)
    ids = {
        stand_in.id: str(call.id)
        for stand_in, call in zip(imported.messages[1:skipped], open_calls, strict=True)
    }
    for record in records:
        response = record.action_response
        if record.HasField("action_response") and response.action_request_id in ids:
            response.action_request_id = ids[response.action_request_id]
    _check_answered([*map(to_proto, open_calls), *records])
    return records


def chat_messages(records: Sequence[Message]) -> list[ChatMessage]:
    """Return records as OpenAI's messages."""
    return export_messages(None, records)


def _before(open_calls: Sequence[ActionRequest]) -> list[dict[str, Any]]:
    """Return what an import must know of a conversation: it has a system text's place, and these open calls.

    A system text that comes now is not the system record, which stands first.
    """
    calls = chat_messages(open_calls)
    return [{"role": "system", "content": ""}, *calls]


def _check_answered(records: Sequence[pb.Message]) -> None:
    answered = {
        record.action_response.action_request_id for record in records if record.HasField("action_response")
    }
    waiting = [
        record.action_request.function
        for record in records
        if record.HasField("action_request") and record.id not in answered
    ]
    if waiting:
        raise invalid(
            f"calls without a result: {', '.join(waiting)}; send the results of all calls of a turn at once",
            param="messages",
            code="OPEN_CALLS",
        )
