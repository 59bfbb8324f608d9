"""What the messages of OpenAI's chat do not say of a record, so that an export can report it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.importing.entries import read_entry
from antiphon_client.importing.forms import BLOCK, BLOCKS, MESSAGE, PIECES
from antiphon_client.json_text import dump_json_text, parse_json_text
from antiphon_client.messages.validation import kind_of
from antiphon_client.openai_chat.marks import DIFFERENCE, PARTS, read_marks
from antiphon_client.openai_chat.parts import PROVIDER, text_of

FOREIGN_KEYS: Final = ("anthropic_messages", "gemini_contents")
"""Where the importers of the other formats keep what a record has no field for."""

_MARK: Final = "cache_control"


class LossKind(StrEnum):
    """What an export left out; where the compiler's report has the same, the name is its."""

    EXCLUDED_DROPPED = "EXCLUDED_DROPPED"
    INTERIM_DROPPED = "INTERIM_DROPPED"
    GENERIC_DROPPED = "GENERIC_DROPPED"
    THINKING_DROPPED = "THINKING_DROPPED"
    SIGNATURE_DROPPED = "SIGNATURE_DROPPED"
    ERROR_FLAG_DROPPED = "ERROR_FLAG_DROPPED"
    PART_DROPPED = "PART_DROPPED"
    CACHE_MARK_DROPPED = "CACHE_MARK_DROPPED"
    MEMBER_DROPPED = "MEMBER_DROPPED"


@dataclass(frozen=True, slots=True)
class ExportLoss:
    """One thing that an exported conversation does not say.

    Attributes:
        kind: What happened.
        message_id: The record concerned.
        detail: What it was, in a few words; "" where the kind says it.
    """

    kind: LossKind
    message_id: UUID
    detail: str


def losses_of(record: pb.Message) -> Iterator[ExportLoss]:
    """Yield what the export of a record leaves out; of a record that is left out whole, that alone."""
    message_id = UUID(record.id)
    for kind, detail in dict.fromkeys(_found(record)):
        yield ExportLoss(kind, message_id, detail)


def _found(record: pb.Message) -> Iterator[tuple[LossKind, str]]:
    left_out = reason_left_out(record)
    if left_out is not None:
        yield left_out, ""
        return
    if record.action_request.HasField("thought_signature"):
        yield LossKind.SIGNATURE_DROPPED, "of a call"
    if record.action_response.HasField("error"):
        yield LossKind.ERROR_FLAG_DROPPED, "the text begins with error:"
    yield from _of_blocks(record)
    for key in FOREIGN_KEYS:
        for name in sorted(_unsaid(read_entry(record, key))):
            yield LossKind.MEMBER_DROPPED, name


def reason_left_out(record: pb.Message) -> LossKind | None:
    """Return why a record is no part of the exported conversation; None for one that is."""
    if record.status == pb.MESSAGE_STATUS_EXCLUDED:
        return LossKind.EXCLUDED_DROPPED
    if kind_of(record) == "generic":
        return LossKind.GENERIC_DROPPED
    if record.action_response.state == pb.ACTION_RESPONSE_STATE_INTERIM:
        return LossKind.INTERIM_DROPPED
    return None


def _of_blocks(record: pb.Message) -> Iterator[tuple[LossKind, str]]:
    marks = read_marks(record)
    are_parts = bool(marks.get(PARTS))
    has_marks = _MARK in dump_json_text(marks.get(DIFFERENCE))
    is_user = kind_of(record) == "instruction"
    for block in _blocks(record):
        kind = block.WhichOneof("block")
        if kind == "thinking":
            thinking = block.thinking
            if thinking.thinking:
                yield LossKind.THINKING_DROPPED, f"of {thinking.provider or 'an unknown issuer'}"
            if thinking.signature:
                yield LossKind.SIGNATURE_DROPPED, "of thinking"
        elif kind == "opaque":
            if not (are_parts and block.opaque.provider == PROVIDER):
                yield LossKind.PART_DROPPED, f"{block.opaque.provider} {block.opaque.kind}"
        elif kind == "text":
            if block.text.HasField(_MARK) and not has_marks:
                yield LossKind.CACHE_MARK_DROPPED, ""
        elif kind in ("image", "json") and not (is_user or are_parts):
            yield LossKind.PART_DROPPED, kind
    if kind_of(record) == "action_response" and not are_parts and _has_other_text(record.action_response):
        yield LossKind.PART_DROPPED, "text"


def _blocks(record: pb.Message) -> Iterator[block_pb.ContentBlock]:
    kind = kind_of(record)
    if kind in ("instruction", "assistant_response", "action_response"):
        yield from getattr(record, kind).blocks


def _has_other_text(response: pb.ActionResponseContent) -> bool:
    """Tell whether the rich output has a text that is not the output."""
    text = text_of(response.blocks)
    output = parse_json_text(response.output_json) if response.output_json.startswith('"') else None
    said = response.error if response.HasField("error") else output
    return bool(text) and text != said


def _unsaid(entry: dict[str, Any]) -> set[str]:
    """Return the names of the members that a foreign message had and no record's field holds."""
    return {name for key in (MESSAGE, BLOCK, BLOCKS, PIECES) for name in _set_names(entry.get(key))}


def _set_names(change: Any) -> Iterator[str]:
    if isinstance(change, dict):
        added = change.get("set")
        if isinstance(added, dict):
            yield from added
        for key, inner in change.items():
            if key not in ("set", "now"):
                yield from _set_names(inner)
    elif isinstance(change, list):
        for inner in change:
            yield from _set_names(inner)
