"""Writers that race on one branch, over the wire.

    PYTHONPATH=.:clients/python python -m tests.crash.racing --appends 1000 --systems 1000 --rounds 200

32 clients, each on a connection of its own, append to one branch of a real server
process as fast as they are answered: revisions must be dense, each told to one
writer, and the message must stand where its revision says. Then they all write at
one expected revision, round by round: one wins, the others learn the actual
revision. Then they set the system: at every revision there is exactly the one that
was set at it.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import grpc.aio

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon.message.v1.message_pb2 import InstructionContent, Message, SystemContent
from antiphon_client.errors import RevisionConflictError
from antiphon_client.ids import new_ordered_id
from antiphon_client.status import error_from_rpc
from tests.crash.kills import BRANCH, CALL_SECONDS, START_SECONDS, BrokenPromiseError, Service
from tests.figures.recording import parse_with_record, record_figure
from tests.support.race_mutants import RACE_MUTANTS

CLIENTS = 32
Stubs = Sequence["pb_grpc.HistoryServiceAsyncStub"]


@dataclass(frozen=True, slots=True)
class Races:
    """How much is raced.

    Attributes:
        appends: Appends of each client.
        rounds: Rounds at one expected revision.
        systems: Systems that are set, by all clients together.
    """

    appends: int
    rounds: int
    systems: int


async def race(folder: Path, races: Races, mutant: str = "none") -> None:
    """Run all races on a service of its own.

    Raises:
        BrokenPromiseError: A promise was broken.
    """
    service = Service(folder, mutant)
    async with service.running(), _clients(service) as stubs:
        try:
            await race_appends(stubs, races.appends)
            await race_for_revisions(stubs, races.rounds)
            await race_systems(stubs, races.systems)
        except grpc.aio.AioRpcError as error:
            raise BrokenPromiseError(f"{error.code()}: {error.details()}") from error


async def race_appends(stubs: Stubs, appends: int) -> None:
    """Have every client append so often; hold revisions and order to what was answered."""
    first = await _revision(stubs[0])

    async def write(number: int, stub: pb_grpc.HistoryServiceAsyncStub) -> list[int]:
        return [(await _append(stub, f"{number} {step}")).revision for step in range(appends)]

    revisions = await asyncio.gather(*itertools.starmap(write, enumerate(stubs)))
    told = {
        revision: f"{number} {step}"
        for number, own in enumerate(revisions)
        for step, revision in enumerate(own)
    }
    total = len(stubs) * appends
    if sorted(told) != list(range(first + 1, first + 1 + total)):
        raise BrokenPromiseError(f"{total} appends were told {len(told)} revisions, or with gaps")
    texts = [message.instruction.instruction for message in await _order(stubs[0])][-total:]
    if texts != [told[revision] for revision in sorted(told)]:
        raise BrokenPromiseError("a message does not stand where its revision says")


async def race_for_revisions(stubs: Stubs, rounds: int) -> None:
    """Have all clients write at one expected revision, so many times: one wins."""
    for _ in range(rounds):
        revision = await _revision(stubs[0])
        calls = [_append(stub, str(number), revision) for number, stub in enumerate(stubs)]
        results = await asyncio.gather(*calls, return_exceptions=True)
        won = [result for result in results if not isinstance(result, BaseException)]
        lost = [result for result in results if isinstance(result, BaseException)]
        if [response.revision for response in won] != [revision + 1]:
            raise BrokenPromiseError(f"{len(won)} writers won revision {revision + 1}")
        for failure in lost:
            error = error_from_rpc(failure) if isinstance(failure, grpc.RpcError) else None
            if not isinstance(error, RevisionConflictError) or error.actual_revision != revision + 1:
                raise BrokenPromiseError(f"a writer that lost was told {failure!r}")


async def race_systems(stubs: Stubs, systems: int) -> None:
    """Have the clients set so many systems; look at every revision for the one that it made."""
    first = await _revision(stubs[0])
    numbers = iter(range(systems))
    made: dict[int, str] = {}

    async def write(stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        for number in numbers:
            request = pb.SetSystemRequest(
                branch_id=BRANCH,
                system=SystemContent(system_message=f"policy {number}"),
                request_id=new_ordered_id(),
            )
            response = await stub.SetSystem(request, timeout=CALL_SECONDS)
            made[response.revision] = response.placement.message_id

    await asyncio.gather(*map(write, stubs))
    if sorted(made) != list(range(first + 1, first + 1 + systems)):
        raise BrokenPromiseError(f"{systems} systems were told {len(made)} revisions, or with gaps")
    for revision, system_id in made.items():
        request = pb.ListMessagesRequest(
            branch_id=BRANCH, page_size=10, at_revision=revision, kinds=[pb.MESSAGE_KIND_SYSTEM]
        )
        page = await stubs[0].ListMessages(request, timeout=CALL_SECONDS)
        if [message.id for message in page.messages] != [system_id]:
            raise BrokenPromiseError(f"revision {revision} has {len(page.messages)} systems, or another one")


@asynccontextmanager
async def _clients(service: Service) -> AsyncIterator[Stubs]:
    """Connect every client by a connection of its own, and make the branch."""
    async with AsyncExitStack() as stack:
        own = [("grpc.use_local_subchannel_pool", 1)]
        channels = [
            await stack.enter_async_context(grpc.aio.insecure_channel(service.address, options=own))
            for _ in range(CLIENTS)
        ]
        stubs = [pb_grpc.HistoryServiceStub(channel) for channel in channels]
        request = pb.CreateBranchRequest(branch_id=BRANCH, request_id=new_ordered_id())
        await stubs[0].CreateBranch(request, timeout=START_SECONDS, wait_for_ready=True)
        yield stubs


async def _append(
    stub: pb_grpc.HistoryServiceAsyncStub, text: str, expected_revision: int | None = None
) -> pb.AddMessagesResponse:
    """Append one message under a fresh request id."""
    request = pb.AddMessagesRequest(
        branch_id=BRANCH,
        messages=[Message(instruction=InstructionContent(instruction=text))],
        expected_revision=expected_revision,
        request_id=new_ordered_id(),
    )
    return await stub.AddMessages(request, timeout=CALL_SECONDS)


async def _revision(stub: pb_grpc.HistoryServiceAsyncStub) -> int:
    response = await stub.GetBranch(pb.GetBranchRequest(branch_id=BRANCH), timeout=CALL_SECONDS)
    return response.branch.revision


async def _order(stub: pb_grpc.HistoryServiceAsyncStub) -> list[Message]:
    """Read the branch's messages in order."""
    messages: list[Message] = []
    token = ""
    while True:
        request = pb.ListMessagesRequest(branch_id=BRANCH, page_size=1000, page_token=token)
        page = await stub.ListMessages(request, timeout=CALL_SECONDS)
        messages += page.messages
        token = page.next_page_token
        if not token:
            return messages


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="32 writers that race on one branch.")
    parser.add_argument("--appends", type=int, default=1000, help="appends of each writer")
    parser.add_argument("--rounds", type=int, default=200, help="rounds at one expected revision")
    parser.add_argument("--systems", type=int, default=1000, help="systems that are set")
    parser.add_argument("--mutant", choices=["none", *RACE_MUTANTS], default="none")
    options = parse_with_record(parser)
    races = Races(options.appends, options.rounds, options.systems)
    started = time.monotonic()
    appends = CLIENTS * races.appends
    appended = (
        f"{appends:,} appends: revisions dense, each one writer's, in their order; "
        f"{races.rounds} rounds of {CLIENTS} writers at one expected revision: one winner each"
    )
    system = f"{races.systems:,} systems: exactly the one that was set at every revision"
    held = True
    with tempfile.TemporaryDirectory() as folder:
        try:
            asyncio.run(race(Path(folder), races, options.mutant))
        except BrokenPromiseError as error:
            held, appended, system = False, f"BROKEN: {error}", ""
    print(f"{appended}\n{system}".strip())
    if options.record:
        seconds = time.monotonic() - started
        record_figure("racing_writers", appends, appended, seconds=seconds, held=held)
        record_figure("racing_systems", races.systems, system or appended, seconds=seconds, held=held)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
