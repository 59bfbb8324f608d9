"""A snapshot told as what has changed since another: the runs that it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

from google.protobuf.message import DecodeError

from antiphon.history.v1.history_service_pb2 import SnapshotRun
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import SnapshotTruncatedError

T = TypeVar("T")


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
    """What became of a copy: its order, its encoded messages and their bytes, and what of it was kept."""

    message_ids: tuple[str, ...]
    messages: tuple[bytes, ...]
    message_bytes: int
    kept: tuple[KeptRun, ...]


def apply_delta(
    runs: Iterable[SnapshotRun],
    sent: Sequence[bytes],
    held_ids: tuple[str, ...],
    held: tuple[bytes, ...],
    held_bytes: int,
) -> AppliedDelta:
    """Make a snapshot of a copy and what was sent.

    Args:
        runs: The runs that make the snapshot, in order.
        sent: The messages that came, encoded, in order.
        held_ids: The copy's order.
        held: The copy's messages.
        held_bytes: Their bytes.

    Raises:
        SnapshotTruncatedError: A run is of nothing or reaches beyond the copy, or
            the runs keep more than the copy has or do not use up what was sent.

    Cost: copying two references a message; parsing what was sent.
    """
    sent_ids, sent_messages = tuple([_id_of(encoded) for encoded in sent]), tuple(sent)
    message_ids: list[tuple[str, ...]] = []
    messages: list[tuple[bytes, ...]] = []
    kept: list[KeptRun] = []
    at = used = 0
    for run in runs:
        source = run.WhichOneof("source")
        if source == "kept":
            start, end = run.kept.start, run.kept.start + run.kept.count
            if not 0 <= start < end <= len(held):
                raise SnapshotTruncatedError("a delta keeps messages that the copy does not have")
            # A selection has a message once; else a few bytes could stand for any number of them.
            if at - used + run.kept.count > len(held):
                raise SnapshotTruncatedError("a delta keeps more messages than the copy has")
            kept.append(KeptRun(at, start, run.kept.count))
            message_ids.append(held_ids[start:end])
            messages.append(held[start:end])
        elif source == "sent" and 0 < run.sent <= len(sent) - used:
            message_ids.append(sent_ids[used : used + run.sent])
            messages.append(sent_messages[used : used + run.sent])
            used += run.sent
        else:
            raise SnapshotTruncatedError("a delta has a run without its messages")
        at += len(messages[-1])
    if used != len(sent):
        raise SnapshotTruncatedError("a delta has messages that are in no run")
    message_bytes = _kept_bytes(kept, held, held_bytes) + sum(map(len, sent))
    return AppliedDelta(_joined(message_ids), _joined(messages), message_bytes, tuple(kept))


def _joined(parts: list[tuple[T, ...]]) -> tuple[T, ...]:
    """Return the parts as one. A step for every value, or a list on the way, would be felt."""
    if len(parts) == 2:
        return parts[0] + parts[1]
    return tuple(chain.from_iterable(parts))


def _kept_bytes(kept: Sequence[KeptRun], held: Sequence[bytes], held_bytes: int) -> int:
    """Return the bytes of what is kept of a copy, looking at the fewer of its messages where it can."""
    left_out, end = 0, 0
    for run in kept:
        if run.start < end:
            # Moved ones: what is left out is not seen from here.
            return sum([sum(map(len, held[each.start : each.start + each.length])) for each in kept])
        left_out += sum(map(len, held[end : run.start]))
        end = run.start + run.length
    return held_bytes - left_out - sum(map(len, held[end:]))


def _id_of(encoded: bytes) -> str:
    try:
        return Message.FromString(encoded).id
    except DecodeError:
        raise SnapshotTruncatedError("a snapshot message is not an encoded Message") from None
