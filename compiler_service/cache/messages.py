"""A snapshot's messages, decoded when somebody looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from antiphon.message.v1.message_pb2 import Message
from antiphon_client.snapshot import AssembledSnapshot


class MessagesOnDemand(Sequence[Message]):
    """The messages of a snapshot; a slice decodes itself only, all else decodes them all, once.

    Raises SnapshotTruncatedError where it decodes, as ``AssembledSnapshot.decode`` does.
    """

    def __init__(self, snapshot: AssembledSnapshot) -> None:
        self._snapshot = snapshot
        self._all: list[Message] | None = None

    def __len__(self) -> int:
        return len(self._snapshot.messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if self._all is None and isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if start >= stop:
                return []
            if step == 1 and stop - start < len(self):
                return self._snapshot.decode(start, stop)
        return self._decoded()[index]

    def __iter__(self) -> Iterator[Message]:
        return iter(self._decoded())

    def _decoded(self) -> list[Message]:
        if self._all is None:
            self._all = self._snapshot.decode()
        return self._all
