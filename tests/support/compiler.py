"""Building compile requests and reading what comes back, for tests of the compiler."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any

from antiphon.compiler.v1.compiled_message_pb2 import CompileNoteKind
from antiphon.compiler.v1.compiler_service_pb2 import (
    CompileRequest,
    CompileResponse,
    Result,
    Snapshot,
    StreamCompileRequest,
    StreamCompileResponse,
)
from antiphon.message.v1 import content_block_pb2, message_pb2
from antiphon.message.v1.content_block_pb2 import ContentBlock
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from compiler_service.servicer import CompilerServicer

DETAILS = {
    "low": content_block_pb2.IMAGE_DETAIL_LOW,
    "high": content_block_pb2.IMAGE_DETAIL_HIGH,
    "auto": content_block_pb2.IMAGE_DETAIL_AUTO,
}
ROLE_NAMES = {message_pb2.ROLE_USER: "user", message_pb2.ROLE_ASSISTANT: "assistant"}
SYSTEM_ID = "00000000-0000-4000-8000-00000000a11c"
CURRENT_ID = "00000000-0000-4000-8000-00000000c0de"


def mid(number: int) -> str:
    """Return the id of test message ``number``."""
    return f"{number:08x}-0000-4000-8000-000000000000"


def dump(value: Any) -> str:
    """Return compact JSON text, non-ASCII as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def instruction_content(content: dict[str, Any]) -> InstructionContent:
    """Build durable content from a content dict; one-call keys of older records are ignored."""
    fields: dict[str, Any] = {
        name: content[name] for name in ("instruction", "plain_content") if name in content
    }
    if "guidance" in content:
        guidance = content["guidance"]
        name, text = (
            ("guidance", guidance) if isinstance(guidance, str) else ("guidance_json", dump(guidance))
        )
        fields[name] = text
    return InstructionContent(
        **fields,
        prompt_context_json=[dump(item) for item in content.get("prompt_context", ())],
        images=content.get("images", ()),
        image_detail=DETAILS.get(content.get("image_detail", ""), content_block_pb2.IMAGE_DETAIL_UNSPECIFIED),
        blocks=[block(item) for item in content.get("blocks", ())],
    )


def block(value: dict[str, Any]) -> ContentBlock:
    """Build a content block from ``{variant: fields}``; ``{}`` has no variant."""
    built = ContentBlock()
    for kind, fields in value.items():
        getattr(built, kind).SetInParent()
        for name, item in fields.items():
            setattr(getattr(built, kind), name, item.encode() if name == "data" else item)
    return built


def message(kind: str, content: dict[str, Any], number: int, **envelope: Any) -> Message:
    """Build test message ``number`` from its kind and content dict."""
    built = Message(id=envelope.pop("id", mid(number)), **envelope)
    if kind == "instruction":
        built.instruction.CopyFrom(instruction_content(content))
        return built
    target = getattr(built, kind)
    target.SetInParent()
    for name, value in content.items():
        if name in ("arguments", "output", "value"):
            setattr(target, f"{name}_json", dump(value))
        elif name == "blocks":
            target.blocks.extend(block(item) for item in value)
        elif value is not None:
            setattr(target, name, value)
    return built


def history_messages(entries: Iterable[dict[str, Any]]) -> list[Message]:
    """Build the messages of a vector's ``history``, numbered from 1.

    An action response without an ``action_request_id`` answers the oldest open
    request with its function and arguments, as the records it was made from did.
    """
    built: list[Message] = []
    waiting: dict[tuple[str, str], list[str]] = {}
    for number, entry in enumerate(entries, start=1):
        content = dict(entry["content"])
        envelope = {name: value for name, value in entry.items() if name not in ("type", "content")}
        if "state" in content:
            content["state"] = message_pb2.ActionResponseState.Value(content["state"])
        if "status" in envelope:
            envelope["status"] = message_pb2.MessageStatus.Value(envelope["status"])
        key = (content.get("function", ""), dump(content.get("arguments", {})))
        if entry["type"] == "action_response" and "action_request_id" not in content and waiting.get(key):
            content["action_request_id"] = waiting[key].pop(0)
        built.append(message(entry["type"], content, number, **envelope))
        if entry["type"] == "action_request":
            waiting.setdefault(key, []).append(built[-1].id)
    return built


