"""Compilation beside the reference package on the same conversation."""

from __future__ import annotations

import asyncio
import hashlib
import json
import statistics
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

from antiphon.compiler.v1 import compiler_service_pb2, compiler_service_pb2_grpc
from antiphon.message.v1 import message_pb2
from tests.bench.conversation import QUESTION, SYSTEM, conversation, to_messages
from tests.bench.load import TIMEOUT
from tests.bench.report import Row
from tests.bench.servers import ROOT, Servers
from tests.bench.snapshot import append, store

PEER_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
PEER_SCRIPT = ROOT / "tests" / "bench" / "peers" / "reference.py"
PEER_NAME = "reference package"
LONG = 1_000
"""Messages from which on the reference takes seconds, and hardly varies."""


@dataclass(frozen=True, slots=True)
class Case:
    """One conversation to compile, and the ratios to reach.

    ``repeats`` is the number of times that a round compiles it; the reference compiles a long one once,
    and there are half as many rounds.
    """

    size: int
    tools: bool
    repeats: int
    cold_target: float | None
    warm_target: float | None

    @property
    def name(self) -> str:
        """What a row says of the conversation."""
        return f"{self.size:,} messages, {'a tool call each round' if self.tools else 'no tools'}"


CASES = (
    Case(1_000, tools=True, repeats=5, cold_target=15, warm_target=None),
    Case(1_000, tools=False, repeats=5, cold_target=15, warm_target=None),
    Case(10_000, tools=True, repeats=3, cold_target=None, warm_target=200),
    Case(10_000, tools=False, repeats=3, cold_target=None, warm_target=15),
)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of every compilation, and what came out, to be sure that both did the same.

    ``reading`` has the seconds that it took to make Python's texts of each decoded reply.
    """

    cold: list[float]
    warm: list[float]
    messages: int
    digest: str
    reading: list[float] = field(default_factory=list)

    @property
    def outcome(self) -> tuple[int, str]:
        """What came out."""
        return self.messages, self.digest

    def plus(self, other: Times) -> Times:
        """These times and those of another round, which had the same outcome."""
        both = [[*mine, *its] for mine, its in zip(self._seconds, other._seconds, strict=True)]
        return Times(both[0], both[1], *self.outcome, both[2])

    @property
    def _seconds(self) -> tuple[list[float], list[float], list[float]]:
        return self.cold, self.warm, self.reading


async def measure(servers: Servers, *, rounds: int, say: Callable[[str], None]) -> AsyncIterator[Row]:
    """Compiles 1,000 and 10,000 messages, cold and warm, with and without tool calls.

    Cold is a branch never compiled before; warm is one new message since the last
    compilation. Both are timed from the call to the decoded reply. What a caller in Python
    then takes to read every text of it stands beside the row: texts are made as they are
    asked for, and one that sends a provider's request on asks for none. All branches of a case
    are stored before the first is compiled: what a store does after its answer, such as a
    checkpoint, is no part of a compilation. Then reference and service take turns, as the
    machine may do other work for some seconds.
    """
    await compile_branch(servers, await store(servers, to_messages(conversation(8, tools=True))))
    for case in CASES:
        number = rounds if case.size <= LONG else (rounds + 1) // 2
        say(f"compile: {case.name}, {number} rounds")
        stored = await _store(servers, case, number)
        turns = [await _turn(servers, case, each) for each in stored]
        ours, theirs = (reduce(Times.plus, times) for times in zip(*turns, strict=True))
        for row in _rows(case, ours, theirs):
            yield row


async def _turn(servers: Servers, case: Case, branches: Branches) -> tuple[Times, Times]:
    """A round of the reference and one of ours."""
    theirs = await reference(case, case.repeats if case.size <= LONG else 1)
    ours = await _ours(servers, case, branches)
    if ours.outcome != theirs.outcome:
        raise RuntimeError(f"{case.name}: ours and the {PEER_NAME}'s messages differ after the first")
    return ours, theirs


def _rows(case: Case, ours: Times, theirs: Times) -> Iterator[Row]:
    for state, mine, other, target in (
        ("cold", ours.cold, theirs.cold, case.cold_target),
        ("warm", ours.warm, theirs.warm, case.warm_target),
    ):
        yield Row(
            work=f"compile {state}, {case.name}",
            ours=statistics.median(mine) * 1e3,
            unit="ms",
            beside=PEER_NAME,
            theirs=statistics.median(other) * 1e3,
            beside_unit="ms",
            ratio=statistics.median(other) / statistics.median(mine),
            target=target,
            detail=f"{statistics.median(ours.reading) * 1e3:.2g} ms more to read every text in Python",
        )


async def reference(case: Case, rounds: int) -> Times:
    """Lets the reference package prepare the case in a process of its own."""
    job = {
        "system": SYSTEM,
        "question": QUESTION,
        "records": conversation(case.size, tools=case.tools),
        "rounds": rounds,
    }
    command = [PEER_PYTHON, PEER_SCRIPT]
    done = await asyncio.to_thread(
        subprocess.run, command, input=json.dumps(job), stdout=subprocess.PIPE, text=True, check=True
    )
    return Times(**json.loads(done.stdout))


class Branches(NamedTuple):
    """What a round compiles: whole branches, and branches that want their last message yet."""

    whole: list[str]
    growing: list[str]


async def _store(servers: Servers, case: Case, rounds: int) -> list[Branches]:
    messages = to_messages(conversation(case.size, tools=case.tools))
    return [
        Branches(
            [await store(servers, messages) for _ in range(case.repeats)],
            [await store(servers, messages[:-1]) for _ in range(case.repeats)],
        )
        for _ in range(rounds)
    ]


async def _ours(servers: Servers, case: Case, branches: Branches) -> Times:
    last = to_messages(conversation(case.size, tools=case.tools))[-1:]
    cold, warm, reading = [], [], []
    texts: list[str] = []
    # In the order in which the reference has them.
    for branch, growing in zip(branches.whole, branches.growing, strict=True):
        seconds, more, texts = await compile_branch(servers, branch)
        cold.append(seconds)
        reading.append(more)
        await compile_branch(servers, growing)
        await append(servers, growing, last)
        seconds, more, again = await compile_branch(servers, growing)
        warm.append(seconds)
        reading.append(more)
        if again != texts:
            raise RuntimeError(f"{case.name}: a warm compilation gives other texts than a cold one")
    digest = hashlib.sha256("\0".join(texts[1:]).encode()).hexdigest()
    return Times(cold, warm, len(texts), digest, reading)


class Compiled(NamedTuple):
    """One compilation.

    Attributes:
        seconds: From the call to the decoded reply.
        reading: Seconds that it took then to read the turns' texts.
        texts: The texts.
    """

    seconds: float
    reading: float
    texts: list[str]


async def compile_branch(servers: Servers, branch_id: str) -> Compiled:
    """Compiles a branch for one question."""
    stub = compiler_service_pb2_grpc.CompilerServiceStub(servers.compiler)
    request = compiler_service_pb2.CompileRequest(
        branch=compiler_service_pb2.BranchRef(branch_id=branch_id),
        instruction=message_pb2.Message(instruction=message_pb2.InstructionContent(instruction=QUESTION)),
    )
    begin = time.perf_counter()
    response: compiler_service_pb2.CompileResponse = await stub.Compile(request, timeout=TIMEOUT)
    decoded = time.perf_counter()
    texts = [message.text for message in response.messages]
    return Compiled(decoded - begin, time.perf_counter() - decoded, texts)
