"""Pydantic AI's model messages as records, and back.

===============================  ====================================================
part                             record
===============================  ====================================================
``user-prompt``                  an instruction: text, or a block for each part
``system-prompt``                an instruction that the system sends
``tool-return``                  an action response, linked to its call; an error
                                 where its outcome is a failure told in text
``retry-prompt`` of a tool       an action response with an error
``retry-prompt`` of none         an instruction
``text``, ``thinking``           an assistant response; blocks where there are several
``tool-call``                    an action request behind it
any other                        stands in the metadata alone
===============================  ====================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.unit_reading import value_of_record
from antiphon_client.adapters.units import UnitWriter, call_block, opaque_block, text_block
from antiphon_client.json_text import dump_json_text
from antiphon_client.openai_chat.parts import read_part

METADATA_KEY: Final = "pydantic_ai"
PROVIDER: Final = "pydantic_ai"
"""Whose parts opaque blocks are: files in the framework's own form."""

_USUAL: Final = {
    "content_file_digests": [],
    "outcome": "success",
    "scope": "conversation",
    "state": "complete",
}


def records_of(message: ModelMessage) -> list[pb.Message]:
    """Return the records of a message.

    Raises:
        JsonTextError: The message holds what JSON text cannot.
    """
    whole = _json_of(message)
    item = _without_defaults(whole)
    # Read back once: what was left out must come back by itself.
    if not _gives_back(item, whole):
        item = whole
    writer = UnitWriter()
    if item["kind"] == "response":
        _write_response(writer, item["parts"])
    else:
        for index, part in enumerate(item["parts"]):
            write = _REQUEST_PARTS.get(part["part_kind"])
            if write is not None:
                write(writer, part, ("parts", index, "content"))
    if not writer.records:
        writer.generic(None)
    return writer.finish(METADATA_KEY, item)


def messages_of(text: str) -> list[ModelMessage]:
    """Return the messages of their JSON forms' text."""
    # Only from text does the framework take base64 text for the bytes of a file.
    return ModelMessagesTypeAdapter.validate_json(text)


def dict_of(record: pb.Message, kind: str | None, _entry: str | None) -> dict[str, Any] | None:
    """Return the message, as the framework's JSON, that another client's record stands for."""
    if kind == "instruction":
        role = "system-prompt" if record.sender.role == pb.ROLE_SYSTEM else "user-prompt"
        return _request(role, content=record.instruction.instruction)
    if kind == "assistant_response":
        return _response("text", content=record.assistant_response.assistant_response)
    if kind == "action_request":
        request = record.action_request
        call_id = request.provider_call_id or record.id
        return _response(
            "tool-call", tool_name=request.function, args=value_of_record(record), tool_call_id=call_id
        )
    if kind == "action_response":
        answer = record.action_response
        output = answer.error if answer.HasField("error") else value_of_record(record)
        call_id = answer.provider_call_id or answer.action_request_id
        return _request("tool-return", tool_name=answer.function, content=output, tool_call_id=call_id)
    if kind == "summary":
        return _request("user-prompt", content=record.summary.text)
    if kind == "system":
        return _request("system-prompt", content=record.system.system_message)
    return None


def _json_of(message: ModelMessage) -> dict[str, Any]:
    item: dict[str, Any] = ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]
    return item


def _gives_back(item: dict[str, Any], whole: dict[str, Any]) -> bool:
    try:
        return _json_of(messages_of(dump_json_text([item]))[0]) == whole
    except ValueError:  # pydantic's refusal
        return False


def _request(kind: str, **part: Any) -> dict[str, Any]:
    return {"kind": "request", "parts": [{"part_kind": kind, **part}]}


def _response(kind: str, **part: Any) -> dict[str, Any]:
    return {"kind": "response", "parts": [{"part_kind": kind, **part}]}


def _without_defaults(whole: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is null or usual in a message and its parts, and the counts of tokens that are 0."""
    item = _without_usual(whole)
    if "usage" in item:
        item["usage"] = {key: value for key, value in item["usage"].items() if value}
        if not item["usage"]:
            del item["usage"]
    item["parts"] = [_without_usual(part) for part in whole["parts"]]
    return item


def _without_usual(given: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in given.items()
        if key == "content" or (value is not None and (key not in _USUAL or value != _USUAL[key]))
    }


def _write_user(writer: UnitWriter, part: dict[str, Any], path: tuple[str | int, ...]) -> None:
    content = part["content"]
    if isinstance(content, str):
        writer.instruction(content, *path)
        return
    writer.instruction(None)
    for index, piece in enumerate(content):
        if isinstance(piece, str):
            writer.block(text_block(piece), *path, index)
        else:
            _write_piece(writer, piece, (*path, index))


def _write_piece(writer: UnitWriter, piece: dict[str, Any], path: tuple[str | int, ...]) -> None:
    kind = str(piece.get("kind", ""))
    if kind == "image-url":
        block = read_part({"type": "image_url", "image_url": {"url": piece["url"]}}, "content").block
        if block.HasField("image"):
            writer.block(block, *path, "url")
            return
    if kind == "text-content" and isinstance(piece.get("content"), str):
        writer.block(text_block(piece["content"]), *path, "content")
        return
    writer.block(opaque_block(PROVIDER, kind, piece), *path)


def _write_system(writer: UnitWriter, part: dict[str, Any], path: tuple[str | int, ...]) -> None:
    writer.instruction(part["content"], *path, by_system=True)


def _write_return(writer: UnitWriter, part: dict[str, Any], path: tuple[str | int, ...]) -> None:
    failed = part.get("outcome") not in (None, "success")
    writer.answer(part["tool_name"], part["tool_call_id"], part["content"], *path, failed=failed)


def _write_retry(writer: UnitWriter, part: dict[str, Any], path: tuple[str | int, ...]) -> None:
    content = part["content"]
    if part.get("tool_name") is not None:
        writer.answer(part["tool_name"], part["tool_call_id"], content, *path, failed=True)
    elif isinstance(content, str):
        writer.instruction(content, *path)


_REQUEST_PARTS: Final[dict[str, Callable[[UnitWriter, dict[str, Any], tuple[str | int, ...]], None]]] = {
    "user-prompt": _write_user,
    "system-prompt": _write_system,
    "tool-return": _write_return,
    "retry-prompt": _write_retry,
}


def _write_response(writer: UnitWriter, parts: list[dict[str, Any]]) -> None:
    texts = [index for index, part in enumerate(parts) if part["part_kind"] == "text"]
    is_plain = len(texts) == 1 and not any(part["part_kind"] == "thinking" for part in parts)
    if is_plain:
        turn = writer.response(parts[texts[0]]["content"], "parts", texts[0], "content")
    else:
        turn = writer.response("".join(parts[index]["content"] for index in texts))
    for index, part in enumerate(parts):
        path = ("parts", index, "content")
        if part["part_kind"] == "text" and not is_plain:
            writer.block(text_block(part["content"]), *path)
        elif part["part_kind"] == "thinking":
            writer.block(_thinking(part), *path)
    for index, part in enumerate(parts):
        if part["part_kind"] == "tool-call":
            path = ("parts", index, "args")
            call = writer.request(part["tool_name"], part["tool_call_id"], part.get("args"), *path)
            turn.assistant_response.blocks.append(call_block(call))


def _thinking(part: dict[str, Any]) -> block_pb.ContentBlock:
    return block_pb.ContentBlock(
        thinking=block_pb.Thinking(
            thinking=part["content"], signature=part.get("signature"), provider=part.get("provider_name")
        )
    )
