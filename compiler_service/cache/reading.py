"""Reading a branch for a call, by what is kept of it."""

from __future__ import annotations

from typing import NamedTuple

from antiphon_client.edge.call import current_call
from antiphon_client.limits import Limits
from antiphon_client.snapshot import AssembledSnapshot
from compiler_service.cache.branches import BranchAddress, BranchCache, KeptBranch, kept_branch
from compiler_service.cache.messages import MessagesOnDemand
from compiler_service.compilation import CompileSource
from compiler_service.folded.history import FoldedHistory
from compiler_service.source import HistoryRequest, SnapshotStub, pull_snapshot


class BranchReading(NamedTuple):
    """A branch as it was read for a call.

    Attributes:
        snapshot: What was selected of it.
        former: What FOLDED made of that before; None for nothing.
        address: Where it may be kept; None where it may not.
        held: The snapshot that was kept then; None for none.
        message_bytes: Bytes of the messages.
    """

    snapshot: AssembledSnapshot
    former: FoldedHistory | None
    address: BranchAddress | None
    held: AssembledSnapshot | None
    message_bytes: int

    @property
    def is_known(self) -> bool:
        """Whether it is what was kept, as far as it goes."""
        held, snapshot = self.held, self.snapshot
        return held is not None and (held.incarnation, held.revision) == (
            snapshot.incarnation,
            snapshot.revision,
        )

    def source(self) -> CompileSource:
        """Return it as the source of a compilation."""
        snapshot = self.snapshot
        return CompileSource(
            system=snapshot.system,
            messages=MessagesOnDemand(snapshot),
            revision=snapshot.revision,
            incarnation=snapshot.incarnation,
            message_ids=snapshot.message_ids,
            former=self.former,
        )


class BranchReader:
    """Reads branches from the history service: one call for each reading, whatever is kept.

    The current call's caller is the one who asks: whether a branch exists and
    may be read is the history service's to say, every time. Belongs to one event
    loop.
    """

    def __init__(self, stub: SnapshotStub | None, limits: Limits, cache_bytes: int) -> None:
        """Set up the reader.

        Args:
            stub: The history service; None where none is configured.
            limits: Gives ``snapshot_bytes``.
            cache_bytes: Memory of what is kept, at most; 0 keeps nothing.
        """
        self._stub = stub
        self._limits = limits
        self._cache = BranchCache(cache_bytes)

    @property
    def kept_bytes(self) -> int:
        """Memory that what is kept takes, estimated from above."""
        return self._cache.memory_bytes

    async def read(self, request: HistoryRequest) -> BranchReading:
        """Read what a request with a branch as its source selects.

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
        snapshot = await pull_snapshot(self._stub, request, call, self._limits, held)
        if held is not None and address is not None and snapshot.revision < held.revision:
            # The history was put back to an older copy: what is kept is of revisions that are gone.
            self._cache.drop(address)
        former = None
        if kept is not None and kept.folded is not None:
            former = kept.folded.moved(snapshot.kept)
        return BranchReading(snapshot, former, address, held, sum(map(len, snapshot.messages)))

    def keep(self, reading: BranchReading, folded: FoldedHistory | None) -> None:
        """Keep a reading, and what FOLDED has made of it, for later calls."""
        if reading.address is None or (reading.is_known and folded == reading.former):
            return
        snapshot = reading.snapshot.alone()
        self._cache.keep(reading.address, kept_branch(snapshot, reading.message_bytes, folded))


def _is_past(request: HistoryRequest, kept: KeptBranch) -> bool:
    branch = request.branch
    return branch.HasField("at_revision") and branch.at_revision < kept.snapshot.revision