def request_of(given: dict[str, Any]) -> CompileRequest:
    """Build the compile request of a vector's ``input``, its history as an inline snapshot."""
    snapshot = Snapshot(messages=history_messages(given.get("history", ())))
    if given.get("system") is not None:
        snapshot.system.CopyFrom(message("system", given["system"], 0, id=SYSTEM_ID))
    request = CompileRequest(
        snapshot=snapshot,
        tool_schemas_json=[dump(schema) for schema in given.get("tool_schemas", ())],
        structure=given.get("structure"),
        provider_kwargs_json=given.get("provider_kwargs_json", ""),
    )
    for item in given.get("context_blocks", ()):
        request.context_blocks.add(**item)
    if "instruction" in given:
        request.instruction.id = CURRENT_ID
        request.instruction.instruction.CopyFrom(instruction_content(given["instruction"]))
    if "response_format" in given:
        request.response_format.example_json = dump(given["response_format"])
    if "response_schema" in given:
        request.response_format.schema.json_schema = dump(given["response_schema"]["json_schema"])
        request.response_format.schema.template_json = dump(given["response_schema"]["template"])
    if "progression" in given:
        request.progression.SetInParent()
        request.progression.message_ids.extend(mid(number) for number in given["progression"])
    return request


def compile_inline(request: CompileRequest, limits: Limits = DEFAULT_LIMITS) -> CompileResponse:
    """Compile through the servicer, without a server."""
    return CompileResponse.FromString(asyncio.run(CompilerServicer(None, limits).Compile(request, None)))


def stream_inline(request: CompileRequest, limits: Limits = DEFAULT_LIMITS) -> list[StreamCompileResponse]:
    """Compile through the servicer into frames, without a server."""

    async def frames() -> list[StreamCompileResponse]:
        servicer = CompilerServicer(None, limits)
        return [frame async for frame in servicer.StreamCompile(StreamCompileRequest(request=request), None)]

    return asyncio.run(frames())


def reassemble(frames: Sequence[StreamCompileResponse]) -> CompileResponse:
    """Put the frames of a stream together as the proto's comments say."""
    response = CompileResponse()
    last: Result | None = None
    for frame in frames:
        kind = frame.WhichOneof("frame")
        assert last is None, "nothing follows the last Result"
        if kind == "message_start":
            assert frame.message_start.index == len(response.messages)
            response.messages.add(role=frame.message_start.role)
        elif kind == "text_chunk":
            response.messages[-1].text += frame.text_chunk.text
        elif kind == "part_chunk":
            _add_part_chunk(response, frame)
        elif kind == "message_end":
            assert frame.message_end.index == len(response.messages) - 1
        elif kind == "request_chunk":
            response.provider_request_json += frame.request_chunk.text
        else:
            response.report.extend(frame.result.report)
            if frame.result.HasField("system_text"):
                response.system_text = frame.result.system_text
            if frame.result.last:
                last = frame.result
    assert last is not None, "a stream ends with its last Result"
    assert last.message_count == len(response.messages)
    closing = Result()
    closing.CopyFrom(last)
    for name in ("report", "message_count", "last", "system_text"):
        closing.ClearField(name)
    response.MergeFrom(CompileResponse(**{field.name: value for field, value in closing.ListFields()}))
    return response


def _add_part_chunk(response: CompileResponse, frame: StreamCompileResponse) -> None:
    chunk = frame.part_chunk
    parts = response.messages[-1].parts.parts
    if chunk.part_index == len(parts):
        parts.add()
    part = parts[chunk.part_index]
    if chunk.WhichOneof("piece") == "whole":
        assert part.WhichOneof("part") is None, "a whole part comes once"
        part.CopyFrom(chunk.whole)
    elif chunk.WhichOneof("piece") == "text":
        part.text.text += chunk.text
    else:
        part.image_url.url += chunk.image_url.url
        part.image_url.detail = chunk.image_url.detail


def openai_form(response: CompileResponse) -> list[dict[str, Any]]:
    """Return the compiled messages as the vectors write them."""
    return [
        {
            "role": ROLE_NAMES[compiled.role],
            "content": compiled.text
            if compiled.WhichOneof("content") == "text"
            else [_part_form(part) for part in compiled.parts.parts],
        }
        for compiled in response.messages
    ]


def _part_form(part: Any) -> dict[str, Any]:
    if part.WhichOneof("part") == "text":
        return {"type": "text", "text": part.text.text}
    image = part.image_url
    url: dict[str, Any] = {"url": image.url}
    if image.detail:
        url["detail"] = next(name for name, detail in DETAILS.items() if detail == image.detail)
    return {"type": "image_url", "image_url": url}


def notes_of(response: CompileResponse) -> list[tuple[str, list[str]]]:
    """Return the report as kind names, without their prefix, and message ids."""
    return [
        (CompileNoteKind.Name(note.kind)[len("COMPILE_NOTE_KIND_") :], list(note.message_ids))
        for note in response.report
    ]
