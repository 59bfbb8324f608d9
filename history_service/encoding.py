"""Replies spliced from stored bytes.

A reply that carries messages is concatenated, not rebuilt
(``antiphon_client.splicing``): stored messages are encoded already.
"""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.descriptor import Descriptor

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.splicing import FIELD_OVERHEAD as FIELD_OVERHEAD
from antiphon_client.splicing import FieldPrefixes, true_field

_ID_LENGTH = 36


def replay_mark(response: Descriptor) -> bytes:
    """Return the bytes that set ``replayed`` in any encoded response they follow."""
    return true_field(response, "replayed")


_FRAME = history_pb.ReadSnapshotResponse.DESCRIPTOR

_GET_MESSAGES = FieldPrefixes(history_pb.GetMessagesResponse.DESCRIPTOR, "messages")
_LIST_MESSAGES = FieldPrefixes(history_pb.ListMessagesResponse.DESCRIPTOR, "messages")
_FRAME_HEADER = FieldPrefixes(_FRAME, "header")
_FRAME_ORDER = FieldPrefixes(_FRAME, "order")
_FRAME_BATCH = FieldPrefixes(_FRAME, "batch")
_FRAME_JOINED = FieldPrefixes(_FRAME, "joined")
_HEADER_SYSTEM = FieldPrefixes(history_pb.SnapshotHeader.DESCRIPTOR, "system")
_BATCH_MESSAGES = FieldPrefixes(history_pb.SnapshotBatch.DESCRIPTOR, "messages")

# Ids are ASCII of one length, so an order part can be spliced as text.
_ORDER_ID = FieldPrefixes(history_pb.SnapshotOrder.DESCRIPTOR, "message_ids")[_ID_LENGTH].decode("ascii")
ORDER_ENTRY_BYTES = len(_ORDER_ID) + _ID_LENGTH
"""Bytes of one id in an order part."""


def get_messages_response(revision: int, bodies: Sequence[bytes]) -> bytes:
    """Encode a GetMessagesResponse."""
    head = history_pb.GetMessagesResponse(revision=revision).SerializeToString()
    return b"".join((head, *_GET_MESSAGES.parts(bodies)))


def list_messages_head(revision: int, next_page_token: str, branch: branch_pb.Branch | None) -> bytes:
    """Encode a ListMessagesResponse but for its messages, which follow."""
    head = history_pb.ListMessagesResponse(revision=revision, next_page_token=next_page_token, branch=branch)
    return head.SerializeToString()


def list_messages_response(head: bytes, bodies: Sequence[bytes], listed: bytes | memoryview = b"") -> bytes:
    """Encode a ListMessagesResponse of its head and its messages; they are copied once.

    Args:
        head: What ``list_messages_head`` gives.
        bodies: The messages, or those behind ``listed``.
        listed: Messages as they stand in another response.
    """
    return b"".join((head, listed, *_LIST_MESSAGES.parts(bodies)))


def snapshot_header(header: history_pb.SnapshotHeader, system: bytes | None) -> bytes:
    """Encode a header frame; ``system`` is the stored system record."""
    stored = [] if system is None else [system]
    return _FRAME_HEADER.enclose([header.SerializeToString(), *_HEADER_SYSTEM.parts(stored)])


def snapshot_order(message_ids: Sequence[str]) -> bytes:
    """Encode an order frame of one id or more."""
    return _FRAME_ORDER.enclose([(_ORDER_ID + _ORDER_ID.join(message_ids)).encode("ascii")])


def snapshot_delta(runs: Sequence[tuple[int | None, int]]) -> bytes:
    """Encode a delta frame of runs: where each starts in the reader's copy, or None, and its length."""
    delta = history_pb.SnapshotDelta(
        runs=[
            history_pb.SnapshotRun(sent=count)
            if start is None
            else history_pb.SnapshotRun(kept=history_pb.KeptRun(start=start, count=count))
            for start, count in runs
        ]
    )
    return history_pb.ReadSnapshotResponse(delta=delta).SerializeToString()


def extend_order(frame: bytes, count: int, message_ids: Sequence[str]) -> bytes:
    """Encode an order frame of the ``count`` ids of a former one and one id or more after them."""
    former = frame[len(frame) - count * ORDER_ENTRY_BYTES :]
    return _FRAME_ORDER.enclose([former, (_ORDER_ID + _ORDER_ID.join(message_ids)).encode("ascii")])


def place_in_order(frame: bytes, count: int, message_id: str) -> int | None:
    """Return at which place an order frame of ``count`` ids has an id; None if it has not."""
    at = frame.find((_ORDER_ID + message_id).encode("ascii"))
    return None if at < 0 else (at - (len(frame) - count * ORDER_ENTRY_BYTES)) // ORDER_ENTRY_BYTES


def snapshot_batch(bodies: Sequence[bytes]) -> bytes:
    """Encode a batch frame."""
    # Joined first: that is quicker than the sum of so many lengths.
    return _FRAME_BATCH.enclose([b"".join(_BATCH_MESSAGES.parts(bodies))])


def snapshot_footer(message_count: int, sha256: bytes) -> bytes:
    """Encode a footer frame."""
    footer = history_pb.SnapshotFooter(message_count=message_count, sha256=sha256)
    return history_pb.ReadSnapshotResponse(footer=footer).SerializeToString()


def joined_frames(frames: Sequence[bytes]) -> bytes:
    """Encode frames as one, whose fields have the frames' own numbers."""
    return _FRAME_JOINED.enclose(frames)
