"""A compilation as the frames of a stream, each within the frame limit.

Text is cut between characters, never inside one. The report goes into as many
Results as it needs; the last one carries everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.compiler.v1.compiled_message_pb2 import CompileNote, ImageUrl
from antiphon.compiler.v1.compiled_message_pb2 import Part as WirePart
from antiphon.compiler.v1.compiler_service_pb2 import (
    MessageEnd,
    MessageStart,
    PartChunk,
    RequestChunk,
    Result,
    StreamCompileResponse,
    TextChunk,
)
from antiphon_client.limits import Limits
from antiphon_client.splicing import FIELD_OVERHEAD
from compiler_service.compilation import Compilation
from compiler_service.native.turns import ImagePart, Part, TextPart
from compiler_service.neutral import wire_turns
from compiler_service.part_encoding import encode_part

_FRAME_OVERHEAD = 64
"""Bytes that a frame needs beside its text: tags, lengths and numbers."""


def stream_frames(compilation: Compilation, limits: Limits) -> Iterator[StreamCompileResponse]:
    """Yield the frames of a StreamCompile reply, in order.

    A frame is at most ``frame_bytes``, but for what comes whole: a part that is
    no plain text or address, the system text, and in the last frame the
    instruction and the keyword arguments.
    """
    budget = limits.frame_bytes - _FRAME_OVERHEAD
    for index, (role, text, parts) in enumerate(wire_turns(compilation.turns)):
        yield StreamCompileResponse(message_start=MessageStart(index=index, role=role))
        yield from _text_chunks(text, budget) if text is not None else _part_chunks(parts, budget)
        yield StreamCompileResponse(message_end=MessageEnd(index=index))
    if compilation.provider_request is not None:
        for piece in split_text(compilation.provider_request.request_json, budget):
            yield StreamCompileResponse(request_chunk=RequestChunk(text=piece))
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


def _part_chunks(parts: Sequence[Part], budget: int) -> Iterator[StreamCompileResponse]:
    for index, part in enumerate(parts):
        for chunk in _chunks_of(part, budget):
            chunk.part_index = index
            yield StreamCompileResponse(part_chunk=chunk)


def _chunks_of(part: Part, budget: int) -> Iterator[PartChunk]:
    if type(part) is TextPart and part.cache_mark is None:
        # An empty text is a part too, and a part needs a chunk to be seen.
        for piece in list(split_text(part.text, budget)) or [""]:
            yield PartChunk(text=piece)
    elif type(part) is ImagePart and (url := part.lone_url) is not None:
        for piece in split_text(url, budget):
            yield PartChunk(image_url=ImageUrl(url=piece, detail=part.detail))
    else:
        yield PartChunk(whole=WirePart.FromString(encode_part(part)))


def _results(compilation: Compilation, budget: int) -> Iterator[StreamCompileResponse]:
    request = compilation.provider_request
    last = Result(
        instruction=compilation.instruction,
        provider_kwargs_json=compilation.provider_kwargs_json,
        history_revision=compilation.history_revision,
        incarnation=compilation.incarnation,
        messages_digest=compilation.messages_digest,
        message_count=len(compilation.turns),
        last=True,
        request_digest=compilation.request_digest,
        capability_version=None if request is None else request.capability_version,
        action_names=compilation.action_names,
        tokens=None if compilation.tokens is None else compilation.tokens.to_proto(),
    )
    system_text = compilation.system_text
    if system_text is not None:
        if last.ByteSize() + len(system_text.encode()) + FIELD_OVERHEAD <= budget:
            last.system_text = system_text
        else:
            yield StreamCompileResponse(result=Result(system_text=system_text))
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
