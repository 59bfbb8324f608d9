"""Compiled turns in the terms of the wire.

A reply is spliced: with an object of the protobuf library for every turn and
note it takes two to three times as long.
"""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.compiler.v1.compiled_message_pb2 import CompiledMessage, CompileNote
from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse
from antiphon_client.errors import SizeLimitExceededError
from antiphon_client.limits import Limits
from antiphon_client.splicing import FieldPrefixes
from compiler_service.compilation import Compilation
from compiler_service.report import Note
from compiler_service.state import CompiledTurn

_MESSAGES = FieldPrefixes(CompileResponse.DESCRIPTOR, "messages")
_REPORT = FieldPrefixes(CompileResponse.DESCRIPTOR, "report")
_TEXT = FieldPrefixes(CompiledMessage.DESCRIPTOR, "text")
_NOTE_IDS = FieldPrefixes(CompileNote.DESCRIPTOR, "message_ids")


def encode_response(compilation: Compilation, limits: Limits) -> bytes:
    """Return the encoded CompileResponse.

    Raises:
        SizeLimitExceededError: It is larger than a unary reply may be.
    """
    head = CompileResponse(
        instruction=compilation.instruction,
        provider_kwargs_json=compilation.provider_kwargs_json,
        history_revision=compilation.history_revision,
        incarnation=compilation.incarnation,
        messages_digest=compilation.messages_digest,
    )
    parts = [head.SerializeToString()]
    _add_turns(compilation.turns, parts)
    _add_notes(compilation.report, parts)
    size = sum(map(len, parts))
    if size > limits.reply_bytes:
        raise SizeLimitExceededError.of(
            "the reply",
            limit_name="reply_bytes",
            limit=limits.reply_bytes,
            actual=size,
            advice="use StreamCompile",
        )
    return b"".join(parts)


def _add_turns(turns: Iterable[CompiledTurn], parts: list[bytes]) -> None:
    roles: dict[int, bytes] = {}
    for turn in turns:
        role, text, images = turn
        if images:
            encoded = _turn_of_parts(turn).SerializeToString()
            parts += (_MESSAGES[len(encoded)], encoded)
            continue
        head = roles.get(role)
        if head is None:
            head = roles[role] = CompiledMessage(role=role).SerializeToString()
        encoded = text.encode()
        prefix = _TEXT[len(encoded)]
        parts += (_MESSAGES[len(head) + len(prefix) + len(encoded)], head, prefix, encoded)


def _turn_of_parts(turn: CompiledTurn) -> CompiledMessage:
    message = CompiledMessage(role=turn.role)
    add = message.parts.parts.add
    add().text.text = turn.text
    for url, detail in turn.images:
        image = add().image_url
        image.url = url
        image.detail = detail
    return message


def _add_notes(notes: Iterable[Note], parts: list[bytes]) -> None:
    heads: dict[int, bytes] = {}
    for kind, message_ids in notes:
        head = heads.get(kind)
        if head is None:
            head = heads[kind] = Note(kind, ()).to_proto().SerializeToString()
        ids = b"".join(_NOTE_IDS.parts([message_id.encode() for message_id in message_ids]))
        parts += (_REPORT[len(head) + len(ids)], head, ids)
