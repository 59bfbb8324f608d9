"""Encoded snapshots and pages kept in memory, so that a branch read again is neither read nor encoded again.

What a branch holds at a revision never changes, so what is kept is never wrong;
it can only be of no use any more. Whoever reads asks the store first whether the
branch and the revision are there to be read, and takes the frames from here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from antiphon_client.edge.metrics import Figure
from antiphon_client.edge.ready_memory import ReadyMemory
from history_service.domain.lists import KnownPage
from history_service.domain.reads import Snapshot
from history_service.snapshot_stream import Batch

MOST_KEPT = 10_000
"""Snapshots and pages kept at most, whatever their bytes: one of no message takes memory, too."""

DEFAULT_CACHE_BYTES = 64 * 2**20
"""What is kept at most, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class KeptFrames:
    """The frames of a snapshot of a whole branch or its view, but for header and footer.

    Attributes:
        at: The revision.
        order: The order frames.
        message_count: How many ids they have.
        batches: The batches.
    """

    at: int
    order: Sequence[bytes]
    message_count: int
    batches: Sequence[Batch[bytes]]

    @property
    def size(self) -> int:
        """Bytes of the frames."""
        return sum(map(len, self.order)) + sum(len(batch.part) for batch in self.batches)


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page of a list that holds a whole branch, in its order.

    Attributes:
        known: Which page it is.
        head_size: Bytes before the messages in the encoded response.
        response: The encoded response.
    """

    known: KnownPage
    head_size: int
    response: bytes

    @property
    def size(self) -> int:
        """Bytes of the page."""
        return len(self.response)

    @property
    def fields(self) -> memoryview:
        """Its messages, as they stand in the encoded response."""
        return memoryview(self.response)[self.head_size :]

    def has_head(self, head: bytes) -> bool:
        """Tell whether these bytes are what stands before its messages."""
        return len(head) == self.head_size and self.response.startswith(head)


_Branch = tuple[str, str, str]
"""Tenant, branch id, incarnation; a page has none in the place of the last."""


class SnapshotCache:
    """The newest snapshot read of each branch, and the page that held it; those least in use go first.

    Belongs to one event loop. Holds ``max_bytes`` at most, and as much again of
    frames that are being gathered.
    """

    def __init__(self, max_bytes: int, ready_bytes: int = 0) -> None:
        """Keep nothing yet.

        Args:
            max_bytes: Bytes of frames kept at most; 0 keeps none.
            ready_bytes: Bytes of them for which memory is fetched now.
        """
        self._max_bytes = max_bytes
        self._ready = ReadyMemory(min(ready_bytes, max_bytes))
        self._kept: OrderedDict[_Branch, KeptFrames | KeptPage] = OrderedDict()
        self._bytes = 0
        self._gathered = 0
        self._drops = 0
        self._hits = self._misses = 0

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures; a reading of a selection goes past the cache and counts as neither."""
        return (
            Figure(
                "antiphon_snapshot_cache_hits",
                "Snapshots whose frames were at hand, but for what was added since.",
                lambda: self._hits,
                is_count=True,
            ),
            Figure(
                "antiphon_snapshot_cache_misses",
                "Snapshots that were read and encoded as a whole.",
                lambda: self._misses,
                is_count=True,
            ),
            Figure(
                "antiphon_snapshot_cache_bytes", "Bytes of the kept frames and pages.", lambda: self._bytes
            ),
        )

    def count(self, snapshot: Snapshot, *, is_hit: bool) -> None:
        """Count a snapshot that was made of kept frames, or was not."""
        if snapshot.chosen is None:
            self._hits += is_hit
            self._misses += not is_hit

    def has(self, snapshot: Snapshot) -> bool:
        """Tell whether anything is kept of a snapshot's branch; from any thread."""
        return snapshot.chosen is None and _branch(snapshot) in self._kept

    def find(self, snapshot: Snapshot) -> KeptFrames | None:
        """Return what is kept of a snapshot's branch, of its revision or another; None for a selection."""
        if snapshot.chosen is not None:
            return None
        kept = self._used(_branch(snapshot))
        return kept if isinstance(kept, KeptFrames) else None

    @property
    def drops(self) -> int:
        """How often branches were dropped: what was read before a drop is not to be kept after it."""
        return self._drops

    def find_page(self, tenant_id: str, branch_id: str) -> KeptPage | None:
        """Return the page that was kept last of a branch with this id, of whatever revision."""
        kept = self._used((tenant_id, branch_id, ""))
        return kept if isinstance(kept, KeptPage) else None

    def keep_page(self, tenant_id: str, branch_id: str, page: KeptPage, drops: int) -> None:
        """Keep a page.

        Args:
            tenant_id: Whose branch.
            branch_id: Which.
            page: The page.
            drops: ``drops`` from before it was read: it is not kept if more was let go of meanwhile.
        """
        if drops == self._drops:
            self._put((tenant_id, branch_id, ""), page)

    def drop(self, tenant_id: str, branch_id: str) -> None:
        """Let go of a branch that was deleted or trimmed, and of all that is being gathered."""
        self._drops += 1
        for branch in [branch for branch in self._kept if branch[:2] == (tenant_id, branch_id)]:
            self._remove(branch)

    def gather(self, snapshot: Snapshot, drops: int) -> Gathering:
        """Begin to gather a snapshot's frames; ``drops`` are those before it was opened."""
        return Gathering(self, snapshot, drops)

    def _keep(self, snapshot: Snapshot, kept: KeptFrames) -> None:
        branch = _branch(snapshot)
        former = self._kept.get(branch)
        if not isinstance(former, KeptFrames) or former.at <= kept.at:
            self._put(branch, kept)

    def _used(self, branch: _Branch) -> KeptFrames | KeptPage | None:
        kept = self._kept.get(branch)
        if kept is not None:
            self._kept.move_to_end(branch)
        return kept

    def _put(self, branch: _Branch, kept: KeptFrames | KeptPage) -> None:
        if kept.size > self._max_bytes:
            return
        self._remove(branch)
        self._kept[branch] = kept
        self._bytes += kept.size
        self._ready.grown_to(self._bytes)
        while self._bytes > self._max_bytes or len(self._kept) > MOST_KEPT:
            self._ready.end()
            self._remove(next(iter(self._kept)))

    def _remove(self, branch: _Branch) -> None:
        former = self._kept.pop(branch, None)
        if former is not None:
            self._bytes -= former.size


