"""The records of a branch as they were read last, and what is asked to read them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from antiphon.history.v1 import branch_pb2
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.records import Written
from antiphon_client.rpc import Steps, StreamCall, UnaryCall, perform
from antiphon_client.snapshot import AssembledSnapshot, SnapshotAssembler


class _Held(NamedTuple):
    """Records at a revision; those that this process appended since the snapshot stand at their end."""

    snapshot: AssembledSnapshot
    records: list[pb.Message]
    revision: int


class Reading(NamedTuple):
    """A branch and its records at its revision."""

    branch: branch_pb2.Branch
    records: list[pb.Message]


class HeldRecords:
    """One branch's selected view, else its full order.

    Every reading asks the service for the revision first, so that it is never
    older than the call. Records are shared by all who read: nobody changes them.
    """

    def __init__(self) -> None:
        self._held: _Held | None = None  # replaced as a whole, so that threads see one state

    @property
    def size(self) -> int:
        """Bytes of the records as they were read, encoded; once as much is held decoded."""
        return 0 if self._held is None else sum(map(len, self._held.snapshot.messages))

    def read(self, branch_id: str) -> Steps[Reading]:
        """Return what the branch is and holds.

        Cost: one small call where nothing has changed since or only this
        process has appended; else also the new records, and about 1 µs for
        every other; at first, all of them.
        """
        held = self._held
        request = history_pb.ReadSnapshotRequest(branch_id=branch_id)
        if held is not None:
            now = yield from _branch(branch_id)
            if (now.revision, now.incarnation) == (held.revision, held.snapshot.incarnation):
                return Reading(now, held.records)
            request.since_revision = held.snapshot.revision
            request.since_incarnation = held.snapshot.incarnation
        snapshot = yield from perform(StreamCall("ReadSnapshot", request, lambda: _Collector(held)))
        records = _decoded(snapshot, [] if held is None else held.records)
        self._held = _Held(snapshot.alone(), records, snapshot.revision)
        return Reading(snapshot.branch, records)

    def appended(self, written: Written, batch: Sequence[pb.Message]) -> None:
        """Take over what this process added, where it directly follows what is held."""
        held = self._held
        if held is None or written.revision != held.revision + 1:
            return
        first = len(held.records)
        if [place.index for place in written.placements] == list(range(first, first + len(batch))):
            self._held = _Held(held.snapshot, [*held.records, *batch], written.revision)


class _Collector:
    """Collects a snapshot without typed messages."""

    def __init__(self, held: _Held | None) -> None:
        self._assembler = SnapshotAssembler(None if held is None else held.snapshot)

    def feed(self, frame: history_pb.ReadSnapshotResponse) -> bool:
        """Take the next frame; every one is wanted."""
        return self._assembler.feed(frame)

    def result(self) -> AssembledSnapshot:
        """Return the snapshot; raises SnapshotTruncatedError if it is not whole."""
        return self._assembler.result()


def _branch(branch_id: str) -> Steps[branch_pb2.Branch]:
    request = history_pb.GetBranchRequest(branch_id=branch_id)
    return perform(UnaryCall("GetBranch", request, lambda response: response.branch))


def _decoded(snapshot: AssembledSnapshot, held: Sequence[pb.Message]) -> list[pb.Message]:
    """Return the records of a snapshot, of which those held are decoded already."""
    records: list[pb.Message] = []
    for run in snapshot.kept:
        records += snapshot.decode(len(records), run.at)
        records += held[run.start : run.start + run.length]
    return records + snapshot.decode(len(records))
