"""A call's arguments as text, or as the object that most targets take."""

from __future__ import annotations

import re

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon_client.json_text import JsonTextError, parse_json_text
from compiler_service.native.turns import CallPart
from compiler_service.projection.splicing import inside, quote
from compiler_service.remarks import Remarks

WRAPPER = "arguments"
"""Key under which stands what is no object where only an object may be."""

_NOTHING = re.compile(r'\s*(?:null|""|\[\s*\])?\s*')


def arguments_text(call: CallPart, losses: Remarks) -> str:
    """Return the arguments as the provider wrote them; what says nothing is ``{}``."""
    text = call.arguments_text
    if text is None:
        return call.arguments_json
    if _NOTHING.fullmatch(text) is None:
        return text
    _note(call, losses, "they say nothing")
    return "{}"


def arguments_object(call: CallPart, losses: Remarks) -> str:
    """Return the text of an object of the arguments.

    What the record holds as their meaning, where their text was no object's;
    else the value, or the text, under the key ``arguments``.
    """
    text = call.arguments_text
    if text is None:
        return call.arguments_json
    if _NOTHING.fullmatch(text) is not None:
        _note(call, losses, "they say nothing")
        return "{}"
    if inside(call.arguments_json):
        _note(call, losses, "the object that was read from them")
        return call.arguments_json
    try:
        value = parse_json_text(text)
    except JsonTextError:
        _note(call, losses, "their text")
        return f'{{"{WRAPPER}":{quote(text)}}}'
    if isinstance(value, dict):
        return text
    _note(call, losses, "their value")
    return f'{{"{WRAPPER}":{text}}}'


def _note(call: CallPart, losses: Remarks, detail: str) -> None:
    losses.add(notes_pb.COMPILE_NOTE_KIND_ARGUMENTS_WRAPPED, call.message_id, detail)
