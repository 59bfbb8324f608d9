"""What an instruction says, read from its durable fields only.

Both history instructions and the request's own are read here, so that a field
means the same in either place (ADR-0007 D1, D2.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from typing import Any

from antiphon.message.v1 import content_block_pb2
from antiphon.message.v1.content_block_pb2 import ContentBlock, Image
from antiphon.message.v1.message_pb2 import InstructionContent
from antiphon_client.messages.rendering import image_url
from compiler_service.json_values import parse_checked
from compiler_service.state import InstructionTurn, TurnImage
from compiler_service.texts import data_url

_RENDERED_BLOCKS = frozenset(("text", "image"))


class BlockUse(Enum):
    """What became of an instruction's blocks."""

    RENDERED = auto()
    """There is none, or every one is in the turn."""
    LEFT_OUT = auto()
    """Some are not in the turn."""
    UNKNOWN = auto()
    """The turn has to be rendered from a block of a kind that this compiler does not know."""


def prompt_context(content: InstructionContent) -> list[Any]:
    """Return the values of the instruction's own context items, in order."""
    items = content.prompt_context_json
    return [parse_checked(item) for item in items] if items else []


def view_instruction(
    content: InstructionContent, message_id: str | None, context: Iterable[Any]
) -> tuple[InstructionTurn, BlockUse]:
    """Read an instruction as a turn.

    Its blocks are used when it gives neither text nor images: text blocks
    joined by two newlines, image blocks in order.

    Args:
        content: The content; not changed.
        message_id: Id of the record; None for the request's own instruction.
        context: The turn's context: the instruction's own, moved results last.
    """
    text = content.instruction
    plain_content = content.plain_content
    images = _images_of(content) if content.images else ()
    use = BlockUse.RENDERED
    if content.blocks:
        if text or plain_content or images:
            use = BlockUse.LEFT_OUT
        else:
            text, images = _text_and_images(content.blocks)
            use = _use_of(content.blocks)
    # By position: by name it takes twice as long.
    turn = InstructionTurn(message_id, text, guidance_of(content), tuple(context), plain_content, images)
    return turn, use


def _use_of(blocks: Iterable[ContentBlock]) -> BlockUse:
    """Tell what becomes of blocks that are rendered."""
    kinds = {block.WhichOneof("block") for block in blocks}
    if None in kinds:
        return BlockUse.UNKNOWN
    return BlockUse.RENDERED if kinds <= _RENDERED_BLOCKS else BlockUse.LEFT_OUT


def guidance_of(content: InstructionContent) -> Any:
    """Return the guidance: a text, the value of a JSON guidance, or None."""
    kind = content.WhichOneof("guidance_value")
    if kind == "guidance":
        return content.guidance
    return parse_checked(content.guidance_json) if kind == "guidance_json" else None


def _images_of(content: InstructionContent) -> tuple[TurnImage, ...]:
    detail = content.image_detail or content_block_pb2.IMAGE_DETAIL_AUTO
    return tuple([TurnImage(image_url(image), detail) for image in content.images])


def _text_and_images(blocks: Iterable[ContentBlock]) -> tuple[str, tuple[TurnImage, ...]]:
    texts: list[str] = []
    images: list[TurnImage] = []
    for block in blocks:
        kind = block.WhichOneof("block")
        if kind == "text":
            texts.append(block.text.text)
        elif kind == "image":
            images.append(TurnImage(_block_url(block.image), block.image.detail))
    return "\n\n".join(texts), tuple(images)


def _block_url(image: Image) -> str:
    if image.WhichOneof("source") == "data":
        return data_url(image.mime_type, image.data)
    return image_url(image.url)
