"""A compilation as the frames of a stream, each within the frame limit.

Text is cut between characters, never inside one. The report goes into as many
Results as it needs; the last one carries everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.compiler.v1.compiled_message_pb2 import CompileNote, ImageUrl
from antiphon.compiler.v1.compiler_service_pb2 import (
    MessageEnd,
    MessageStart,
    PartChunk,
    Result,
    StreamCompileResponse,
    TextChunk,
)
from antiphon_client.limits import Limits
from compiler_service.compilation import Compilation
from compiler_service.state import CompiledTurn

_FRAME_OVERHEAD = 64
"""Bytes that a frame needs beside its text: tags, lengths and numbers."""


def stream_frames(compilation: Compilation, limits: Limits) -> Iterator[StreamCompileResponse]:
    """Yield the frames of a StreamCompile reply, in order.

    A frame is at most ``frame_bytes``, but the last one holds the instruction
    and the keyword arguments however large the request made them.
    """
    budget = limits.frame_bytes - _FRAME_OVERHEAD
    for index, turn in enumerate(compilation.turns):
        yield StreamCompileResponse(message_start=MessageStart(index=index, role=turn.role))
        yield from _part_chunks(turn, budget) if turn.images else _text_chunks(turn.text, budget)
        yield StreamCompileResponse(message_end=MessageEnd(index=index))
    yield from _results(compilation, budget)


def split_text(text: str, limit: int) -> Iterator[str]:
    """Yield the text in pieces of at most ``limit`` bytes of UTF-8, cut between characters.

    Nothing for an empty text. ``limit`` is 4 or more, the longest character.
    """
    if len(text) * 4 <= limit:
        # No character is longer than 4 bytes, so there is nothing to measure.
        if text:
            yield text
        return
    encoded = text.encode()
    start = 0
    while start < len(encoded):
        end = min(start + limit, len(encoded))
        while end < len(encoded) and encoded[end] & 0xC0 == 0x80:
            end -= 1
        yield encoded[start:end].decode()
        start = end


def _text_chunks(text: str, budget: int) -> Iterator[StreamCompileResponse]:
    for piece in split_text(text, budget):
        yield StreamCompileResponse(text_chunk=TextChunk(text=piece))


def _part_chunks(turn: CompiledTurn, budget: int) -> Iterator[StreamCompileResponse]:
    # An empty text is a part too, and a part needs a chunk to be seen.
    for piece in list(split_text(turn.text, budget)) or [""]:
        yield StreamCompileResponse(part_chunk=PartChunk(part_index=0, text=piece))
    for index, (url, detail) in enumerate(turn.images, start=1):
        for piece in split_text(url, budget):
            image = ImageUrl(url=piece, detail=detail)
            yield StreamCompileResponse(part_chunk=PartChunk(part_index=index, image_url=image))


def _results(compilation: Compilation, budget: int) -> Iterator[StreamCompileResponse]:
    last = Result(
        instruction=compilation.instruction,
        provider_kwargs_json=compilation.provider_kwargs_json,
        history_revision=compilation.history_revision,
        incarnation=compilation.incarnation,
        messages_digest=compilation.messages_digest,
        message_count=len(compilation.turns),
        last=True,
    )
    groups = list(_note_groups([note.to_proto() for note in compilation.report], budget))
    if groups and last.ByteSize() + sum(map(_encoded_bytes, groups[-1])) <= budget:
        last.report.extend(groups.pop())
    for group in groups:
        yield StreamCompileResponse(result=Result(report=group))
    yield StreamCompileResponse(result=last)


def _note_groups(report: Sequence[CompileNote], budget: int) -> Iterator[list[CompileNote]]:
    group: list[CompileNote] = []
    size = 0
    for note in report:
        note_bytes = _encoded_bytes(note)
        if group and size + note_bytes > budget:
            yield group
            group, size = [], 0
        group.append(note)
        size += note_bytes
    if group:
        yield group


def _encoded_bytes(note: CompileNote) -> int:
    """Bytes of a note in a report, its tag and length (5 bytes at most) included."""
    return note.ByteSize() + 6
