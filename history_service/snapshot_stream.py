"""Snapshots in parts: short transactions of a part or a few, all at one revision.

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

SHORT_MESSAGES = 1024
"""Messages up to which a selection is short: more than its first batch is read where it is opened."""

FIRST_BATCH = 64
"""Messages of a longer one's first batch: so few that whoever folds them can begin while the rest is read."""

BATCHES_AT_ONCE = 4
"""Batches that one transaction reads at most; after half a frame of bytes it reads no other."""


T = TypeVar("T")


class OrderPart(NamedTuple, Generic[T]):
    """Some ids of a snapshot's order."""

    part: T
    """What they were rendered to."""
    sent: int
    """Ids read up to the last of it."""
    last_id: str
    """Its last id."""


class Batch(NamedTuple, Generic[T]):
    """Some messages of a snapshot."""

    part: T
    """What they were rendered to."""
    size: int
    """Bytes of the messages."""
    sent: int
    """Messages read up to the last of it."""
    last_id: str
    """Its last message."""
    digest: _Hash
    """SHA-256 over the bytes of all messages so far."""


class Front(NamedTuple):
    """What a snapshot that is not empty begins with, read where it was opened."""

    order: OrderPart[bytes]
    """The first part of the order; all of it where the batches are all."""
    batches: list[Batch[bytes]]
    """The first batches, one at least."""


def is_short(snapshot: reads.Snapshot) -> bool:
    """Tell whether a selection is read as soon as it can be, not in a first batch that is there sooner."""
    return snapshot.message_count <= SHORT_MESSAGES


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
) -> AsyncGenerator[bytes]:
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


def footer(last: Batch[bytes] | None) -> bytes:
    """Return the encoded footer frame after the last batch; None if there is none."""
    if last is None:
        return encoding.snapshot_footer(0, hashlib.sha256().digest())
    return encoding.snapshot_footer(last.sent, last.digest.digest())


def order_part_ids(limits: Limits) -> int:
    """Ids in an order part, the last one aside."""
    return max(1, (limits.frame_bytes - _FRAME_MARGIN) // encoding.ORDER_ENTRY_BYTES)


async def order(
    store: HistoryStore,
    snapshot: reads.Snapshot,
    limits: Limits,
    render: Callable[[Sequence[str]], T],
    former: OrderPart[T] | None = None,
) -> AsyncIterator[T]:
    """Yield the ids of the selection in parts, none empty, each as ``render`` made it.

    All of them, or those after a former part.
    """
    last = former
    while (0 if last is None else last.sent) < snapshot.message_count:
        work = partial(_read_order, snapshot=snapshot, limits=limits, render=render, former=last)
        last = await store.read(work)
        yield last.part


def _read_order(
    tx: ReadTransaction,
    snapshot: reads.Snapshot,
    limits: Limits,
    render: Callable[[Sequence[str]], T],
    former: OrderPart[T] | None,
) -> OrderPart[T]:
    reads.check_kept(tx, snapshot)
    sent, after = (0, None) if former is None else (former.sent, former.last_id)
    message_ids = reads.snapshot_ids(tx, snapshot, sent, after, order_part_ids(limits))
    return OrderPart(render(message_ids), sent + len(message_ids), message_ids[-1])


def read_front(tx: ReadTransaction, snapshot: reads.Snapshot, limits: Limits) -> Front | None:
    """Read what a snapshot begins with; None for one that is empty.

    A short one of short messages is read whole, as to hand it over once more would take
    as long as to read it.

    Raises:
        BranchDeletedError: The branch was deleted, where it was opened in another transaction.
        RevisionExpiredError: The revision was dropped, likewise.

    Cost: half a frame's bytes and one batch, at most.
    """
    if not snapshot.message_count:
        return None
    order = _read_order(tx, snapshot, limits, encoding.snapshot_order, None)
    return Front(order, read_first_batches(tx, snapshot, limits))


def read_first_batches(tx: ReadTransaction, snapshot: reads.Snapshot, limits: Limits) -> list[Batch[bytes]]:
    """Read the batches that an opened snapshot begins with; none of one that is empty.

    Cost: half a frame's bytes and one batch, at most.
    """
    if not snapshot.message_count:
        return []
    return _read_batches(tx, snapshot, limits, encoding.snapshot_batch, None)


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

    def begin(former: Batch[T] | None) -> asyncio.Future[list[Batch[T]]] | None:
        if (0 if former is None else former.sent) == snapshot.message_count:
            return None
        work = partial(_read_some, snapshot=snapshot, limits=limits, render=render, former=former)
        return _begin(store.read(work))

    # The next ones are read while these are on their way.
    ahead = begin(former)
    try:
        while ahead is not None:
            some = await ahead
            ahead = begin(some[-1])
            for batch in some:
                yield batch
    finally:
        if ahead is not None:
            ahead.cancel()


def _read_some(
    tx: ReadTransaction,
    snapshot: reads.Snapshot,
    limits: Limits,
    render: Callable[[list[bytes]], T],
    former: Batch[T] | None,
) -> list[Batch[T]]:
    reads.check_kept(tx, snapshot)
    return _read_batches(tx, snapshot, limits, render, former)


def _read_batches(
    tx: ReadTransaction,
    snapshot: reads.Snapshot,
    limits: Limits,
    render: Callable[[list[bytes]], T],
    former: Batch[T] | None,
) -> list[Batch[T]]:
    """Read a few batches, as of small ones handing over is a good part; of a long selection one at first."""
    some = [_read_batch(tx, snapshot, limits, render, former)]
    most = BATCHES_AT_ONCE if former is not None or is_short(snapshot) else 1
    size = some[0].size
    while len(some) < most and size < limits.frame_bytes // 2 and some[-1].sent < snapshot.message_count:
        some.append(_read_batch(tx, snapshot, limits, render, some[-1]))
        size += some[-1].size
    return some


def _read_batch(
    tx: ReadTransaction,
    snapshot: reads.Snapshot,
    limits: Limits,
    render: Callable[[list[bytes]], T],
    former: Batch[T] | None,
) -> Batch[T]:
    most = limits.snapshot_batch_messages
    # A single message may be larger than a frame; the read allows it one.
    max_bytes = limits.frame_bytes - _FRAME_MARGIN - most * encoding.FIELD_OVERHEAD
    if former is None:
        sent, after, digest = 0, None, hashlib.sha256()
        most = most if is_short(snapshot) else min(most, FIRST_BATCH)
    else:
        # A copy, as a store may read again.
        sent, after, digest = former.sent, former.last_id, former.digest.copy()
    bodies = reads.snapshot_batch(tx, snapshot, sent, after, most, max_bytes)
    joined = b"".join(bodies)
    digest.update(joined)
    return Batch(render(bodies), len(joined), sent + len(bodies), id_of(bodies[-1]), digest)


def _begin(read: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
    """Start a read that may be given up; a failure nobody waits for is nobody's."""
    begun = asyncio.ensure_future(read)
    begun.add_done_callback(lambda done: done.cancelled() or done.exception())
    return begun
