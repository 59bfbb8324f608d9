"""Parts of turns in the terms of the wire.

What every turn of a conversation has, texts, calls and results, is spliced: an
object of the protobuf library for each of them takes two to three times as
long. The rarer parts are built.
"""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.compiler.v1.compiled_message_pb2 import (
    CompiledCall,
    CompiledMessage,
    CompiledResult,
    ImageUrl,
    Parts,
)
from antiphon.compiler.v1.compiled_message_pb2 import Part as WirePart
from antiphon.message.v1 import content_block_pb2
from antiphon.message.v1.content_block_pb2 import (
    CacheControl,
    ContentBlock,
    Image,
    Json,
    Opaque,
    Text,
    Thinking,
)
from antiphon_client.splicing import FieldPrefixes, true_field
from compiler_service.native.turns import (
    CallPart,
    ImagePart,
    JsonPart,
    OpaquePart,
    Part,
    ResultContent,
    ResultPart,
    TextPart,
    ThinkingPart,
)

_IN_MESSAGE = FieldPrefixes(CompiledMessage.DESCRIPTOR, "parts")
_IN_PARTS = FieldPrefixes(Parts.DESCRIPTOR, "parts")
_TEXT_PART = FieldPrefixes(WirePart.DESCRIPTOR, "text")
_CALL_PART = FieldPrefixes(WirePart.DESCRIPTOR, "tool_call")
_RESULT_PART = FieldPrefixes(WirePart.DESCRIPTOR, "tool_result")
_TEXT = FieldPrefixes(Text.DESCRIPTOR, "text")
_TEXT_BLOCK = FieldPrefixes(ContentBlock.DESCRIPTOR, "text")
_CALL_ID = FieldPrefixes(CompiledCall.DESCRIPTOR, "id")
_CALL_NAME = FieldPrefixes(CompiledCall.DESCRIPTOR, "name")
_ARGUMENTS_JSON = FieldPrefixes(CompiledCall.DESCRIPTOR, "arguments_json")
_ARGUMENTS_TEXT = FieldPrefixes(CompiledCall.DESCRIPTOR, "arguments_text")
_THOUGHT_SIGNATURE = FieldPrefixes(CompiledCall.DESCRIPTOR, "thought_signature")
_CALL_MESSAGE_ID = FieldPrefixes(CompiledCall.DESCRIPTOR, "message_id")
_RESULT_CALL_ID = FieldPrefixes(CompiledResult.DESCRIPTOR, "call_id")
_RESULT_NAME = FieldPrefixes(CompiledResult.DESCRIPTOR, "name")
_CONTENT = FieldPrefixes(CompiledResult.DESCRIPTOR, "content")
_IS_ERROR = true_field(CompiledResult.DESCRIPTOR, "is_error")
_IS_SYNTHESIZED = true_field(CompiledResult.DESCRIPTOR, "is_synthesized")
_RESULT_MESSAGE_ID = FieldPrefixes(CompiledResult.DESCRIPTOR, "message_id")


def encode_parts(parts: Iterable[Part]) -> bytes:
    """Return the field ``parts`` of a CompiledMessage, encoded."""
    return _IN_MESSAGE.enclose([_IN_PARTS.enclose((encode_part(part),)) for part in parts])


def encode_part(part: Part) -> bytes:
    """Return a Part, encoded."""
    if type(part) is ResultPart:
        return _RESULT_PART.enclose(_result(part))
    if type(part) is CallPart:
        return _CALL_PART.enclose(_call(part))
    if type(part) is TextPart:
        return _TEXT_PART.enclose((_text(part),))
    return _rare_part(part).SerializeToString()


def _text(part: TextPart) -> bytes:
    mark = part.cache_mark
    if mark is not None:
        control = CacheControl(type=mark.type, ttl=mark.ttl)
        return Text(text=part.text, cache_control=control).SerializeToString()
    return _field(_TEXT, part.text)


def _field(prefixes: FieldPrefixes, text: str) -> bytes:
    """Return a field that is left out when empty."""
    if not text:
        return b""
    encoded = text.encode()
    return prefixes[len(encoded)] + encoded


def _optional(prefixes: FieldPrefixes, text: str | None) -> bytes:
    if text is None:
        return b""
    encoded = text.encode()
    return prefixes[len(encoded)] + encoded


def _call(part: CallPart) -> tuple[bytes, ...]:
    return (
        _field(_CALL_ID, part.id),
        _field(_CALL_NAME, part.name),
        _field(_ARGUMENTS_JSON, part.arguments_json),
        _optional(_ARGUMENTS_TEXT, part.arguments_text),
        _optional(_THOUGHT_SIGNATURE, part.thought_signature),
        _field(_CALL_MESSAGE_ID, part.message_id),
    )


def _result(part: ResultPart) -> tuple[bytes, ...]:
    return (
        _field(_RESULT_CALL_ID, part.call_id),
        _field(_RESULT_NAME, part.name),
        *[_CONTENT.enclose((_block(content),)) for content in part.content],
        _IS_ERROR if part.is_error else b"",
        _IS_SYNTHESIZED if part.is_synthesized else b"",
        _field(_RESULT_MESSAGE_ID, part.message_id),
    )


def _block(part: ResultContent) -> bytes:
    if type(part) is TextPart:
        return _TEXT_BLOCK.enclose((_text(part),))
    if type(part) is JsonPart:
        return ContentBlock(json=Json(value_json=part.value_json)).SerializeToString()
    if type(part) is ImagePart:
        return ContentBlock(image=_image(part)).SerializeToString()
    if type(part) is OpaquePart:
        return ContentBlock(opaque=_opaque(part)).SerializeToString()
    raise TypeError(f"no content of a result: {part!r}")


def _rare_part(part: Part) -> WirePart:
    if type(part) is ImagePart:
        url = part.lone_url
        if url is None:
            return WirePart(image=_image(part))
        return WirePart(image_url=ImageUrl(url=url, detail=part.detail))
    if type(part) is ThinkingPart:
        return WirePart(
            thinking=Thinking(
                thinking=part.thinking, signature=part.signature, provider=part.provider, model=part.model
            )
        )
    if type(part) is OpaquePart:
        return WirePart(opaque=_opaque(part))
    if type(part) is JsonPart:
        return WirePart(json=Json(value_json=part.value_json))
    raise TypeError(f"no part of a turn: {part!r}")


def _opaque(part: OpaquePart) -> Opaque:
    return Opaque(provider=part.provider, model=part.model, kind=part.kind, data_json=part.data_json)


def _image(part: ImagePart) -> Image:
    image = Image(mime_type=part.mime_type)
    if part.data is not None:
        image.data = part.data
    elif part.url is not None:
        image.url = part.url
    if part.detail != content_block_pb2.IMAGE_DETAIL_UNSPECIFIED:
        image.detail = part.detail
    return image
