"""What records were read as, so that only new ones are read again."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import Any, NamedTuple

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.unit_reading import Usual, read_units

_NOTHING = marshal.dumps([])


class _Held(NamedTuple):
    records: Sequence[pb.Message]
    things: bytes | None
    """None where they were read once only."""


class _HeldText(NamedTuple):
    records: Sequence[pb.Message]
    things: str


class HeldThings:
    """The things of one branch's records, in one framework's form.

    They are held in a form that gives new objects each time, a fifth of the
    time that reading the records takes, since frameworks change what they get.
    A framework that takes JSON text is given text, any other is given values.

    Every method takes the records, of which the last things are whole, as one
    write adds them; the framework's name in their metadata; and what
    ``read_units`` takes for the things of records without it.
    """

    def __init__(self) -> None:
        self._values: _Held | None = None  # both replaced as a whole, so that threads see one state
        self._text: _HeldText | None = None

    @property
    def size(self) -> int:
        """Bytes that are held, of text its characters."""
        return sum(len(held.things) for held in (self._values, self._text) if held and held.things)

    def values(self, records: Sequence[pb.Message], key: str, usual: Usual) -> list[Any]:
        """Return the things as values; those held are known by the very records they were read from."""
        held = self._values
        if held is None:
            # Many sessions are read once by a process: things are held from the second time on.
            self._values = _Held(records, None)
            return read_units(records, key, usual).values()
        if held.things is None or not _begin_with(records, held.records):
            held = _Held([], _NOTHING)
        things: list[Any] = marshal.loads(held.things or _NOTHING)  # nosec B302: this process wrote it
        if len(held.records) < len(records):
            things += read_units(records[len(held.records) :], key, usual).values()
            self._values = _Held(records, marshal.dumps(things))
        return things

    def text(self, records: Sequence[pb.Message], key: str, usual: Usual) -> str:
        """Return the things as the text of a JSON array, as :meth:`values` does."""
        held = self._text
        if held is None or not _begin_with(records, held.records):
            held = _HeldText([], "[]")
        if len(held.records) == len(records):
            return held.things
        new = read_units(records[len(held.records) :], key, usual).text()
        parts = [part for part in (held.things[1:-1], new[1:-1]) if part]
        self._text = _HeldText(records, f"[{','.join(parts)}]")
        return self._text.things


def _begin_with(records: Sequence[pb.Message], held: Sequence[pb.Message]) -> bool:
    return len(held) <= len(records) and all(map(_is_same, held, records))


def _is_same(held: pb.Message, record: pb.Message) -> bool:
    return held is record
