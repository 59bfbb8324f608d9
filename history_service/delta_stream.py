"""A snapshot as what has changed since a revision that the reader holds."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.limits import Limits
from history_service import encoding, snapshot_stream
from history_service.domain.deltas import Base, Delta, run_parts, sent_snapshot
from history_service.domain.reads import Snapshot
from history_service.storage.port import HistoryStore

_RUN_BYTES = 32
"""Bytes of a run in a frame, at most."""


def base_of(request: history_pb.ReadSnapshotRequest) -> Base | None:
    """Return what a request says that its reader holds; None for nothing."""
    if not request.HasField("since_revision"):
        return None
    return Base(request.since_revision, request.since_incarnation)


async def frames(
    store: HistoryStore, snapshot: Snapshot, delta: Delta, limits: Limits
) -> AsyncGenerator[bytes]:
    """Yield the encoded frames of a delta: header, runs, batches, footer.

    Raises:
        BranchDeletedError: The branch was deleted meanwhile.
        RevisionExpiredError: The revision was dropped meanwhile.
    """
    yield snapshot_stream.header(snapshot, is_delta=True)
    for runs in run_parts(delta, max(1, limits.frame_bytes // _RUN_BYTES)):
        yield encoding.snapshot_delta(runs)
    sent = sent_snapshot(snapshot, delta)
    async with aclosing(snapshot_stream.messages_and_footer(store, sent, limits)) as parts:
        async for part in parts:
            yield part
