"""Snapshots of which frames come joined: the same frames, fewer messages of the stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import BranchDeletedError
from antiphon_client.limits import Limits
from history_service import encoding, joined_frames, snapshot_stream
from tests.support.history import History, instruction, system, uuid_of

pytestmark = pytest.mark.anyio

SMALL = Limits(frame_bytes=400, snapshot_batch_messages=2)


async def read(history: History, branch: str, **fields: Any) -> list[pb.ReadSnapshotResponse]:
    """A snapshot's frames, as they come."""
    return [pb.ReadSnapshotResponse.FromString(frame) async for frame in history.frames(branch, **fields)]


def apart(frames: Sequence[pb.ReadSnapshotResponse]) -> list[pb.ReadSnapshotResponse]:
    """Frames, those that came joined each by itself."""
    return [
        each for frame in frames for each in (split(frame.joined) if frame.HasField("joined") else [frame])
    ]


def split(joined: pb.SnapshotFrames) -> Iterator[pb.ReadSnapshotResponse]:
    """The frames that others stand for."""
    if joined.HasField("header"):
        yield pb.ReadSnapshotResponse(header=joined.header)
    yield from [pb.ReadSnapshotResponse(order=order) for order in joined.orders]
    yield from [pb.ReadSnapshotResponse(delta=delta) for delta in joined.deltas]
    yield from [pb.ReadSnapshotResponse(batch=batch) for batch in joined.batches]
    if joined.HasField("footer"):
        yield pb.ReadSnapshotResponse(footer=joined.footer)


async def check_joined(history: History, branch: str, limits: Limits, **fields: Any) -> int:
    """Check that frames come joined as far as they fit, and are the ones that come apart; count them."""
    service = History(history.store, limits)
    singles = await read(service, branch, **fields)
    assert not [frame for frame in singles if frame.HasField("joined")]
    joined = await read(service, branch, takes_joined=True, **fields)
    assert apart(joined) == singles
    assert all(frame.ByteSize() <= limits.frame_bytes for frame in joined if frame.HasField("joined"))
    assert all(len(apart([frame])) > 1 for frame in joined if frame.HasField("joined"))
    # None that would have fitted to those before stands apart.
    sizes = [sum(each.ByteSize() for each in apart([frame])) for frame in joined]
    firsts = [apart([frame])[0].ByteSize() + 6 for frame in joined]
    assert all(size + after > limits.frame_bytes for size, after in zip(sizes, firsts[1:], strict=False))
    return len(joined)


@pytest.mark.parametrize("count", [0, 1, 30])
async def test_a_snapshot_comes_as_one(history: History, count: int) -> None:
    branch = await history.create()
    if count:
        await history.add(branch, system(99), *[instruction(n) for n in range(count)])
    assert await check_joined(history, branch, Limits()) == 1
    chosen = [uuid_of(n) for n in range(0, count, 2)]
    assert await check_joined(history, branch, Limits(), ids=chosen) == 1


async def test_no_more_is_joined_than_fits_into_a_frame(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *[instruction(n, "x" * (n % 9 * 50)) for n in range(30)])
    assert await check_joined(history, branch, SMALL) > 5


@pytest.mark.parametrize("room", range(7))
async def test_what_joining_adds_counts_too(room: int) -> None:
    one = encoding.snapshot_order([uuid_of(0)])

    async def frames() -> AsyncGenerator[bytes]:
        yield one
        yield one

    most = 2 * len(one) + room
    sizes = [len(frame) async for frame in joined_frames.joined(frames(), most)]
    assert max(sizes) <= most
    assert len(sizes) == (1 if room == encoding.FIELD_OVERHEAD else 2)


async def test_what_has_changed_comes_as_one_however_long_the_branch(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_stream, "SHORT_MESSAGES", 3)
    branch = await history.create()
    await history.add(branch, *[instruction(n) for n in range(30)])
    (header, *_) = await read(history, branch)
    await history.add(branch, instruction(3, "changed"), *[instruction(n) for n in range(90, 99)])
    since = {"since": header.header.revision, "incarnation": header.header.incarnation}
    assert await check_joined(history, branch, Limits(), **since) == 1
    assert await check_joined(history, branch, SMALL, **since) > 1


async def test_a_long_snapshot_comes_as_it_is_read(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_stream, "SHORT_MESSAGES", 3)
    branch = await history.create()
    await history.add(branch, *[instruction(n) for n in range(4)])
    assert await read(history, branch, takes_joined=True) == await read(history, branch)


async def test_kept_frames_are_joined_alike(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *[instruction(n) for n in range(9)])
    service = History(history.store, SMALL)
    first = await read(service, branch, takes_joined=True)
    assert await read(service, branch, takes_joined=True) == first
    await history.add(branch, instruction(10))
    grown = await read(service, branch, takes_joined=True)
    assert apart(grown) == await read(History(history.store, SMALL), branch)


async def test_a_branch_deleted_between_two_frames_ends_the_stream(history: History) -> None:
    branch = await history.create()
    await history.add(branch, *[instruction(n, "x" * 3000) for n in range(9)])
    service = History(history.store, Limits(frame_bytes=4096))

    async def delete_meanwhile() -> None:
        deleted = False
        async for _ in service.frames(branch, takes_joined=True):
            if not deleted:
                await history.call(pb.DeleteBranchRequest(branch_id=branch))
            deleted = True

    with pytest.raises(BranchDeletedError):
        await delete_meanwhile()


async def test_a_reader_that_goes_away_closes_what_makes_the_frames() -> None:
    closed: list[bool] = []

    async def frames() -> AsyncGenerator[bytes]:
        try:
            while True:
                yield encoding.snapshot_order([uuid_of(0)])
        finally:
            closed.append(True)

    async with aclosing(joined_frames.joined(frames(), 1)) as gone:
        await anext(gone)
    assert closed == [True]


async def test_a_slow_reader_holds_one_frame_beside_what_it_takes() -> None:
    held: list[int] = []

    class Frame(bytes):
        def __del__(self) -> None:
            held.pop()

    async def frames() -> AsyncGenerator[bytes]:
        for number in range(6):
            held.append(number)
            yield Frame(encoding.snapshot_order([uuid_of(number)]))

    most = 3 * len(encoding.snapshot_order([uuid_of(0)])) + encoding.FIELD_OVERHEAD
    async with aclosing(joined_frames.joined(frames(), most)) as slow:
        assert [len(held) async for _ in slow] == [1, 0]
