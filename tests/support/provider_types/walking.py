"""Checking JSON values against a package's own types, deeply and without a lenient word.

TypedDicts check nothing by themselves, and pydantic takes what it can convert
and looks into an Iterable only when somebody reads it. This walks the types:
unknown keys, missing keys and wrong types are faults at any depth.
"""

from __future__ import annotations

import base64
import binascii
import collections.abc
import enum
import functools
import types
import typing
from typing import Any

import typing_extensions
from pydantic import BaseModel
from typing_extensions import TypeAliasType

_LISTS = (list, collections.abc.Iterable, collections.abc.Sequence, tuple)
_DECORATIONS: tuple[Any, ...] = (
    typing.Annotated,
    typing_extensions.Required,
    typing_extensions.NotRequired,
)
_REQUIRED: tuple[Any, ...] = (typing_extensions.Required,)
_NOT_REQUIRED: tuple[Any, ...] = (typing_extensions.NotRequired,)
_MAPPINGS = (dict, collections.abc.Mapping)


def faults(value: Any, expected: Any, path: str = "$", *, free: tuple[Any, ...] = ()) -> list[str]:
    """Return what is wrong with a JSON value that should be of a type; [] for nothing.

    Args:
        value: The value, as parsed from JSON.
        expected: The type: a TypedDict, a pydantic model, or any type in one.
        path: Where the value stands.
        free: Types whose keys are the user's own: any value of their kind is right.
    """
    return _Walker(free).faults(value, expected, path)


class _Walker:
    def __init__(self, free: tuple[Any, ...]) -> None:
        self._free = free

    def faults(self, value: Any, expected: Any, path: str) -> list[str]:
        expected = _plain(expected)
        if expected in (Any, object):
            return []
        if expected is None or expected is type(None):
            return [] if value is None else [f"{path}: not null"]
        if expected in self._free:
            return [] if isinstance(value, dict) else [f"{path}: not an object"]
        origin = typing.get_origin(expected)
        arguments = typing.get_args(expected)
        if origin in (typing.Union, types.UnionType):
            return self._union(value, arguments, path)
        if origin is typing.Literal:
            matches = any(value == item and type(value) is type(item) for item in arguments)
            return [] if matches else [f"{path}: {value!r} is none of {arguments}"]
        if _is_list(origin or expected):
            return self._list(value, arguments, path)
        if (origin or expected) in _MAPPINGS:
            return self._mapping(value, arguments, path)
        return self._class(value, expected, path)

    def _union(self, value: Any, arguments: tuple[Any, ...], path: str) -> list[str]:
        found = [self.faults(value, argument, path) for argument in arguments]
        if any(not faults for faults in found):
            return []
        # The branch with the fewest faults says best what is wrong.
        return min(found, key=len)

    def _list(self, value: Any, arguments: tuple[Any, ...], path: str) -> list[str]:
        if not isinstance(value, list):
            return [f"{path}: not a list"]
        item = arguments[0] if arguments else Any
        return [
            fault
            for index, given in enumerate(value)
            for fault in self.faults(given, item, f"{path}[{index}]")
        ]

    def _mapping(self, value: Any, arguments: tuple[Any, ...], path: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{path}: not an object"]
        item = arguments[1] if arguments else Any
        return [fault for key, given in value.items() for fault in self.faults(given, item, f"{path}.{key}")]

    def _class(self, value: Any, expected: Any, path: str) -> list[str]:
        if typing_extensions.is_typeddict(expected) or _is_model(expected):
            return self._object(value, *_keys_of(expected), path)
        if isinstance(expected, type) and issubclass(expected, enum.Enum):
            values = [member.value for member in expected]
            known = value in values or (isinstance(value, str) and value.upper() in values)
            return [] if known else [f"{path}: {value!r} is none of {values}"]
        return [] if _is_primitive(value, expected) else [f"{path}: {value!r} is not {expected}"]

    def _object(self, value: Any, hints: dict[str, Any], required: frozenset[str], path: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{path}: not an object"]
        found = [f"{path}.{key}: unknown key" for key in value if key not in hints]
        found += [f"{path}.{key}: missing" for key in sorted(required.difference(value))]
        for key, given in value.items():
            if key in hints:
                found += self.faults(given, hints[key], f"{path}.{key}")
        return found


def _is_model(expected: Any) -> bool:
    return isinstance(expected, type) and issubclass(expected, BaseModel)


@functools.cache
def _keys_of(expected: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the types of an object's keys, and the keys it must have."""
    if _is_model(expected):
        fields = {field.alias or name: field for name, field in expected.model_fields.items()}
        hints = {key: field.rebuild_annotation() for key, field in fields.items()}
        return hints, frozenset(key for key, field in fields.items() if field.is_required())
    hints = typing_extensions.get_type_hints(expected, include_extras=True)
    # Of annotations kept as text, the class itself does not know which are required.
    return hints, frozenset(
        key
        for key, hint in hints.items()
        if typing.get_origin(hint) in _REQUIRED
        or (expected.__total__ and typing.get_origin(hint) not in _NOT_REQUIRED)
    )


def _plain(expected: Any) -> Any:
    """Take off what only decorates a type."""
    while True:
        if isinstance(expected, TypeAliasType):
            expected = expected.__value__
        elif typing.get_origin(expected) in _DECORATIONS:
            expected = typing.get_args(expected)[0]
        else:
            return expected


def _is_list(origin: Any) -> bool:
    # A sequence that is no string is a protocol of each package's own.
    return origin in _LISTS or getattr(origin, "__name__", "") in ("SequenceNotStr", "Iterable")


def _is_primitive(value: Any, expected: Any) -> bool:
    if expected is str:
        return isinstance(value, str)
    if expected is bool:
        return isinstance(value, bool)
    if expected is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if expected is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if expected is bytes:
        return isinstance(value, str) and _is_base64(value)
    # File handles, datetimes and the like never come from JSON.
    return False


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        return False
    return True
