"""What every content has in common: its dictionary form."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any, ClassVar, Self

from antiphon_client.messages.blocks import blocks_to_list

_ONE_CALL_KEYS = frozenset(("tool_schemas", "response_format", "structure", "_structure_instance"))


class MessageContent:
    """Base of every typed content."""

    __slots__ = ()

    _aliases: ClassVar[Mapping[str, str]] = {}
    _always_written: ClassVar[frozenset[str]] = frozenset()

    @property
    def rendered(self) -> str | list[dict[str, Any]]:
        """The content as a model sees it: text, or parts where there are images."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that carry something, as plain data that shares nothing with this content."""
        result: dict[str, Any] = {}
        for spec in self._fields():
            value = getattr(self, spec.name)
            empty = not value if spec.default_factory is list else value is None
            if empty and spec.name not in self._always_written:
                continue
            result[spec.name] = blocks_to_list(value) if spec.name == "blocks" else copy.deepcopy(value)
        return result

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build a content from its dictionary form or from a caller's fields.

        Raises:
            ValueError: A key is no field of this content, a field and its
                alias are both given, or a value breaks its field's rule.
            TypeError: A value has the wrong type, or ``structure`` is a type.
        """
        if isinstance(data.get("structure"), type):
            raise TypeError("structure must be a string; a type cannot be stored")
        given: dict[str, Any] = {}
        names = {spec.name for spec in cls._fields()}
        for key, value in data.items():
            name = cls._aliases.get(key, key)
            if name in names:
                if name in given:
                    raise ValueError(f"{name!r} is given twice")
                given[name] = value
            elif key not in _ONE_CALL_KEYS:
                raise ValueError(f"{cls.__name__} has no field {key!r}")
        return cls(**given)

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """Return a new content with some fields replaced; this one is not touched."""
        merged = self.to_dict()
        for key, value in changes.items():
            merged[self._aliases.get(key, key)] = value
        return self.from_dict(merged)

    @classmethod
    def _fields(cls) -> list[Field[Any]]:
        return [spec for spec in fields(cls) if not spec.name.startswith("_")]  # type: ignore[arg-type]
