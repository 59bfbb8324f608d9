"""Stretches as plain values, which ``frames`` can send, and back."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from antiphon.message.v1.message_pb2 import Message
from compiler_service.folded.division import Held
from compiler_service.folded.findings import Findings
from compiler_service.folded.stretch import Stretch
from compiler_service.report import Note
from compiler_service.state import TurnImage, TurnRow

HeldForm: TypeAlias = tuple[Any, ...]
"""A stretch in plain values: named tuples as tuples, messages encoded."""


def form_of(held: Held) -> HeldForm:
    """Return a stretch in plain values. Cost: a reference to most of what it holds."""
    start, stretch = held
    findings = stretch.findings._asdict()
    for name in ("moved", "merged", "rendered"):
        findings[name] = tuple(map(tuple, findings[name]))
    findings["summaries"] = tuple([message.SerializeToString() for message in findings["summaries"]])
    return (
        start,
        stretch.length,
        tuple(map(_row_form, stretch.rows)) if _have_images(stretch.rows) else stretch.rows,
        findings,
        stretch.first_instruction,
        stretch.first_assistant,
        stretch.last_instruction,
        stretch.encoded_turns,
        stretch.encoded_notes,
        stretch.memory_bytes,
    )


def held_from(form: HeldForm) -> Held:
    """Return the stretch that plain values stand for."""
    start, length, rows, findings, *others = form
    for name in ("moved", "merged", "rendered"):
        findings[name] = tuple(map(Note._make, findings[name]))
    findings["summaries"] = tuple(map(Message.FromString, findings["summaries"]))
    rows = tuple(map(_row_from, rows)) if _have_images(rows) else rows
    return Held(start, Stretch(length, rows, Findings(**findings), *others))


def _have_images(rows: Sequence[TurnRow]) -> bool:
    """Tell whether a turn has images, which nearly none has."""
    return any(map(itemgetter(2), rows))


def _row_form(row: TurnRow) -> tuple[Any, ...]:
    role, text, images, message_ids = row
    return role, text, tuple(map(tuple, images)), message_ids


def _row_from(form: tuple[Any, ...]) -> TurnRow:
    role, text, images, message_ids = form
    return role, text, tuple(map(TurnImage._make, images)), message_ids
