"""The branches kept in memory, within a bound in bytes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from antiphon_client.edge.ready_memory import SMALL_BYTES, ReadyMemory
from antiphon_client.snapshot import AssembledSnapshot
from compiler_service.folded.history import FoldedHistory

DEFAULT_CACHE_BYTES = 256 * 2**20
"""What is kept at most, where nothing else is said."""

_BRANCH_BYTES = 4096
_MESSAGE_BYTES = 192
"""Memory of a message beside its encoding: its id, two references, two objects' heads."""


class BranchAddress(NamedTuple):
    """Which branch; the same id may be another tenant's branch."""

    tenant_id: str
    branch_id: str


@dataclass(frozen=True, eq=False, slots=True)
class KeptBranch:
    """What is kept of a branch.

    Attributes:
        snapshot: Its selection at one revision, without a progression.
        folded: What FOLDED made of that; None for nothing.
        memory_bytes: Memory that it takes, estimated from above.
    """

    snapshot: AssembledSnapshot
    folded: FoldedHistory | None
    memory_bytes: int


def kept_branch(snapshot: AssembledSnapshot, folded: FoldedHistory | None) -> KeptBranch:
    """Return what is to be kept, measured."""
    system = 0 if snapshot.system is None else snapshot.system.ByteSize()
    memory = _BRANCH_BYTES + 2 * (snapshot.branch.ByteSize() + system)
    memory += snapshot.message_bytes + len(snapshot.messages) * _MESSAGE_BYTES
    if folded is not None:
        memory += folded.memory_bytes
    return KeptBranch(snapshot, folded, memory)


class BranchCache:
    """The newest known selection of each branch; those least in use go first.

    Belongs to one event loop. What it hands out is never changed, so it stays
    good for whoever has it when it goes.
    """

    def __init__(self, max_bytes: int, ready_bytes: int = 0) -> None:
        """Keep nothing yet.

        Args:
            max_bytes: Memory of all that is kept, at most; 0 keeps nothing.
            ready_bytes: What of it is fetched now.
        """
        self._ready = ReadyMemory(min(ready_bytes, max_bytes), for_objects=True)
        self._max_bytes = max_bytes
        self._kept: OrderedDict[BranchAddress, KeptBranch] = OrderedDict()
        self._memory_bytes = 0
        self._object_bytes = 0
        """What small objects have of it."""

    def __len__(self) -> int:
        """Return how many branches are kept."""
        return len(self._kept)

    @property
    def memory_bytes(self) -> int:
        """Memory that what is kept takes, estimated from above."""
        return self._memory_bytes

    def find(self, address: BranchAddress) -> KeptBranch | None:
        """Return what is kept of a branch; it is in use now."""
        kept = self._kept.get(address)
        if kept is not None:
            self._kept.move_to_end(address)
        return kept

    def keep(self, address: BranchAddress, branch: KeptBranch) -> None:
        """Keep a branch, unless a later revision of the same incarnation is kept.

        What does not fit is not kept, and what was kept of the branch goes.
        """
        former = self._kept.get(address)
        if former is not None and _is_later(former.snapshot, branch.snapshot):
            return
        self.drop(address)
        if branch.memory_bytes > self._max_bytes:
            return
        self._kept[address] = branch
        self._memory_bytes += branch.memory_bytes
        self._object_bytes += _object_bytes(branch.snapshot)
        self._ready.grown_to(self._memory_bytes - self._object_bytes, self._object_bytes)
        while self._memory_bytes > self._max_bytes:
            self._ready.end()
            self.drop(next(iter(self._kept)))

    def drop(self, address: BranchAddress) -> None:
        """Let go of a branch."""
        former = self._kept.pop(address, None)
        if former is not None:
            self._memory_bytes -= former.memory_bytes
            self._object_bytes -= _object_bytes(former.snapshot)


def _object_bytes(snapshot: AssembledSnapshot) -> int:
    """Return how much of a snapshot's memory small objects take: ids, and messages where most are short."""
    count, size = len(snapshot.messages), snapshot.message_bytes
    return count * _MESSAGE_BYTES + (size if size < count * SMALL_BYTES else 0)


def _is_later(one: AssembledSnapshot, other: AssembledSnapshot) -> bool:
    return one.incarnation == other.incarnation and one.revision > other.revision
