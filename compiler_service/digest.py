"""The digest of compiled turns: proof of what the model saw.

The canonical form is defined at ``CompileResponse.messages_digest`` and must
never change: it is compared across processes, languages and releases.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from antiphon.message.v1 import message_pb2
from antiphon_client.compiled_parts import compiled_part
from antiphon_client.splicing import interleaved
from compiler_service.native.turns import (
    CallPart,
    ImagePart,
    JsonPart,
    OpaquePart,
    Part,
    ResultPart,
    TextPart,
    ThinkingPart,
)
from compiler_service.neutral import AnyTurn, text_columns, wire_turns
from compiler_service.state import CompiledTurn, TurnRow

if TYPE_CHECKING:
    from hashlib import _Hash

_compiled = compiled_part("compiler_service._compiled")

_DOMAIN = b"antiphon.compiled.v1\x00"
_TEXT = b"\x01"
_PARTS = b"\x02"
_ABSENT = b"\x00"
_PRESENT = b"\x01"
_BY_BYTES = b"\x01"
_BY_URL = b"\x02"
_BYTES = tuple([bytes((number,)) for number in range(256)])
"""Every byte by its number; one is looked up for every turn."""


def messages_digest(turns: Iterable[AnyTurn], system_text: str | None = None) -> str:
    """Return the lower-case hexadecimal SHA-256 over the turns' canonical form.

    Args:
        turns: The turns.
        system_text: NATIVE's system text, which enters before them; None for none.
    """
    digest = begin_digest()
    if system_text is not None:
        digest.update(_BYTES[message_pb2.ROLE_SYSTEM] + _TEXT + _string(system_text))
    digest.update(turns_form(turns))
    return digest.hexdigest()


def begin_digest() -> _Hash:
    """Return the SHA-256 of no turns."""
    return hashlib.sha256(_DOMAIN)


def rows_form(rows: Sequence[TurnRow]) -> bytes:
    """Return the canonical form of turns of FOLDED, as `turns_form` does."""
    if _compiled is not None:
        form: bytes | None = _compiled.rows_form(rows, _TEXT)
        return turns_form(map(CompiledTurn._make, rows)) if form is None else form
    return splice_rows_form(rows)


def splice_rows_form(rows: Sequence[TurnRow]) -> bytes:
    """Do the same without the compiled part."""
    columns = text_columns(rows)
    if columns is None:
        return turns_form(map(CompiledTurn._make, rows))
    heads = map(_text_head, columns.roles, map(len, columns.texts))
    return b"".join(interleaved(heads, columns.texts))


def turns_form(turns: Iterable[AnyTurn]) -> bytes:
    """Return the turns' canonical form; that of turns that follow each other is the forms joined."""
    forms: list[bytes] = []
    for role, text, parts in wire_turns(turns):
        if text is None:
            forms += (_BYTES[role], _PARTS, len(parts).to_bytes(4, "big"), *map(_part, parts))
        else:
            encoded = text.encode()
            forms += (_text_head(role, len(encoded)), encoded)
    return b"".join(forms)


@lru_cache(maxsize=16384)
def _text_head(role: int, length: int) -> bytes:
    return _BYTES[role] + _TEXT + length.to_bytes(8, "big")


def _string(text: str) -> bytes:
    encoded = text.encode()
    return len(encoded).to_bytes(8, "big") + encoded


def _optional(text: str | None) -> bytes:
    return _ABSENT if text is None else _PRESENT + _string(text)


def _flag(value: bool) -> bytes:
    return b"\x01" if value else b"\x00"


def _part(part: Part) -> bytes:
    """Return a part's form; its first byte names its kind."""
    if type(part) is TextPart:
        return b"\x01" + _string(part.text)
    if type(part) is CallPart:
        return (
            b"\x04"
            + _string(part.id)
            + _string(part.name)
            + _string(part.arguments_json)
            + _optional(part.arguments_text)
            + _optional(part.thought_signature)
        )
    if type(part) is ResultPart:
        return _result(part)
    if type(part) is ImagePart:
        url = part.lone_url
        return _image(part) if url is None else b"\x02" + _string(url) + _BYTES[part.detail]
    if type(part) is ThinkingPart:
        return (
            b"\x03"
            + _string(part.thinking)
            + _optional(part.signature)
            + _optional(part.provider)
            + _optional(part.model)
        )
    if type(part) is OpaquePart:
        return b"\x07" + b"".join(map(_string, (part.provider, part.model, part.kind, part.data_json)))
    if type(part) is JsonPart:
        return b"\x08" + _string(part.value_json)
    raise TypeError(f"no part of a turn: {part!r}")


def _result(part: ResultPart) -> bytes:
    content = part.content
    return b"".join(
        (
            b"\x05",
            _string(part.call_id),
            _string(part.name),
            _flag(part.is_error),
            _flag(part.is_synthesized),
            len(content).to_bytes(4, "big"),
            # A block has no form for an address alone.
            *[_image(block) if type(block) is ImagePart else _part(block) for block in content],
        )
    )


def _image(part: ImagePart) -> bytes:
    if part.data is None:
        source = _BY_URL + _string(part.url or "")
    else:
        source = _BY_BYTES + len(part.data).to_bytes(8, "big") + part.data
    return b"\x06" + _string(part.mime_type) + source + _BYTES[part.detail]
