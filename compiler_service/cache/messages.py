"""A snapshot's messages, read when somebody looks at them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

from antiphon.message.v1.message_pb2 import Message
from antiphon_client.snapshot import AssembledSnapshot
from compiler_service.folded.plain import read_records
from compiler_service.state import FoldedRecord

T = TypeVar("T")


class _OnDemand(Sequence[T]):
    """What is read of a snapshot's messages; a slice reads itself only, all else reads them all, once.

    Raises SnapshotTruncatedError where it reads, as ``AssembledSnapshot.decode`` does.
    """

    def __init__(self, snapshot: AssembledSnapshot) -> None:
        self._snapshot = snapshot
        self._all: Sequence[T] | None = None

    @abstractmethod
    def _read(self, start: int, stop: int) -> Sequence[T]:
        """Read the messages between two indices."""

    def __len__(self) -> int:
        return len(self._snapshot.messages)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if self._all is None and isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if start >= stop:
                return []
            if step == 1 and stop - start < len(self):
                return self._read(start, stop)
        return self._whole()[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._whole())

    def _whole(self) -> Sequence[T]:
        if self._all is None:
            self._all = self._read(0, len(self))
        return self._all


class MessagesOnDemand(_OnDemand[Message]):
    """The messages, decoded."""

    def _read(self, start: int, stop: int) -> Sequence[Message]:
        return self._snapshot.decode(start, stop)


class RecordsOnDemand(_OnDemand[FoldedRecord]):
    """The messages as FOLDED takes them."""

    def _read(self, start: int, stop: int) -> Sequence[FoldedRecord]:
        snapshot = self._snapshot
        return read_records(snapshot.message_ids[start:stop], snapshot.messages[start:stop], start)
