"""Reads the text and the parts of a model's answer from the shapes providers use.

Precedence for an object: ``content``, then ``choices``, then ``output``, then
``result``; the first key present decides, even when it is empty. A list is a
stream or a batch of such shapes. Texts join without a delimiter. What is of no
known shape adds no text; the caller keeps the whole payload beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from antiphon_client.json_text import JsonTextError, check_json_text, dump_json_text
from antiphon_client.messages.blocks import Block, OpaqueBlock, TextBlock, ThinkingBlock, ToolCallBlock


def plain_response(response: Any) -> Any:
    """Return a provider's answer as plain data: models dumped, a list of one unwrapped."""
    if isinstance(response, (list, tuple)):
        items = [_plain(item) for item in response]
        return items[0] if len(items) == 1 else items
    return _plain(response)


def response_text(response: Any) -> str:
    """Return the display text of a plain answer; "" when no shape gives one."""
    if isinstance(response, list):
        return "".join(map(_item_text, response))
    return _item_text(response)


def response_blocks(response: Any) -> list[Block]:
    """Return the parts of a plain answer in order, or none when it is text only.

    Text parts are included beside thinking, calls and provider-only parts, so
    that the order of all is kept.

    Raises:
        JsonTextError: A part holds a value that JSON cannot.
    """
    blocks: list[Block] = []
    for item in response if isinstance(response, list) else [response]:
        if isinstance(item, Mapping):
            blocks.extend(_item_blocks(item))
    return [] if all(isinstance(block, TextBlock) for block in blocks) else blocks


def _plain(item: Any) -> Any:
    return item.model_dump(mode="json") if isinstance(item, BaseModel) else item


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _item_text(item: Any) -> str:
    if isinstance(item, str):
        return item
    if not isinstance(item, Mapping):
        return ""
    if "content" in item:
        return _parts_text(item["content"], "text")
    if "choices" in item:
        return "".join(_choice_text(choice) for choice in _as_list(item["choices"]))
    if "output" in item:
        return "".join(_output_text(entry) for entry in _as_list(item["output"]))
    return _str(item.get("result"))


def _choice_text(choice: Any) -> str:
    message = _choice_message(choice)
    return "" if message is None else _parts_text(message.get("content"), "text")


def _choice_message(choice: Any) -> Mapping[str, Any] | None:
    if not isinstance(choice, Mapping):
        return None
    message = choice["message"] if "message" in choice else choice.get("delta")
    return message if isinstance(message, Mapping) else None


def _output_text(entry: Any) -> str:
    if not isinstance(entry, Mapping) or entry.get("type") != "message":
        return ""
    content = entry.get("content")
    # A message item of this shape has a list of parts; bare text is not one.
    return _parts_text(content, "output_text") if isinstance(content, list) else ""


def _parts_text(content: Any, text_type: str) -> str:
    if isinstance(content, str):
        return content
    return "".join(_part_text(part, text_type) for part in _as_list(content))


def _part_text(part: Any, text_type: str) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type") == text_type:
        return _str(part.get("text"))
    return ""


def _item_blocks(item: Mapping[str, Any]) -> list[Block]:
    model = _str(item.get("model"))
    if "content" in item:
        return [_anthropic_block(part, model) for part in _parts(item["content"])]
    if "choices" in item:
        return [block for choice in _as_list(item["choices"]) for block in _choice_blocks(choice, model)]
    if "output" in item:
        return [block for entry in _as_list(item["output"]) for block in _output_blocks(entry, model)]
    return []


def _parts(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [content]
    return [part for part in _as_list(content) if isinstance(part, (str, Mapping))]


def _anthropic_block(part: Any, model: str) -> Block:
    if isinstance(part, str):
        return TextBlock(part)
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        return TextBlock(part["text"])
    if kind == "thinking" and isinstance(part.get("thinking"), str):
        signature = part.get("signature")
        return ThinkingBlock(
            part["thinking"],
            signature=signature if isinstance(signature, str) else None,
            provider="anthropic",
            model=model or None,
        )
    if kind == "tool_use" and isinstance(part.get("input"), Mapping):
        return ToolCallBlock(
            _str(part.get("id")), _str(part.get("name")), dump_json_text(dict(part["input"]))
        )
    return _opaque("anthropic", model, part)


def _choice_blocks(choice: Any, model: str) -> list[Block]:
    # A delta holds fragments of calls; only a whole message has calls to mark.
    message = _choice_message(choice)
    if message is None or "message" not in choice:
        return []
    blocks: list[Block] = []
    for part in _parts(message.get("content")):
        text = _part_text(part, "text")
        is_text = isinstance(part, str) or part.get("type") == "text"
        if text:
            blocks.append(TextBlock(text))
        elif not is_text:
            blocks.append(_opaque("openai", model, part))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            blocks.append(_call_marker(call.get("id"), function))
    return blocks


def _output_blocks(entry: Any, model: str) -> list[Block]:
    if not isinstance(entry, Mapping):
        return []
    kind = entry.get("type")
    if kind == "function_call":
        return [_call_marker(entry.get("call_id"), entry)]
    if kind != "message":
        return [_opaque("openai", model, entry)]
    content = entry.get("content")
    blocks: list[Block] = []
    for part in _parts(content) if isinstance(content, list) else []:
        is_text = isinstance(part, str) or part.get("type") == "output_text"
        blocks.append(
            TextBlock(_part_text(part, "output_text")) if is_text else _opaque("openai", model, part)
        )
    return blocks


def _call_marker(call_id: Any, call: Mapping[str, Any]) -> ToolCallBlock:
    arguments = _str(call.get("arguments"))
    try:
        check_json_text(arguments, require_object=True)
    except JsonTextError:
        arguments = ""  # the marker gives the position; the request record keeps the text
    return ToolCallBlock(_str(call_id), _str(call.get("name")), arguments)


def _opaque(provider: str, model: str, part: Mapping[str, Any]) -> OpaqueBlock:
    return OpaqueBlock(provider, model, _str(part.get("type")), dump_json_text(dict(part)))
