"""Encoded messages put together from encoded parts.

A message is concatenated rather than rebuilt: a length-delimited protobuf field
is its tag, its length and its bytes, and fields may follow each other in any
order. The field numbers come from the generated descriptors, so that they stand
in the protos only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from google.protobuf.descriptor import Descriptor

_VARINT, _LENGTH_DELIMITED = 0, 2

FIELD_OVERHEAD = 6
"""Bytes that a tag and a length add to a field at most, for lengths below 2**35."""


class FieldPrefixes(dict[int, bytes]):
    """Tag and length of a field, by length; made once for each length met.

    A dictionary, as splicing looks one up for every value and this does it
    without running Python code.
    """

    _MOST = 16384

    def __init__(self, message: Descriptor, field: str) -> None:
        """Name the field: text, bytes or a message, one or repeated."""
        super().__init__()
        self.tag = _tag(message, field, _LENGTH_DELIMITED)
        """What stands before the length."""

    def __missing__(self, length: int) -> bytes:
        """Make a prefix and keep it."""
        if len(self) >= self._MOST:
            self.clear()
        prefix = self[length] = self.tag + varint(length)
        return prefix

    def parts(self, values: Sequence[bytes]) -> list[bytes]:
        """Return the pieces of the repeated field of these values, to be joined."""
        return interleaved(map(self.__getitem__, map(len, values)), values)

    def enclose(self, parts: Sequence[bytes]) -> bytes:
        """Return the field whose one value are these pieces; they are copied once."""
        return b"".join((self[sum(map(len, parts))], *parts))


def interleaved(heads: Iterable[bytes], values: Sequence[bytes]) -> list[bytes]:
    """Return values each after its head, to be joined; there are as many heads."""
    parts = [b""] * (2 * len(values))
    parts[0::2] = heads
    parts[1::2] = values
    return parts


def true_field(message: Descriptor, field: str) -> bytes:
    """Return the bytes that set a boolean field in any encoded message they follow."""
    return _tag(message, field, _VARINT) + b"\x01"


def _tag(message: Descriptor, field: str, wire_type: int) -> bytes:
    return varint(message.fields_by_name[field].number << 3 | wire_type)


def varint(value: int) -> bytes:
    """Encode a number that is not negative, as lengths and tags are."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
