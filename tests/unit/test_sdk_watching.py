"""What becomes of each frame and of each failure of a watch."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import AntiphonError, BranchNotFoundError, ShuttingDownError, StoreBusyError
from antiphon_client.transport_errors import CallCancelledError, ServiceUnreachableError
from antiphon_client.watching import UnknownChangeError, WatchPosition, WatchToken

BRANCH, INCARNATION, OTHER = UUID(int=1), UUID(int=2), UUID(int=3)


def frame(revision: int, **fields: Any) -> pb.WatchBranchResponse:
    built: Any = pb.BranchChange
    change = built(
        **{"kind": pb.BRANCH_CHANGE_KIND_METADATA} | fields,
        revision=revision,
        incarnation=str(INCARNATION),
        position={"writer_id": str(OTHER), "counter": 5},
    )
    return pb.WatchBranchResponse(change=change)


HEARTBEAT = pb.WatchBranchResponse(heartbeat=pb.WatchHeartbeat(revision=1))
CAUGHT_UP = pb.WatchBranchResponse(caught_up=pb.WatchCaughtUp(revision=1))


def test_request_goes_on_where_the_watch_is() -> None:
    position = WatchPosition(BRANCH, WatchToken(3, INCARNATION), follow=True)
    assert position.request() == pb.WatchBranchRequest(
        branch_id=str(BRANCH), after_revision=3, incarnation=str(INCARNATION)
    )
    position = WatchPosition(BRANCH, 0, follow=True)
    assert position.request() == pb.WatchBranchRequest(branch_id=str(BRANCH))
    position.take(frame(1))
    assert position.request() == pb.WatchBranchRequest(
        branch_id=str(BRANCH), after_revision=1, incarnation=str(INCARNATION)
    )


def test_change_that_comes_again_is_seen_once() -> None:
    position = WatchPosition(BRANCH, 0, follow=True)
    taken = [position.take(frame(revision)) for revision in (1, 2, 1, 2, 3)]
    assert [change and change.revision for change in taken] == [1, 2, None, None, 3]


def test_only_caught_up_ends_a_watch_that_does_not_follow() -> None:
    position = WatchPosition(BRANCH, 0, follow=False)
    follower = WatchPosition(BRANCH, 0, follow=True)
    ended = []
    for frame_ in (HEARTBEAT, CAUGHT_UP):
        assert position.take(frame_) is None
        assert follower.take(frame_) is None
        ended.append((position.ended, follower.ended))
    assert ended == [(False, False), (True, False)]


def test_unknown_kinds_are_errors_unless_ignorable() -> None:
    position = WatchPosition(BRANCH, 0, follow=True)
    assert position.take(frame(1, kind=99, ignorable=True)) is None
    assert position.request().after_revision == 1
    with pytest.raises(UnknownChangeError, match="kind 99"):
        position.take(frame(2, kind=99))
    with pytest.raises(UnknownChangeError, match="operation"):
        position.take(frame(2, operations=[pb.BranchOperation()]))
    assert position.request().after_revision == 1


def test_each_loss_of_the_service_is_told_once() -> None:
    told: list[AntiphonError] = []
    position = WatchPosition(BRANCH, 0, follow=True, on_lost=told.append)
    first, second = ShuttingDownError("a"), ShuttingDownError("b")
    with pytest.raises(ShuttingDownError):
        position.delay_after(first)
    assert told == [], "it was never there"
    position.take(frame(1))
    for error in (first, second):
        position.delay_after(error)
    assert told == [first]
    position.take(frame(2))
    position.delay_after(second)
    assert told == [first, second]


def test_unavailable_is_waited_out_once_connected() -> None:
    position = WatchPosition(BRANCH, 0, follow=True)
    with pytest.raises(ServiceUnreachableError):
        position.delay_after(ServiceUnreachableError("nobody"))
    position.take(HEARTBEAT)
    bounds = [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
    failures: list[AntiphonError] = [
        ServiceUnreachableError("gone"),
        ShuttingDownError("stopping"),
        StoreBusyError("busy"),
    ]
    for number, bound in enumerate(bounds):
        assert bound / 2 <= position.delay_after(failures[number % 3]) <= bound
    position.take(HEARTBEAT)
    assert position.delay_after(failures[0]) <= 0.1
    for error in (BranchNotFoundError("none"), CallCancelledError("cancelled")):
        with pytest.raises(type(error)):
            position.delay_after(error)
