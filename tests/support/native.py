"""Short ways to write NATIVE histories, and to read what is compiled of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from antiphon.compiler.v1 import compiled_message_pb2
from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_NATIVE, CompileRequest, CompileResponse
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.content_block_pb2 import ContentBlock
from antiphon.message.v1.message_pb2 import Message
from tests.support.compiler import CURRENT_ID, SYSTEM_ID, compile_inline, mid

ROLES = {
    message_pb2.ROLE_USER: "user",
    message_pb2.ROLE_ASSISTANT: "assistant",
    message_pb2.ROLE_TOOL: "tool",
}
INTERIM = message_pb2.ACTION_RESPONSE_STATE_INTERIM
EXCLUDED = message_pb2.MESSAGE_STATUS_EXCLUDED
INTERRUPTED = message_pb2.MESSAGE_STATUS_INTERRUPTED


def block(**fields: Any) -> ContentBlock:
    """Build a content block from ``kind={fields}``."""
    return ContentBlock(**fields)


def record(number: int, **fields: Any) -> Message:
    """Build a record from its fields; contents are dicts."""
    return Message(id=fields.pop("id", mid(number)), **fields)


def text_block(text: str) -> ContentBlock:
    return block(text={"text": text})


def signed(text: str, signature: str = "sig", provider: str = "anthropic") -> ContentBlock:
    """Build signed reasoning."""
    return block(thinking={"thinking": text, "signature": signature, "provider": provider})


def unsigned(text: str) -> ContentBlock:
    return block(thinking={"thinking": text})


def mark(call_id: str, name: str = "f") -> ContentBlock:
    """Build the position of a call."""
    return block(tool_call={"id": call_id, "name": name})


def user(number: int, text: str | None = None, **fields: Any) -> Message:
    """Build a user's record; fields are those of InstructionContent."""
    envelope = {name: fields.pop(name) for name in ("status", "sender", "metadata_json") if name in fields}
    return record(number, instruction={"instruction": text, **fields}, **envelope)


def assistant(number: int, text: str = "", *blocks: ContentBlock, **envelope: Any) -> Message:
    """Build a model's response."""
    return record(number, assistant_response={"assistant_response": text, "blocks": blocks}, **envelope)


def call(
    number: int, call_id: str | None = None, name: str = "f", arguments: str = "{}", **fields: Any
) -> Message:
    """Build an action request; further fields are its content's, but for the status."""
    envelope = {name: fields.pop(name) for name in ("status", "metadata_json") if name in fields}
    content = {"function": name, "arguments_json": arguments, "provider_call_id": call_id, **fields}
    return record(number, action_request=content, **envelope)


def result(
    number: int,
    of: int | None = None,
    output: str | None = None,
    *,
    call_id: str | None = None,
    name: str = "f",
    **fields: Any,
) -> Message:
    """Build an action response to call ``of``; its output is JSON text."""
    envelope = {name: fields.pop(name) for name in ("status", "metadata_json") if name in fields}
    content = {
        "function": name,
        "output_json": output,
        "action_request_id": None if of is None else mid(of),
        "provider_call_id": call_id,
        **fields,
    }
    return record(number, action_response=content, **envelope)


def generic(number: int, value: str = "1") -> Message:
    return record(number, generic={"value_json": value})


def summary(number: int, text: str, first: int, last: int) -> Message:
    """Build a summary of a stretch."""
    return record(number, summary={"text": text, "first_id": mid(first), "last_id": mid(last)})


def native_request(
    messages: Sequence[Message], instruction: str | Message | None = None, **fields: Any
) -> CompileRequest:
    """Build a NATIVE request with an inline snapshot; without an instruction it is a continuation."""
    system = fields.pop("system", None)
    request = CompileRequest(profile=PROFILE_NATIVE, **fields)
    request.snapshot.SetInParent()
    request.snapshot.messages.extend(messages)
    if system is not None:
        request.snapshot.system.CopyFrom(record(0, id=SYSTEM_ID, system={"system_message": system}))
    if isinstance(instruction, Message):
        request.instruction.CopyFrom(instruction)
    elif instruction is not None:
        request.instruction.CopyFrom(record(0, id=CURRENT_ID, instruction={"instruction": instruction}))
    return request


def compile_native(
    messages: Sequence[Message], instruction: str | Message | None = None, **fields: Any
) -> CompileResponse:
    """Compile NATIVE through the servicer."""
    return compile_inline(native_request(messages, instruction, **fields))


def turns_of(response: CompileResponse) -> list[list[Any]]:
    """Return the compiled messages in short: role and parts."""
    return [[ROLES[each.role], *_parts_of(each)] for each in response.messages]


def _parts_of(compiled: compiled_message_pb2.CompiledMessage) -> Iterable[Any]:
    if compiled.WhichOneof("content") == "text":
        return [compiled.text]
    return [_part_of(part) for part in compiled.parts.parts]


def _part_of(part: Any) -> Any:
    kind = part.WhichOneof("part" if isinstance(part, compiled_message_pb2.Part) else "block")
    value = getattr(part, kind)
    if kind == "text":
        marked = f" <{value.cache_control.type}>" if value.HasField("cache_control") else ""
        return f"text:{value.text}{marked}"
    if kind == "thinking":
        return f"thinking:{value.thinking}" + (f" ({value.signature})" if value.HasField("signature") else "")
    if kind == "tool_call":
        return f"call:{value.id} {value.name}{value.arguments_json}"
    if kind == "tool_result":
        flags = ["error"] * value.is_error + ["synthesized"] * value.is_synthesized
        return {value.call_id: [*flags, *map(_part_of, value.content)]}
    if kind == "json":
        return f"json:{value.value_json}"
    if kind == "opaque":
        return f"opaque:{value.data_json}"
    if kind == "image_url":
        return f"image:{value.url}"
    source = value.WhichOneof("source")
    return f"image:{value.mime_type} {getattr(value, source)!r}"
