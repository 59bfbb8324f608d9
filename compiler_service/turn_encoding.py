"""Compiled turns and notes as they stand in an encoded reply.

They are spliced: with an object of the protobuf library for every turn and note
it takes two to three times as long. What is encoded one by one joins to what is
encoded at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from antiphon.compiler.v1.compiled_message_pb2 import CompiledMessage, CompileNote, CompileNoteKind
from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse
from antiphon.message.v1.message_pb2 import Role
from antiphon_client.compiled_parts import compiled_part
from antiphon_client.splicing import FieldPrefixes, interleaved
from compiler_service.neutral import AnyTurn, text_columns, wire_turns
from compiler_service.part_encoding import encode_parts
from compiler_service.report import Note
from compiler_service.state import CompiledTurn, TurnRow

_compiled = compiled_part("compiler_service._compiled")

_MESSAGES = FieldPrefixes(CompileResponse.DESCRIPTOR, "messages")
_REPORT = FieldPrefixes(CompileResponse.DESCRIPTOR, "report")
_TEXT = FieldPrefixes(CompiledMessage.DESCRIPTOR, "text")
_NOTE_IDS = FieldPrefixes(CompileNote.DESCRIPTOR, "message_ids")
_ROLES = {role: CompiledMessage(role=role).SerializeToString() for role in Role.values()}


@lru_cache(maxsize=16384)
def _text_head(role: Role.ValueType, length: int) -> bytes:
    """Return all that stands before a turn's text, by the text's length."""
    head = _ROLES[role] + _TEXT[length]
    return _MESSAGES[len(head) + length] + head


def encode_rows(rows: Sequence[TurnRow]) -> bytes:
    """Return turns of FOLDED as `encode_turns` does."""
    if _compiled is not None:
        encoded: bytes | None = _compiled.encode_rows(rows, _ROLES, _MESSAGES.tag, _TEXT.tag)
        return encode_turns(map(CompiledTurn._make, rows)) if encoded is None else encoded
    return splice_rows(rows)


def splice_rows(rows: Sequence[TurnRow]) -> bytes:
    """Do the same without the compiled part."""
    columns = text_columns(rows)
    if columns is None:
        return encode_turns(map(CompiledTurn._make, rows))
    heads = map(_text_head, columns.roles, map(len, columns.texts))
    return b"".join(interleaved(heads, columns.texts))


def encode_turns(turns: Iterable[AnyTurn]) -> bytes:
    """Return the turns as the ``messages`` of a CompileResponse."""
    parts: list[bytes] = []
    for role, text, turn_parts in wire_turns(turns):
        if text is None:
            head, encoded = _ROLES[role], encode_parts(turn_parts)
            parts += (_MESSAGES[len(head) + len(encoded)], head, encoded)
        else:
            encoded = text.encode()
            parts += (_text_head(role, len(encoded)), encoded)
    return b"".join(parts)


def encode_notes(notes: Iterable[Note]) -> bytes:
    """Return the notes as the ``report`` of a CompileResponse."""
    heads: dict[tuple[CompileNoteKind.ValueType, str], bytes] = {}
    parts: list[bytes] = []
    for kind, message_ids, detail in notes:
        head = heads.get((kind, detail))
        if head is None:
            head = heads[kind, detail] = Note(kind, (), detail).to_proto().SerializeToString()
        ids = b"".join([_NOTE_IDS[len(each)] + each for each in map(str.encode, message_ids)])
        parts += (_REPORT[len(head) + len(ids)], head, ids)
    return b"".join(parts)
