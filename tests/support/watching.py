"""A watcher of a branch without a wire, and a mirror that follows it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.edge.call import Call, bind_call
from antiphon_client.limits import DEFAULT_LIMITS
from history_service.servicer import HistoryServicer
from history_service.watch_stream import WatchTimes
from tests.support.history import History

PATIENCE_SECONDS = 30
"""How long a test waits for what must happen before it fails."""


def replica(history: History, times: WatchTimes) -> HistoryServicer:
    """Make another servicer over the same store, which no writer of the first one tells anything."""
    return HistoryServicer(history.store, DEFAULT_LIMITS, watch_times=times)


class Watcher:
    """One watch: its frames as they are asked for."""

    def __init__(self, frames: Any) -> None:
        self._frames = frames

    async def frame(self) -> pb.WatchBranchResponse:
        """Return the next frame, whatever it is."""
        frame = await asyncio.wait_for(anext(self._frames), PATIENCE_SECONDS)
        return pb.WatchBranchResponse.FromString(frame.SerializeToString())

    async def change(self) -> pb.BranchChange:
        """Return the next change."""
        while True:
            frame = await self.frame()
            if frame.HasField("change"):
                return frame.change

    async def changes(self) -> list[pb.BranchChange]:
        """Return all changes up to the next time that everything has been sent."""
        found: list[pb.BranchChange] = []
        while True:
            frame = await self.frame()
            if frame.HasField("caught_up"):
                assert not found or frame.caught_up.revision == found[-1].revision
                return found
            if frame.HasField("change"):
                found.append(frame.change)


@asynccontextmanager
async def watching(
    history: History,
    branch_id: str,
    after: int = 0,
    *,
    incarnation: str = "",
    servicer: HistoryServicer | None = None,
) -> AsyncIterator[Watcher]:
    """Watch a branch until the context ends."""
    request = pb.WatchBranchRequest(branch_id=branch_id, after_revision=after, incarnation=incarnation)
    bind_call(Call("/antiphon.history.v1.HistoryService/WatchBranch", history.tenant_id, b""))
    frames = (servicer or history._servicer).WatchBranch(request, None)  # type: ignore[arg-type]
    try:
        yield Watcher(frames)
    finally:
        await frames.aclose()  # type: ignore[attr-defined]


class Mirror:
    """Follows a branch's order by its changes alone."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.system: str | None = None

    def apply(self, change: pb.BranchChange) -> None:
        """Do what a change says, step by step."""
        for operation in change.operations:
            kind = str(operation.WhichOneof("operation"))
            step = getattr(operation, kind)
            if kind == "added":
                self.order.insert(step.index, step.message_id)
            elif kind == "removed":
                self.order.remove(step.message_id)
            elif kind == "moved":
                self.order.remove(step.message_id)
                self.order.insert(step.index, step.message_id)
            elif kind == "replaced":
                assert step.message_id in self.order
            elif kind == "cleared":
                self.order = self.order[:1] if self.system in self.order[:1] else []
