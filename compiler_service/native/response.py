"""The parts of one response of a model, in the provider's order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1.content_block_pb2 import ContentBlock
from antiphon.message.v1.message_pb2 import Message
from compiler_service.display_text import blocks_say
from compiler_service.native.blank_texts import drop_blank
from compiler_service.native.blocks import part_of
from compiler_service.native.items import Response
from compiler_service.native.turns import OpaquePart, Part, TextPart, ThinkingPart
from compiler_service.native.unknown_blocks import unknown_block
from compiler_service.remarks import Remarks
from compiler_service.texts import is_blank


class PositionMark(NamedTuple):
    """The position of a call: its provider's id; without one, its name."""

    call_id: str
    name: str


ResponsePart: TypeAlias = Part | PositionMark


def response_parts(response: Response, remarks: Remarks) -> list[ResponsePart]:
    """Return a response's parts, and marks where its calls stand.

    The text is that of the text blocks; where there is none, or the display
    text says something else (it was edited), it is the display text: in place
    of the text blocks, else before the first call.

    Args:
        response: The response; what only its issuer can check is left out
            where it may not stand.
        remarks: Takes what is left out.

    Raises:
        UnsupportedContentError: It has a block of a kind this compiler does not know.
    """
    message = response.message
    content = message.assistant_response
    parts: list[ResponsePart] = []
    texts: list[TextPart] = []
    written: list[str] = []
    if content.blocks:
        for block in content.blocks:
            kind = block.WhichOneof("block")
            if kind is None:
                raise unknown_block(message.id)
            if kind == "tool_call":
                parts.append(_mark_of(block))
                continue
            part = part_of(kind, block, message.id)
            if type(part) is TextPart:
                # A blank one is part of the display text, though it does not stay.
                written.append(part.text)
            if part is not None and _stays(part, response, remarks):
                parts.append(part)
                if type(part) is TextPart:
                    texts.append(part)
    text = content.assistant_response
    if not is_blank(text) and not blocks_say(written, text):
        _put_text(parts, texts, TextPart(text, message.id), remarks)
    return parts


def position_marks(message: Message) -> list[PositionMark]:
    """Return the marks of a response, in order."""
    blocks = message.assistant_response.blocks
    return [_mark_of(block) for block in blocks if block.WhichOneof("block") == "tool_call"]


def _mark_of(block: ContentBlock) -> PositionMark:
    call_id = block.tool_call.id
    return PositionMark(call_id, "" if call_id else block.tool_call.name)


def _stays(part: Part, response: Response, remarks: Remarks) -> bool:
    """Tell whether a block stays; remark on it where not."""
    if type(part) is TextPart:
        if not is_blank(part.text):
            return True
        drop_blank(part, remarks)
        return False
    if type(part) is ThinkingPart:
        if part.signature is None:
            if not is_blank(part.thinking):
                return True
            remarks.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_PART_DROPPED, part.message_id)
            return False
    elif type(part) is not OpaquePart:
        return True
    if not response.is_replayable:
        detail = "that of another response stands in the turn"
        remarks.add(notes_pb.COMPILE_NOTE_KIND_THINKING_DROPPED, part.message_id, detail)
    return response.is_replayable


def _put_text(parts: list[ResponsePart], texts: Sequence[TextPart], text: TextPart, remarks: Remarks) -> None:
    if texts:
        detail = "text blocks, as the response's text is another"
        remarks.add(notes_pb.COMPILE_NOTE_KIND_PART_DROPPED, text.message_id, detail)
        place = next(place for place, part in enumerate(parts) if type(part) is TextPart)
        parts[:] = [part for part in parts if type(part) is not TextPart]
    else:
        place = next((place for place, part in enumerate(parts) if type(part) is PositionMark), len(parts))
    parts.insert(place, text)
