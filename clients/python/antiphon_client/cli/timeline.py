"""A branch and a compiled request as text that a person reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from antiphon_client.cli.output import counted, time_text, visible
from antiphon_client.json_text import dump_json_text
from antiphon_client.messages import (
    ActionRequest,
    ActionResponse,
    Block,
    ImageBlock,
    Instruction,
    Message,
    MessageStatus,
    TextBlock,
    UnknownMessage,
)
from antiphon_client.records import BranchRecord
from antiphon_client.turn import Compilation

_INDENT = "      "
_URL_SHOWN = 60


def branch_line(branch: BranchRecord) -> str:
    """Return a branch as one line."""
    parts = [str(branch.branch_id)]
    if branch.external_key is not None:
        parts.append(visible(branch.external_key))
    parts += [f"revision {branch.revision}", counted(branch.message_count, "message")]
    if branch.view_count is not None:
        parts.append(f"view of {branch.view_count}")
    return "  ".join(parts)


def branch_object(branch: BranchRecord) -> dict[str, Any]:
    """Return a branch as plain JSON data."""
    return {
        "branch_id": str(branch.branch_id),
        "external_key": branch.external_key,
        "parent_branch_id": None if branch.parent_branch_id is None else str(branch.parent_branch_id),
        "revision": branch.revision,
        "messages": branch.message_count,
        "view": branch.view_count,
        "created_at": branch.created_at,
        "metadata": dict(branch.metadata),
    }


def timeline(messages: Iterable[Message], lines: int | None, *, start: int = 0) -> Iterator[str]:
    """Yield the lines of a timeline.

    Args:
        messages: A branch's messages from the first on.
        lines: Bound of each message's text; None shows all.
        start: Index of the first message shown.
    """
    for index, message in enumerate(messages):
        if index < start:
            continue
        yield f"{index:>4}  {_title(message)}  {time_text(message.created_at)}"
        yield from _body(_text(message), lines)


def compiled_lines(compilation: Compilation, lines: int | None) -> Iterator[str]:
    """Yield the lines of a compiled request: its turns, its report, its digest."""
    for index, message in enumerate(compilation.request.messages):
        yield f"{index:>4}  {message.role.value}"
        yield from _body(_content_text(message.content), lines)
    for note in compilation.report:
        concerned = f" ({counted(len(note.message_ids), 'message')})" if note.message_ids else ""
        yield f"note  {note.kind}{concerned}: {visible(note.reason)}"
    yield f"sha256 of the compiled messages  {compilation.messages_digest}"


def compiled_object(compilation: Compilation) -> dict[str, Any]:
    """Return a compilation as plain JSON data."""
    return {
        "instruction": compilation.request.instruction.to_dict(),
        "messages": compilation.request.provider_messages,
        "provider_kwargs": dict(compilation.request.provider_kwargs),
        "history_revision": compilation.history_revision,
        "incarnation": None if compilation.incarnation is None else str(compilation.incarnation),
        "messages_digest": compilation.messages_digest,
        "report": [
            {"kind": note.kind, "message_ids": [str(i) for i in note.message_ids], "reason": note.reason}
            for note in compilation.report
        ],
    }


def _title(message: Message) -> str:
    title = message.kind.replace("_", " ")
    if isinstance(message, ActionRequest):
        title += f" {visible(message.function)}"
        title += "" if message.is_responded else "  (no response)"
    elif isinstance(message, ActionResponse):
        title += f" {visible(message.content.function)}"
    if message.status is not MessageStatus.ACTIVE:
        title += f"  [{message.status.value}]"
    return title


def _text(message: Message) -> str:
    if isinstance(message, ActionRequest):
        return dump_json_text(message.arguments)
    if isinstance(message, ActionResponse):
        if message.content.error is not None:
            return f"error: {message.content.error}"
        output = message.output
        return output if isinstance(output, str) else dump_json_text(output)
    if isinstance(message, Instruction) and message.content.blocks:
        fields = replace(message.content, blocks=[])
        return "\n".join(
            filter(None, (_content_text(fields.rendered), *map(_block_text, message.content.blocks)))
        )
    if isinstance(message, UnknownMessage):
        return "[of a kind that this client does not know]"
    return _content_text(message.rendered)


def _content_text(content: str | Sequence[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(_part_text(part) for part in content)


def _part_text(part: dict[str, Any]) -> str:
    if part["type"] == "text":
        return str(part["text"])
    return _image_text(part["image_url"]["url"])


def _block_text(block: Block) -> str:
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, ImageBlock):
        return _image_text(block.url or f"{block.mime_type}, {counted(len(block.data or b''), 'byte')}")
    return f"[{block.type.replace('_', ' ')}]"


def _image_text(url: str) -> str:
    shown = url if len(url) <= _URL_SHOWN else f"{url[:_URL_SHOWN]}... ({len(url):,} characters)"
    return f"[image {shown}]"


def _body(text: str, lines: int | None) -> Iterator[str]:
    every = visible(text).splitlines()
    shown = every if lines is None or len(every) <= lines else every[:lines]
    for line in shown:
        yield f"{_INDENT}{line}"
    if len(shown) < len(every):
        yield f"{_INDENT}... {counted(len(every) - len(shown), 'more line')}"
