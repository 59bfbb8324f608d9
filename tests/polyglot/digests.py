"""The digests of answers, computed from the answers alone.

Written from the comments of the protos (``CompileResponse.messages_digest``,
``SnapshotFooter.sha256``), not from the services' code, which it checks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from antiphon.compiler.v1.compiled_message_pb2 import CompiledMessage, Part
from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse, StreamCompileResponse
from antiphon.history.v1.history_service_pb2 import ReadSnapshotResponse
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.content_block_pb2 import ContentBlock, Image
from tests.polyglot.faults import MismatchError


def messages_digest(messages: Iterable[CompiledMessage], system_text: str | None) -> str:
    """Return the digest of compiled messages in the canonical form, in hexadecimal.

    Args:
        messages: The messages.
        system_text: NATIVE's system text; None for none.
    """
    digest = hashlib.sha256(b"antiphon.compiled.v1\0")
    if system_text is not None:
        digest.update(bytes((message_pb2.ROLE_SYSTEM, 1)) + _text(system_text))
    for message in messages:
        digest.update(_message(message))
    return digest.hexdigest()


def _message(message: CompiledMessage) -> bytes:
    if message.WhichOneof("content") == "text":
        return bytes((message.role, 1)) + _text(message.text)
    parts = message.parts.parts
    return bytes((message.role, 2)) + _count(len(parts)) + b"".join(map(_part, parts))


def _text(text: str) -> bytes:
    return _sized(text.encode())


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(8, "big") + data


def _count(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _optional(holder: object, *fields: str) -> bytes:
    forms = []
    for field in fields:
        present = holder.HasField(field)  # type: ignore[attr-defined]
        forms.append(b"\1" + _text(getattr(holder, field)) if present else b"\0")
    return b"".join(forms)


def _part(part: Part) -> bytes:
    kind = part.WhichOneof("part")
    if kind == "image_url":
        return b"\2" + _text(part.image_url.url) + bytes((part.image_url.detail,))
    if kind == "tool_call":
        call = part.tool_call
        return (
            b"\4"
            + b"".join(map(_text, (call.id, call.name, call.arguments_json)))
            + _optional(call, "arguments_text", "thought_signature")
        )
    if kind == "tool_result":
        result = part.tool_result
        return (
            b"\5"
            + _text(result.call_id)
            + _text(result.name)
            + bytes((result.is_error, result.is_synthesized))
            + _count(len(result.content))
            + b"".join(map(_block, result.content))
        )
    return _block(part)


def _block(block: Part | ContentBlock) -> bytes:
    """Return the form of a part that results have too."""
    if block.HasField("text"):
        return b"\1" + _text(block.text.text)
    if block.HasField("thinking"):
        return (
            b"\3"
            + _text(block.thinking.thinking)
            + _optional(block.thinking, "signature", "provider", "model")
        )
    if block.HasField("image"):
        return b"\6" + _image(block.image)
    if block.HasField("opaque"):
        opaque = block.opaque
        return b"\7" + b"".join(map(_text, (opaque.provider, opaque.model, opaque.kind, opaque.data_json)))
    if block.HasField("json"):
        return b"\x08" + _text(block.json.value_json)
    raise MismatchError("", "a part that the canonical form has", str(block))


def _image(image: Image) -> bytes:
    if image.WhichOneof("source") == "data":
        source = b"\1" + _sized(image.data)
    else:
        source = b"\2" + _text(image.url)
    return _text(image.mime_type) + source + bytes((image.detail,))


def check_compiled(reply: CompileResponse) -> int:
    """Check a compilation's digests; return how many it has."""
    system = reply.system_text if reply.HasField("system_text") else None
    _equal("/messagesDigest", messages_digest(reply.messages, system), reply.messages_digest)
    if not reply.HasField("provider_request_json"):
        return 1
    request = hashlib.sha256(reply.provider_request_json.encode()).hexdigest()
    _equal("/requestDigest", request, reply.request_digest)
    return 2


def check_stream(frames: Iterable[StreamCompileResponse]) -> int:
    """Check the digests of a streamed compilation; return how many it has."""
    reply, request = assemble(frames)
    if request is not None:
        reply.provider_request_json = request
    return check_compiled(reply)


def assemble(frames: Iterable[StreamCompileResponse]) -> tuple[CompileResponse, str | None]:
    """Put a streamed compilation together: what its digests are over, and the provider's request."""
    reply = CompileResponse()
    pieces: list[str] = []
    last = None
    for frame in frames:
        kind = frame.WhichOneof("frame")
        if kind == "message_start":
            # A message without any chunk is an empty text.
            reply.messages.add(role=frame.message_start.role, text="")
        elif kind == "text_chunk":
            reply.messages[-1].text += frame.text_chunk.text
        elif kind == "part_chunk":
            _add_piece(reply.messages[-1], frame)
        elif kind == "request_chunk":
            pieces.append(frame.request_chunk.text)
        elif kind == "result":
            last = frame.result
            if last.HasField("system_text"):
                reply.system_text = last.system_text
    if last is None or not last.last:
        raise MismatchError("", "a last Result", "none")
    _equal("/result/messageCount", str(len(reply.messages)), str(last.message_count))
    reply.messages_digest = last.messages_digest
    if last.HasField("request_digest"):
        reply.request_digest = last.request_digest
        return reply, "".join(pieces)
    return reply, None


def _add_piece(message: CompiledMessage, frame: StreamCompileResponse) -> None:
    chunk = frame.part_chunk
    parts = message.parts.parts
    if chunk.part_index == len(parts):
        parts.add()
    part = parts[chunk.part_index]
    if chunk.HasField("whole"):
        part.CopyFrom(chunk.whole)
    elif chunk.HasField("text"):
        part.text.text += chunk.text
    else:
        part.image_url.url += chunk.image_url.url
        part.image_url.detail = chunk.image_url.detail


def check_snapshot(frames: Iterable[ReadSnapshotResponse]) -> int:
    """Check a snapshot's count and hash over the messages as received; return 1, the digests checked."""
    digest, count = hashlib.sha256(), 0
    footer = None
    for frame in frames:
        joined = frame.HasField("joined")
        for batch in frame.joined.batches if joined else [frame.batch]:
            for message in batch.messages:
                digest.update(message)
                count += 1
        last = frame.joined if joined else frame
        if last.HasField("footer"):
            footer = last.footer
    if footer is None:
        raise MismatchError("", "a footer", "none")
    _equal("/footer/messageCount", str(count), str(footer.message_count))
    _equal("/footer/sha256", digest.hexdigest(), footer.sha256.hex())
    return 1


def _equal(pointer: str, computed: str, told: str) -> None:
    if computed != told:
        raise MismatchError(pointer, computed, told)
