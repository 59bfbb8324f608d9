"""A snapshot told as what has changed since another: the runs that it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from google.protobuf.message import DecodeError

from antiphon.history.v1.history_service_pb2 import SnapshotRun
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import SnapshotTruncatedError


class KeptRun(NamedTuple):
    """A run of messages that a snapshot has from the one that its reader held.

    Attributes:
        at: Index of the first in the new snapshot.
        start: Index of the first in the one held.
        length: How many.
    """

    at: int
    start: int
    length: int


class AppliedDelta(NamedTuple):
    """What became of a copy: its order, its encoded messages, and what of it was kept."""

    message_ids: tuple[str, ...]
    messages: tuple[bytes, ...]
    kept: tuple[KeptRun, ...]


def apply_delta(
    runs: Iterable[SnapshotRun], sent: Sequence[bytes], held_ids: Sequence[str], held: Sequence[bytes]
) -> AppliedDelta:
    """Make a snapshot of a copy and what was sent.

    Args:
        runs: The runs that make the snapshot, in order.
        sent: The messages that came, encoded, in order.
        held_ids: The copy's order.
        held: The copy's messages.

    Raises:
        SnapshotTruncatedError: A run is of nothing or reaches beyond the copy,
            or the runs do not use up what was sent.

    Cost: copying two references a message; parsing what was sent.
    """
    sent_ids = [_id_of(encoded) for encoded in sent]
    message_ids: list[str] = []
    messages: list[bytes] = []
    kept: list[KeptRun] = []
    used = 0
    for run in runs:
        source = run.WhichOneof("source")
        if source == "kept":
            start, end = run.kept.start, run.kept.start + run.kept.count
            if not 0 <= start < end <= len(held):
                raise SnapshotTruncatedError("a delta keeps messages that the copy does not have")
            kept.append(KeptRun(len(messages), start, run.kept.count))
            message_ids += held_ids[start:end]
            messages += held[start:end]
        elif source == "sent" and 0 < run.sent <= len(sent) - used:
            message_ids += sent_ids[used : used + run.sent]
            messages += sent[used : used + run.sent]
            used += run.sent
        else:
            raise SnapshotTruncatedError("a delta has a run without its messages")
    if used != len(sent):
        raise SnapshotTruncatedError("a delta has messages that are in no run")
    return AppliedDelta(tuple(message_ids), tuple(messages), tuple(kept))


def _id_of(encoded: bytes) -> str:
    try:
        return Message.FromString(encoded).id
    except DecodeError:
        raise SnapshotTruncatedError("a snapshot message is not an encoded Message") from None
