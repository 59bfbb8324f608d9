"""The frames of a snapshot, from the cache as far as it goes and from the store."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial

from antiphon_client.limits import Limits
from history_service import encoding, snapshot_stream
from history_service.domain import reads
from history_service.snapshot_cache import KeptFrames, SnapshotCache
from history_service.snapshot_stream import Batch, Front
from history_service.storage.port import HistoryStore, ReadTransaction

GROWTH = 1024
"""Revisions and new messages that kept frames are brought forward by; after more they are made anew."""


class SnapshotFrames:
    """Makes snapshots' frames."""

    def __init__(self, store: HistoryStore, limits: Limits, cache: SnapshotCache, *, trimming: bool) -> None:
        """Set up.

        Args:
            store: Where branches are kept.
            limits: Bounds of frames.
            cache: This service's own, told when a branch is deleted or trimmed.
            trimming: Whether writes drop old revisions by themselves, which the
                cache is not told.
        """
        self._store = store
        self._limits = limits
        self._cache = cache
        self._trimming = trimming

    def read_front(self, tx: ReadTransaction, snapshot: reads.Snapshot) -> Front | None:
        """Read what ``stream`` begins with, in a reading thread; None where that may be at hand."""
        # What another thread keeps or drops meanwhile makes this of no use, never wrong.
        return None if self._cache.has(snapshot) else snapshot_stream.read_front(tx, snapshot, self._limits)

    async def stream(
        self, snapshot: reads.Snapshot, front: Front | None, drops: int
    ) -> AsyncGenerator[bytes]:
        """Yield the encoded frames: header, order, batches, footer.

        Args:
            snapshot: The snapshot.
            front: What ``read_front`` has read of it.
            drops: The cache's, before the transaction that opened it: what a branch held is
                not to come back into memory after the branch was deleted, however slow the reader.

        Raises:
            BranchDeletedError: The branch was deleted meanwhile.
            RevisionExpiredError: The revision was dropped meanwhile.
        """
        yield snapshot_stream.header(snapshot)
        kept = await self._find(snapshot, drops)
        self._cache.count(snapshot, is_hit=kept is not None)
        rest = self._fresh(snapshot, front, drops) if kept is None else self._again(snapshot, kept)
        del kept, front  # which a slow reader shall not hold on to
        async with aclosing(rest) as frames:
            async for frame in frames:
                yield frame

    async def _again(self, snapshot: reads.Snapshot, kept: KeptFrames) -> AsyncGenerator[bytes]:
        """Yield kept frames as long as the cache has the branch, then those of the store."""
        for part in kept.order:
            yield part
        last = None
        for batch in kept.batches:
            if self._cache.find(snapshot) is None:
                break
            if self._trimming:
                await self._store.read(partial(reads.check_kept, snapshot=snapshot))
            last = batch
            yield batch.part
        # What had to make room is let go of, and of a deleted branch the store knows.
        del kept
        rest = snapshot_stream.messages_and_footer(self._store, snapshot, self._limits, last)
        async with aclosing(rest) as frames:
            async for frame in frames:
                yield frame

    async def _fresh(
        self, snapshot: reads.Snapshot, front: Front | None, drops: int
    ) -> AsyncGenerator[bytes]:
        """Yield frames as they are read, and keep them."""
        last = None
        with self._cache.gather(snapshot, drops) as gathering:
            if front is None and snapshot.message_count:
                work = partial(snapshot_stream.read_front, snapshot=snapshot, limits=self._limits)
                front = await self._store.read(work)
            if front is not None:
                first, some = front
                del front
                gathering.add_order(first.part)
                yield first.part
                order = snapshot_stream.order(
                    self._store, snapshot, self._limits, encoding.snapshot_order, first
                )
                async for part in order:
                    gathering.add_order(part)
                    yield part
                del first, order
                while some:
                    # Taken out: a slow reader shall hold on to one.
                    last = some.pop(0)
                    gathering.add_batch(last)
                    yield last.part
                async with aclosing(self._batches(snapshot, last)) as read:
                    async for last in read:
                        gathering.add_batch(last)
                        yield last.part
            gathering.keep()
        yield snapshot_stream.footer(last)

    async def _find(self, snapshot: reads.Snapshot, drops: int) -> KeptFrames | None:
        """Return kept frames of the snapshot, brought forward from an earlier revision if need be."""
        kept = self._cache.find(snapshot)
        if kept is None or kept.at > snapshot.at:
            return None
        return kept if kept.at == snapshot.at else await self._grown(snapshot, kept, drops)

    async def _grown(self, snapshot: reads.Snapshot, kept: KeptFrames, drops: int) -> KeptFrames | None:
        """Bring kept frames forward; None if it takes making them anew."""
        last_id = kept.batches[-1].last_id if kept.batches else None
        look = partial(reads.growth, snapshot=snapshot, since=kept.at, last_id=last_id, limit=GROWTH)
        growth = await self._store.read(look)
        if growth is None:
            return None
        most = snapshot_stream.order_part_ids(self._limits)
        with self._cache.gather(snapshot, drops) as gathering:
            for frame in _longer_order(kept, growth.appended, most):
                gathering.add_order(frame)
            former = None
            for former in _unchanged(kept, growth, most):
                gathering.add_batch(former)
            async with aclosing(self._batches(snapshot, former)) as read:
                async for batch in read:
                    gathering.add_batch(batch)
            return gathering.keep()

    def _batches(self, snapshot: reads.Snapshot, former: Batch[bytes] | None) -> AsyncGenerator[Batch[bytes]]:
        return snapshot_stream.batches(self._store, snapshot, self._limits, encoding.snapshot_batch, former)


def _longer_order(kept: KeptFrames, appended: Sequence[str], most: int) -> list[bytes]:
    """Return the order frames with more ids, divided as they are when they are made at once."""
    order = list(kept.order)
    count = kept.message_count - most * (len(order) - 1) if order else most
    room = most - count
    if appended[:room]:
        order[-1] = encoding.extend_order(order[-1], count, appended[:room])
    for start in range(room, len(appended), most):
        order.append(encoding.snapshot_order(appended[start : start + most]))
    return order


def _unchanged(kept: KeptFrames, growth: reads.Growth, most: int) -> list[Batch[bytes]]:
    """Return the batches that come out the same when they are made anew."""
    batches = list(kept.batches)
    if growth.appended:
        # It may have had room for more.
        del batches[-1:]
    for number, frame in enumerate(kept.order):
        count = min(most, kept.message_count - number * most)
        for message_id in growth.renewed:
            place = encoding.place_in_order(frame, count, message_id)
            # Not the batch before either: what follows it may fit in now.
            while place is not None and batches and batches[-1].sent >= number * most + place:
                del batches[-1]
    return batches
