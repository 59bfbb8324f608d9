"""Collectors of ``ReadSnapshot`` streams, from the whole snapshot to its order alone."""

from __future__ import annotations

from uuid import UUID

from antiphon.history.v1.history_service_pb2 import ReadSnapshotResponse
from antiphon_client.errors import SnapshotTruncatedError
from antiphon_client.messages import Message, System, from_proto
from antiphon_client.records import BranchRecord, SnapshotRecord
from antiphon_client.snapshot import SnapshotAssembler


class SnapshotCollector:
    """Collects a whole snapshot and verifies it."""

    def __init__(self) -> None:
        self._assembler = SnapshotAssembler()

    def feed(self, frame: ReadSnapshotResponse) -> bool:
        """Take the next frame; every one is wanted."""
        return self._assembler.feed(frame)

    def result(self) -> SnapshotRecord:
        """Return the snapshot; raises SnapshotTruncatedError if it is not whole."""
        snapshot = self._assembler.result()
        return SnapshotRecord(
            branch=BranchRecord.from_proto(snapshot.branch),
            system=None if snapshot.system is None else as_system(from_proto(snapshot.system)),
            messages=tuple(from_proto(message) for message in snapshot.decode()),
        )


class OrderCollector:
    """Collects the selection's order and stops before the messages."""

    def __init__(self) -> None:
        self._expected: int | None = None
        self._ids: list[UUID] = []

    def feed(self, frame: ReadSnapshotResponse) -> bool:
        """Take the next frame; True once the order is complete."""
        if frame.HasField("header"):
            self._expected = frame.header.message_count
        elif frame.HasField("order"):
            self._ids.extend(UUID(message_id) for message_id in frame.order.message_ids)
        return len(self._ids) == self._expected

    def result(self) -> tuple[UUID, ...]:
        """Return the ids in order; raises SnapshotTruncatedError if some are missing."""
        if len(self._ids) != self._expected:
            raise SnapshotTruncatedError(
                f"the snapshot's order holds {len(self._ids)} ids; its header announces {self._expected}"
            )
        return tuple(self._ids)


class SystemCollector:
    """Reads the system record from the header and stops there."""

    def __init__(self) -> None:
        self._seen = False
        self._system: System | None = None

    def feed(self, frame: ReadSnapshotResponse) -> bool:
        """Take the header, the first frame, and no more."""
        self._seen = frame.HasField("header")
        if self._seen and frame.header.HasField("system"):
            self._system = as_system(from_proto(frame.header.system))
        return True

    def result(self) -> System | None:
        """Return the system record; raises SnapshotTruncatedError if there was no header."""
        if not self._seen:
            raise SnapshotTruncatedError("the snapshot has no header")
        return self._system


def as_system(message: Message) -> System:
    """Return ``message`` as the system record that the contract says it is."""
    if not isinstance(message, System):
        raise SnapshotTruncatedError("the snapshot's system record is of another kind")
    return message
