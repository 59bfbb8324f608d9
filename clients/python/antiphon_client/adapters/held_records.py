"""The records of a branch as they were read last, and what is asked to read them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from antiphon.history.v1 import branch_pb2
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.record_pages import page_call
from antiphon_client.records import Written
from antiphon_client.rpc import Steps, StreamCall, UnaryCall, perform
from antiphon_client.snapshot import AssembledSnapshot, SnapshotAssembler


class _Held(NamedTuple):
    """Records at a revision.

    Attributes:
        branch: The branch at the revision of the last reading.
        records: What was read then, and behind it what this process has appended since.
        read_count: How many were read.
        revision: The revision of all of them.
    """

    branch: branch_pb2.Branch
    records: list[pb.Message]
    read_count: int
    revision: int

    def as_snapshot(self) -> AssembledSnapshot:
        """Return what was read, for a delta to be applied to it.

        Its messages have no bytes: a kept run's are taken from the records.
        """
        message_ids = tuple(record.id for record in self.records[: self.read_count])
        return AssembledSnapshot(
            branch=self.branch,
            incarnation=self.branch.incarnation,
            revision=self.branch.revision,
            system=None,
            message_ids=message_ids,
            messages=(b"",) * len(message_ids),
            message_bytes=0,
        )


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
        self._sized: tuple[_Held | None, int] = None, 0

    @property
    def size(self) -> int:
        """Bytes of the records, encoded; found out when it is asked, and once."""
        held, (sized, size) = self._held, self._sized
        if held is not sized:
            size = 0 if held is None else sum(record.ByteSize() for record in held.records)
            self._sized = held, size
        return size

    def read(self, branch_id: str) -> Steps[Reading]:
        """Return what the branch is and holds.

        Cost: one small call where nothing has changed since or only this
        process has appended; else also the new records, and about 1 µs for
        every other; at first, all of them.
        """
        held = self._held
        if held is None:
            held = yield from _whole(branch_id)
        else:
            branch = yield from perform(_branch_call(branch_id))
            if (branch.revision, branch.incarnation) == (held.revision, held.branch.incarnation):
                return Reading(branch, held.records)
            held = yield from _changed(held)
        self._held = held
        return Reading(held.branch, held.records)

    def appended(self, written: Written, batch: Sequence[pb.Message]) -> None:
        """Take over what this process added, where it directly follows what is held."""
        held = self._held
        if held is None or written.revision != held.revision + 1:
            return
        first = len(held.records)
        if [place.index for place in written.placements] == list(range(first, first + len(batch))):
            self._held = held._replace(records=[*held.records, *batch], revision=written.revision)


class _Collector:
    """Collects a snapshot without typed messages."""

    def __init__(self, held: AssembledSnapshot | None) -> None:
        self._assembler = SnapshotAssembler(held)

    def feed(self, frame: history_pb.ReadSnapshotResponse) -> bool:
        """Take the next frame; every one is wanted."""
        return self._assembler.feed(frame)

    def result(self) -> AssembledSnapshot:
        """Return the snapshot; raises SnapshotTruncatedError if it is not whole."""
        return self._assembler.result()


def _branch_call(branch_id: str) -> UnaryCall[branch_pb2.Branch]:
    request = history_pb.GetBranchRequest(branch_id=branch_id)
    return UnaryCall("GetBranch", request, lambda response: response.branch)


def _whole(branch_id: str) -> Steps[_Held]:
    """Read a branch of which nothing is held.

    It is mostly a short one without a view, and then one page of its full order,
    which says what the branch is: one reply in place of six frames, decoded as it
    is received. It is whole or it does not come, as a stream with a footer is.
    """
    page = yield from perform(page_call(branch_id, with_branch=True))
    branch, records = page.branch, list(page.messages)
    if len(records) == branch.message_count and not branch.HasField("view_count"):
        return _Held(branch, records, len(records), branch.revision)
    return (
        yield from _streamed(history_pb.ReadSnapshotRequest(branch_id=branch_id, takes_joined=True), None)
    )


def _changed(held: _Held) -> Steps[_Held]:
    """Read what has changed since something was read; the service may answer with everything."""
    request = history_pb.ReadSnapshotRequest(
        branch_id=held.branch.branch_id,
        since_revision=held.branch.revision,
        since_incarnation=held.branch.incarnation,
        takes_joined=True,
    )
    return (yield from _streamed(request, held))


def _streamed(request: history_pb.ReadSnapshotRequest, held: _Held | None) -> Steps[_Held]:
    former = None if held is None else held.as_snapshot()
    snapshot = yield from perform(StreamCall("ReadSnapshot", request, lambda: _Collector(former)))
    records = _decoded(snapshot, [] if held is None else held.records)
    return _Held(snapshot.branch, records, len(records), snapshot.revision)


def _decoded(snapshot: AssembledSnapshot, held: Sequence[pb.Message]) -> list[pb.Message]:
    """Return the records of a snapshot, of which those held are decoded already."""
    records: list[pb.Message] = []
    for run in snapshot.kept:
        records += snapshot.decode(len(records), run.at)
        records += held[run.start : run.start + run.length]
    return records + snapshot.decode(len(records))
