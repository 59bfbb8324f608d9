"""Snapshots in parts: one short transaction a part, all at one revision.

Parts are made where they are read, in the store's reading threads: the event
loop only passes them on, so that one part is read, hashed and rendered while
the one before is on its way.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.limits import Limits
from history_service import encoding
from history_service.domain import reads
from history_service.domain.prepared import id_of
from history_service.storage.port import HistoryStore, ReadTransaction

if TYPE_CHECKING:
    from hashlib import _Hash

_FRAME_MARGIN = 16
"""Bytes of a frame around its entries, at most."""


T = TypeVar("T")
Frame = history_pb.ReadSnapshotResponse | bytes
"""A frame of a snapshot; bytes are encoded already."""


class _OrderPart(NamedTuple, Generic[T]):
    part: T
    sent: int
    """Ids read up to the last of it."""
    last_id: str


class Batch(NamedTuple, Generic[T]):
    """Some messages of a snapshot."""

    part: T
    """What they were rendered to."""
    sent: int
    """Messages read up to the last of it."""
    last_id: str
    """Its last message."""
    digest: _Hash
    """SHA-256 over the bytes of all messages so far."""


def header(snapshot: reads.Snapshot, *, is_delta: bool = False) -> bytes:
    """Return the encoded header frame of a snapshot, or of a delta that leads to it."""
    fields = history_pb.SnapshotHeader(
        branch=snapshot.branch,
        incarnation=snapshot.branch.incarnation,
        revision=snapshot.at,
        message_count=snapshot.message_count,
        is_delta=is_delta,
    )
    return encoding.snapshot_header(fields, snapshot.system)


async def messages_and_footer(
    store: HistoryStore, snapshot: reads.Snapshot, limits: Limits, former: Batch[bytes] | None = None
) -> AsyncGenerator[Frame]:
    """Yield the encoded frames that a snapshot ends with: batches, all or those after one, and footer.

    Raises:
        BranchDeletedError: The branch was deleted meanwhile.
        RevisionExpiredError: The revision was dropped meanwhile.
    """
    last = former
    async with aclosing(batches(store, snapshot, limits, encoding.snapshot_batch, former)) as parts:
        async for last in parts:
            yield last.part
    yield footer(last)


def footer(last: Batch[bytes] | None) -> Frame:
    """Return the footer frame after the last batch; None if there is none."""
    if last is None:
        return encoding.snapshot_footer(0, hashlib.sha256().digest())
    return encoding.snapshot_footer(last.sent, last.digest.digest())


def order_part_ids(limits: Limits) -> int:
    """Ids in an order part, the last one aside."""
    return max(1, (limits.frame_bytes - _FRAME_MARGIN) // encoding.ORDER_ENTRY_BYTES)


async def order(
    store: HistoryStore, snapshot: reads.Snapshot, limits: Limits, render: Callable[[Sequence[str]], T]
) -> AsyncIterator[T]:
    """Yield the ids of the selection in parts, none empty, each as ``render`` made it."""
    most = order_part_ids(limits)
    if snapshot.chosen is not None:
        for start in range(0, snapshot.message_count, most):
            yield render(snapshot.chosen[start : start + most])
        return
    sent, after = 0, None
    while sent < snapshot.message_count:
        work = partial(_read_order_part, snapshot=snapshot, sent=sent, after=after, limit=most, render=render)
        part, sent, after = await store.read(work)
        yield part


def _read_order_part(
    tx: ReadTransaction,
    snapshot: reads.Snapshot,
    sent: int,
    after: str | None,
    limit: int,
    render: Callable[[Sequence[str]], T],
) -> _OrderPart[T]:
    message_ids = reads.snapshot_ids(tx, snapshot, after, limit)
    return _OrderPart(render(message_ids), sent + len(message_ids), message_ids[-1])


async def batches(
    store: HistoryStore,
    snapshot: reads.Snapshot,
    limits: Limits,
    render: Callable[[list[bytes]], T],
    former: Batch[T] | None = None,
) -> AsyncGenerator[Batch[T]]:
    """Yield the selection's messages in batches, none empty, each as ``render`` made it of their bytes.

    All of them, or those after a former batch.
    """

    def begin(sent: int, after: str | None, digest: _Hash) -> asyncio.Future[Batch[T]] | None:
        if sent == snapshot.message_count:
            return None

        def read(tx: ReadTransaction) -> Batch[T]:
            return _read_batch(tx, snapshot, sent, after, digest, limits, render)

        return _begin(store.read(read))

    # The next batch is read while this one is on its way.
    if former is None:
        ahead = begin(0, None, hashlib.sha256())
    else:
        ahead = begin(former.sent, former.last_id, former.digest)
    try:
        while ahead is not None:
            batch = await ahead
            ahead = begin(batch.sent, batch.last_id, batch.digest)
            yield batch
    finally:
        if ahead is not None:
            ahead.cancel()


def _read_batch(
    tx: ReadTransaction,
    snapshot: reads.Snapshot,
    sent: int,
    after: str | None,
    digest: _Hash,
    limits: Limits,
    render: Callable[[list[bytes]], T],
) -> Batch[T]:
    most = limits.snapshot_batch_messages
    # A single message may be larger than a frame; the read allows it one.
    max_bytes = limits.frame_bytes - _FRAME_MARGIN - most * encoding.FIELD_OVERHEAD
    bodies = reads.snapshot_batch(tx, snapshot, sent, after, most, max_bytes)
    # A copy, as a store may read again.
    digest = digest.copy()
    digest.update(b"".join(bodies))
    return Batch(render(bodies), sent + len(bodies), id_of(bodies[-1]), digest)


def _begin(read: Coroutine[Any, Any, Batch[T]]) -> asyncio.Future[Batch[T]]:
    """Start a read that may be given up; a failure nobody waits for is nobody's."""
    begun = asyncio.ensure_future(read)
    begun.add_done_callback(lambda done: done.cancelled() or done.exception())
    return begun
