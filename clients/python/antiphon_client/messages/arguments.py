"""The function name and the arguments of an action call, as callers and models give them.

Models write arguments as text, often malformed. Text is parsed by the JSON
text rule, then repaired; the outcome is an object or an error, never a guess
at another shape.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import json_repair
from pydantic import BaseModel

from antiphon_client.json_text import JsonTextError, dump_json_text, parse_json_text


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """The arguments of a call.

    Attributes:
        value: The arguments as an object.
        object_text: The text they were given as, when it was the JSON text of an object.
        other_text: The text they were given as, when it was anything else.
    """

    value: dict[str, Any]
    object_text: str | None = None
    other_text: str | None = None


def function_name(function: Any) -> str:
    """Return the name of an action: text, a callable's ``__name__``, or an object's ``function``.

    Raises:
        ValueError: None of these gives text.
    """
    if not isinstance(function, str):
        if hasattr(function, "function"):
            function = function.function
        if callable(function):
            function = getattr(function, "__name__", None)
    if not isinstance(function, str):
        raise ValueError("Function must be a string or callable")
    return function


def parse_arguments(arguments: Any) -> ParsedArguments:
    """Return the arguments of a call as an object, copied.

    Nothing (None, an empty list, blank text, and their JSON texts) is the
    empty object. Text that is not JSON is repaired; a repaired or parsed list
    of exactly one object is that object.

    Raises:
        ValueError: The arguments are not an object and cannot be made one
            without inventing keys, or hold a value that JSON cannot (NaN).
    """
    if isinstance(arguments, BaseModel):
        arguments = arguments.model_dump(mode="json")
    if isinstance(arguments, Mapping):
        return ParsedArguments(copy.deepcopy(dict(arguments)))
    if arguments is None or arguments == []:
        return ParsedArguments({})
    if isinstance(arguments, str):
        return _parse_text(arguments)
    raise ValueError(f"arguments must be an object, not {type(arguments).__name__}")


def _parse_text(text: str) -> ParsedArguments:
    if not text.strip():
        return ParsedArguments({}, other_text=text)
    try:
        value = parse_json_text(text)
    except JsonTextError:
        value = _repair(text)
    else:
        if isinstance(value, dict):
            return ParsedArguments(value, object_text=text)
        if value is None or value in ([], ""):
            return ParsedArguments({}, other_text=text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise ValueError("arguments must be the JSON text of an object")
    return ParsedArguments(value, other_text=text)


def _repair(text: str) -> Any:
    try:
        value = json_repair.loads(text)
        dump_json_text(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"arguments cannot be repaired: {error}") from error
    return value
