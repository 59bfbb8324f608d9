"""Compiled turns as the records of a history, to compile them again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from antiphon.compiler.v1.compiled_message_pb2 import CompiledMessage, Part
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.content_block_pb2 import ContentBlock
from antiphon.message.v1.message_pb2 import Message
from tests.support.native import assistant, call, mark, result, user


def records_of(messages: Iterable[CompiledMessage]) -> list[Message]:
    """Return records whose compilation is these turns."""
    numbers = count(1)
    records: list[Message] = []
    calls: dict[str, int] = {}
    for compiled in messages:
        parts = compiled.parts.parts
        if compiled.role == message_pb2.ROLE_TOOL:
            records.append(_result(next(numbers), parts[0].tool_result, calls))
        elif compiled.role == message_pb2.ROLE_USER:
            if compiled.HasField("text"):
                records.append(user(next(numbers), compiled.text))
            else:
                records.append(user(next(numbers), blocks=list(map(_block, parts))))
        else:
            records.append(assistant(next(numbers), compiled.text, *map(_block, parts)))
            calls = {}
            for made in [part.tool_call for part in parts if part.HasField("tool_call")]:
                number = next(numbers)
                calls[made.id] = number
                records.append(_call(number, made))
    return records


def _call(number: int, made: Any) -> Message:
    optional = {
        name: getattr(made, name) for name in ("arguments_text", "thought_signature") if made.HasField(name)
    }
    return call(number, made.id, made.name, made.arguments_json, **optional)


def _result(number: int, made: Any, calls: dict[str, int]) -> Message:
    content = list(made.content)
    fields: dict[str, Any] = {}
    if made.is_error:
        fields["error"] = content.pop(0).text.text
    return result(number, calls[made.call_id], blocks=content, name=made.name, **fields)


def _block(part: Part) -> ContentBlock:
    kind = part.WhichOneof("part")
    if kind == "tool_call":
        return mark(part.tool_call.id, part.tool_call.name)
    if kind == "image_url":
        built = ContentBlock()
        built.image.url = part.image_url.url
        if part.image_url.detail:
            built.image.detail = part.image_url.detail
        return built
    return ContentBlock(**{str(kind): getattr(part, str(kind))})


def without_records(messages: Iterable[CompiledMessage]) -> list[CompiledMessage]:
    """Return the turns without what tells which records they were made of, and which results were made."""
    plain: list[CompiledMessage] = []
    for compiled in messages:
        copy = CompiledMessage()
        copy.CopyFrom(compiled)
        for part in copy.parts.parts if copy.HasField("parts") else ():
            for kind in ("tool_call", "tool_result"):
                if part.HasField(kind):
                    getattr(part, kind).message_id = ""
            if part.HasField("tool_result"):
                part.tool_result.is_synthesized = False
        plain.append(copy)
    return plain
