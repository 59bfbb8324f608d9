"""A user's turn: what an instruction says, with its text as it was written where that is all there is.

The history's instructions and the request's own are read here alike, so that a
turn keeps its bytes when it becomes history.
"""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import content_block_pb2, message_pb2
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client.messages.rendering import image_url, render_instruction_text
from compiler_service.instruction_view import guidance_of, prompt_context
from compiler_service.native.blank_texts import without_blanks
from compiler_service.native.blocks import part_of
from compiler_service.native.turns import SYSTEM_TEXT_MARK, ImagePart, NativeTurn, Part, TextPart
from compiler_service.native.unknown_blocks import unknown_block
from compiler_service.remarks import Remarks
from compiler_service.texts import is_blank

_USER = message_pb2.ROLE_USER
_SYSTEM = message_pb2.ROLE_SYSTEM
_AUTO = content_block_pb2.IMAGE_DETAIL_AUTO
_USER_BLOCKS = frozenset(("text", "image", "json", "opaque"))


def instruction_turn(message: Message, message_id: str, remarks: Remarks) -> NativeTurn | None:
    """Return the turn of an instruction; None where nothing is left of it.

    Text alone, or plain content alone, stays as it is; blocks are its parts,
    guidance and context before them; anything else is minimal YAML. Blank
    texts are left out. An instruction that the system sends is system text of
    a foreign history: its text is marked.

    Args:
        message: A record with InstructionContent. Not changed.
        message_id: Its id; "" for the request's own.
        remarks: Takes what is left out.

    Raises:
        UnsupportedContentError: It has a block of a kind this compiler does not know.
    """
    content = message.instruction
    if content.blocks:
        parts = _parts_of_blocks(content, message_id, remarks)
    else:
        text = _text_of(content, message_id, remarks)
        parts = [] if is_blank(text) else [TextPart(text, message_id)]
        if text and not parts and content.images:
            remarks.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_PART_DROPPED, message_id)
        if content.images:
            detail = content.image_detail or _AUTO
            parts += [ImagePart("", None, image_url(image), detail, message_id) for image in content.images]
    if not parts:
        return None
    is_system_text = message.HasField("sender") and message.sender.role == _SYSTEM
    if is_system_text:
        parts = _marked(parts, message_id)
        remarks.add(notes_pb.COMPILE_NOTE_KIND_SYSTEM_TEXT_AS_USER, message_id)
    is_text = len(parts) == 1 and type(parts[0]) is TextPart and parts[0].cache_mark is None
    ids = (message_id,) if message_id else ()
    # By position: by name it takes twice as long.
    return NativeTurn(_USER, tuple(parts), ids, is_text, message.metadata_json or None, is_system_text)


def _text_of(content: InstructionContent, message_id: str, remarks: Remarks) -> str:
    text = content.instruction
    guided = content.WhichOneof("guidance_value") is not None
    context = content.prompt_context_json
    if content.plain_content:
        for is_replaced, kind in (
            (guided, notes_pb.COMPILE_NOTE_KIND_GUIDANCE_NOT_RENDERED),
            (text, notes_pb.COMPILE_NOTE_KIND_INSTRUCTION_NOT_RENDERED),
            (context, notes_pb.COMPILE_NOTE_KIND_PROMPT_CONTEXT_NOT_RENDERED),
        ):
            if is_replaced:
                remarks.add(kind, message_id)
        return content.plain_content
    if not guided and not context:
        return text
    return render_instruction_text(
        guidance=guidance_of(content), instruction=text, context=prompt_context(content)
    )


def _parts_of_blocks(content: InstructionContent, message_id: str, remarks: Remarks) -> list[Part]:
    parts: list[Part] = []
    head = render_instruction_text(guidance=guidance_of(content), context=prompt_context(content))
    if head:
        parts.append(TextPart(head, message_id))
    for name, given in (
        ("instruction", content.instruction),
        ("plain_content", content.plain_content),
        ("images", content.images),
    ):
        if given:
            detail = f"{name} beside blocks"
            remarks.add(notes_pb.COMPILE_NOTE_KIND_PART_DROPPED, message_id, detail)
    for block in content.blocks:
        kind = block.WhichOneof("block")
        if kind is None:
            raise unknown_block(message_id)
        part = part_of(kind, block, message_id) if kind in _USER_BLOCKS else None
        if part is None:
            remarks.add(notes_pb.COMPILE_NOTE_KIND_PART_DROPPED, message_id, f"{kind} in a user's turn")
        else:
            parts.append(part)
    return without_blanks(parts, remarks)


def _marked(parts: list[Part], message_id: str) -> list[Part]:
    first = parts[0]
    if type(first) is TextPart:
        return [first._replace(text=SYSTEM_TEXT_MARK + first.text), *parts[1:]]
    return [TextPart(SYSTEM_TEXT_MARK, message_id), *parts]
