"""Replies spliced from stored bytes.

A reply that carries messages is concatenated, not rebuilt: a length-delimited
protobuf field is its tag, its length and its bytes, and stored messages are
those bytes. The field numbers come from the generated descriptors, so that they
stand in the protos only.
"""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.descriptor import Descriptor

from antiphon.history.v1 import history_service_pb2 as history_pb

_VARINT, _LENGTH_DELIMITED = 0, 2
_ID_LENGTH = 36
FIELD_OVERHEAD = 6
"""Bytes that a tag and a length add to a field at most, for lengths below 2**35."""


def _tag(message: Descriptor, field: str, wire_type: int) -> bytes:
    return _varint(message.fields_by_name[field].number << 3 | wire_type)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


class Prefixes(dict[int, bytes]):
    """Tag and length of a field, by length; made once for each length met.

    A dictionary, as splicing looks one up for every message and this does it
    without running Python code.
    """

    _MOST = 16384

    def __init__(self, message: Descriptor, field: str) -> None:
        super().__init__()
        self._tag = _tag(message, field, _LENGTH_DELIMITED)

    def __missing__(self, length: int) -> bytes:
        if len(self) >= self._MOST:
            self.clear()
        prefix = self[length] = self._tag + _varint(length)
        return prefix

    def parts(self, values: Sequence[bytes]) -> list[bytes]:
        """Return the pieces of the repeated field of these values, to be joined."""
        parts = [b""] * (2 * len(values))
        parts[0::2] = map(self.__getitem__, map(len, values))
        parts[1::2] = values
        return parts

    def enclose(self, parts: Sequence[bytes]) -> bytes:
        """Return the field whose one value are these pieces; they are copied once."""
        return b"".join((self[sum(map(len, parts))], *parts))


def replay_mark(response: Descriptor) -> bytes:
    """Return the bytes that set ``replayed`` in any encoded response they follow."""
    return _tag(response, "replayed", _VARINT) + b"\x01"


_FRAME = history_pb.ReadSnapshotResponse.DESCRIPTOR

_GET_MESSAGES = Prefixes(history_pb.GetMessagesResponse.DESCRIPTOR, "messages")
_LIST_MESSAGES = Prefixes(history_pb.ListMessagesResponse.DESCRIPTOR, "messages")
_FRAME_HEADER = Prefixes(_FRAME, "header")
_FRAME_ORDER = Prefixes(_FRAME, "order")
_FRAME_BATCH = Prefixes(_FRAME, "batch")
_HEADER_SYSTEM = Prefixes(history_pb.SnapshotHeader.DESCRIPTOR, "system")
_BATCH_MESSAGES = Prefixes(history_pb.SnapshotBatch.DESCRIPTOR, "messages")

# Ids are ASCII of one length, so an order part can be spliced as text.
_ORDER_ID = Prefixes(history_pb.SnapshotOrder.DESCRIPTOR, "message_ids")[_ID_LENGTH].decode("ascii")
ORDER_ENTRY_BYTES = len(_ORDER_ID) + _ID_LENGTH
"""Bytes of one id in an order part."""


def get_messages_response(revision: int, bodies: Sequence[bytes]) -> bytes:
    """Encode a GetMessagesResponse."""
    head = history_pb.GetMessagesResponse(revision=revision).SerializeToString()
    return b"".join((head, *_GET_MESSAGES.parts(bodies)))


def list_messages_response(revision: int, bodies: Sequence[bytes], next_page_token: str) -> bytes:
    """Encode a ListMessagesResponse."""
    head = history_pb.ListMessagesResponse(revision=revision, next_page_token=next_page_token)
    return b"".join((head.SerializeToString(), *_LIST_MESSAGES.parts(bodies)))


def snapshot_header(header: history_pb.SnapshotHeader, system: bytes | None) -> bytes:
    """Encode a header frame; ``system`` is the stored system record."""
    stored = [] if system is None else [system]
    return _FRAME_HEADER.enclose([header.SerializeToString(), *_HEADER_SYSTEM.parts(stored)])


def snapshot_order(message_ids: Sequence[str]) -> bytes:
    """Encode an order frame of one id or more."""
    return _FRAME_ORDER.enclose([(_ORDER_ID + _ORDER_ID.join(message_ids)).encode("ascii")])


def snapshot_batch(bodies: Sequence[bytes]) -> bytes:
    """Encode a batch frame."""
    return _FRAME_BATCH.enclose(_BATCH_MESSAGES.parts(bodies))


def snapshot_footer(message_count: int, sha256: bytes) -> history_pb.ReadSnapshotResponse:
    """Return a footer frame."""
    footer = history_pb.SnapshotFooter(message_count=message_count, sha256=sha256)
    return history_pb.ReadSnapshotResponse(footer=footer)
