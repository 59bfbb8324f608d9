"""The words of OpenAI's response items: as a whole item has them, and what its pieces left unsaid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.provider_streams.shapes import Node

PARAGRAPH = "\n\n"
"""What stands between two parts of a summary of reasoning."""

_KINDS = {"message": ("text", "refusal"), "reasoning": ("thinking",)}
"""Kinds of items that have words, and the kinds of these."""
_TOLD_APART = "the pieces of an item's words are not the beginning of the words that it ended with"


def item_words(item: Node) -> Iterator[ProviderDelta]:
    """Yield the words of a whole item: a message's, or those of reasoning."""
    kind = item.need_text("type")
    if kind == "message":
        for part in item.items("content"):
            part_kind = part.need_text("type")
            if part_kind == "output_text":
                yield ProviderDelta(text=part.need_text("text"))
            elif part_kind == "refusal":
                yield ProviderDelta(refusal=part.need_text("refusal"))
    elif kind == "reasoning":
        for key in ("summary", "content"):
            for index, part in enumerate(item.items(key)):
                yield ProviderDelta(thinking=PARAGRAPH * (index > 0) + part.need_text("text"))


class SaidWords:
    """The words that came in pieces since the last item of their kind ended.

    Servers leave out pieces, all of them even, and say an item's words only when it
    has ended. Cost: linear in the words.
    """

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {}
        self._part_indexes: dict[str, int] = {}

    def say(self, kind: str, text: str) -> ProviderDelta:
        """Make a piece of words of a kind: ``text``, ``refusal`` or ``thinking``."""
        self._pieces.setdefault(kind, []).append(text)
        return _words(kind, text)

    def say_thinking(self, event: Node) -> ProviderDelta:
        """Make a piece of reasoning from an event, set off from the part before it."""
        words = event.need_text("delta")
        for key in ("summary_index", "content_index"):
            index = event.count(key) or 0
            if index > self._part_indexes.get(key, 0):
                words = PARAGRAPH + words
            self._part_indexes[key] = index
        return self.say("thinking", words)

    def settle(self, item: Node) -> Iterator[ProviderDelta]:
        """Yield what an item that has ended says beyond its pieces; a fault where they contradict it."""
        whole: dict[str, list[str]] = {}
        for delta in item_words(item):
            kind = str(delta.WhichOneof("delta"))
            whole.setdefault(kind, []).append(getattr(delta, kind))
        for kind in _KINDS.get(item.need_text("type"), ()):
            said = "".join(self._pieces.pop(kind, ()))
            words = "".join(whole.get(kind, ()))
            if words.startswith(said):
                if len(words) > len(said):
                    yield _words(kind, words[len(said) :])
            elif kind != "thinking" and not said.startswith(words):
                # Reasoning may be shown in other words than it is kept in.
                yield ProviderDelta(error=_TOLD_APART)
            if kind == "thinking":
                self._part_indexes.clear()


def _words(kind: str, text: str) -> ProviderDelta:
    field: dict[str, Any] = {kind: text}
    return ProviderDelta(**field)
