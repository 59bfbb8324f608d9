"""A branch and its messages as text that a person reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from antiphon_client.cli.output import counted, time_text, visible
from antiphon_client.json_text import dump_json_text
from antiphon_client.messages import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Block,
    ImageBlock,
    Instruction,
    InstructionContent,
    Message,
    MessageStatus,
    TextBlock,
    UnknownMessage,
)
from antiphon_client.records import BranchRecord, ForkPoint

_INDENT = "      "
_URL_SHOWN = 60


def branch_line(branch: BranchRecord) -> str:
    """Return a branch as one line."""
    key = "-" if branch.external_key is None else visible(branch.external_key)
    parts = [
        str(branch.branch_id),
        key,
        f"revision {branch.revision}",
        counted(branch.message_count, "message"),
    ]
    if branch.view_count is not None:
        parts.append(f"view of {branch.view_count}")
    return "  ".join(parts)


def branch_object(branch: BranchRecord) -> dict[str, Any]:
    """Return a branch as plain JSON data."""
    return {
        "branch_id": str(branch.branch_id),
        "external_key": branch.external_key,
        "parent_branch_id": _optional_text(branch.parent_branch_id),
        "lineage_id": str(branch.lineage_id),
        "incarnation": str(branch.incarnation),
        "forked_from": None if branch.forked_from is None else _fork_object(branch.forked_from),
        "revision": branch.revision,
        "oldest_revision": branch.oldest_revision,
        "messages": branch.message_count,
        "view": branch.view_count,
        "created_at": branch.created_at,
        "metadata": dict(branch.metadata),
    }


def _fork_object(point: ForkPoint) -> dict[str, Any]:
    return {
        "branch_id": str(point.branch_id),
        "revision": point.revision,
        "up_to_message_id": _optional_text(point.up_to_message_id),
    }


def _optional_text(given: UUID | None) -> str | None:
    return None if given is None else str(given)


def timeline(
    messages: Iterable[Message],
    lines: int | None,
    *,
    start: int = 0,
    view: Collection[UUID] = (),
    ids: bool = False,
) -> Iterator[str]:
    """Yield the lines of a timeline.

    Args:
        messages: A branch's messages from the first on.
        lines: Bound of each message's text; None shows all.
        start: Index of the first message shown.
        view: Ids of the messages to mark.
        ids: Whether to show every message's id.
    """
    for index, (message, calls) in enumerate(_with_calls(messages)):
        if index < start:
            continue
        mark = "*" if message.id in view else " "
        named = f"  {message.id}" if ids else ""
        yield f"{index:>4}{mark} {title(message)}  {time_text(message.created_at)}{named}"
        text = f"(calls {', '.join(calls)})" if calls else _text(message)
        yield from body(text, lines)


def _with_calls(messages: Iterable[Message]) -> Iterator[tuple[Message, list[str]]]:
    """Yield messages, a model's turn without words with the functions of the calls right after it."""
    waiting: list[Message] = []
    for message in messages:
        if waiting and not isinstance(message, ActionRequest):
            yield from _counted_calls(waiting)
            waiting = []
        if waiting or (isinstance(message, AssistantResponse) and not message.response):
            waiting.append(message)
        else:
            yield message, []
    yield from _counted_calls(waiting)


def _counted_calls(held: list[Message]) -> Iterator[tuple[Message, list[str]]]:
    functions = [message.function for message in held if isinstance(message, ActionRequest)]
    for number, message in enumerate(held):
        yield message, [] if number else functions


def title(message: Message) -> str:
    """Return what a message is, in a few words."""
    words = message.kind.replace("_", " ")
    if isinstance(message, ActionRequest):
        words += f" {visible(message.function)}"
        words += "" if message.is_responded else "  (no response)"
    elif isinstance(message, ActionResponse):
        words += f" {visible(message.content.function)}"
    if message.status is not MessageStatus.ACTIVE:
        words += f"  [{message.status.value}]"
    return words


def body(text: str, lines: int | None) -> Iterator[str]:
    """Yield the lines of a text, indented; ``lines`` bounds how many, None shows all."""
    every = visible(text).splitlines()
    shown = every if lines is None or len(every) <= lines else every[:lines]
    for line in shown:
        yield f"{_INDENT}{line}"
    if len(shown) < len(every):
        yield f"{_INDENT}... {counted(len(every) - len(shown), 'more line')}"


def image_text(url: str) -> str:
    """Return what stands for an image of an address."""
    shown = url if len(url) <= _URL_SHOWN else f"{url[:_URL_SHOWN]}... ({len(url):,} characters)"
    return f"[image {shown}]"


def _text(message: Message) -> str:
    if isinstance(message, ActionRequest):
        return dump_json_text(message.arguments)
    if isinstance(message, ActionResponse):
        if message.content.error is not None:
            return f"error: {message.content.error}"
        output = message.output
        return output if isinstance(output, str) else dump_json_text(output)
    if isinstance(message, Instruction):
        return _instruction_text(message.content)
    if isinstance(message, UnknownMessage):
        return "[of a kind that this client does not know]"
    return _content_text(message.rendered)


def _instruction_text(content: InstructionContent) -> str:
    """Return a user's turn; one that is nothing but a text, with images perhaps, without a heading."""
    fields = replace(content, blocks=[])
    if content.instruction and not (content.guidance or content.prompt_context or content.plain_content):
        fields = replace(fields, instruction=None, plain_content=content.instruction)
    return "\n".join(filter(None, (_content_text(fields.rendered), *map(_block_text, content.blocks))))


def _content_text(content: str | Sequence[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(_part_text(part) for part in content)


def _part_text(part: dict[str, Any]) -> str:
    if part["type"] == "text":
        return str(part["text"])
    return image_text(part["image_url"]["url"])


def _block_text(block: Block) -> str:
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, ImageBlock):
        return image_text(block.url or f"{block.mime_type}, {counted(len(block.data or b''), 'byte')}")
    return f"[{block.type.replace('_', ' ')}]"
