"""Requests sent again: one after the other, at the same time, and across a restart.

    PYTHONPATH=.:clients/python python -m tests.crash.retries --retries 100000 [--mutant amnesiac]

Clients of a real server process on four connections send each request several
times under its request id, half of them one copy after the other, half all copies
at once; the process is killed with SIGKILL, started again, and gets each request of
the life before once more. The first copy to be worked on has the effect; every
other answer must be that one's, marked as replayed. In the end there must be as
many revisions, messages, branches and letters as there were requests.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1.exchange_service_pb2_grpc import ExchangeServiceStub
from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceStub
from antiphon.message.v1.message_pb2 import (
    ActionRequestContent,
    Address,
    GenericContent,
    Message,
    SystemContent,
)
from antiphon_client.ids import new_ordered_id
from tests.crash.kills import BRANCH, CALL_SECONDS, START_SECONDS, BrokenPromiseError, Service, read_order
from tests.figures.recording import parse_with_record, record_figure
from tests.support.history import uuid_of
from tests.support.retry_mutants import RETRY_MUTANTS

CONNECTIONS = 4
CLIENTS = 16
COPIES = 3
"""Times that a request is sent again in the life of its first copy."""
EXCHANGE = "retries"
SENDER, RECIPIENT = uuid_of(11), uuid_of(12)
_KINDS = ("AddMessages", "AddMessages", "SetSystem", "RespondToAction", "CreateBranch", "ForkBranch", "Send")


@dataclass(frozen=True, slots=True)
class Answered:
    """A request and the answer to its first copy.

    Attributes:
        method: Its RPC.
        request: What was sent.
        answer: What came, as bytes without the mark of a replay.
    """

    method: str
    request: Any
    answer: bytes


class Retries:
    """Sends, sends again, restarts and checks.

    Attributes:
        retries: Requests that were sent again, by how.
        effects: Requests that were answered, by their RPC.
    """

    def __init__(self, folder: Path, seed: int, mutant: str) -> None:
        self.retries: Counter[str] = Counter()
        self.effects: Counter[str] = Counter()
        self._messages = 0
        self._chance = random.Random(seed)
        self._service = Service(folder, mutant)
        self._stubs: list[tuple[Any, Any]] = []

    async def run(self, retries: int, lives: int) -> None:
        """Send requests again so often, in as many lives of the process, the last of which is read only.

        Raises:
            BrokenPromiseError: A promise was broken.
        """
        # Each request is sent again in its life and once in the next.
        share = max(1, -(-retries // (lives * (COPIES + 1))))
        answered: list[Answered] = []
        for life in range(lives + 1):
            try:
                async with self._service.running(), self._connected():
                    if life == 0:
                        await self._prepare()
                    await self._each(answered, self._again_after_restart)
                    answered = [] if life == lives else await self._life(share)
                    await self._check()
            except grpc.aio.AioRpcError as error:
                raise BrokenPromiseError(f"{error.code()}: {error.details()}") from error

    async def _prepare(self) -> None:
        """Make what the requests need."""
        for branch in (BRANCH, _SMALL):
            await self._call("CreateBranch", pb.CreateBranchRequest(branch_id=branch))
        for owner in (SENDER, RECIPIENT):
            settings = exchange_pb.ExchangeSettings(delivery=exchange_pb.DELIVERY_MODE_AT_SEND)
            register = exchange_pb.RegisterOwnerRequest(
                exchange_id=EXCHANGE, owner_id=owner, settings=settings
            )
            await self._call("RegisterOwner", register)

    async def _life(self, requests: int) -> list[Answered]:
        """Send new requests, each with its copies; return what was answered."""
        made = [await self._make(self._chance.choice(_KINDS)) for _ in range(requests)]
        answered: list[Answered] = []

        async def send(method_and_request: tuple[str, Any]) -> None:
            copies = self._one_by_one if self._chance.random() < 0.5 else self._at_once
            answered.append(await copies(*method_and_request))

        await self._each(made, send)
        return answered

    async def _each(self, what: list[Any], do: Any) -> None:
        """Have the clients work on all of it; the first that fails ends it."""
        left = iter(what)

        async def client() -> None:
            for each in left:
                await do(each)

        try:
            async with asyncio.TaskGroup() as clients:
                for _ in range(CLIENTS):
                    clients.create_task(client())
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _one_by_one(self, method: str, request: Any) -> Answered:
        first = await self._call(method, request)
        answers = [first, *[await self._call(method, request) for _ in range(COPIES)]]
        if first.replayed:
            raise BrokenPromiseError(f"the first {method} was answered as a replay")
        return self._note("one after the other", method, request, answers)

    async def _at_once(self, method: str, request: Any) -> Answered:
        copies = [self._call(method, request) for _ in range(1 + COPIES)]
        return self._note("at once", method, request, await asyncio.gather(*copies))

    def _note(self, how: str, method: str, request: Any, answers: list[Any]) -> Answered:
        """Hold the answers of all copies to one effect."""
        effects = sum(not answer.replayed for answer in answers)
        if effects != 1:
            raise BrokenPromiseError(f"{method} sent {how}: {effects} of {len(answers)} copies had an effect")
        contents = {_content(answer) for answer in answers}
        if len(contents) != 1:
            raise BrokenPromiseError(f"{method} sent {how}: {len(contents)} different answers")
        self.effects[method] += 1
        self.retries[how] += len(answers) - 1
        if method == "AddMessages":
            self._messages += len(request.messages)
        return Answered(method, request, contents.pop())

    async def _again_after_restart(self, sent: Answered) -> None:
        answer = await self._call(sent.method, sent.request)
        if not answer.replayed or _content(answer) != sent.answer:
            raise BrokenPromiseError(f"{sent.method} after a restart: replayed is {answer.replayed}")
        self.retries["across a restart"] += 1

    async def _check(self) -> None:
        """Count what is there."""
        history, exchange = self._stubs[0]
        order, revision = await read_order(history)
        on_branch = sum(self.effects[name] for name in ("AddMessages", "SetSystem", "RespondToAction"))
        messages = self._messages + self.effects["RespondToAction"] + bool(self.effects["SetSystem"])
        if revision != 1 + on_branch or len(order) != messages or len(set(order)) != messages:
            raise BrokenPromiseError(
                f"{on_branch} requests made revision {revision}, {messages} messages are {len(order)}"
            )
        owners = await exchange.ListOwners(
            exchange_pb.ListOwnersRequest(exchange_id=EXCHANGE), timeout=CALL_SECONDS
        )
        letters = sum(owner.inbox_count for owner in owners.owners)
        if letters != self.effects["Send"]:
            raise BrokenPromiseError(f"{self.effects['Send']} letters were sent, {letters} are there")
        # One is the branch of the messages.
        branches = 1 + self.effects["CreateBranch"] + self.effects["ForkBranch"]
        if (found := await self._branches(history)) != branches + 1:
            raise BrokenPromiseError(f"{branches} branches were made, {found - 1} are there")

    async def _branches(self, history: Any) -> int:
        found, token = 0, ""
        while True:
            page = await history.ListBranches(
                pb.ListBranchesRequest(page_size=1000, page_token=token), timeout=CALL_SECONDS
            )
            found += len(page.branches)
            token = page.next_page_token
            if not token:
                return found

    async def _make(self, kind: str) -> tuple[str, Any]:
        """Make a request under a fresh id; the server gives the ids of what it makes."""
        request_id = new_ordered_id()
        letter = Message(
            generic=_LETTER, sender=Address(member_id=SENDER), recipient=Address(member_id=RECIPIENT)
        )
        match kind:
            case "AddMessages":
                count = self._chance.choice((1, 1, 3))
                return kind, pb.AddMessagesRequest(
                    branch_id=BRANCH, messages=[Message(generic=_LETTER)] * count, request_id=request_id
                )
            case "SetSystem":
                return kind, pb.SetSystemRequest(
                    branch_id=BRANCH, system=SystemContent(system_message="policy"), request_id=request_id
                )
            case "RespondToAction":
                return kind, pb.RespondToActionRequest(
                    branch_id=BRANCH,
                    action_request_id=await self._action(),
                    output_json="1",
                    request_id=request_id,
                )
            case "CreateBranch":
                return kind, pb.CreateBranchRequest(request_id=request_id)
            case "ForkBranch":
                return kind, pb.ForkBranchRequest(source_branch_id=_SMALL, request_id=request_id)
            case _:
                return kind, exchange_pb.SendRequest(
                    exchange_id=EXCHANGE, message=letter, request_id=request_id
                )

    async def _action(self) -> str:
        """Append an action request, which is not sent again, and return its id."""
        action = Message(action_request=ActionRequestContent(function="look", arguments_json="{}"))
        request = pb.AddMessagesRequest(branch_id=BRANCH, messages=[action], request_id=new_ordered_id())
        response = await self._call("AddMessages", request)
        self.effects["AddMessages"] += 1
        self._messages += 1
        return str(response.placements[0].message_id)

    async def _call(self, method: str, request: Any) -> Any:
        history, exchange = self._chance.choice(self._stubs)
        stub = exchange if method in ("Send", "RegisterOwner") else history
        return await getattr(stub, method)(request, timeout=CALL_SECONDS)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        """Connect to a process that starts."""
        async with AsyncExitStack() as stack:
            own = [("grpc.use_local_subchannel_pool", 1)]
            channels = [
                await stack.enter_async_context(grpc.aio.insecure_channel(self._service.address, options=own))
                for _ in range(CONNECTIONS)
            ]
            self._stubs = [(HistoryServiceStub(each), ExchangeServiceStub(each)) for each in channels]
            # The first call waits for the start.
            await self._stubs[0][0].ListBranches(
                pb.ListBranchesRequest(page_size=1), timeout=START_SECONDS, wait_for_ready=True
            )
            yield


_SMALL = uuid_of(2)
"""The branch that is forked."""
_LETTER = GenericContent(value_json='"a letter"')


def _content(answer: Any) -> bytes:
    """Return an answer's bytes without the mark of a replay."""
    plain = type(answer)()
    plain.CopyFrom(answer)
    plain.replayed = False
    return bytes(plain.SerializeToString(deterministic=True))


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="Requests that are sent again.")
    parser.add_argument("--retries", type=int, default=10_000)
    parser.add_argument("--lives", type=int, default=20, help="restarts of the service")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--mutant", choices=["none", *RETRY_MUTANTS], default="none")
    options = parse_with_record(parser)
    print(f"seed {options.seed}", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = Retries(Path(folder), options.seed, options.mutant)
        try:
            asyncio.run(run.run(options.retries, options.lives))
            how = ", ".join(f"{count:,} {name}" for name, count in sorted(run.retries.items()))
            held, found = True, f"{run.retries.total():,} retries of {run.effects.total():,} requests: {how}"
            found += f"; {options.lives} restarts; 0 double effects, 0 other answers"
        except BrokenPromiseError as error:
            held, found = False, f"BROKEN: {error}"
    print(found)
    if options.record:
        seconds = time.monotonic() - started
        record_figure("retried_requests", run.retries.total(), found, seconds=seconds, held=held)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
