"""The digest by its definition in the proto, from a reply as it travels."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

from antiphon.compiler.v1.compiled_message_pb2 import CompiledMessage
from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse


def digest_of(response: CompileResponse) -> str:
    """Return the digest of a reply's messages; of NATIVE with the system text before them."""
    form = b"antiphon.compiled.v1" + b"\0"
    if response.HasField("system_text"):
        form += b"\x02\1" + _string(response.system_text)
    for message in response.messages:
        form += _message(message)
    return hashlib.sha256(form).hexdigest()


def _message(message: CompiledMessage) -> bytes:
    role = struct.pack("B", message.role)
    if message.WhichOneof("content") == "text":
        return role + b"\1" + _string(message.text)
    parts = message.parts.parts
    return role + b"\2" + struct.pack(">I", len(parts)) + b"".join(_part(part, "part") for part in parts)


def _string(text: str) -> bytes:
    return struct.pack(">Q", len(text.encode("utf-8"))) + text.encode("utf-8")


def _optional(value: Any, name: str) -> bytes:
    return b"\1" + _string(getattr(value, name)) if value.HasField(name) else b"\0"


def _part(part: Any, oneof: str) -> bytes:
    kind = part.WhichOneof(oneof)
    value = getattr(part, kind)
    match kind:
        case "text":
            return b"\1" + _string(value.text)
        case "image_url":
            return b"\2" + _string(value.url) + struct.pack("B", value.detail)
        case "thinking":
            issued = b"".join(_optional(value, name) for name in ("signature", "provider", "model"))
            return b"\3" + _string(value.thinking) + issued
        case "tool_call":
            strings = _string(value.id) + _string(value.name) + _string(value.arguments_json)
            return (
                b"\4" + strings + _optional(value, "arguments_text") + _optional(value, "thought_signature")
            )
        case "tool_result":
            flags = struct.pack("??", value.is_error, value.is_synthesized)
            count = struct.pack(">I", len(value.content))
            blocks = b"".join(_part(each, "block") for each in value.content)
            return b"\5" + _string(value.call_id) + _string(value.name) + flags + count + blocks
        case "image":
            source = b"\2" + _string(value.url)
            if value.HasField("data"):
                source = b"\1" + struct.pack(">Q", len(value.data)) + bytes(value.data)
            return b"\6" + _string(value.mime_type) + source + struct.pack("B", value.detail)
        case "opaque":
            return b"\7" + b"".join(
                _string(getattr(value, name)) for name in ("provider", "model", "kind", "data_json")
            )
        case "json":
            return b"\x08" + _string(value.value_json)
    raise AssertionError(f"no part {kind}")
