"""Snapshots as streams: one short transaction a frame, all at one revision."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.limits import Limits
from history_service import encoding
from history_service.domain import reads
from history_service.domain.prepared import id_of
from history_service.storage.port import HistoryStore

_FRAME_MARGIN = 16
"""Bytes of a frame around its entries, at most."""


async def frames(
    store: HistoryStore, snapshot: reads.Snapshot, limits: Limits
) -> AsyncGenerator[history_pb.ReadSnapshotResponse | bytes]:
    """Yield the encoded frames of a snapshot: header, order, batches, footer.

    Raises:
        BranchDeletedError: The branch was deleted meanwhile.
        RevisionExpiredError: The revision was dropped meanwhile.
    """
    yield _header(snapshot)
    async for message_ids in order(store, snapshot, limits):
        yield encoding.snapshot_order(message_ids)
    digest, count = hashlib.sha256(), 0
    async with aclosing(batches(store, snapshot, limits)) as parts:
        async for bodies in parts:
            digest.update(b"".join(bodies))
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


async def order(
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


async def batches(
    store: HistoryStore, snapshot: reads.Snapshot, limits: Limits
) -> AsyncGenerator[list[bytes]]:
    """Yield the encoded messages of the selection in parts, none empty."""
    most = limits.snapshot_batch_messages
    # A single message may be larger than a frame; the read allows it one.
    max_bytes = limits.frame_bytes - _FRAME_MARGIN - most * encoding.FIELD_OVERHEAD
    total = snapshot.message_count

    def begin(sent: int, after: str | None) -> asyncio.Future[list[bytes]] | None:
        if sent == total:
            return None
        work = partial(
            reads.snapshot_batch, snapshot=snapshot, sent=sent, after=after, limit=most, max_bytes=max_bytes
        )
        return _begin(store.read(work))

    # The next batch is read while this one is on its way.
    sent, ahead = 0, begin(0, None)
    try:
        while ahead is not None:
            bodies = await ahead
            sent += len(bodies)
            ahead = begin(sent, id_of(bodies[-1]))
            yield bodies
    finally:
        if ahead is not None:
            ahead.cancel()


def _begin(read: Coroutine[Any, Any, list[bytes]]) -> asyncio.Future[list[bytes]]:
    """Start a read that may be given up; a failure nobody waits for is nobody's."""
    begun = asyncio.ensure_future(read)
    begun.add_done_callback(lambda done: done.cancelled() or done.exception())
    return begun
