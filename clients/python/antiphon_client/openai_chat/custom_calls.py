"""Calls of custom tools, whose input is free text."""

from __future__ import annotations

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.importing.residue import difference
from antiphon_client.openai_chat.marks import DIFFERENCE, write_marks
from antiphon_client.openai_chat.render import tool_call


def mark_custom_call(record: pb.Message) -> None:
    """Mark an action request as the call of a custom tool, as an import does.

    Its input is the ``arguments_text``; the record has no other metadata.
    """
    request = record.action_request
    custom = {"name": request.function, "input": request.arguments_text}
    original = {"id": request.provider_call_id, "type": "custom", "custom": custom}
    write_marks(record, {DIFFERENCE: difference(tool_call(record), original)})
