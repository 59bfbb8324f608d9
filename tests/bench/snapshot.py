"""Snapshots beside a bare stream of the same frames."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from antiphon.history.v1 import history_service_pb2, history_service_pb2_grpc
from antiphon.message.v1 import message_pb2
from antiphon_client.ids import new_ordered_id
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.snapshot import SnapshotAssembler
from tests.bench.append import make_branch
from tests.bench.conversation import SYSTEM, conversation, to_messages
from tests.bench.echo import STREAM, write_frames
from tests.bench.load import TIMEOUT, read_stream
from tests.bench.report import Row
from tests.bench.servers import Servers

READ = "/antiphon.history.v1.HistoryService/ReadSnapshot"
SIZE = 10_000


async def store(servers: Servers, messages: Sequence[message_pb2.Message]) -> str:
    """Makes a branch with a system record and the messages; returns its id."""
    stub = history_service_pb2_grpc.HistoryServiceStub(servers.history)
    branch_id = await make_branch(servers)
    system = history_service_pb2.SetSystemRequest(
        branch_id=branch_id,
        system=message_pb2.SystemContent(system_message=SYSTEM),
        request_id=new_ordered_id(),
    )
    await stub.SetSystem(system, timeout=TIMEOUT)
    await append(servers, branch_id, messages)
    return branch_id


async def append(servers: Servers, branch_id: str, messages: Sequence[message_pb2.Message]) -> None:
    """Appends the messages in full batches."""
    stub = history_service_pb2_grpc.HistoryServiceStub(servers.history)
    for start in range(0, len(messages), DEFAULT_LIMITS.batch_messages):
        request = history_service_pb2.AddMessagesRequest(
            branch_id=branch_id,
            messages=messages[start : start + DEFAULT_LIMITS.batch_messages],
            request_id=new_ordered_id(),
        )
        await stub.AddMessages(request, timeout=TIMEOUT)


async def measure(servers: Servers, *, rounds: int, say: Callable[[str], None]) -> AsyncIterator[Row]:
    """Reads a branch of 10,000 messages and the same frames from the floor, in turns.

    Once the client only takes the frames, once it verifies and decodes them; the service
    keeps the frames from the read before. Then what it makes of a branch that it has not
    read before (a fork of the first), and of one that has grown by a message since.
    """
    say("snapshot: storing")
    branch_id = await store(servers, to_messages(conversation(SIZE, tools=True)))
    request = history_service_pb2.ReadSnapshotRequest(branch_id=branch_id).SerializeToString()
    frames = await _frames(read_stream(servers.history, READ, request))
    recorded = servers.folder / "snapshot.frames"
    write_frames(recorded, frames)
    bare_request = str(recorded).encode()
    if await _frames(read_stream(servers.floor, STREAM, bare_request)) != frames:
        raise RuntimeError("the floor does not send the frames that were recorded")
    say(f"snapshot: {rounds} rounds")
    for client, read in (("raw frames", _frames), ("verified and decoded", _decode)):
        ours, bare = [], []
        for _ in range(rounds):
            ours.append(await _timed(read(read_stream(servers.history, READ, request))))
            bare.append(await _timed(read(read_stream(servers.floor, STREAM, bare_request))))
        yield Row(
            work=f"snapshot of {SIZE:,} messages, {client}",
            ours=statistics.median(ours) * 1e3,
            unit="ms",
            beside="bare stream, same bytes",
            theirs=statistics.median(bare) * 1e3,
            beside_unit="ms",
            ratio=statistics.median(ours) / statistics.median(bare),
            target=1.3,
            bound="at most",
            detail=f"{sum(map(len, frames)) / 1e6:.1f} MB in {len(frames)} frames",
        )

    for work, prepare in (("first read", _fork), ("one message more since the last read", _grow)):
        ours, bare = [], []
        for _ in range(max(3, rounds // 3)):
            request = await prepare(servers, branch_id)
            ours.append(await _timed(_frames(read_stream(servers.history, READ, request))))
            bare.append(await _timed(_frames(read_stream(servers.floor, STREAM, bare_request))))
        yield Row(
            work=f"snapshot of {SIZE:,} messages, {work}",
            ours=statistics.median(ours) * 1e3,
            unit="ms",
            beside="bare stream, same bytes",
            theirs=statistics.median(bare) * 1e3,
            beside_unit="ms",
            ratio=statistics.median(ours) / statistics.median(bare),
            detail="raw frames",
        )


async def _fork(servers: Servers, branch_id: str) -> bytes:
    """Makes a fork and returns the request that reads it."""
    stub = history_service_pb2_grpc.HistoryServiceStub(servers.history)
    request = history_service_pb2.ForkBranchRequest(source_branch_id=branch_id, request_id=new_ordered_id())
    response: history_service_pb2.ForkBranchResponse = await stub.ForkBranch(request, timeout=TIMEOUT)
    return history_service_pb2.ReadSnapshotRequest(branch_id=response.branch.branch_id).SerializeToString()


async def _grow(servers: Servers, branch_id: str) -> bytes:
    """Appends a message and returns the request that reads the branch."""
    message = to_messages(conversation(1, tools=False))[0]
    message.ClearField("id")
    await append(servers, branch_id, [message])
    return history_service_pb2.ReadSnapshotRequest(branch_id=branch_id).SerializeToString()


async def _timed(reading: Awaitable[object]) -> float:
    begin = time.perf_counter()
    await reading
    return time.perf_counter() - begin


async def _frames(stream: AsyncIterator[bytes]) -> list[bytes]:
    return [frame async for frame in stream]


async def _decode(stream: AsyncIterator[bytes]) -> list[message_pb2.Message]:
    """What the SDK does with a snapshot."""
    assembler = SnapshotAssembler()
    async for frame in stream:
        assembler.feed(history_service_pb2.ReadSnapshotResponse.FromString(frame))
    return assembler.result().decode()
