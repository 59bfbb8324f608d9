"""What a result says, as the parts of a tool's turn."""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1.message_pb2 import ActionResponseContent, Message
from compiler_service.json_values import parse_checked
from compiler_service.native.blocks import image_part, opaque_part, text_part
from compiler_service.native.turns import JsonPart, ResultContent, TextPart
from compiler_service.native.unknown_blocks import unknown_block
from compiler_service.remarks import Remarks

_NULL = "null"


def outcome_content(message: Message, remarks: Remarks) -> tuple[ResultContent, ...]:
    """Return what a result says; a blank text stays.

    Of a failed call first the reason; then the output, a JSON text as that
    text and any other value as JSON; then rich output, which stands for an
    output that is only its text. Nothing at all is JSON's null.

    Args:
        message: A record with ActionResponseContent. Not changed.
        remarks: Takes the blocks that a result cannot hold.

    Raises:
        UnsupportedContentError: It has a block of a kind this compiler does not know.
    """
    response = message.action_response
    message_id = message.id
    has_error = response.HasField("error")
    if not has_error and not response.blocks:
        return (_output_of(response.output_json, message_id),)
    content: list[ResultContent] = []
    if has_error:
        content.append(TextPart(response.error, message_id))
    rich = _rich_content(response, message_id, remarks) if response.blocks else []
    if response.output_json:
        output = _output_of(response.output_json, message_id)
        if not _is_text_of(output, rich):
            content.append(output)
    content += rich
    return tuple(content) or (JsonPart(_NULL, message_id),)


def _output_of(text: str, message_id: str) -> TextPart | JsonPart:
    if not text:
        return JsonPart(_NULL, message_id)
    if text[0] == '"' and text[-1] == '"' and "\\" not in text:
        # Nothing in it is escaped, so there is nothing to parse.
        return TextPart(text[1:-1], message_id)
    if text[0] not in "{[" and text.lstrip(" \t\r\n")[0] == '"':
        return TextPart(parse_checked(text), message_id)
    return JsonPart(text, message_id)


def _is_text_of(output: TextPart | JsonPart, rich: list[ResultContent]) -> bool:
    if type(output) is not TextPart or not rich:
        return False
    return output.text == "".join([part.text for part in rich if type(part) is TextPart])


def _rich_content(response: ActionResponseContent, message_id: str, remarks: Remarks) -> list[ResultContent]:
    content: list[ResultContent] = []
    for block in response.blocks:
        kind = block.WhichOneof("block")
        if kind == "text":
            content.append(text_part(block.text, message_id))
        elif kind == "json":
            content.append(JsonPart(block.json.value_json, message_id))
        elif kind == "image":
            content.append(image_part(block.image, message_id))
        elif kind == "opaque":
            content.append(opaque_part(block.opaque, message_id))
        elif kind is None:
            raise unknown_block(message_id)
        else:
            remarks.add(notes_pb.COMPILE_NOTE_KIND_PART_DROPPED, message_id, f"{kind} in a result")
    return content
