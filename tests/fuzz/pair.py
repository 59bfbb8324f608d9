"""The real services under fuzz, as processes, with branches to aim at."""

from __future__ import annotations

import signal
from pathlib import Path
from random import Random

import grpc.aio
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.json_format import ParseDict

from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.history.v1 import exchange_service_pb2, exchange_service_pb2_grpc
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from tests.fuzz import values
from tests.fuzz.cases import cases
from tests.fuzz.harness import Report, run
from tests.fuzz.values import World, new_uuid
from tests.support.programs import Program, program

EXCHANGE = exchange_service_pb2.DESCRIPTOR.services_by_name["ExchangeService"]
HISTORY = pb.DESCRIPTOR.services_by_name["HistoryService"]
COMPILER = compiler_service_pb2.DESCRIPTOR.services_by_name["CompilerService"]

_EPOCH = 128
_BRANCHES = 8
MAX_OWNERS = 20_000
"""Owners that an exchange may have at most."""


class Settler:
    """Gives the series new branches and owners now and then: the former ones get deleted and overgrown."""

    def __init__(self, channel: grpc.aio.Channel, world: World, seed: int) -> None:
        self._stub = pb_grpc.HistoryServiceStub(channel)
        self._exchange = exchange_service_pb2_grpc.ExchangeServiceStub(channel)
        self._world = world
        self._rng = Random(f"settler:{seed}")
        self._next = 0

    async def prepare(self, number: int) -> None:
        """Settle new branches if the series has got to the next epoch."""
        if number < self._next:
            return
        self._next = number + _EPOCH
        rng, world = self._rng, self._world
        world.messages[:] = [new_uuid(rng) for _ in range(12)]
        world.actions[:] = world.messages[2:4]
        world.requests[:] = [new_uuid(rng) for _ in range(8)]
        world.branches[:] = [new_uuid(rng) for _ in range(_BRANCHES)]
        for branch_id in world.branches:
            await self._stub.CreateBranch(pb.CreateBranchRequest(branch_id=branch_id))
            await self._stub.AddMessages(_first_messages(branch_id, world.messages))
            owner = exchange_service_pb2.RegisterOwnerRequest(exchange_id=values.EXCHANGE, owner_id=branch_id)
            # A request of the series may have lowered it.
            owner.settings.max_owners = MAX_OWNERS
            await self._exchange.RegisterOwner(owner)


def _first_messages(branch_id: str, ids: list[str]) -> pb.AddMessagesRequest:
    messages = [
        {"id": ids[0], "system": {"system_message": "be brief"}},
        {"id": ids[1], "instruction": {"instruction": "look it up"}},
        {"id": ids[2], "action_request": {"function": "look", "arguments_json": '{"q":1}'}},
        {"id": ids[3], "action_request": {"function": "look", "arguments_json": '{"q":2}'}},
        {"id": ids[4], "action_response": {"function": "look", "action_request_id": ids[2]}},
        {"id": ids[5], "assistant_response": {"assistant_response": "found"}},
    ]
    return ParseDict({"branch_id": branch_id, "messages": messages}, pb.AddMessagesRequest())


async def fuzz_history(folder: Path, count: int, seed: int, store: str = "memory:") -> Report:
    """Fuzz HistoryService."""
    return await _fuzz_one(HISTORY, folder, count, seed, store)


async def fuzz_exchange(folder: Path, count: int, seed: int, store: str = "memory:") -> Report:
    """Fuzz ExchangeService, which the history service serves too."""
    return await _fuzz_one(EXCHANGE, folder, count, seed, store)


async def _fuzz_one(service: ServiceDescriptor, folder: Path, count: int, seed: int, store: str) -> Report:
    world = World()
    with program("history_service", "--listen", f"unix:{folder}/h.sock", "--store", store) as history:
        async with grpc.aio.insecure_channel(history.address) as channel:
            settler = Settler(channel, world, seed)
            report = await run(channel, cases(service, world, seed), count, settler.prepare)
        report.failures += _unfit(history)
    return report


async def fuzz_compiler(folder: Path, count: int, seed: int, store: str = "memory:") -> Report:
    """Fuzz a compiler service with a history service behind it."""
    world = World()
    with (
        program("history_service", "--listen", f"unix:{folder}/h.sock", "--store", store) as history,
        program(
            "compiler_service", "--listen", f"unix:{folder}/c.sock", "--history", history.address
        ) as compiler,
    ):
        async with (
            grpc.aio.insecure_channel(history.address) as history_channel,
            grpc.aio.insecure_channel(compiler.address) as channel,
        ):
            settler = Settler(history_channel, world, seed)
            report = await run(channel, cases(COMPILER, world, seed), count, settler.prepare)
        report.failures += _unfit(compiler) + _unfit(history)
    return report


def _unfit(running: Program) -> list[str]:
    """Say what is wrong with a service after the series: it must be alive, end well and know of no defect."""
    if running.process.poll() is not None:
        return [f"the process died with {running.process.returncode}"]
    code, err = running.end(signal.SIGTERM)
    wrong = [] if code == 0 else [f"the process ended with {code}"]
    return wrong + [line for line in err.splitlines() if '"defect"' in line or "Traceback" in line][:5]
