"""Typed content blocks: the parts of a turn, kept in order and verbatim.

JSON inside a block stays text, so that a block reads back exactly as it was
written. The dictionary form of a block is its fields beside a ``type``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

ImageDetail: TypeAlias = Literal["low", "high", "auto"]
"""How closely a model is asked to look at an image."""

IMAGE_DETAILS: tuple[ImageDetail, ...] = ("low", "high", "auto")


@dataclass(frozen=True, slots=True)
class CacheControl:
    """A provider cache mark: its name and, in the provider's spelling, how long."""

    type: str
    ttl: str | None = None


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text; may be empty."""

    type: ClassVar[str] = "text"

    text: str
    cache_control: CacheControl | None = None


@dataclass(frozen=True, slots=True)
class JsonBlock:
    """A JSON value, as its text."""

    type: ClassVar[str] = "json"

    value_json: str


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """A model's reasoning, with the provider's signature over it."""

    type: ClassVar[str] = "thinking"

    thinking: str
    signature: str | None = None
    provider: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCallBlock:
    """The position of a call in an assistant's turn; the request record is the call."""

    type: ClassVar[str] = "tool_call"

    id: str
    name: str
    arguments_json: str = ""
    thought_signature: str | None = None


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """An image: its encoded bytes with a media type, or its URL.

    Raises:
        ValueError: Neither or both of data and URL are given, or the detail is
            not low, high or auto.
    """

    type: ClassVar[str] = "image"

    mime_type: str = ""
    data: bytes | None = None
    url: str | None = None
    detail: ImageDetail | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.url is None):
            raise ValueError("an image has either data or a url")
        if self.detail is not None and self.detail not in IMAGE_DETAILS:
            raise ValueError("image detail must be low, high or auto")

    @property
    def address(self) -> str:
        """The URL, or the data as a data URL."""
        if self.data is None:
            return self.url or ""
        return f"data:{self.mime_type};base64,{base64.b64encode(self.data).decode('ascii')}"


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """A part that only the provider who issued it can read, as JSON text."""

    type: ClassVar[str] = "opaque"

    provider: str
    model: str
    kind: str
    data_json: str


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    """A block of a newer kind: its wire bytes, kept as they are."""

    type: ClassVar[str] = "unknown"

    data: bytes


Block: TypeAlias = (
    TextBlock | JsonBlock | ThinkingBlock | ToolCallBlock | ImageBlock | OpaqueBlock | UnknownBlock
)
"""One part of a turn."""

_CLASSES: dict[str, type[Block]] = {
    cls.type: cls
    for cls in (TextBlock, JsonBlock, ThinkingBlock, ToolCallBlock, ImageBlock, OpaqueBlock, UnknownBlock)
}


def block_to_dict(block: Block) -> dict[str, Any]:
    """Return the dictionary form: ``type`` and the fields that are set; bytes as base64."""
    result: dict[str, Any] = {"type": block.type}
    for spec in fields(block):
        value = getattr(block, spec.name)
        if value is None:
            continue
        if isinstance(value, bytes):
            value = base64.b64encode(value).decode("ascii")
        elif isinstance(value, CacheControl):
            value = {"type": value.type} | ({} if value.ttl is None else {"ttl": value.ttl})
        result[spec.name] = value
    return result


def block_from_dict(data: Mapping[str, Any]) -> Block:
    """Build a block from its dictionary form.

    Raises:
        ValueError: The type is not known, or a field is missing, unknown or of
            the wrong type.
    """
    kind = data.get("type")
    cls = _CLASSES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise ValueError(f"unknown block type {kind!r}")
    given = {key: value for key, value in data.items() if key != "type" and value is not None}
    known = {spec.name: spec for spec in fields(cls)}
    for name in given:
        if name not in known:
            raise ValueError(f"unknown field {name!r} of a {kind} block")
    for name, spec in known.items():
        if spec.default is MISSING and name not in given:
            raise ValueError(f"a {kind} block needs {name!r}")
    return cls(**{name: _field_value(kind, name, value) for name, value in given.items()})


def coerce_blocks(value: Any) -> list[Block]:
    """Return a new list of blocks from blocks or their dictionary forms; None is none.

    Raises:
        ValueError: A dictionary is not the form of a block.
        TypeError: An entry is neither a block nor a dictionary.
    """
    if value is None:
        return []
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError("blocks must be a list of blocks")
    return [_coerce_block(entry) for entry in value]


def blocks_to_list(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """Return the dictionary forms of blocks."""
    return [block_to_dict(block) for block in blocks]


def _coerce_block(entry: Any) -> Block:
    if isinstance(entry, Block):
        return entry
    if isinstance(entry, Mapping):
        return block_from_dict(entry)
    raise TypeError(f"not a content block: {type(entry).__name__}")


def _field_value(kind: object, name: str, value: Any) -> Any:
    if name == "cache_control" and isinstance(value, Mapping):
        return _cache_control(value)
    if not isinstance(value, str):
        raise ValueError(f"{name!r} of a {kind} block must be text")
    if name == "data":
        try:
            return base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise ValueError(f"'data' of a {kind} block is not base64") from error
    return value


def _cache_control(value: Mapping[str, Any]) -> CacheControl:
    mark, ttl = value.get("type"), value.get("ttl")
    if set(value) - {"type", "ttl"} or not isinstance(mark, str) or not isinstance(ttl, (str, type(None))):
        raise ValueError("'cache_control' must have a text 'type' and may have a text 'ttl'")
    return CacheControl(mark, ttl)
