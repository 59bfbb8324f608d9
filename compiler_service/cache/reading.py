"""Reading a branch for a call, by what is kept of it."""

from __future__ import annotations

from typing import NamedTuple

from antiphon_client.edge.call import current_call
from antiphon_client.edge.metrics import Figure
from antiphon_client.errors import BranchDeletedError, BranchNotFoundError
from antiphon_client.limits import Limits
from antiphon_client.snapshot import AssembledSnapshot
from compiler_service.cache.ahead import FoldingAhead
from compiler_service.cache.branches import BranchAddress, BranchCache, KeptBranch, kept_branch
from compiler_service.cache.messages import MessagesOnDemand, RecordsOnDemand
from compiler_service.compilation import CompileSource
from compiler_service.folded.history import FoldedHistory
from compiler_service.source import HistoryRequest, SnapshotStub, pull_snapshot
from compiler_service.workers.pool import FoldingWorkers

_FOLDED_PART = 64
"""What is folded takes a part of so many of the time that folding takes,"""
_FOLDED_MESSAGE = 5
"""or as much as so many bytes a message: short ones, and those with notes, take their time by number."""


class BranchReading(NamedTuple):
    """A branch as it was read for a call.

    Attributes:
        snapshot: What was selected of it.
        former: What FOLDED made of that before; None for nothing.
        ahead: What FOLDED has made of it on its way; None for nothing.
        address: Where it may be kept; None where it may not.
        held: The snapshot that was kept then; None for none.
    """

    snapshot: AssembledSnapshot
    former: FoldedHistory | None
    ahead: FoldedHistory | None
    address: BranchAddress | None
    held: AssembledSnapshot | None

    @property
    def is_known(self) -> bool:
        """Whether it is what was kept, as far as it goes."""
        held, snapshot = self.held, self.snapshot
        return held is not None and (held.incarnation, held.revision) == (
            snapshot.incarnation,
            snapshot.revision,
        )

    @property
    def folded(self) -> FoldedHistory | None:
        """What FOLDED has made of it, before or on its way."""
        return self.ahead if self.former is None else self.former

    def weight(self, *, only_folds: bool) -> int:
        """Bytes to work on, for ``run_weighted``.

        Args:
            only_folds: The work is FOLDED's alone, so that what is folded already counts for little.
        """
        size = self.snapshot.message_bytes
        if not only_folds or self.folded is None:
            return size
        left = self._left_bytes(self.folded)
        messages = len(self.snapshot.messages)
        return left + max((size - left) // _FOLDED_PART, messages * _FOLDED_MESSAGE)

    def _left_bytes(self, folded: FoldedHistory) -> int:
        """Return the bytes of the messages that are not folded; one may be as large as all others."""
        size = at = 0
        for start, stretch in folded.held:
            size += sum(map(len, self.snapshot.messages[at:start]))
            at = start + stretch.length
        return size + sum(map(len, self.snapshot.messages[at:]))

    def source(self) -> CompileSource:
        """Return it as the source of a compilation."""
        snapshot = self.snapshot
        return CompileSource(
            system=snapshot.system,
            messages=MessagesOnDemand(snapshot),
            revision=snapshot.revision,
            incarnation=snapshot.incarnation,
            message_ids=snapshot.message_ids,
            former=self.folded,
            plain=RecordsOnDemand(snapshot),
        )


class BranchReader:
    """Reads branches from the history service: one call for each reading, whatever is kept.

    The current call's caller is the one who asks: whether a branch exists and
    may be read is the history service's to say, every time. Belongs to one event
    loop.
    """

    def __init__(
        self,
        stub: SnapshotStub | None,
        limits: Limits,
        cache_bytes: int,
        workers: FoldingWorkers | None = None,
        ready_bytes: int = 0,
    ) -> None:
        """Set up the reader.

        Args:
            stub: The history service; None where none is configured.
            limits: Gives ``snapshot_bytes``.
            cache_bytes: Memory of what is kept, at most; 0 keeps nothing.
            workers: Fold beside this process; None for none.
            ready_bytes: Memory of what is kept that is fetched now.
        """
        self._stub = stub
        self._limits = limits
        self._cache = BranchCache(cache_bytes, ready_bytes)
        self._workers = workers
        self._hits = self._misses = 0

    @property
    def kept_bytes(self) -> int:
        """Memory that what is kept takes, estimated from above."""
        return self._cache.memory_bytes

    def figures(self) -> tuple[Figure, ...]:
        """Return what tells how much the cache spares and holds; a reading with a progression is past it."""
        return (
            Figure(
                "antiphon_compile_cache_hits",
                "Readings of a branch that needed only what has changed.",
                lambda: self._hits,
                is_count=True,
            ),
            Figure(
                "antiphon_compile_cache_misses",
                "Readings of a branch that took all of it.",
                lambda: self._misses,
                is_count=True,
            ),
            Figure("antiphon_compile_cache_branches", "Branches that are kept.", lambda: len(self._cache)),
            Figure(
                "antiphon_compile_cache_bytes",
                "Memory of the branches that are kept, estimated from above.",
                lambda: self._cache.memory_bytes,
            ),
        )

    async def read(self, request: HistoryRequest, *, folds: bool = False) -> BranchReading:
        """Read what a request with a branch as its source selects.

        Args:
            request: The request.
            folds: Whether FOLDED is to be made of it, which then begins at once.

        Raises:
            AntiphonError: As ``pull_snapshot`` does.
        """
        call = current_call()
        address: BranchAddress | None = None
        kept: KeptBranch | None = None
        if not request.HasField("progression"):
            address = BranchAddress(call.tenant_id, request.branch.branch_id)
            kept = self._cache.find(address)
            if kept is not None and _is_past(request, kept):
                kept = None
        held = None if kept is None else kept.snapshot
        with FoldingAhead(self._workers) as ahead:
            watch = ahead.look if folds and address is not None else None
            try:
                snapshot = await pull_snapshot(self._stub, request, call, self._limits, held, watch)
            except (BranchDeletedError, BranchNotFoundError):
                # What is deleted or erased there is not kept here until its place is wanted.
                self._cache.drop(BranchAddress(call.tenant_id, request.branch.branch_id))
                raise
            folded = await ahead.history()
        if held is not None and address is not None and snapshot.revision < held.revision:
            # The history was put back to an older copy: what is kept is of revisions that are gone.
            self._cache.drop(address)
        if address is not None:
            self._count(is_hit=bool(snapshot.kept))
        former = None
        if kept is not None and kept.folded is not None:
            former = kept.folded.moved(snapshot.kept)
        return BranchReading(snapshot, former, folded, address, held)

    def _count(self, *, is_hit: bool) -> None:
        if is_hit:
            self._hits += 1
        else:
            self._misses += 1

    def keep(self, reading: BranchReading, folded: FoldedHistory | None) -> None:
        """Keep a reading, and what FOLDED has made of it, for later calls."""
        if reading.address is None or (reading.is_known and folded == reading.former):
            return
        snapshot = reading.snapshot.alone()
        self._cache.keep(reading.address, kept_branch(snapshot, folded))


def _is_past(request: HistoryRequest, kept: KeptBranch) -> bool:
    branch = request.branch
    return branch.HasField("at_revision") and branch.at_revision < kept.snapshot.revision
