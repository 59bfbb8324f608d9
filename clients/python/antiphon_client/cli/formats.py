"""The formats that `antiphon import` reads, and how a conversation's own is recognized."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from antiphon_client import anthropic_messages, gemini_contents, openai_chat
from antiphon_client.importing.conversation import ImportedConversation


class Format(StrEnum):
    """A format of conversations."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


SOURCES: Final = {
    Format.OPENAI: "openai.chat",
    Format.ANTHROPIC: "anthropic.messages",
    Format.GEMINI: "gemini.generate_content",
}
"""The API that a format is of, by the compiler's name for it as a target."""

IMPORTED_FROM: Final = "imported_from"
"""Key of a branch's metadata that names the API its conversation was imported from."""

_SYSTEM_KEYS: Final = ("system", "systemInstruction", "system_instruction")
_OPENAI_ROLES: Final = frozenset(("tool", "developer", "function"))
_OPENAI_PARTS: Final = frozenset(("image_url", "input_audio", "file", "refusal"))
_OPENAI_KEYS: Final = frozenset(("tool_calls", "tool_call_id"))
_OF_BOTH: Final = frozenset(("text",))


def with_messages(value: Any) -> Any:
    """Return an entry of a file with what Gemini calls ``contents`` under ``messages``."""
    if not isinstance(value, dict) or "contents" not in value or "messages" in value:
        return value
    return {"messages" if key == "contents" else key: item for key, item in value.items()}


def system_beside(value: Any) -> Any:
    """Return the system text that stands beside the messages of an entry; None for none."""
    if not isinstance(value, dict):
        return None
    return next((value[key] for key in _SYSTEM_KEYS if value.get(key) is not None), None)


def recognized(messages: Sequence[Mapping[str, Any]], system: Any) -> Format:
    """Return the format of a conversation by what only one format has.

    Texts alone may be of two formats; they are OpenAI's then.

    Args:
        messages: Its messages.
        system: Its system text beside the messages; None for none.
    """
    if any("parts" in message and "content" not in message for message in messages):
        return Format.GEMINI
    if any(_is_openai(message) for message in messages):
        return Format.OPENAI
    is_anthropic = any(kind not in _OF_BOTH for message in messages for kind in _kinds(message))
    return Format.ANTHROPIC if is_anthropic or system is not None else Format.OPENAI


def import_as(
    given: Format, messages: Sequence[Mapping[str, Any]], system: Any, seed: str
) -> ImportedConversation:
    """Import a conversation in a format.

    Args:
        given: The format.
        messages: Its messages.
        system: Its system text beside the messages; None for none.
        seed: As in the importers.

    Raises:
        ValueError: It is not of the format; begins with the path.
    """
    if given is Format.ANTHROPIC:
        return anthropic_messages.import_messages(messages, system=system, seed=seed)
    if given is Format.GEMINI:
        return gemini_contents.import_contents(messages, system_instruction=system, seed=seed)
    return openai_chat.import_messages(messages, seed=seed)


def _is_openai(message: Mapping[str, Any]) -> bool:
    return (
        message.get("role") in _OPENAI_ROLES
        or not _OPENAI_KEYS.isdisjoint(message)
        or any(kind in _OPENAI_PARTS for kind in _kinds(message))
    )


def _kinds(message: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the types of the parts of a message's content."""
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            yield part.get("type")
