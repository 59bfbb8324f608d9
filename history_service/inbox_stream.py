"""Watches of inboxes: deliveries pushed, read on from where the reader is.

As ``watch_stream`` does for a branch: one position and one page, no queue, so
that a slow reader costs bounded memory and writers nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import NamedTuple

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.limits import Limits
from history_service import exchange_encoding as encoding
from history_service.signals import Signals
from history_service.storage.exchange_port import ExchangeKey, InboxPage
from history_service.storage.port import HistoryStore, ReadTransaction
from history_service.watch_stream import WatchTimes

PAGE_DELIVERIES = 64
"""Deliveries that a watch holds at most; of messages, one frame's bytes or one message."""


class Inbox(NamedTuple):
    """Whose deliveries are watched; also what the signals of its deliveries are sent to."""

    key: ExchangeKey
    owner_id: str


async def frames(
    store: HistoryStore, signals: Signals, times: WatchTimes, limits: Limits, inbox: Inbox, after: int
) -> AsyncGenerator[pb.WatchInboxResponse | bytes]:
    """Yield the frames of a watch, after a sequence, until the reader goes.

    An unknown owner has no deliveries yet.
    """

    def look(tx: ReadTransaction) -> tuple[InboxPage, int]:
        page = tx.exchange.inbox_page(
            *inbox, after=after, sender_id=None, limit=PAGE_DELIVERIES, max_bytes=limits.frame_bytes
        )
        owner = tx.exchange.owner(*inbox)
        return page, 0 if owner is None else owner.last_sequence

    now = asyncio.get_running_loop().time
    caught_up_at = -1
    quiet_since = now()
    with signals.listening(inbox) as signal:
        while True:
            signal.clear()
            page, last = await store.read(look)
            for delivered in page.deliveries:
                yield encoding.watch_delivery(delivered)
                after = delivered[0].sequence
            if not page.complete:
                continue
            if last != caught_up_at:
                caught_up_at = last
                yield pb.WatchInboxResponse(caught_up=pb.InboxCaughtUp(sequence=last))
                quiet_since = now()
            rest = quiet_since + times.heartbeat - now()
            if not await signal.wait(max(0.0, min(times.poll, rest))) and rest <= times.poll:
                yield pb.WatchInboxResponse(heartbeat=pb.InboxHeartbeat(sequence=last))
                quiet_since = now()
