"""Blank texts, which say nothing: they are left out, and the report says so."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from compiler_service.native.turns import Part, TextPart
from compiler_service.remarks import Remarks
from compiler_service.texts import is_blank


def without_blanks(parts: Iterable[Part], remarks: Remarks) -> list[Part]:
    """Return the parts without blank texts; remark on those."""
    kept: list[Part] = []
    for part in parts:
        if type(part) is TextPart and is_blank(part.text):
            drop_blank(part, remarks)
        else:
            kept.append(part)
    return kept


def drop_blank(part: TextPart, remarks: Remarks) -> None:
    """Remark that a blank text is left out, and its cache mark with it."""
    remarks.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_PART_DROPPED, part.message_id)
    if part.cache_mark is not None:
        remarks.add(notes_pb.COMPILE_NOTE_KIND_CACHE_MARK_DROPPED, part.message_id, "on a blank text")
