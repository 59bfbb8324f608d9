"""A snapshot as what has changed since a revision that the reader holds."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.limits import Limits
from history_service import encoding, snapshot_stream
from history_service.domain.deltas import Base, Delta, delta_since, run_parts, sent_snapshot
from history_service.domain.reads import Snapshot
from history_service.snapshot_stream import Batch
from history_service.storage.port import HistoryStore, ReadTransaction

_RUN_BYTES = 32
"""Bytes of a run in a frame, at most."""


class OpenedDelta(NamedTuple):
    """A delta, and what it sends as far as it was read where it was opened.

    Attributes:
        delta: The delta.
        sent: The messages that it sends, as a snapshot of their own.
        batches: The first batches of them, taken out as they are sent; none where it sends nothing.
    """

    delta: Delta
    sent: Snapshot
    batches: list[Batch[bytes]]


def base_of(request: history_pb.ReadSnapshotRequest) -> Base | None:
    """Return what a request says that its reader holds; None for nothing."""
    if not request.HasField("since_revision"):
        return None
    return Base(request.since_revision, request.since_incarnation)


def open_delta(tx: ReadTransaction, snapshot: Snapshot, base: Base, limits: Limits) -> OpenedDelta | None:
    """Read how the selection at a base's revision becomes a snapshot, which the transaction has opened.

    None to read the snapshot whole (``delta_since``).

    Cost: that of ``delta_since``, and of half a frame's bytes and one batch at most.
    """
    delta = delta_since(tx, snapshot, base)
    if delta is None:
        return None
    sent = sent_snapshot(snapshot, delta)
    return OpenedDelta(delta, sent, snapshot_stream.read_first_batches(tx, sent, limits))


async def frames(
    store: HistoryStore, snapshot: Snapshot, opened: OpenedDelta, limits: Limits
) -> AsyncGenerator[bytes]:
    """Yield the encoded frames of a delta: header, runs, batches, footer.

    Raises:
        BranchDeletedError: The branch was deleted meanwhile.
        RevisionExpiredError: The revision was dropped meanwhile.
    """
    delta, sent, some = opened
    yield snapshot_stream.header(snapshot, is_delta=True)
    for runs in run_parts(delta, max(1, limits.frame_bytes // _RUN_BYTES)):
        yield encoding.snapshot_delta(runs)
    last = None
    while some:
        # Taken out: a slow reader shall hold on to one.
        last = some.pop(0)
        yield last.part
    async with aclosing(snapshot_stream.messages_and_footer(store, sent, limits, last)) as parts:
        async for part in parts:
            yield part
