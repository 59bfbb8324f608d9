"""LangChain messages as records, and back.

=============  =========================================================================
message        records
=============  =========================================================================
human          an instruction: text, or a block for each part
system         an instruction that the system sends
ai             an assistant response, then an action request for each tool call
tool           an action response, linked to its call; an error where its status says so
any other      a generic record, which no model is shown
=============  =========================================================================
"""

from __future__ import annotations

from typing import Any, Final

from langchain_core.messages import BaseMessage

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.unit_reading import value_of_record
from antiphon_client.adapters.units import (
    UnitWriter,
    call_block,
    opaque_block,
    text_block,
)
from antiphon_client.openai_chat.parts import read_part

METADATA_KEY: Final = "langchain"
PROVIDER: Final = "langchain"
"""Whose parts opaque blocks are: LangChain's own content blocks differ from every provider's."""


def records_of(message: BaseMessage) -> list[pb.Message]:
    """Return the records of a message.

    Raises:
        JsonTextError: The message holds what JSON text cannot.
    """
    # What has its default value is left out and comes back with the class.
    data = message.model_dump(exclude_defaults=True)
    data.pop("type", None)
    data.setdefault("content", message.content)
    writer = UnitWriter()
    _write(writer, message.type, data)
    return writer.finish(METADATA_KEY, {"type": message.type, "data": data})


def dict_of(record: pb.Message, kind: str | None, _entry: str | None) -> dict[str, Any] | None:
    """Return the message, as ``messages_from_dict`` takes it, that another client's record stands for."""
    if kind == "instruction":
        role = "system" if record.sender.role == pb.ROLE_SYSTEM else "human"
        return _message(role, record.instruction.instruction)
    if kind == "assistant_response":
        return _message("ai", record.assistant_response.assistant_response)
    if kind == "action_request":
        request = record.action_request
        call = {
            "name": request.function,
            "args": value_of_record(record),
            "id": request.provider_call_id or record.id,
            "type": "tool_call",
        }
        return _message("ai", "", tool_calls=[call])
    if kind == "action_response":
        answer = record.action_response
        failed = answer.HasField("error")
        output = answer.error if failed else value_of_record(record)
        content = output if isinstance(output, str) else answer.output_json
        call_id = answer.provider_call_id or answer.action_request_id
        status = "error" if failed else "success"
        return _message("tool", content, tool_call_id=call_id, status=status)
    if kind == "summary":
        return _message("human", record.summary.text)
    if kind == "system":
        return _message("system", record.system.system_message)
    return None


def _message(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "data": {"content": content, **fields}}


def _write(writer: UnitWriter, kind: str, data: dict[str, Any]) -> None:
    content = data["content"]
    if kind in ("human", "system"):
        by_system = kind == "system"
        if isinstance(content, str):
            writer.instruction(content, "data", "content", by_system=by_system)
        else:
            writer.instruction(None, by_system=by_system)
            _write_parts(writer, content)
    elif kind == "ai":
        _write_ai(writer, data)
    elif kind == "tool":
        failed = data.get("status") == "error"
        writer.answer("", data.get("tool_call_id"), content, "data", "content", failed=failed)
    else:
        writer.generic(data, "data")


def _write_ai(writer: UnitWriter, data: dict[str, Any]) -> None:
    content, calls = data["content"], data.get("tool_calls", [])
    if isinstance(content, str):
        turn = writer.response(content, "data", "content")
    else:
        turn = writer.response("".join(part for part in map(_text_of, content) if part is not None))
        _write_parts(writer, content)
    for index, call in enumerate(calls):
        path = ("data", "tool_calls", index, "args")
        request = writer.request(call["name"], call.get("id"), call["args"], *path)
        turn.assistant_response.blocks.append(call_block(request))


def _write_parts(writer: UnitWriter, content: list[Any]) -> None:
    for index, part in enumerate(content):
        path = ("data", "content", index)
        text = _text_of(part)
        if text is not None:
            writer.block(text_block(text), *path, *(() if isinstance(part, str) else ("text",)))
        elif not _write_image(writer, part, path):
            writer.block(opaque_block(PROVIDER, str(part.get("type", "")), part), *path)


def _text_of(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    is_text = part.get("type") == "text" and isinstance(part.get("text"), str)
    return part["text"] if is_text else None


def _write_image(writer: UnitWriter, part: dict[str, Any], path: tuple[str | int, ...]) -> bool:
    """Write a part that is an image with an address that a model may be shown."""
    is_own = part.get("type") == "image"
    shown = part if is_own else part.get("image_url")
    if not isinstance(shown, dict) or not isinstance(shown.get("url"), str):
        return False
    block = read_part({"type": "image_url", "image_url": shown}, "content").block
    if not block.HasField("image"):
        return False
    writer.block(block, *path, *(() if is_own else ("image_url",)), "url")
    return True
