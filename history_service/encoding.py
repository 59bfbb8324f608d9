"""Replies spliced from stored bytes.

A reply that carries messages is concatenated, not rebuilt: a length-delimited
protobuf field is its tag, its length and its bytes, and stored messages are
those bytes. The field numbers come from the generated descriptors, so that they
stand in the protos only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

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


@lru_cache(maxsize=8192)
def _prefix(tag: bytes, length: int) -> bytes:
    return tag + _varint(length)


def _repeated(tag: bytes, values: Sequence[bytes]) -> bytes:
    parts: list[bytes] = []
    for value in values:
        parts.append(_prefix(tag, len(value)))
        parts.append(value)
    return b"".join(parts)


def replay_mark(response: Descriptor) -> bytes:
    """Return the bytes that set ``replayed`` in any encoded response they follow."""
    return _tag(response, "replayed", _VARINT) + b"\x01"


_GET = history_pb.GetMessagesResponse.DESCRIPTOR
_LIST = history_pb.ListMessagesResponse.DESCRIPTOR
_FRAME = history_pb.ReadSnapshotResponse.DESCRIPTOR

_GET_MESSAGES = _tag(_GET, "messages", _LENGTH_DELIMITED)
_LIST_MESSAGES = _tag(_LIST, "messages", _LENGTH_DELIMITED)
_FRAME_HEADER = _tag(_FRAME, "header", _LENGTH_DELIMITED)
_FRAME_ORDER = _tag(_FRAME, "order", _LENGTH_DELIMITED)
_FRAME_BATCH = _tag(_FRAME, "batch", _LENGTH_DELIMITED)
_HEADER_SYSTEM = _tag(history_pb.SnapshotHeader.DESCRIPTOR, "system", _LENGTH_DELIMITED)
_BATCH_MESSAGES = _tag(history_pb.SnapshotBatch.DESCRIPTOR, "messages", _LENGTH_DELIMITED)

# Ids are ASCII of one length, so an order part can be spliced as text.
_ORDER_ID = _prefix(
    _tag(history_pb.SnapshotOrder.DESCRIPTOR, "message_ids", _LENGTH_DELIMITED), _ID_LENGTH
).decode("ascii")
ORDER_ENTRY_BYTES = len(_ORDER_ID) + _ID_LENGTH
"""Bytes of one id in an order part."""


def get_messages_response(revision: int, bodies: Sequence[bytes]) -> bytes:
    """Encode a GetMessagesResponse."""
    head = history_pb.GetMessagesResponse(revision=revision).SerializeToString()
    return head + _repeated(_GET_MESSAGES, bodies)


def list_messages_response(revision: int, bodies: Sequence[bytes], next_page_token: str) -> bytes:
    """Encode a ListMessagesResponse."""
    head = history_pb.ListMessagesResponse(revision=revision, next_page_token=next_page_token)
    return head.SerializeToString() + _repeated(_LIST_MESSAGES, bodies)


def snapshot_header(header: history_pb.SnapshotHeader, system: bytes | None) -> bytes:
    """Encode a header frame; ``system`` is the stored system record."""
    encoded = header.SerializeToString()
    if system is not None:
        encoded += _prefix(_HEADER_SYSTEM, len(system)) + system
    return _prefix(_FRAME_HEADER, len(encoded)) + encoded


def snapshot_order(message_ids: Sequence[str]) -> bytes:
    """Encode an order frame of one id or more."""
    encoded = (_ORDER_ID + _ORDER_ID.join(message_ids)).encode("ascii")
    return _prefix(_FRAME_ORDER, len(encoded)) + encoded


def snapshot_batch(bodies: Sequence[bytes]) -> bytes:
    """Encode a batch frame."""
    encoded = _repeated(_BATCH_MESSAGES, bodies)
    return _prefix(_FRAME_BATCH, len(encoded)) + encoded


def snapshot_footer(message_count: int, sha256: bytes) -> history_pb.ReadSnapshotResponse:
    """Return a footer frame."""
    footer = history_pb.SnapshotFooter(message_count=message_count, sha256=sha256)
    return history_pb.ReadSnapshotResponse(footer=footer)
