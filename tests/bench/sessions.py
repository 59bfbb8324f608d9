"""A message appended by itself, beside the sessions that agent frameworks keep in SQLite files.

One caller, one message after the other, by the clock, as all of them wait for the
same disk. The frameworks' sessions run in a process of an environment of `make
bench-peers`, with their own defaults; ours is a call over gRPC to the service.
Both hold 10 messages before, and once more 1,000.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from statistics import median

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceStub
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client.ids import new_ordered_id
from tests.bench.append import make_branch
from tests.bench.load import TIMEOUT
from tests.bench.report import Absent, Row
from tests.bench.servers import ROOT, Servers
from tests.bench.sides import running_side
from tests.bench.snapshot import append as store

PEER_PYTHON = ROOT / ".venv-sessions" / "bin" / "python"
APPENDS = 10
"""Messages of a round."""
LENGTHS = (10, 1_000)
TEXTS = [f"Question {n}: where is parcel {n * 7919}? It was sent on Monday." for n in range(APPENDS)]


@dataclass(frozen=True, slots=True)
class Peer:
    """A framework's session and the program that measures it."""

    name: str
    module: str


PEERS = (
    Peer("LangChain SQLChatMessageHistory", "tests.bench.peers.langchain_sql"),
    Peer("OpenAI Agents SQLiteSession", "tests.bench.peers.openai_session"),
    Peer("Google ADK DatabaseSessionService", "tests.bench.peers.adk_session"),
    Peer("LangGraph SqliteSaver", "tests.bench.peers.langgraph_saver"),
)


async def measure(
    servers: Servers, *, rounds: int, say: Callable[[str], None]
) -> AsyncIterator[Row | Absent]:
    """Appends to ours and to each framework's, in turns."""
    for peer in PEERS:
        if not PEER_PYTHON.exists():
            yield Absent("append a message", peer.name, "it is not installed (make bench-peers)")
            continue
        for length in LENGTHS:
            say(f"sessions: {peer.name}, {length:,} messages before")
            yield await _beside(servers, peer, length, rounds)


async def _beside(servers: Servers, peer: Peer, length: int, rounds: int) -> Row:
    ours = await _branch(servers, length)
    with (
        tempfile.TemporaryDirectory(dir=servers.folder) as folder,
        running_side(PEER_PYTHON, peer.module) as side,
    ):
        await side.begin({"texts": TEXTS, "length": length, "folder": folder})
        await ours()
        own = []
        for _ in range(rounds):
            begin = time.perf_counter()
            await ours()
            own.append(time.perf_counter() - begin)
            await side.round()
        theirs = side.seconds("append")
    return Row(
        work=f"append a message, {length:,} before",
        ours=median(own) / APPENDS * 1e3,
        unit="ms",
        beside=peer.name,
        theirs=median(theirs) / APPENDS * 1e3,
        beside_unit="ms",
        ratio=median(other / mine for mine, other in zip(own, theirs, strict=True)),
    )


async def _branch(servers: Servers, length: int) -> Callable[[], Awaitable[None]]:
    """Makes a branch of so many messages; returns what appends the texts to it."""
    stub = HistoryServiceStub(servers.history)
    branch_id = await make_branch(servers)

    def message(text: str) -> Message:
        return Message(instruction=InstructionContent(instruction=text))

    await store(servers, branch_id, [message(TEXTS[0]) for _ in range(length)])

    async def append() -> None:
        for text in TEXTS:
            request = pb.AddMessagesRequest(
                branch_id=branch_id, messages=[message(text)], request_id=new_ordered_id()
            )
            await stub.AddMessages(request, timeout=TIMEOUT)

    return append
