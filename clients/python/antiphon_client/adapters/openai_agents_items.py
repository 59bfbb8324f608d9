"""Items of the OpenAI Responses API as records, and back.

===================================  ==================================================
item                                 record
===================================  ==================================================
message of the user                  an instruction: text, or a block for each part
message of the system or developer   an instruction that the system sends
message of the assistant             an assistant response
``function_call``,                   an action request; the arguments are kept as their
``custom_tool_call``                 exact text
``function_call_output``,            an action response, linked to its call
``custom_tool_call_output``
``reasoning``                        an assistant response without text: one opaque block
any other                            a generic record, which no model is shown
===================================  ==================================================

Items as the framework makes them leave nothing in the metadata, or their id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.unit_reading import arguments_text, value_of_record, value_of_text
from antiphon_client.adapters.units import UnitWriter, opaque_block, text_block
from antiphon_client.json_text import dump_json_text
from antiphon_client.openai_chat.parts import PROVIDER, read_part

METADATA_KEY: Final = "openai_agents"

# A method that is looked up with each message takes half as long again.
_has_field: Final = pb.Message.HasField

_SYSTEM_ROLES: Final = ("system", "developer")
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")


def record_of(item: Mapping[str, Any]) -> pb.Message:
    """Return the record of an item.

    Raises:
        JsonTextError: The item holds what JSON text cannot.
    """
    given = dict(item)
    writer = UnitWriter()
    if not _write_known(writer, given):
        return _other(given)
    record = writer.records[0]
    short = given.get("id")
    text = dump_json_text(given)
    for entry in (None, short if isinstance(short, str) else None):
        usual = item_of(record, record.WhichOneof("content"), entry)
        if usual is not None and dump_json_text(usual) == text:
            record.metadata_json = "" if entry is None else dump_json_text({METADATA_KEY: entry})
            return record
    return writer.finish(METADATA_KEY, given)[0]


def item_of(record: pb.Message, kind: str | None, item_id: str | None) -> dict[str, Any] | None:
    """Return the item that a record alone stands for, in the form the framework makes; None for none."""
    # In the order of how many there are: this runs for every item of a session.
    if kind == "instruction":
        by_system = _has_field(record, "sender") and record.sender.role == pb.ROLE_SYSTEM
        return {"content": record.instruction.instruction, "role": "system" if by_system else "user"}
    if kind == "assistant_response":
        text = record.assistant_response.assistant_response
        if item_id is None:
            return _reasoning(record.assistant_response) or {"content": text, "role": "assistant"}
        return {
            "id": item_id,
            "content": [{"annotations": [], "text": text, "type": "output_text", "logprobs": []}],
            "role": "assistant",
            "status": "completed",
            "type": "message",
        }
    if kind == "action_request":
        return _call_item(record, item_id)
    if kind == "action_response":
        return _output_item(record)
    if kind == "summary":
        return {"content": record.summary.text, "role": "user"}
    if kind == "system":
        return {"content": record.system.system_message, "role": "system"}
    if kind == "generic":
        value = value_of_record(record)
        return value if isinstance(value, dict) and "type" in value else None
    return None


def _other(item: dict[str, Any]) -> pb.Message:
    writer = UnitWriter()
    record = writer.generic(item)
    record.generic.value_json = dump_json_text(item)
    if "type" not in item:  # what has a type is known for an item by that
        writer.place((), "value")
        writer.finish(METADATA_KEY, item)
    return record


def _reasoning(turn: pb.AssistantResponseContent) -> dict[str, Any] | None:
    if turn.assistant_response or len(turn.blocks) != 1:
        return None
    opaque = turn.blocks[0].opaque
    if opaque.provider != PROVIDER or opaque.kind != "reasoning":
        return None
    item: dict[str, Any] = json.loads(opaque.data_json)
    return item


def _call_item(record: pb.Message, item_id: str | None) -> dict[str, Any]:
    request = record.action_request
    item = {
        "arguments": arguments_text(request) or "{}",
        "call_id": request.provider_call_id or record.id,
        "name": request.function,
        "type": "function_call",
    }
    if item_id is not None:
        item["id"] = item_id
        item["status"] = "completed"
    return item


def _output_item(record: pb.Message) -> dict[str, Any]:
    answer = record.action_response
    output = answer.error if answer.HasField("error") else value_of_text(answer.output_json or "null")
    if not isinstance(output, (str, list)):
        output = answer.output_json
    call_id = answer.provider_call_id or answer.action_request_id
    return {"call_id": call_id, "output": output, "type": "function_call_output"}


def _write_known(writer: UnitWriter, item: dict[str, Any]) -> bool:
    """Write an item of a kind that has a record; False for every other."""
    kind = item.get("type", "message")
    if kind == "message":
        return _write_message(writer, item)
    call_id = item.get("call_id")
    if kind in _CALLS:
        name, key = item.get("name"), _CALLS[kind]
        if not (isinstance(call_id, str) and isinstance(name, str) and isinstance(item.get(key), str)):
            return False
        writer.request(name, call_id, item[key], key)
        return True
    if kind in _OUTPUTS:
        if not isinstance(call_id, str) or "output" not in item:
            return False
        writer.answer("", call_id, item["output"], "output")
        return True
    if kind == "reasoning":
        writer.response("")
        writer.block(opaque_block(PROVIDER, "reasoning", item))
        writer.place((), 0)
        return True
    return False


def _write_message(writer: UnitWriter, item: dict[str, Any]) -> bool:
    role, content = item.get("role"), item.get("content")
    if role == "assistant":
        return _write_assistant(writer, content)
    if role != "user" and role not in _SYSTEM_ROLES:
        return False
    by_system = role in _SYSTEM_ROLES
    if isinstance(content, str):
        writer.instruction(content, "content", by_system=by_system)
        return True
    if not isinstance(content, list) or not _are_parts(content):
        return False
    writer.instruction(None, by_system=by_system)
    for index, part in enumerate(content):
        _write_part(writer, part, index)
    return True


def _write_part(writer: UnitWriter, part: dict[str, Any], index: int) -> None:
    text, url = part.get("text"), part.get("image_url")
    if part["type"] == "input_text" and isinstance(text, str):
        writer.block(text_block(text), "content", index, "text")
        return
    if part["type"] == "input_image" and isinstance(url, str):
        image = {"type": "image_url", "image_url": {"url": url, "detail": part.get("detail")}}
        block = read_part(image, "content").block
        if block.HasField("image"):
            writer.block(block, "content", index, "image_url")
            return
    writer.block(opaque_block(PROVIDER, part["type"], part), "content", index)


def _write_assistant(writer: UnitWriter, content: Any) -> bool:
    if isinstance(content, str):
        writer.response(content, "content")
        return True
    if not isinstance(content, list) or not _are_parts(content):
        return False
    texts = [part["text"] if part["type"] == "output_text" else None for part in content]
    if len(texts) == 1 and isinstance(texts[0], str):
        writer.response(texts[0], "content", 0, "text")
        return True
    writer.response("".join(text for text in texts if isinstance(text, str)))
    for index, (part, text) in enumerate(zip(content, texts, strict=True)):
        if isinstance(text, str):
            writer.block(text_block(text), "content", index, "text")
        else:
            writer.block(opaque_block(PROVIDER, part["type"], part), "content", index)
    return True


def _are_parts(content: list[Any]) -> bool:
    """Whether a content's parts all have a type, and a text where the type says so."""
    return all(
        isinstance(part, dict)
        and isinstance(part.get("type"), str)
        and part["type"]
        and (part["type"] != "output_text" or isinstance(part.get("text"), str))
        for part in content
    )
