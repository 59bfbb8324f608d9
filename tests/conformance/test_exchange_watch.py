"""Watching inboxes, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from antiphon_client.limits import Limits
from history_service.watch_stream import WatchTimes
from tests.support.exchange import (
    Exchange,
    number_of,
    running,
)

pytestmark = pytest.mark.anyio

SECOND = 10**9


@pytest.fixture
async def exchange(anyio_backend: object, store_kind: str, tmp_path: Path) -> AsyncIterator[Exchange]:
    """An exchange of owners 1, 2 and 3, its messages leased twice at most."""
    async with running(store_kind, tmp_path) as service:
        await service.register(1, 2, 3, max_deliveries=2)
        yield service


QUICK = WatchTimes(heartbeat=0.05, poll=0.02)
NEVER = WatchTimes(heartbeat=3600.0, poll=3600.0)


async def take(frames: Any, count: int) -> list[tuple[str, int]]:
    """Read so many frames: their kind, and message or sequence."""
    found = []
    async with asyncio.timeout(30):
        for _ in range(count):
            frame = await anext(frames)
            kind = frame.WhichOneof("frame")
            what = number_of(frame.delivery.message) if kind == "delivery" else getattr(frame, kind).sequence
            found.append((kind, what))
    return found


async def test_a_watch_shows_what_is_queued_and_then_what_comes(store_kind: str, tmp_path: Path) -> None:
    async with running(store_kind, tmp_path, watch_times=NEVER) as exchange:
        await exchange.register(1, 2)
        await exchange.deliver(1, 2, 10, 11)
        frames = exchange.watch(2)
        assert await take(frames, 3) == [("delivery", 10), ("delivery", 11), ("caught_up", 2)]
        later = asyncio.ensure_future(take(frames, 2))
        await exchange.deliver(1, 1, 98)
        await exchange.deliver(1, 2, 12)
        assert await later == [("delivery", 12), ("caught_up", 3)]
        # It took nothing.
        assert await exchange.inbox(2) == [10, 11, 12]
        await frames.aclose()


async def test_a_watch_goes_on_after_a_sequence_and_leaves_out_what_is_consumed(
    exchange: Exchange,
) -> None:
    await exchange.deliver(1, 2, 10, 11, 12, 13)
    await exchange.lease(2, 1)
    await exchange.pop(2, 1)
    assert await take(exchange.watch(2), 4) == [
        ("delivery", 10),
        ("delivery", 12),
        ("delivery", 13),
        ("caught_up", 4),
    ]
    assert await take(exchange.watch(2, 3), 2) == [("delivery", 13), ("caught_up", 4)]
    assert await take(exchange.watch(2, 4), 1) == [("caught_up", 4)]
    while await exchange.pop(2, 1) is not None:
        pass
    assert await take(exchange.watch(2, 1), 1) == [("caught_up", 4)]


async def test_an_unknown_owners_watch_waits_for_it(store_kind: str, tmp_path: Path) -> None:
    async with running(store_kind, tmp_path, watch_times=NEVER) as exchange:
        await exchange.register(1)
        frames = exchange.watch(2)
        assert await take(frames, 1) == [("caught_up", 0)]
        later = asyncio.ensure_future(take(frames, 2))
        await exchange.register(2)
        await exchange.deliver(1, "broadcast", 10)
        assert await later == [("delivery", 10), ("caught_up", 1)]
        await exchange.unregister(2)
        await exchange.register(2)
        later = asyncio.ensure_future(take(frames, 2))
        await exchange.redrive((await exchange.dead_letters())[0].dead_letter_id)
        assert await later == [("delivery", 10), ("caught_up", 2)]
        await frames.aclose()


async def test_a_quiet_watch_says_that_it_lives(store_kind: str, tmp_path: Path) -> None:
    async with running(store_kind, tmp_path, watch_times=QUICK) as exchange:
        frames = exchange.watch(2)
        assert await take(frames, 3) == [("caught_up", 0), ("heartbeat", 0), ("heartbeat", 0)]
        await frames.aclose()


async def test_a_watch_sees_what_another_process_delivers(store_kind: str, tmp_path: Path) -> None:
    times = WatchTimes(heartbeat=3600.0, poll=0.02)
    async with running(store_kind, tmp_path, watch_times=times) as exchange:
        # Another servicer over the store tells this one's watchers nothing, as another process would.
        other = Exchange(exchange.store, first_id=0xDDDD_0000_0000)
        frames = exchange.watch(2)
        assert await take(frames, 1) == [("caught_up", 0)]
        await other.register(1, 2)
        await other.deliver(1, 2, 10)
        assert await take(frames, 2) == [("delivery", 10), ("caught_up", 1)]
        await frames.aclose()


async def test_a_watch_reads_on_only_when_its_reader_does(store_kind: str, tmp_path: Path) -> None:
    limits = Limits(frame_bytes=1000)
    async with running(store_kind, tmp_path, limits, watch_times=NEVER) as exchange:
        await exchange.register(1, 2)
        await exchange.deliver(1, 2, *range(10, 200))
        frames = exchange.watch(2)
        assert await take(frames, 1) == [("delivery", 10)]
        # Held are the rest of one page and nothing else: what goes meanwhile is not shown.
        while await exchange.pop(2, 1) != 199:
            pass
        await exchange.deliver(1, 2, 500)
        shown = await take(frames, 1)
        while shown[-1][0] == "delivery":
            shown += await take(frames, 1)
        assert len(shown) < 20
        assert shown[-2:] == [("delivery", 500), ("caught_up", 191)]
        await frames.aclose()
