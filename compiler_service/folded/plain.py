"""Plain messages, read from their encoding.

Instructions and responses that hold a text and nothing beside it are most of a
conversation, and all that FOLDED needs of one is its id and its text. To decode them
and to ask each for its fields takes three times as long as one search over the bytes
of all. The compiled part needs a tenth of that, and reads the calls and results of
actions as well.

A message is taken for plain only where its bytes are exactly those of an id, a
time, a role, addresses without a name, and the content; every other one is decoded.
So either way leads to the same turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from antiphon_client.compiled_parts import compiled_part
from antiphon_client.errors import SnapshotTruncatedError
from antiphon_client.snapshot import decode_run
from antiphon_client.splicing import varint
from compiler_service.state import (
    ActionCall,
    ActionOutcome,
    AssistantTurn,
    FoldedRecord,
    InstructionTurn,
    PlainRecord,
)

_compiled = compiled_part("compiler_service.folded._compiled")
_TYPES = (InstructionTurn, AssistantTurn, ActionCall, ActionOutcome)

# Bytes are searched as the characters of the same numbers: what is found is text already, where it is ASCII.
_SEPARATOR = "\xff\xff\xff\xff"
"""Stands before every message; no text in UTF-8 has the byte."""
_ID = "[^\xff]{36}"
_VARINT = "[\x80-\xff]{0,4}[\0-\x7f]"
_SECONDS = "\x08[\x80-\xff]{4}[\0-\x7f]"
_NANOSECONDS = [f"\x10[\x80-\xff]{{{size}}}[\0-\x7f]" for size in (4, 3, 2, 1, 0)]
_WITH_NANOSECONDS = [f"\\x{12 - less:02x}{_SECONDS}{nanos}" for less, nanos in enumerate(_NANOSECONDS)]
_TIMES = "|".join([*_WITH_NANOSECONDS, f"\x06{_SECONDS}"])
"""A time of this age, seconds in five bytes, after its length."""
_ADDRESS = f"(?:\x02(?:\n\0|\x12\0| [\1-\6])|&\x1a\\${_ID})"
"""An address: nobody's, everybody's, a role's or a member's."""
_INSTRUCTION, _RESPONSE = "R", "Z"
_search = re.compile(
    rf"{_SEPARATOR}(?:\n\$({_ID})(?:\x12(?:{_TIMES}))?(?:\x18[\x01-\x06])?"
    rf'(?:"{_ADDRESS})?(?:\*{_ADDRESS})?'
    rf"([{_INSTRUCTION}{_RESPONSE}])({_VARINT}\n{_VARINT})([^\xff]*+)|[^\xff]*+)"
).findall
"""Find id, tag, lengths and text of all messages; four empty texts for one that is of another kind."""

_IMAGE_DETAILS = frozenset(("8\1", "8\2", "8\3"))
"""How images are to be looked at: it is in every stored instruction, the last field, images or not."""


class _Lengths(dict[int, str]):
    """What stands between a content's tag and its text, by the text's length; made once for each length."""

    _MOST = 16384

    def __init__(self, rest: int) -> None:
        """Set up for contents that have ``rest`` bytes after the text."""
        super().__init__()
        self._rest = rest

    def __missing__(self, length: int) -> str:
        """Make it and keep it."""
        if len(self) >= self._MOST:
            self.clear()
        text = b"\n" + varint(length)
        lengths = self[length] = (varint(len(text) + length + self._rest) + text).decode("latin-1")
        return lengths


_RESPONSE_LENGTHS = _Lengths(0)
_INSTRUCTION_LENGTHS = _Lengths(2)


def read_records(message_ids: Sequence[str], messages: Sequence[bytes], start: int) -> list[FoldedRecord]:
    """Read messages that follow each other, and check each against the order.

    Args:
        message_ids: Their ids.
        messages: The messages, encoded.
        start: Index of the first one in the snapshot.

    Raises:
        SnapshotTruncatedError: As `decode_run` does.

    Cost: some 0.1 µs for a plain message where the compiled part is there, else 1.
    """
    plain = (find_plain if _compiled is None else _compiled_find)(message_ids, messages)
    others = [index for index, record in enumerate(plain) if record is None]
    if not others:
        return cast("list[FoldedRecord]", plain)
    try:
        decoded = decode_run([message_ids[i] for i in others], [messages[i] for i in others], 0)
    except SnapshotTruncatedError:
        # One of them is no message, or not the one: this tells which.
        return [*decode_run(message_ids, messages, start)]
    records: list[FoldedRecord | None] = [*plain]
    for index, message in zip(others, decoded, strict=True):
        records[index] = message
    return cast("list[FoldedRecord]", records)


def find_plain(message_ids: Sequence[str], messages: Sequence[bytes]) -> list[PlainRecord | None]:
    """Return what each message is, without the compiled part; None for one that is not plain."""
    separator = _SEPARATOR.encode("latin-1")
    rows = _search((separator + separator.join(messages)).decode("latin-1"))
    # Every separator gives a row, as every message begins with its id; one within a message is too many.
    if len(rows) != len(messages):
        return [None] * len(messages)
    records: list[PlainRecord | None] = []
    try:
        for message_id, (found, tag, lengths, text) in zip(message_ids, rows, strict=True):
            if found == message_id:
                if tag == _RESPONSE:
                    if lengths == _RESPONSE_LENGTHS[len(text)]:
                        records.append(AssistantTurn((message_id,), _text(text), False))
                        continue
                elif text[-2:] in _IMAGE_DETAILS:
                    text = text[:-2]
                    if lengths == _INSTRUCTION_LENGTHS[len(text)]:
                        records.append(InstructionTurn(message_id, _text(text), None, (), "", ()))
                        continue
            records.append(None)
    except UnicodeDecodeError:
        # One of them is no message: where they are decoded it is told which.
        return [None] * len(messages)
    return records


def _compiled_find(message_ids: Sequence[str], messages: Sequence[bytes]) -> list[PlainRecord | None]:
    """Return what ``find_plain`` does, of calls and results too."""
    assert _compiled is not None
    found: list[PlainRecord | None] = _compiled.read_plain(_TYPES, message_ids, messages)
    return found


def _text(characters: str) -> str:
    """Return the text whose bytes in UTF-8 these characters stand for."""
    return characters if characters.isascii() else characters.encode("latin-1").decode()
