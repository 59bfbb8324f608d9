"""A whole conversation as an object: its messages, and what stands beside them.

The keys beside ``id`` and ``messages`` (a model's name, tools, notes of whoever
wrote it) travel in the metadata of the conversation's branch, under
``openai_chat``, which is absent where there is nothing to remember::

    {
      "conversation": {key: value}   the keys beside ``id`` and ``messages``
      "unnamed":      true           where the conversation had no ``id``
    }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from antiphon_client.openai_chat.marks import METADATA_KEY

_BESIDE: Final = "conversation"
_UNNAMED: Final = "unnamed"


def conversation_metadata(conversation: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a branch's metadata must hold for `export_conversation` to give a conversation back.

    Args:
        conversation: The object with ``messages`` and perhaps ``id``, as parsed
            from JSON with exact integers.
    """
    beside = _beside(conversation)
    marks: dict[str, Any] = {_BESIDE: beside} if beside else {}
    if "id" not in conversation:
        marks[_UNNAMED] = True
    return {METADATA_KEY: marks} if marks else {}


def export_conversation(
    metadata: Mapping[str, Any], conversation_id: str, messages: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a branch as a conversation: ``id``, the keys it was imported with, and ``messages``.

    Args:
        metadata: The branch's metadata.
        conversation_id: What it is called; left out where it was imported without an id.
        messages: What `export_messages` gives.
    """
    marks = metadata.get(METADATA_KEY)
    marks = marks if isinstance(marks, dict) else {}
    beside = marks.get(_BESIDE)
    exported: dict[str, Any] = {} if marks.get(_UNNAMED) is True else {"id": conversation_id}
    exported.update(_beside(beside) if isinstance(beside, dict) else {})
    return {**exported, "messages": list(messages)}


def _beside(conversation: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in conversation.items() if key not in ("id", "messages")}
