"""Following a branch change by change (ADR-0006 D4): ``Branch.watch``.

A watch is a plain iterator, asynchronous in the asyncio client. Every change
carries the token to go on from: keep it beside what was made of the change,
and a watcher that is killed misses nothing and repeats nothing.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Literal, TypeAlias
from uuid import UUID

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import AntiphonError, ShuttingDownError
from antiphon_client.rpc import AsyncTransport, SyncTransport

ChangeKind: TypeAlias = Literal["created", "membership", "view", "metadata", "deleted"]
"""A kind of change; ``BranchChangeKind`` in the proto explains them."""

OperationName: TypeAlias = Literal[
    "added", "replaced", "removed", "moved", "cleared", "view_selected", "view_cleared"
]

_KINDS: dict[int, ChangeKind] = {
    pb.BRANCH_CHANGE_KIND_CREATED: "created",
    pb.BRANCH_CHANGE_KIND_MEMBERSHIP: "membership",
    pb.BRANCH_CHANGE_KIND_VIEW: "view",
    pb.BRANCH_CHANGE_KIND_METADATA: "metadata",
    pb.BRANCH_CHANGE_KIND_DELETED: "deleted",
}

OnLost: TypeAlias = Callable[[AntiphonError], None]
"""Hears of each time a watch has lost the service and begins to wait for it: once, with the cause."""

_FIRST_DELAY = 0.1
_LONGEST_DELAY = 2.0


class UnknownChangeError(AntiphonError):
    """The server sent a change of a kind that this client does not know and must not skip."""

    reason = "CHANGE_UNKNOWN"
    code = "UNIMPLEMENTED"


@dataclass(frozen=True, slots=True)
class WatchToken:
    """Where a watch stands: after a revision of one incarnation of a branch.

    ``str(token)`` and :meth:`parse` are its text form.
    """

    revision: int
    incarnation: UUID

    def __str__(self) -> str:
        """Return the text form, such as ``12@2b9f...``."""
        return f"{self.revision}@{self.incarnation}"

    @classmethod
    def parse(cls, text: str) -> WatchToken:
        """Read the text form; raises ValueError for any other text."""
        revision, separator, incarnation = text.partition("@")
        if not separator or not revision.isdecimal():
            raise ValueError(f"{text!r} is no watch token")
        return cls(int(revision), UUID(incarnation))


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a change.

    Attributes:
        name: What was done.
        message_id: The message it was done to; None for ``cleared`` and those of views.
        index: Where an added or moved message stands after it.
        message_count: Messages in a view that was selected.
    """

    name: OperationName
    message_id: UUID | None = None
    index: int | None = None
    message_count: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One committed change of a branch.

    Attributes:
        revision: The revision it made.
        incarnation: The branch's incarnation.
        kind: What kind of change it is.
        operations: What happened to membership, order and view, in order.
        writer_id: The writer that committed it.
        counter: How many changes that writer had committed before.
    """

    revision: int
    incarnation: UUID
    kind: ChangeKind
    operations: tuple[Operation, ...]
    writer_id: UUID
    counter: int

    @property
    def token(self) -> WatchToken:
        """Where a watch goes on after this change."""
        return WatchToken(self.revision, self.incarnation)


class WatchPosition:
    """Where one watch is, and what becomes of each frame and each failure."""

    def __init__(
        self, branch_id: UUID, after: WatchToken | int, *, follow: bool, on_lost: OnLost | None = None
    ) -> None:
        self._branch_id = branch_id
        self._follow = follow
        self._on_lost = on_lost
        self._revision = after if isinstance(after, int) else after.revision
        self._incarnation = "" if isinstance(after, int) else str(after.incarnation)
        self._connected = False
        self._failures = 0
        self.ended = False
        """Whether nothing more is wanted."""

    def request(self) -> pb.WatchBranchRequest:
        """Return the request that goes on from here."""
        return pb.WatchBranchRequest(
            branch_id=str(self._branch_id), after_revision=self._revision, incarnation=self._incarnation
        )

    def take(self, frame: pb.WatchBranchResponse) -> Change | None:
        """Take a frame; return the change it brings, if it is one that was not seen yet.

        Raises:
            UnknownChangeError: It must not be skipped and cannot be understood.
        """
        self._connected, self._failures = True, 0
        if frame.HasField("caught_up"):
            self.ended = not self._follow
        if not frame.HasField("change") or frame.change.revision <= self._revision:
            return None
        change = _change(frame.change)
        self._revision, self._incarnation = frame.change.revision, frame.change.incarnation
        if change is not None and change.kind == "deleted":
            self.ended = True
        return change

    def delay_after(self, error: AntiphonError) -> float:
        """Return how many seconds to wait before connecting again.

        Raises:
            AntiphonError: The same error, if that is pointless: it is not
                UNAVAILABLE, or the watch has never been connected.
        """
        if error.code != "UNAVAILABLE" or not self._connected:
            raise error
        if self._failures == 0 and self._on_lost is not None:
            self._on_lost(error)
        delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** min(self._failures, 10))
        self._failures += 1
        return delay * random.uniform(0.5, 1.0)  # nosec B311: it spreads retries and guards nothing


def _change(change: pb.BranchChange) -> Change | None:
    kind = _KINDS.get(change.kind)
    if kind is None:
        if change.ignorable:
            return None
        raise UnknownChangeError(
            f"revision {change.revision} is a change of kind {change.kind}, which this client does not know"
        )
    return Change(
        revision=change.revision,
        incarnation=UUID(change.incarnation),
        kind=kind,
        operations=tuple(_operation(change.revision, operation) for operation in change.operations),
        writer_id=UUID(change.position.writer_id),
        counter=change.position.counter,
    )


def _operation(revision: int, operation: pb.BranchOperation) -> Operation:
    name = operation.WhichOneof("operation")
    if name is None:
        raise UnknownChangeError(f"revision {revision} has an operation that this client does not know")
    step = getattr(operation, name)
    fields = step.DESCRIPTOR.fields_by_name
    return Operation(
        name=name,
        message_id=UUID(step.message_id) if "message_id" in fields else None,
        index=step.index if "index" in fields else None,
        message_count=step.message_count if "message_count" in fields else None,
    )


def watch(
    transport: SyncTransport,
    branch_id: UUID,
    after: WatchToken | int,
    *,
    follow: bool,
    on_lost: OnLost | None = None,
) -> Generator[Change]:
    """Yield a branch's changes; see ``HistoryClient.watch_branch``."""
    position = WatchPosition(branch_id, after, follow=follow, on_lost=on_lost)
    while True:
        try:
            with closing(transport.frames("WatchBranch", position.request())) as frames:
                for frame in frames:
                    change = position.take(frame)
                    if change is not None:
                        yield change
                    if position.ended:
                        return
            raise ShuttingDownError("the watch ended without a reason")
        except AntiphonError as error:
            time.sleep(position.delay_after(error))


async def watch_async(
    transport: AsyncTransport,
    branch_id: UUID,
    after: WatchToken | int,
    *,
    follow: bool,
    on_lost: OnLost | None = None,
) -> AsyncGenerator[Change]:
    """Yield a branch's changes, as :func:`watch` does."""
    position = WatchPosition(branch_id, after, follow=follow, on_lost=on_lost)
    while True:
        try:
            async with aclosing(transport.frames("WatchBranch", position.request())) as frames:
                async for frame in frames:
                    change = position.take(frame)
                    if change is not None:
                        yield change
                    if position.ended:
                        return
            raise ShuttingDownError("the watch ended without a reason")
        except AntiphonError as error:
            await asyncio.sleep(position.delay_after(error))
