"""One record as one OpenAI message, the importer's marks applied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.importing.residue import apply
from antiphon_client.json_text import parse_json_text
from antiphon_client.messages.content_codec import decode_content
from antiphon_client.messages.rendering import render_summary, render_system, summarize_action_response
from antiphon_client.openai_chat.marks import DIFFERENCE, FUNCTION_CALL, PARTS, ROLE, read_marks
from antiphon_client.openai_chat.parts import text_of, write_parts

FUNCTION_ROLE: Final = "function"


def system_message(record: pb.Message) -> dict[str, Any]:
    """Return the message of a system record: its time, where it has one, and its text."""
    marks = read_marks(record)
    text = render_system(record.system.system_message, record.system.system_datetime or None)
    return _finish({"role": marks.get(ROLE, "system"), "content": text}, marks)


def user_message(record: pb.Message) -> dict[str, Any]:
    """Return the message of an instruction.

    An instruction with text alone is that text; one with blocks is those
    blocks as parts; any other is its structured rendering.
    """
    marks = read_marks(record)
    return _finish(
        {"role": marks.get(ROLE, "user"), "content": _user_content(record.instruction, marks)}, marks
    )


def summary_message(record: pb.Message) -> dict[str, Any]:
    """Return the message of a summary: a user's, its text under the line that marks it."""
    return {"role": "user", "content": render_summary(record.summary.text)}


def assistant_message(record: pb.Message | None, calls: Sequence[pb.Message]) -> dict[str, Any]:
    """Return the message of a model's turn.

    Args:
        record: The turn; None where calls stand without one.
        calls: The turn's action requests.
    """
    marks = {} if record is None else read_marks(record)
    message: dict[str, Any] = {"role": "assistant"}
    content = None if record is None else _assistant_content(record.assistant_response, marks)
    message["content"] = None if calls and content == "" else content
    function = function_call_among(calls)
    tools = [tool_call(call) for call in calls if call is not function]
    if tools:
        message["tool_calls"] = tools
    if function is not None:
        message["function_call"] = function_call(function)
    return _finish(message, marks)


def tool_call(record: pb.Message) -> dict[str, Any]:
    """Return the call of an action request; the arguments are the original text."""
    marks = read_marks(record)
    call = {"id": call_id_of(record), "type": "function", "function": _called(record)}
    # What is kept of a call of the older form is about that form.
    return call if marks.get(FUNCTION_CALL) else _finish(call, marks)


def function_call(record: pb.Message) -> dict[str, Any]:
    """Return the call of an action request in the form before ``tool_calls``, which has no id."""
    return _finish(_called(record), read_marks(record))


def function_call_among(calls: Sequence[pb.Message]) -> pb.Message | None:
    """Return the call of a turn that stands in it as its ``function_call``, of which there is one at most."""
    return next((call for call in calls if read_marks(call).get(FUNCTION_CALL)), None)


def unrecorded_tool_call(record: pb.Message, call_id: str) -> dict[str, Any]:
    """Return the call that an action response answers, from the response's own fields."""
    response = record.action_response
    function = {"name": response.function, "arguments": response.arguments_json or "{}"}
    return {"id": call_id, "type": "function", "function": function}


def tool_message(record: pb.Message, call_id: str | None) -> dict[str, Any]:
    """Return the message of an action response; without an id, that of a ``function_call``.

    A text output is that text, any other output its JSON text, no output
    "null"; a failure is "error: " and its reason.
    """
    marks = read_marks(record)
    content = _result_content(record.action_response, marks)
    if call_id is None:
        message = {"role": FUNCTION_ROLE, "name": record.action_response.function, "content": content}
    else:
        message = {"role": "tool", "tool_call_id": call_id, "content": content}
    return _finish(message, marks)


def call_id_of(record: pb.Message) -> str:
    """Return the provider's id of a call, else one made from the record's id (37 characters)."""
    request = record.action_request
    return request.provider_call_id if request.HasField("provider_call_id") else made_call_id(record.id)


def made_call_id(message_id: str) -> str:
    """Return the call id that stands for a record's id."""
    return "call_" + message_id.replace("-", "")


def _called(record: pb.Message) -> dict[str, Any]:
    request = record.action_request
    is_text = request.HasField("arguments_text")
    arguments = request.arguments_text if is_text else request.arguments_json or "{}"
    return {"name": request.function, "arguments": arguments}


def _finish(message: dict[str, Any], marks: dict[str, Any]) -> dict[str, Any]:
    finished: dict[str, Any] = apply(message, marks.get(DIFFERENCE))
    return finished


def _user_content(content: pb.InstructionContent, marks: dict[str, Any]) -> str | list[dict[str, Any]]:
    if marks.get(PARTS):
        return write_parts(content.blocks, imported=True)
    parts = write_parts(content.blocks, imported=False)
    if parts:
        return parts
    structured = content.prompt_context_json or content.images or content.plain_content
    if not structured and content.WhichOneof("guidance_value") is None:
        return content.instruction
    rendered: str | list[dict[str, Any]] = decode_content("instruction", content).rendered
    return rendered


def _assistant_content(
    content: pb.AssistantResponseContent, marks: dict[str, Any]
) -> str | list[dict[str, Any]]:
    # Text that was edited since the import no longer is the text of its parts.
    if marks.get(PARTS) and text_of(content.blocks) == content.assistant_response:
        return write_parts(content.blocks, imported=True)
    return content.assistant_response


def _result_content(content: pb.ActionResponseContent, marks: dict[str, Any]) -> str | list[dict[str, Any]]:
    if content.HasField("error"):
        return summarize_action_response(None, content.error)
    text = content.output_json or "null"
    output = parse_json_text(text) if text.startswith('"') else None
    if marks.get(PARTS) and text_of(content.blocks) == output:
        return write_parts(content.blocks, imported=True)
    return text if output is None else output