class Gathering:
    """Frames on their way into the cache; a context, at whose end they are let go of."""

    def __init__(self, cache: SnapshotCache, snapshot: Snapshot, drops: int) -> None:
        self._cache = cache
        self._snapshot = snapshot
        self._drops = drops
        self._order: list[bytes] = []
        self._batches: list[Batch[bytes]] = []
        self._bytes = 0
        self._whole = snapshot.chosen is None

    def __enter__(self) -> Gathering:
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go()

    def add_order(self, frame: bytes) -> None:
        """Take an order frame, if there is room."""
        if self._fits(frame):
            self._order.append(frame)

    def add_batch(self, batch: Batch[bytes]) -> None:
        """Take a batch, if there is room."""
        if self._fits(batch.part):
            self._batches.append(batch)

    def keep(self) -> KeptFrames | None:
        """Keep what was gathered, if it is all there is and nothing was dropped since; return it then."""
        if not self._whole:
            return None
        snapshot = self._snapshot
        kept = KeptFrames(snapshot.at, self._order, snapshot.message_count, self._batches)
        if self._drops == self._cache._drops:
            self._cache._keep(snapshot, kept)
        return kept

    def _fits(self, frame: bytes) -> bool:
        if self._whole and self._cache._gathered + len(frame) > self._cache._max_bytes:
            self._let_go()
        if self._whole:
            self._bytes += len(frame)
            self._cache._gathered += len(frame)
        return self._whole

    def _let_go(self) -> None:
        self._whole = False
        self._cache._gathered -= self._bytes
        self._bytes = 0
        self._order, self._batches = [], []


def _branch(snapshot: Snapshot) -> _Branch:
    return snapshot.key.tenant_id, snapshot.key.branch_id, snapshot.branch.incarnation
