"""Durable appends beside a bare echo of the same bytes."""

from __future__ import annotations

import statistics
from collections.abc import AsyncIterator, Callable, Iterator

from antiphon.history.v1 import branch_pb2, history_service_pb2, history_service_pb2_grpc
from antiphon_client.ids import new_id, new_ordered_id
from tests.bench.conversation import conversation, to_messages
from tests.bench.echo import ECHO
from tests.bench.load import TIMEOUT, Load, closed_loops
from tests.bench.report import Row
from tests.bench.servers import Servers

APPEND = "/antiphon.history.v1.HistoryService/AddMessages"
CALLERS = (1, 16, 64)
BATCH = 64
BATCH_CALLERS = 8
BUSIEST = max(CALLERS)

# Field 5 (request_id) of AddMessagesRequest, a string of 36 bytes. Fields may follow each
# other in any order, so that a request is a prefix encoded once and a fresh id.
_REQUEST_ID_TAG = bytes([5 << 3 | 2, 36])


def requests(branch_id: str, messages: int) -> Callable[[], bytes]:
    """What makes append requests of ``messages`` new messages each; the server assigns their ids."""
    records = to_messages(conversation(messages, tools=False))
    for message in records:
        message.ClearField("id")
    prefix = history_service_pb2.AddMessagesRequest(branch_id=branch_id, messages=records).SerializeToString()
    return lambda: prefix + _REQUEST_ID_TAG + new_ordered_id().encode()


async def make_branch(servers: Servers) -> str:
    """Makes an empty branch and returns its id."""
    stub = history_service_pb2_grpc.HistoryServiceStub(servers.history)
    request = history_service_pb2.CreateBranchRequest(request_id=new_ordered_id())
    response: history_service_pb2.CreateBranchResponse = await stub.CreateBranch(request, timeout=TIMEOUT)
    return response.branch.branch_id


def reply_bytes() -> int:
    """Size of the reply to an append of one message, which the floor's replies get too."""
    placement = branch_pb2.Placement(message_id=new_id(), index=1000)
    reply = history_service_pb2.AddMessagesResponse(revision=1000, placements=[placement])
    return len(reply.SerializeToString())


async def measure(
    servers: Servers, *, seconds: float, rounds: int, say: Callable[[str], None]
) -> AsyncIterator[Row]:
    """Appends with 1, 16 and 64 callers and in batches, each load right after the floor's."""
    branches = [await make_branch(servers) for _ in range(BUSIEST)]
    single = [requests(branch, 1) for branch in branches]
    batch = [requests(branch, BATCH) for branch in branches[:BATCH_CALLERS]]

    async def floor(callers: int) -> Load:
        return await closed_loops(servers.floor, ECHO, single.__getitem__, callers=callers, seconds=seconds)

    async def ours(makers: list[Callable[[], bytes]], callers: int) -> Load:
        return await closed_loops(
            servers.history, APPEND, makers.__getitem__, callers=callers, seconds=seconds
        )

    floors: dict[int, list[Load]] = {callers: [] for callers in CALLERS}
    appends: dict[int, list[Load]] = {callers: [] for callers in CALLERS}
    batches: list[Load] = []
    for number in range(rounds + 1):
        warming = number == 0
        say(f"append: {'warming up' if warming else f'round {number} of {rounds}'}")
        for callers in CALLERS:
            pair = await floor(callers), await ours(single, callers)
            if not warming:
                floors[callers].append(pair[0])
                appends[callers].append(pair[1])
        load = await ours(batch, BATCH_CALLERS)
        if not warming:
            batches.append(load)
    for row in _rows(floors, appends, batches):
        yield row


def _rows(
    floors: dict[int, list[Load]], appends: dict[int, list[Load]], batches: list[Load]
) -> Iterator[Row]:
    for callers in CALLERS:
        yield Row(
            work=f"durable append, 1 message a call, {callers} caller{'s' if callers > 1 else ''}",
            ours=statistics.median(load.rate for load in appends[callers]),
            unit="calls/s",
            beside="bare echo",
            theirs=statistics.median(load.rate for load in floors[callers]),
            beside_unit="calls/s",
            ratio=statistics.median(
                ours.rate / floor.rate for ours, floor in zip(appends[callers], floors[callers], strict=True)
            ),
            target=0.65 if callers == BUSIEST else None,
            detail=_percentiles(appends[callers]),
        )
    yield Row(
        work=f"durable append, {BATCH} messages a call, {BATCH_CALLERS} callers",
        ours=statistics.median(load.rate * BATCH for load in batches),
        unit="messages/s",
        beside=f"bare echo, {BUSIEST} callers",
        theirs=statistics.median(load.rate for load in floors[BUSIEST]),
        beside_unit="calls/s",
        ratio=statistics.median(
            load.rate * BATCH / floor.rate for load, floor in zip(batches, floors[BUSIEST], strict=True)
        ),
        target=9,
        detail=_percentiles(batches),
    )


def _percentiles(loads: list[Load]) -> str:
    p50 = statistics.median(load.p50 for load in loads)
    p99 = statistics.median(load.p99 for load in loads)
    return f"p50 {p50:.2f} ms, p99 {p99:.2f} ms"
