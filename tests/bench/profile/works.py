"""The loads that are profiled: those of the bench's rows, each with what the floor does beside it."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import grpc

from antiphon.history.v1 import history_service_pb2
from antiphon_client.json_text import dump_json_text
from tests.bench import append
from tests.bench.compile import CASES, PEER_NAME, PEER_PYTHON, compile_branch, reference
from tests.bench.conversation import conversation, to_messages
from tests.bench.echo import ECHO, STREAM, write_frames
from tests.bench.load import TIMEOUT, closed_loops, read_stream
from tests.bench.mailbox import BATCH as LETTERS
from tests.bench.mailbox import mailbox
from tests.bench.mailbox import measure as measure_mailbox
from tests.bench.report import Row
from tests.bench.servers import Servers
from tests.bench.snapshot import READ, store

COMPILED = 1_000
"""Messages of a compilation."""
_BESIDE_ROUNDS = 5
"""Rounds of what the bench's row is measured beside."""
_COMPILATIONS_A_SECOND = 8
"""Branches that are made ready for each second of a turn."""

Run = Callable[[float], Awaitable[int]]
"""Runs a load for so many seconds; returns how many units it did."""


@dataclass(frozen=True, slots=True)
class Load:
    """Both sides of a work.

    Attributes:
        ours: Our load.
        floor: The floor's.
        prepare: Comes before each turn of ours and is not measured, with the seconds of the turn.
        beside: What the bench's row is measured beside, by name; nothing where that is not installed.
    """

    ours: Run
    floor: Run
    prepare: Run | None = None
    beside: Callable[[], Awaitable[dict[str, float]]] | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """A work that can be profiled.

    Attributes:
        title: What is done.
        unit: What its CPU time is told by.
        floor_unit: What that of the floor is told by.
        services: The servers that take part.
        beside_unit: The unit of what the bench's row is measured beside.
        load: Makes both sides.
    """

    title: str
    unit: str
    floor_unit: str
    services: tuple[str, ...]
    load: Callable[[Servers], Awaitable[Load]]
    beside_unit: str = ""


async def _append(servers: Servers, messages: int, callers: int) -> Load:
    branches = [await append.make_branch(servers) for _ in range(append.BUSIEST)]
    single = [append.requests(branch, 1) for branch in branches]
    makers = single if messages == 1 else [append.requests(branch, messages) for branch in branches]

    async def ours(seconds: float) -> int:
        load = await closed_loops(
            servers.history, append.APPEND, makers.__getitem__, callers=callers, seconds=seconds
        )
        return load.calls

    async def floor(seconds: float) -> int:
        load = await closed_loops(
            servers.floor, ECHO, single.__getitem__, callers=append.BUSIEST, seconds=seconds
        )
        return load.calls

    return Load(ours, floor)


async def _mailbox(servers: Servers) -> Load:
    texts = [dump_json_text(record) for record in conversation(LETTERS, tools=True)]
    echo: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = servers.floor.unary_unary(ECHO)

    async def echoes() -> None:
        await asyncio.gather(*(echo(text.encode(), timeout=TIMEOUT) for text in texts))
        for _ in range(2):  # the Lease and the Acknowledge
            await echo(b"", timeout=TIMEOUT)

    async def brokers() -> dict[str, float]:
        rows = [row async for row in measure_mailbox(servers, rounds=_BESIDE_ROUNDS, say=_nobody)]
        return {row.beside: row.theirs for row in rows if isinstance(row, Row)}

    return Load(_repeated(await mailbox(servers, texts)), _repeated(echoes), beside=brokers)


async def _compile(servers: Servers) -> Load:
    messages = to_messages(conversation(COMPILED, tools=True))
    request = history_service_pb2.ReadSnapshotRequest(branch_id=await store(servers, messages))
    recorded = servers.folder / "profile.frames"
    read = read_stream(servers.history, READ, request.SerializeToString())
    write_frames(recorded, [frame async for frame in read])
    branches: list[str] = []

    async def prepare(seconds: float) -> int:
        while len(branches) < max(1, round(seconds * _COMPILATIONS_A_SECOND)):
            branches.append(await store(servers, messages))
        return len(branches)

    async def ours(_seconds: float) -> int:
        count = len(branches)
        while branches:
            await compile_branch(servers, branches.pop())
        return count

    async def stream() -> None:
        async for _ in read_stream(servers.floor, STREAM, str(recorded).encode()):
            pass

    async def peer() -> dict[str, float]:
        if not PEER_PYTHON.exists():
            return {}
        case = next(case for case in CASES if case.size == COMPILED and case.tools)
        times = await reference(case, _BESIDE_ROUNDS)
        return {PEER_NAME: statistics.median(times.cold) * 1e3}

    return Load(ours, _repeated(stream), prepare, peer)


def _nobody(_text: str) -> None:
    """Progress of what takes a moment only."""


def _repeated(once: Callable[[], Awaitable[object]]) -> Run:
    async def run(seconds: float) -> int:
        loop = asyncio.get_running_loop()
        end, count = loop.time() + seconds, 0
        while loop.time() < end:
            await once()
            count += 1
        return count

    return run


WORKS = {
    "append": Work(
        f"durable append, 1 message a call, {append.BUSIEST} callers",
        "call",
        "echo",
        ("history",),
        lambda servers: _append(servers, 1, append.BUSIEST),
    ),
    "batch": Work(
        f"durable append, {append.BATCH} messages a call, {append.BATCH_CALLERS} callers",
        f"call of {append.BATCH} messages",
        "echo",
        ("history",),
        lambda servers: _append(servers, append.BATCH, append.BATCH_CALLERS),
    ),
    "mailbox": Work(
        f"mailbox send + receive + ack, batch {LETTERS}",
        f"batch ({LETTERS + 2} calls)",
        f"{LETTERS + 2} echoes",
        ("history",),
        _mailbox,
        "messages/s",
    ),
    "compile": Work(
        f"compile cold, {COMPILED:,} messages, a tool call each round",
        "compilation",
        "bare stream of the same snapshot",
        ("history", "compiler"),
        _compile,
        "ms",
    ),
}
"""By the names of the command line."""
