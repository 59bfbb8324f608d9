"""Snapshots as streams: one short transaction a frame, all at one revision."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.limits import Limits
from history_service import encoding
from history_service.domain import reads
from history_service.domain.prepared import id_of
from history_service.storage.port import HistoryStore, ReadTransaction

_FRAME_MARGIN = 16
"""Bytes of a frame around its entries, at most."""


async def frames(
    store: HistoryStore, snapshot: reads.Snapshot, limits: Limits
) -> AsyncIterator[history_pb.ReadSnapshotResponse | bytes]:
    """Yield the encoded frames of a snapshot: header, order, batches, footer.

    Raises:
        BranchDeletedError: The branch was deleted meanwhile.
    """
    yield _header(snapshot)
    async for message_ids in _order(store, snapshot, limits):
        yield encoding.snapshot_order(message_ids)
    digest, count = hashlib.sha256(), 0
    async for bodies in _batches(store, snapshot, limits):
        for body in bodies:
            digest.update(body)
        count += len(bodies)
        yield encoding.snapshot_batch(bodies)
    yield encoding.snapshot_footer(count, digest.digest())


def _header(snapshot: reads.Snapshot) -> bytes:
    header = history_pb.SnapshotHeader(
        branch=snapshot.branch,
        incarnation=snapshot.branch.incarnation,
        revision=snapshot.at,
        message_count=snapshot.message_count,
    )
    return encoding.snapshot_header(header, snapshot.system)


async def _order(
    store: HistoryStore, snapshot: reads.Snapshot, limits: Limits
) -> AsyncIterator[Sequence[str]]:
    """Yield the ids of the selection in parts, none empty."""
    most = max(1, (limits.frame_bytes - _FRAME_MARGIN) // encoding.ORDER_ENTRY_BYTES)
    if snapshot.chosen is not None:
        for start in range(0, snapshot.message_count, most):
            yield snapshot.chosen[start : start + most]
        return
    sent, after = 0, None
    while sent < snapshot.message_count:
        message_ids = await store.read(
            partial(reads.snapshot_ids, snapshot=snapshot, after=after, limit=most)
        )
        yield message_ids
        sent, after = sent + len(message_ids), message_ids[-1]


async def _batches(
    store: HistoryStore, snapshot: reads.Snapshot, limits: Limits
) -> AsyncIterator[list[bytes]]:
    """Yield the encoded messages of the selection in parts, none empty."""
    most = limits.snapshot_batch_messages
    # A single message may be larger than a frame; the read allows it one.
    max_bytes = limits.frame_bytes - _FRAME_MARGIN - most * encoding.FIELD_OVERHEAD
    read_next = _reader(snapshot, most, max_bytes)
    sent, last = 0, b""
    while sent < snapshot.message_count:
        bodies = await store.read(read_next(sent, last))
        yield bodies
        sent, last = sent + len(bodies), bodies[-1]


def _reader(
    snapshot: reads.Snapshot, most: int, max_bytes: int
) -> Callable[[int, bytes], Callable[[ReadTransaction], list[bytes]]]:
    """Return what makes the read of the next batch from how many were sent and the last of them."""
    chosen = snapshot.chosen
    if chosen is None:
        return lambda sent, last: (
            lambda tx: (
                reads.snapshot_messages(tx, snapshot, id_of(last) if last else None, most, max_bytes).bodies
            )
        )
    return lambda sent, last: (
        lambda tx: reads.snapshot_chosen(tx, snapshot, chosen[sent : sent + most], max_bytes)
    )
