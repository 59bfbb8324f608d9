"""Content parts of OpenAI messages to and from content blocks."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from antiphon.message.v1 import content_block_pb2 as pb
from antiphon_client.json_text import dump_json_text, parse_json_text
from antiphon_client.messages.block_codec import DETAIL_FROM_PROTO, DETAIL_TO_PROTO
from antiphon_client.messages.validation import check_image

PROVIDER: Final = "openai"


class ReadPart(NamedTuple):
    """A part as a block, and what a model will not see of it, in words, or None."""

    block: pb.ContentBlock
    loss: str | None


def read_part(part: Any, path: str) -> ReadPart:
    """Return the block of a content part.

    Text and images become blocks of their kind. A part of another type, and an
    image that the contract refuses (a private host, an unknown scheme), is kept
    whole as an opaque block: it comes back on export and is never fetched.

    Raises:
        ValueError: The part has no type, or a text or image without its value.
    """
    if not isinstance(part, dict):
        raise ValueError(f"{path}: must be an object")
    kind = part.get("type")
    if not isinstance(kind, str):
        raise ValueError(f"{path}.type: must be text")
    if kind == "text":
        return ReadPart(_text_block(part, path), None)
    if kind == "image_url":
        return _read_image(part, path)
    return ReadPart(_opaque(kind, part), f"a part of type {kind!r} is kept but not shown to a model")


def write_parts(blocks: Iterable[pb.ContentBlock], *, imported: bool) -> list[dict[str, Any]]:
    """Return the content parts of blocks, in order.

    Args:
        blocks: The blocks. Thinking and call positions are no content parts.
        imported: The blocks were read from parts, so provider-only ones are parts too.
    """
    parts: list[dict[str, Any]] = []
    for block in blocks:
        kind = block.WhichOneof("block")
        if kind == "text":
            parts.append({"type": "text", "text": block.text.text})
        elif kind == "json":
            parts.append({"type": "text", "text": block.json.value_json})
        elif kind == "image":
            parts.append(_image_part(block.image))
        elif kind == "opaque" and imported and block.opaque.provider == PROVIDER:
            parts.append(parse_json_text(block.opaque.data_json))
    return parts


def text_of(blocks: Iterable[pb.ContentBlock]) -> str:
    """Return the texts of the text blocks, joined without a delimiter."""
    return "".join(block.text.text for block in blocks if block.WhichOneof("block") == "text")


def _text_block(part: dict[str, Any], path: str) -> pb.ContentBlock:
    text = part.get("text")
    if not isinstance(text, str):
        raise ValueError(f"{path}.text: must be text")
    return pb.ContentBlock(text=pb.Text(text=text, cache_control=_cache_control(part.get("cache_control"))))


def _cache_control(mark: Any) -> pb.CacheControl | None:
    if not isinstance(mark, dict) or not isinstance(mark.get("type"), str) or not mark["type"]:
        return None
    ttl = mark.get("ttl")
    return pb.CacheControl(type=mark["type"], ttl=ttl if isinstance(ttl, str) else None)


def _read_image(part: dict[str, Any], path: str) -> ReadPart:
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        raise ValueError(f"{path}.image_url.url: must be text")
    reason = check_image(url)
    if reason is not None:
        return ReadPart(_opaque("image_url", part), f"an image is kept but not shown to a model: {reason}")
    block = pb.ContentBlock(image=pb.Image(url=url))
    detail = image.get("detail") if isinstance(image, dict) else None
    if isinstance(detail, str) and detail in DETAIL_TO_PROTO:
        block.image.detail = DETAIL_TO_PROTO[detail]
    return ReadPart(block, None)


def _image_part(image: pb.Image) -> dict[str, Any]:
    if image.HasField("data"):
        url = f"data:{image.mime_type};base64,{base64.b64encode(image.data).decode('ascii')}"
    else:
        url = image.url
    shown: dict[str, Any] = {"url": url}
    detail = DETAIL_FROM_PROTO.get(image.detail)
    if detail is not None:
        shown["detail"] = detail
    return {"type": "image_url", "image_url": shown}


def _opaque(kind: str, part: dict[str, Any]) -> pb.ContentBlock:
    return pb.ContentBlock(opaque=pb.Opaque(provider=PROVIDER, kind=kind, data_json=dump_json_text(part)))
