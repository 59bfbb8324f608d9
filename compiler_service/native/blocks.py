"""Content blocks as parts of turns."""

from __future__ import annotations

from antiphon.message.v1.content_block_pb2 import ContentBlock, Image, Opaque, Text, Thinking
from antiphon_client.messages.rendering import image_url
from compiler_service.native.turns import (
    CacheMark,
    ImagePart,
    JsonPart,
    OpaquePart,
    TextPart,
    ThinkingPart,
)


def text_part(text: Text, message_id: str) -> TextPart:
    """Return a text with its cache mark."""
    if not text.HasField("cache_control"):
        return TextPart(text.text, message_id)
    mark = text.cache_control
    return TextPart(text.text, message_id, CacheMark(mark.type, mark.ttl if mark.HasField("ttl") else None))


def image_part(image: Image, message_id: str) -> ImagePart:
    """Return an image; one without a detail asks for none."""
    if image.WhichOneof("source") == "data":
        return ImagePart(image.mime_type, image.data, None, image.detail, message_id)
    return ImagePart(image.mime_type, None, image_url(image.url), image.detail, message_id)


def thinking_part(thinking: Thinking, message_id: str) -> ThinkingPart:
    """Return a piece of reasoning; what is absent of it is None."""
    return ThinkingPart(
        thinking.thinking,
        thinking.signature if thinking.HasField("signature") else None,
        thinking.provider if thinking.HasField("provider") else None,
        thinking.model if thinking.HasField("model") else None,
        message_id,
    )


def opaque_part(opaque: Opaque, message_id: str) -> OpaquePart:
    """Return a part that only its issuer can read."""
    return OpaquePart(opaque.provider, opaque.model, opaque.kind, opaque.data_json, message_id)


def part_of(
    kind: str | None, block: ContentBlock, message_id: str
) -> TextPart | JsonPart | ImagePart | ThinkingPart | OpaquePart | None:
    """Return the part that a block becomes; None for a call's position and for an unknown kind."""
    if kind == "text":
        return text_part(block.text, message_id)
    if kind == "thinking":
        return thinking_part(block.thinking, message_id)
    if kind == "image":
        return image_part(block.image, message_id)
    if kind == "json":
        return JsonPart(block.json.value_json, message_id)
    if kind == "opaque":
        return opaque_part(block.opaque, message_id)
    return None
