"""A compiled request as text that a person reads, and as data for programs."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

from antiphon_client.cli.output import counted, visible
from antiphon_client.cli.timeline import body, image_text
from antiphon_client.turn import Compilation, CompiledMessage, CompileNote

_IDS_SHOWN = 3
_DIGEST_SHOWN = 12


def compiled_lines(compilation: Compilation, lines: int | None, profile: str) -> Iterator[str]:
    """Yield the lines of a compiled request: its turns, its report, its digests.

    Args:
        compilation: The compiled request.
        lines: Bound of each turn's text; None shows all.
        profile: How it was compiled.
    """
    if compilation.system_text is not None:
        yield "   -  system"
        yield from body(compilation.system_text, lines)
    for index, message in enumerate(compilation.request.messages):
        yield f"{index:>4}  {message.role.value}"
        yield from body(message_text(message), lines)
    for note in compilation.report:
        concerned = f" ({counted(len(note.message_ids), 'message')})" if note.message_ids else ""
        yield f"note  {note.kind}{concerned}: {visible(note.reason)}"
    yield from proof_lines(compilation, profile)


def proof_lines(compilation: Compilation, profile: str) -> Iterator[str]:
    """Yield what was counted, and the digests of what was compiled, with the profile they are of."""
    tokens = compilation.tokens
    if tokens is not None:
        yield (
            f"{tokens.total:,} tokens by {tokens.counter}, "
            f"of these system text {tokens.system:,}, tools and format {tokens.tools:,}"
        )
    for name, given in sorted(compilation.action_names.items()):
        yield f"action {visible(name)} is {visible(given)} in the provider's request"
    yield f"sha256 of the compiled messages  {compilation.messages_digest}, profile {profile}"
    if compilation.request_digest is not None:
        yield f"sha256 of the provider's request {compilation.request_digest}"
        yield f"capability table                 {compilation.capability_version}"


def note_rows(report: tuple[CompileNote, ...]) -> list[tuple[str, str, str]]:
    """Return a report as the rows of a table: kind, messages, reason."""
    return [(note.kind, _ids_text(note), visible(note.reason)) for note in report]


def message_text(message: CompiledMessage) -> str:
    """Return all that a compiled turn says as text; what is not text as a line that changes with it."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(map(_part_text, message.content))


def compiled_object(compilation: Compilation) -> dict[str, Any]:
    """Return a compilation as plain JSON data."""
    request, tokens = compilation.request, compilation.tokens
    return {
        "instruction": None if request.instruction is None else request.instruction.to_dict(),
        "messages": request.provider_messages,
        "provider_kwargs": dict(request.provider_kwargs),
        "history_revision": compilation.history_revision,
        "incarnation": None if compilation.incarnation is None else str(compilation.incarnation),
        "messages_digest": compilation.messages_digest,
        "report": [
            {"kind": note.kind, "message_ids": [str(i) for i in note.message_ids], "reason": note.reason}
            for note in compilation.report
        ],
        "system_text": compilation.system_text,
        "provider_request_json": compilation.provider_request_json,
        "request_digest": compilation.request_digest,
        "capability_version": compilation.capability_version,
        "tokens": None
        if tokens is None
        else {
            "counter": tokens.counter,
            "total": tokens.total,
            "system": tokens.system,
            "tools": tokens.tools,
        },
        "action_names": dict(compilation.action_names),
    }


def _part_text(part: dict[str, Any]) -> str:
    kind = part["type"]
    if kind == "text":
        return str(part["text"])
    if kind == "json":
        return str(part["value_json"])
    if kind == "image_url":
        return image_text(part["image_url"]["url"])
    if kind == "image":
        return _image(part)
    if kind == "tool_call":
        arguments = part.get("arguments_text", part["arguments_json"])
        return f"call {part['name']} {arguments}  [{part['id']}{_sealed(part.get('thought_signature'))}]"
    if kind == "tool_result":
        return _result(part)
    if kind == "thinking":
        return f"[thinking{_sealed(part.get('signature'))}] {part['thinking']}"
    if kind == "opaque":
        return f"[{part['provider']} {part['kind']}{_sealed(part['data_json'])}]"
    return f"[{kind}]"


def _result(part: dict[str, Any]) -> str:
    state = "failed" if part["is_error"] else "result"
    made = ", made by the compiler" if part["is_synthesized"] else ""
    said = "\n".join(map(_part_text, part["content"]))
    return f"{state} of {part['name']}{made}  [{part['call_id']}]\n{said}"


def _image(part: dict[str, Any]) -> str:
    if "url" in part:
        return image_text(part["url"])
    size = len(base64.b64decode(part["data"]))
    return f"[image {part['mime_type']}, {counted(size, 'byte')}{_sealed(part['data'])}]"


def _sealed(data: str | None) -> str:
    """Return the beginning of a digest of what is not shown."""
    return "" if data is None else f", sha256 {hashlib.sha256(data.encode()).hexdigest()[:_DIGEST_SHOWN]}"


def _ids_text(note: CompileNote) -> str:
    shown = " ".join(map(str, note.message_ids[:_IDS_SHOWN]))
    more = len(note.message_ids) - _IDS_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown or "-"
