"""Gemini's members: which say what a part holds, and their one spelling.

The API takes two spellings, and answers in camel case.
"""

from __future__ import annotations

from typing import Any, Final

_PART_MEMBERS: Final = (
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "thoughtSignature",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
    "toolCall",
    "toolResponse",
)
PART_ATTRIBUTES: Final = frozenset(
    ("thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata")
)
"""Members of a part that say something of it and are not what it holds."""

_DATA_MEMBERS: Final = ("mimeType", "fileUri", "displayName")


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


_CAMEL: Final = {_snake(name): name for name in (*_PART_MEMBERS, *_DATA_MEMBERS)}


def plain_part(part: Any, path: str) -> dict[str, Any]:
    """Return a part with its members, and those of its data, in camel case.

    Raises:
        ValueError: It is no object, or has a member in both spellings.
    """
    spelled = _spelled(part, path)
    for name in ("inlineData", "fileData"):
        if isinstance(spelled.get(name), dict):
            spelled[name] = _spelled(spelled[name], f"{path}.{name}")
    return spelled


def _spelled(given: Any, path: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"{path}: must be an object")
    spelled: dict[str, Any] = {}
    for key, value in given.items():
        name = _CAMEL.get(str(key), str(key))
        if name in spelled:
            raise ValueError(f"{path}.{name}: is given in two spellings")
        spelled[name] = value
    return spelled
