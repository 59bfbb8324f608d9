"""Reading of the fields of messages that others wrote; errors begin with the path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from antiphon_client.json_text import MAX_DEPTH, JsonTextError, dump_json_text, parse_json_text

_MISSING: Final[Any] = object()


def plain_message(given: Any, path: str) -> dict[str, Any]:
    """Return a copy of a message as plain JSON data.

    Raises:
        ValueError: It is not an object, or holds what JSON text cannot; names
            the innermost place at fault.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"{path}: must be an object")
    copied: dict[str, Any] = plain_value(dict(given), path)
    return copied


def plain_value(given: Any, path: str) -> Any:
    """Return a copy of a value as plain JSON data.

    Raises:
        ValueError: It holds what JSON text cannot; names the innermost place at fault.
    """
    try:
        return parse_json_text(dump_json_text(given))
    except JsonTextError as error:
        place, reason = _innermost(given, path, error)
        raise ValueError(f"{place}: {reason}") from error


def field_of(given: Any, path: str, name: str, *, default: Any = _MISSING) -> Any:
    """Return a field of an object.

    Raises:
        ValueError: It is not an object, or has no such field and there is no default.
    """
    if not isinstance(given, dict):
        raise ValueError(f"{path}: must be an object")
    value = given.get(name, default)
    if value is _MISSING:
        raise ValueError(f"{path}.{name}: is required")
    return value


def required_text(given: Any, path: str, name: str) -> str:
    """Return a text field of an object.

    Raises:
        ValueError: It is not an object, or the field is missing or not text.
    """
    value = field_of(given, path, name)
    if not isinstance(value, str):
        raise ValueError(f"{path}.{name}: must be text")
    return value


def _innermost(value: Any, path: str, error: JsonTextError, depth: int = 0) -> tuple[str, JsonTextError]:
    if depth < MAX_DEPTH:
        for child_path, child in _children(value, path):
            try:
                dump_json_text(child)
            except JsonTextError as inner:
                return _innermost(child, child_path, inner, depth + 1)
    return path, error


def _children(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"{path}.{key}", child) for key, child in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"{path}[{index}]", child) for index, child in enumerate(value))
