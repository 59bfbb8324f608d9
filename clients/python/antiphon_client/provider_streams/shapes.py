"""Reading JSON of foreign shapes: every value knows its path and its own text.

A provider's values are kept as it spelled them, so a value gives back the very
piece of text it was read from; nothing is written anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from antiphon_client.json_spans import spans_of
from antiphon_client.json_text import JsonTextError, parse_json_text

MAX_COUNT = 2**63 - 1
"""Largest count that the wire carries."""


class ShapeError(ValueError):
    """A value is not of the shape it must have.

    Attributes:
        path: Where it stands, such as ``choices[0].message``; "" for the whole.
        reason: What is wrong, in words.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class Node:
    """One JSON value in its text.

    Attributes:
        value: The value, integers exact.
        path: Where it stands.

    Cost: a node is made on access; its raw text costs one pass over the
    container it stands in, once for each container.
    """

    __slots__ = ("_key", "_parent", "_spans", "_text", "path", "value")

    def __init__(self, value: Any, path: str, parent: Node | None, key: str | int, text: str = "") -> None:
        self.value = value
        self.path = path
        self._parent = parent
        self._key = key
        self._text = text
        self._spans: dict[str | int, tuple[int, int]] | None = None

    @classmethod
    def parse(cls, text: str) -> Node:
        """Read a whole text.

        Raises:
            ShapeError: It breaks the JSON text rule.
        """
        try:
            return cls(parse_json_text(text), "", None, "", text.strip(" \t\n\r"))
        except JsonTextError as error:
            raise ShapeError("", str(error)) from None

    @property
    def raw(self) -> str:
        """The value's own text."""
        if self._parent is not None and not self._text:
            parent = self._parent
            if parent._spans is None:
                parent._spans = _spans(parent.raw)
            start, end = parent._spans[self._key]
            self._text = parent.raw[start:end]
        return self._text

    def get(self, key: str) -> Node | None:
        """Return an object's member; None where it is absent or null.

        Raises:
            ShapeError: The value is no object.
        """
        if not isinstance(self.value, dict):
            raise ShapeError(self.path, "must be an object")
        value = self.value.get(key)
        if value is None:
            return None
        return Node(value, f"{self.path}.{key}" if self.path else key, self, key)

    def need(self, key: str) -> Node:
        """Return an object's member.

        Raises:
            ShapeError: The value is no object, or the member is absent or null.
        """
        member = self.get(key)
        if member is None:
            raise ShapeError(f"{self.path}.{key}" if self.path else key, "is missing")
        return member

    def members(self) -> Iterator[tuple[str, Node]]:
        """Yield the members of an object that are not null."""
        for key in self.value:
            member = self.get(key)
            if member is not None:
                yield key, member

    def items(self, key: str) -> list[Node]:
        """Return the items of an object's member that is an array; none where it is absent or null.

        Raises:
            ShapeError: The value is no object, or the member no array.
        """
        array = self.get(key)
        if array is None:
            return []
        if not isinstance(array.value, list):
            raise ShapeError(array.path, "must be an array")
        return [
            Node(value, f"{array.path}[{index}]", array, index) for index, value in enumerate(array.value)
        ]

    def text(self, key: str) -> str | None:
        """Return an object's member that is text; None where it is absent or null.

        Raises:
            ShapeError: The value is no object, or the member no text.
        """
        member = self.get(key)
        if member is None:
            return None
        if not isinstance(member.value, str):
            raise ShapeError(member.path, "must be text")
        return member.value

    def need_text(self, key: str) -> str:
        """Return an object's member that is text.

        Raises:
            ShapeError: The value is no object, or the member is absent or no text.
        """
        self.need(key)
        return self.text(key) or ""

    def count(self, key: str) -> int | None:
        """Return an object's member that counts something; None where it is absent or null.

        Raises:
            ShapeError: The value is no object, or the member no count that the wire carries.
        """
        member = self.get(key)
        if member is None:
            return None
        value = member.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
            raise ShapeError(member.path, "must be a whole number of 0 or more")
        return value

    def count_or_none(self, *keys: str) -> int | None:
        """Return what a member counts, or a member of members; None where nothing there reads as a count.

        For what an answer cost: an odd number there is no reason to refuse the answer.
        """
        node: Node | None = self
        try:
            for key in keys[:-1]:
                node = None if node is None else node.get(key)
            return None if node is None else node.count(keys[-1])
        except ShapeError:
            return None

    def flag(self, key: str) -> bool:
        """Tell whether an object's member is true."""
        member = self.get(key)
        return member is not None and member.value is True

    def with_members(self, changes: Mapping[str, str]) -> str:
        """Return the text of an object with members set to other JSON texts, the rest as it is written."""
        text = self.raw
        spans = _spans(text)
        added = [key for key in changes if key not in spans]
        for key in sorted((key for key in changes if key in spans), key=lambda key: spans[key], reverse=True):
            start, end = spans[key]
            text = text[:start] + changes[key] + text[end:]
        for key in added:
            comma = "," if spans or key != added[0] else ""
            text = f"{text[:-1]}{comma}{json.dumps(key)}:{changes[key]}}}"
        return text


def _spans(text: str) -> dict[str | int, tuple[int, int]]:
    """Return where the values of a container's text begin and end, by key or index."""
    return {span.key: (span.start, span.end) for span in spans_of(text)}
