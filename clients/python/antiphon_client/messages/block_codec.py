"""Content blocks to and from their wire form, without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from antiphon.message.v1 import content_block_pb2 as pb
from antiphon_client.messages.blocks import (
    Block,
    CacheControl,
    ImageBlock,
    ImageDetail,
    JsonBlock,
    OpaqueBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    UnknownBlock,
)

DETAIL_TO_PROTO: Final[dict[ImageDetail, pb.ImageDetail.ValueType]] = {
    "low": pb.IMAGE_DETAIL_LOW,
    "high": pb.IMAGE_DETAIL_HIGH,
    "auto": pb.IMAGE_DETAIL_AUTO,
}
DETAIL_FROM_PROTO: Final[dict[int, ImageDetail]] = {
    number: detail for detail, number in DETAIL_TO_PROTO.items()
}


def blocks_to_proto(blocks: Iterable[Block]) -> list[pb.ContentBlock]:
    """Return the wire forms of blocks."""
    return [block_to_proto(block) for block in blocks]


def blocks_from_proto(blocks: Iterable[pb.ContentBlock]) -> list[Block]:
    """Return the blocks of wire forms; a newer kind becomes an `UnknownBlock`.

    Raises:
        ValueError: An image has no source.
    """
    return [block_from_proto(block) for block in blocks]


def block_to_proto(block: Block) -> pb.ContentBlock:
    """Return the wire form of one block."""
    if isinstance(block, TextBlock):
        return pb.ContentBlock(text=_text(block))
    if isinstance(block, JsonBlock):
        return pb.ContentBlock(json=pb.Json(value_json=block.value_json))
    if isinstance(block, ThinkingBlock):
        thinking = pb.Thinking(
            thinking=block.thinking, signature=block.signature, provider=block.provider, model=block.model
        )
        return pb.ContentBlock(thinking=thinking)
    if isinstance(block, ToolCallBlock):
        call = pb.ToolCall(
            id=block.id,
            name=block.name,
            arguments_json=block.arguments_json,
            thought_signature=block.thought_signature,
        )
        return pb.ContentBlock(tool_call=call)
    if isinstance(block, ImageBlock):
        detail = None if block.detail is None else DETAIL_TO_PROTO[block.detail]
        image = pb.Image(mime_type=block.mime_type, detail=detail)
        if block.data is not None:
            image.data = block.data
        elif block.url is not None:
            image.url = block.url
        return pb.ContentBlock(image=image)
    if isinstance(block, OpaqueBlock):
        opaque = pb.Opaque(
            provider=block.provider, model=block.model, kind=block.kind, data_json=block.data_json
        )
        return pb.ContentBlock(opaque=opaque)
    return pb.ContentBlock.FromString(block.data)


def block_from_proto(block: pb.ContentBlock) -> Block:
    """Return the block of one wire form."""
    kind = block.WhichOneof("block")
    if kind is None:
        return UnknownBlock(block.SerializeToString(deterministic=True))
    return _DECODERS[kind](getattr(block, kind))


def _text(block: TextBlock) -> pb.Text:
    mark = block.cache_control
    if mark is None:
        return pb.Text(text=block.text)
    return pb.Text(text=block.text, cache_control=pb.CacheControl(type=mark.type, ttl=mark.ttl))


def _optional(message: Any, name: str) -> Any:
    return getattr(message, name) if message.HasField(name) else None


def _text_block(text: pb.Text) -> TextBlock:
    mark = _optional(text, "cache_control")
    return TextBlock(text.text, None if mark is None else CacheControl(mark.type, _optional(mark, "ttl")))


def _json_block(json: pb.Json) -> JsonBlock:
    return JsonBlock(json.value_json)


def _thinking_block(thinking: pb.Thinking) -> ThinkingBlock:
    return ThinkingBlock(
        thinking.thinking,
        _optional(thinking, "signature"),
        _optional(thinking, "provider"),
        _optional(thinking, "model"),
    )


def _tool_call_block(call: pb.ToolCall) -> ToolCallBlock:
    return ToolCallBlock(call.id, call.name, call.arguments_json, _optional(call, "thought_signature"))


def _image_block(image: pb.Image) -> ImageBlock:
    return ImageBlock(
        mime_type=image.mime_type,
        data=_optional(image, "data"),
        url=_optional(image, "url"),
        detail=DETAIL_FROM_PROTO.get(image.detail),
    )


def _opaque_block(opaque: pb.Opaque) -> OpaqueBlock:
    return OpaqueBlock(opaque.provider, opaque.model, opaque.kind, opaque.data_json)


_DECODERS: Final[dict[str, Callable[[Any], Block]]] = {
    "text": _text_block,
    "json": _json_block,
    "thinking": _thinking_block,
    "tool_call": _tool_call_block,
    "image": _image_block,
    "opaque": _opaque_block,
}
