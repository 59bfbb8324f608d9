"""What an instruction says, read from its durable fields only.

Both history instructions and the request's own are read here, so that a field
means the same in either place (ADR-0007 D1, D2.2).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, NamedTuple

from antiphon.message.v1 import content_block_pb2
from antiphon.message.v1.content_block_pb2 import ContentBlock, Image
from antiphon.message.v1.message_pb2 import InstructionContent
from antiphon_client.messages.rendering import image_url
from compiler_service.json_values import parse_checked
from compiler_service.state import InstructionTurn, TurnImage

_RENDERED_BLOCKS = frozenset(("text", "image"))


class InstructionView(NamedTuple):
    """An instruction as a turn, and what of it the turn cannot carry.

    Attributes:
        turn: The turn; its context holds the instruction's own items.
        leaves_blocks_out: Whether some of its blocks are not rendered.
        has_unknown_block: Whether it has to be rendered from a block of a kind
            this compiler does not know.
    """

    turn: InstructionTurn
    leaves_blocks_out: bool
    has_unknown_block: bool


def view_instruction(content: InstructionContent, message_id: str | None) -> InstructionView:
    """Read an instruction.

    Its blocks are used when it gives neither text nor images: text blocks
    joined by two newlines, image blocks in order.

    Args:
        content: The content; not changed.
        message_id: Id of the record; None for the request's own instruction.
    """
    text = content.instruction
    plain_content = content.plain_content
    images: tuple[TurnImage, ...] = ()
    leaves_out = unknown = False
    if content.images:
        images = _images_of(content)
    if content.blocks:
        if text or plain_content or images:
            leaves_out = True
        else:
            text, images = _text_and_images(content.blocks)
            kinds = {block.WhichOneof("block") for block in content.blocks}
            unknown = None in kinds
            leaves_out = not kinds <= _RENDERED_BLOCKS
    context = content.prompt_context_json
    turn = InstructionTurn(
        message_id=message_id,
        text=text,
        guidance=_guidance_of(content),
        context=tuple([parse_checked(item) for item in context]) if context else (),
        plain_content=plain_content,
        images=images,
    )
    return InstructionView(turn, leaves_out, unknown)


def _guidance_of(content: InstructionContent) -> Any:
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
        return f"data:{image.mime_type};base64,{base64.b64encode(image.data).decode('ascii')}"
    return image_url(image.url)
