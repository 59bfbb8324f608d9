"""Ollama's chat API: arguments as an object, images beside the text, calls without ids."""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from compiler_service.native.turns import CallPart, ImagePart, NativeTurn, Part, ResultPart
from compiler_service.projection.arguments import arguments_object
from compiler_service.projection.images import source_of
from compiler_service.projection.part_rules import REASONING_ECHO
from compiler_service.projection.reasoning import reasoning_of
from compiler_service.projection.splicing import quote, write_array
from compiler_service.projection.writing import (
    ASSISTANT,
    TOOL,
    Writing,
    calls_of,
    result_text,
    results_of,
    texts_of,
)


def write_turns(writing: Writing) -> dict[str, str]:
    """Return the text of ``messages``, the system text among them."""
    prepared = writing.prepared
    messages: list[str] = []
    if prepared.system_text:
        messages.append(f'{{"role":"system","content":{quote(prepared.system_text)}}}')
    elif prepared.system_text is not None:
        writing.losses.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_PART_DROPPED, writing.system_id)
    for index, turn in enumerate(prepared.turns):
        if turn.role == TOOL:
            messages += [_result(result, writing) for result in results_of(turn)]
        elif turn.role == ASSISTANT:
            messages.append(_assistant(turn, writing, is_current=index >= prepared.current_from))
        else:
            messages.append(f'{{"role":"user","content":{_text(turn.parts)}{_images(turn.parts)}}}')
    return {"messages": write_array(messages)}


def _assistant(turn: NativeTurn, writing: Writing, *, is_current: bool) -> str:
    written = f'{{"role":"assistant","content":{_text(turn.parts)}'
    if is_current and REASONING_ECHO in writing.target.flags:
        written += f',"thinking":{quote(reasoning_of(turn.parts))}'
    calls = calls_of(turn.parts)
    if calls:
        written += f',"tool_calls":{write_array([_call(call, writing) for call in calls])}'
    return written + "}"


def _call(call: CallPart, writing: Writing) -> str:
    name = quote(writing.names.of(call.name, call.message_id))
    arguments = arguments_object(call, writing.losses)
    return f'{{"function":{{"name":{name},"arguments":{arguments}}}}}'


def _result(result: ResultPart, writing: Writing) -> str:
    name = quote(writing.names.of(result.name, result.message_id))
    return f'{{"role":"tool","tool_name":{name},"content":{quote(result_text(result))}}}'


def _text(parts: tuple[Part, ...]) -> str:
    return quote("\n".join(texts_of(parts)))


def _images(parts: tuple[Part, ...]) -> str:
    images = [quote(source_of(part).base64_text or "") for part in parts if isinstance(part, ImagePart)]
    return f',"images":{write_array(images)}' if images else ""
