"""Pages of messages: as many as fit, byte for byte and in order, however large each of them is."""

from __future__ import annotations

import random
from itertools import accumulate, islice

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.limits import Limits
from history_service.snapshot_stream import FIRST_BATCH, SHORT_MESSAGES
from history_service.storage.port import BranchKey, MessagePage, NewMember, ReadTransaction, WriteTransaction
from tests.conformance.test_snapshot_cache import CountingStore
from tests.support.history import History, instruction, uuid_of

pytestmark = pytest.mark.anyio

KEY = BranchKey("", uuid_of(1), uuid_of(1))
SIZES = [38, 39, 127, 128, 500, 8191, 8192, 8193, 16_384, 60_000]
"""Small ones, and those on both sides of what a store may treat in another way."""
VIEW = 3


def body_of(number: int, size: int, fill: random.Random) -> bytes:
    """An encoded message of a size as far as a store looks at it: its id, then any bytes."""
    return (b"\n$" + uuid_of(number).encode() + fill.randbytes(size))[:size]


async def stored(history: History, count: int, sizes: list[int]) -> dict[tuple[int, int | None], list[bytes]]:
    """A branch whose rows lie in another order than they were stored in.

    Returns:
        The bodies in order, by revision and view: all of them at 4, two thirds at
        5, and the latter in reverse in the view.
    """
    await history.create(1)
    fill = random.Random(5)
    numbers = fill.sample(range(100, 100 + count), count)
    ended = set(numbers[: count // 3])
    living = [number for number in numbers if number not in ended]
    bodies = {number: body_of(number, fill.choice(sizes), fill) for number in sorted(numbers)}
    rows = [NewMember(uuid_of(number), number, 2, None, False, bodies[number]) for number in numbers]

    def insert(tx: WriteTransaction) -> None:
        tx.insert_members(KEY, 2, rows)
        tx.begin_view(KEY, VIEW)
        tx.insert_view_rows(KEY, VIEW, VIEW, [(1000 - number, uuid_of(number)) for number in living])
        tx.remove_members(KEY, 5, [uuid_of(number) for number in ended])
        branch = tx.branch("", uuid_of(1))
        assert branch is not None
        branch.revision = 5
        tx.save_head(branch)

    await history.store.write(insert)
    left = [body for number, body in bodies.items() if number not in ended]
    return {(4, None): list(bodies.values()), (5, None): left, (4, VIEW): left[::-1], (5, VIEW): left[::-1]}


def expected(bodies: list[bytes], limit: int, max_bytes: int) -> MessagePage:
    """The page that starts with these bodies."""
    ends = accumulate(map(len, bodies))
    fitting = sum(end <= max_bytes for end in islice(ends, limit))
    count = min(max(fitting, 1), len(bodies))
    return MessagePage(bodies[:count], count == len(bodies))


@pytest.mark.parametrize("sizes", [SIZES[:5], SIZES])
async def test_a_page_is_as_long_as_it_may_be(history: History, sizes: list[int]) -> None:
    choose = random.Random(7)
    orders = await stored(history, 300, sizes)

    def check(tx: ReadTransaction) -> None:
        for _ in range(100):
            (at, view), order = choose.choice(list(orders.items()))
            start = choose.choice([0, 0, *range(len(order) + 1)])
            limit = choose.choice([1, 2, 63, 64, 65, 200, 512])
            max_bytes = choose.choice([0, 100, 8192, 20_000, 70_000, 200_000, 10**7])
            after = order[start - 1][2:38].decode() if start else None
            page = tx.read_messages(KEY, at, view=view, after=after, limit=limit, max_bytes=max_bytes)
            assert page == expected(order[start:], limit, max_bytes)
            ids = tx.read_ids(KEY, at, view=view, after=after, limit=limit)
            assert ids == [body[2:38].decode() for body in order[start : start + limit]]

    await history.store.read(check)


@pytest.mark.parametrize(
    ("count", "batches"),
    [
        (FIRST_BATCH + 512 + 40, [512, FIRST_BATCH + 40]),
        (SHORT_MESSAGES, [512, 512]),
        (SHORT_MESSAGES + 1, [FIRST_BATCH, 512, SHORT_MESSAGES + 1 - FIRST_BATCH - 512]),
    ],
)
async def test_the_first_batch_of_a_long_snapshot_is_small(
    history: History, count: int, batches: list[int]
) -> None:
    branch = await history.create(1)
    for start in range(0, count, 512):
        end = min(start + 512, count)
        await history.add(branch, *(instruction(number) for number in range(start, end)))
    got = [pb.ReadSnapshotResponse.FromString(frame) async for frame in history.frames(branch)]
    assert [len(frame.batch.messages) for frame in got if frame.HasField("batch")] == batches
    kinds = ["header", "order", *["batch"] * len(batches), "footer"]
    assert [frame.WhichOneof("frame") for frame in got] == kinds
    bodies = [body for frame in got for body in frame.batch.messages]
    assert list(got[1].order.message_ids) == [body[2:38].decode() for body in bodies]
    assert len(bodies) == count


async def test_small_batches_are_read_a_few_in_a_transaction_and_large_ones_alone(history: History) -> None:
    branch = await history.create(1)
    await history.add(branch, *(instruction(number, "x" * 100) for number in range(48)))
    whole = await history.snapshot(branch)
    # The one that opens it reads the order and four batches of two messages each, or one; 20 or 23 are left.
    for frame_bytes, transactions in ((2**20, 1 + 5), (400, 1 + 23)):
        store = CountingStore(history.store)
        service = History(store, Limits(snapshot_batch_messages=2, frame_bytes=frame_bytes))
        snapshot = await service.snapshot(branch)
        assert snapshot.bodies == whole.bodies
        orders = len(snapshot.order) * 38 // frame_bytes
        assert store.reads == transactions + orders
