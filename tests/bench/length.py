"""What an append costs on a short branch and on a long one, in turns."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import AsyncIterator, Callable

import grpc

from tests.bench.append import APPEND, make_branch, requests
from tests.bench.conversation import conversation, to_messages
from tests.bench.load import TIMEOUT
from tests.bench.report import Row
from tests.bench.servers import Servers
from tests.bench.snapshot import append

SHORT, LONG = 10, 10_000
TARGET = 1.1
SHORT_BRANCHES = 50
"""Short branches take turns, as each grows with the rounds."""


async def measure(servers: Servers, *, rounds: int, say: Callable[[str], None]) -> AsyncIterator[Row]:
    """Appends one message at a time, first to a branch of 10 messages, then to one of 10,000."""
    say(f"length: storing, then {rounds:,} rounds")
    shorts = [await _store(servers, SHORT) for _ in range(SHORT_BRANCHES)]
    long = requests(await _store(servers, LONG), 1)
    call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = servers.history.unary_unary(APPEND)

    async def timed(make: Callable[[], bytes]) -> float:
        request = make()
        begin = time.perf_counter()
        await call(request, timeout=TIMEOUT)
        return time.perf_counter() - begin

    early: list[float] = []
    late: list[float] = []
    for number, short in zip(range(rounds), itertools.cycle([requests(each, 1) for each in shorts])):
        # Who goes first changes, so that neither always follows the other.
        turns = [(short, early), (long, late)]
        for make, seconds in turns if number % 2 else reversed(turns):
            seconds.append(await timed(make))
    yield Row(
        work=f"append to a branch of {LONG:,} messages",
        ours=statistics.median(late) * 1e3,
        unit="ms",
        beside=f"to a branch of {SHORT} messages",
        theirs=statistics.median(early) * 1e3,
        beside_unit="ms",
        ratio=statistics.median(late) / statistics.median(early),
        target=TARGET,
        bound="at most",
    )


async def _store(servers: Servers, size: int) -> str:
    branch_id = await make_branch(servers)
    await append(servers, branch_id, to_messages(conversation(size, tools=False)))
    return branch_id
