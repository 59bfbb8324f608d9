"""Watches as streams: the change log, read on from where the reader is.

A watch keeps one position and one page of the log, nothing else: no queue that
a slow reader could fill. It reads the next page when the transport has taken
the one before, so that gRPC's flow control reaches down to the store, and
writers know nothing of it. Once it has caught up it waits for a signal of this
process's writers, and looks by itself now and then for those of others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.errors import BranchDeletedError
from history_service.domain import watching
from history_service.signals import Signals
from history_service.storage.port import HistoryStore

PAGE_CHANGES = 64
"""Change records that a watch holds at most; the largest, of 1,000 ids, have 40 KB."""


@dataclass(frozen=True, slots=True)
class WatchTimes:
    """How long a watch is quiet.

    Attributes:
        heartbeat: Seconds without a frame after which a heartbeat is sent.
        poll: Seconds after which the store is asked without having been told
            to: what other processes commit is seen this late at most.
    """

    heartbeat: float = 15.0
    poll: float = 5.0


DEFAULT_TIMES = WatchTimes()


async def frames(
    store: HistoryStore, signals: Signals, times: WatchTimes, watch: watching.Watch, after_revision: int
) -> AsyncGenerator[history_pb.WatchBranchResponse]:
    """Yield the frames of a watch until the branch is deleted or the reader goes.

    Raises:
        BranchNotFoundError: There is no such branch.
        RevisionExpiredError: The change that should come next was dropped.
        RevisionInFutureError: The branch has not reached the revision.
        BranchDeletedError: The branch was deleted; that change has been sent.
        StoreCorruptError: The log has a record that must not be skipped and
            cannot be understood.
    """
    now = asyncio.get_running_loop().time
    caught_up_at = -1
    with signals.listening(address(watch.tenant_id, watch.branch_id)) as signal:
        while True:
            signal.clear()
            branch, changes, complete = await store.read(
                partial(watching.read_changes, watch=watch, after_revision=after_revision, limit=PAGE_CHANGES)
            )
            for row in changes:
                change = watching.describe_change(row, branch.incarnation)
                if change is not None:
                    yield history_pb.WatchBranchResponse(change=change)
                after_revision = row.revision
            if not complete:
                continue
            if branch.deleted:
                branch_id = watch.branch_id
                raise BranchDeletedError(f"branch {branch_id} was deleted", metadata={"branch_id": branch_id})
            if branch.revision != caught_up_at:
                caught_up_at = branch.revision
                caught_up = history_pb.WatchCaughtUp(revision=caught_up_at)
                yield history_pb.WatchBranchResponse(caught_up=caught_up)
                quiet_since = now()
            rest = quiet_since + times.heartbeat - now()
            if not await signal.wait(max(0.0, min(times.poll, rest))) and rest <= times.poll:
                heartbeat = history_pb.WatchHeartbeat(revision=caught_up_at)
                yield history_pb.WatchBranchResponse(heartbeat=heartbeat)
                quiet_since = now()


def address(tenant_id: str, branch_id: str) -> tuple[str, str]:
    """Return what the signals of a branch's writes are sent to."""
    return tenant_id, branch_id
