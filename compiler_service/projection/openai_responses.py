"""OpenAI's Responses API: a list of items; a turn is as many of them as it has parts."""

from __future__ import annotations

from collections.abc import Iterator

from compiler_service.native.turns import (
    CallPart,
    ImagePart,
    JsonPart,
    NativeTurn,
    OpaquePart,
    Part,
    ResultPart,
    TextPart,
)
from compiler_service.projection.arguments import arguments_text
from compiler_service.projection.images import detail_of, url_of
from compiler_service.projection.splicing import quote, write_array
from compiler_service.projection.writing import ASSISTANT, TOOL, Writing, calls_of, result_text, results_of


def write_turns(writing: Writing) -> dict[str, str]:
    """Return the texts of ``instructions`` and ``input``."""
    members: dict[str, str] = {}
    prepared = writing.prepared
    if prepared.system_text is not None:
        members["instructions"] = quote(prepared.system_text)
    items: list[str] = []
    for turn in prepared.turns:
        if turn.role == TOOL:
            items += [_result(result, writing) for result in results_of(turn)]
        elif turn.role == ASSISTANT:
            items += _assistant_items(turn, writing)
        else:
            items.append(_user(turn))
    members["input"] = write_array(items)
    return members


def _user(turn: NativeTurn) -> str:
    part = turn.parts[0]
    if len(turn.parts) == 1 and isinstance(part, TextPart):
        content = quote(part.text)
    else:
        content = write_array(map(_content_part, turn.parts))
    return f'{{"type":"message","role":"user","content":{content}}}'


def _assistant_items(turn: NativeTurn, writing: Writing) -> Iterator[str]:
    ids = iter(writing.ids.open_round(calls_of(turn.parts)))
    for part in turn.parts:
        if isinstance(part, TextPart):
            yield f'{{"type":"message","role":"assistant","content":{quote(part.text)}}}'
        elif isinstance(part, CallPart):
            name = quote(writing.names.of(part.name, part.message_id))
            arguments = quote(arguments_text(part, writing.losses))
            call_id = quote(next(ids))
            yield f'{{"type":"function_call","call_id":{call_id},"name":{name},"arguments":{arguments}}}'
        else:
            assert isinstance(part, OpaquePart)
            yield part.data_json


def _result(result: ResultPart, writing: Writing) -> str:
    call_id = quote(writing.ids.of_result(result))
    if any(isinstance(part, ImagePart) for part in result.content):
        output = write_array(map(_result_part, result.content))
    else:
        output = quote(result_text(result))
    return f'{{"type":"function_call_output","call_id":{call_id},"output":{output}}}'


def _result_part(part: Part) -> str:
    if isinstance(part, (TextPart, ImagePart)):
        return _content_part(part)
    assert isinstance(part, JsonPart)
    return f'{{"type":"input_text","text":{quote(part.value_json)}}}'


def _content_part(part: Part) -> str:
    if isinstance(part, TextPart):
        return f'{{"type":"input_text","text":{quote(part.text)}}}'
    if isinstance(part, ImagePart):
        detail = quote(detail_of(part) or "auto")
        return f'{{"type":"input_image","image_url":{quote(url_of(part))},"detail":{detail}}}'
    assert isinstance(part, OpaquePart)
    return part.data_json
