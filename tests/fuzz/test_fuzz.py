"""A quick share of the fuzz figure, and proof that the harness sees what it looks for."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import grpc.aio
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon.history.v1.exchange_service_pb2 import RegisterOwnerRequest
from antiphon.history.v1.exchange_service_pb2_grpc import ExchangeServiceStub
from antiphon_client.edge.lifecycle import ServiceServer
from antiphon_client.edge.settings import EdgeSettings
from antiphon_client.status import HISTORY_DOMAIN
from tests.fuzz.cases import cases
from tests.fuzz.fields import path_name, paths_of
from tests.fuzz.harness import Report, run
from tests.fuzz.mutate import MUTATIONS
from tests.fuzz.pair import COMPILER, EXCHANGE, HISTORY, Settler, fuzz_compiler, fuzz_exchange, fuzz_history
from tests.fuzz.values import EXCHANGE as FUZZED_EXCHANGE
from tests.fuzz.values import World, new_uuid
from tests.support.programs import program

pytestmark = pytest.mark.anyio

CASES = int(os.environ.get("ANTIPHON_FUZZ_BODIES", "2000"))
SEED = int(os.environ.get("ANTIPHON_FUZZ_SEED", "1"))


@pytest.mark.parametrize(
    ("fuzz", "service"),
    [(fuzz_history, HISTORY), (fuzz_exchange, EXCHANGE), (fuzz_compiler, COMPILER)],
)
async def test_no_request_breaks_a_service(fuzz: Any, service: Any, tmp_path: Path) -> None:
    report: Report = await fuzz(tmp_path, CASES, SEED)
    report.check()
    every_field = {(each.name, path_name(path)) for each in service.methods for path in paths_of(each)}
    # Two of three cases aim at a field, and methods come by their weight.
    if len(every_field) * 4 <= CASES:
        assert report.fields == every_field
    if CASES >= 2000:
        assert len([kind for kind in report.kinds if kind.startswith("damaged")]) == len(MUTATIONS)
        assert report.answers["OK"] > CASES / 20


async def test_a_series_goes_on_when_a_request_lowered_the_exchanges_limit(tmp_path: Path) -> None:
    world = World()
    with program("history_service", "--listen", f"unix:{tmp_path}/h.sock", "--store", "memory:") as history:
        async with grpc.aio.insecure_channel(history.address) as channel:
            settler = Settler(channel, world, SEED)
            await settler.prepare(0)
            lowering = RegisterOwnerRequest(exchange_id=FUZZED_EXCHANGE, owner_id=new_uuid(Random(1)))
            lowering.settings.max_owners = len(world.branches) + 1
            await ExchangeServiceStub(channel).RegisterOwner(lowering)
            settled = list(world.branches)
            await settler.prepare(1000)
    assert not set(settled).intersection(world.branches)


def some_world() -> World:
    """Make ids that no service knows."""
    rng = Random(7)
    return World(*([new_uuid(rng) for _ in range(4)] for _ in range(4)))


def test_same_seed_same_requests_other_seed_others() -> None:
    first, same, other = (
        [case.body for case in islice(cases(HISTORY, some_world(), seed), 300)] for seed in (1, 1, 2)
    )
    assert first == same
    assert first != other


class Faulty(pb_grpc.HistoryServiceServicer):
    """Serves every request but some."""

    async def GetBranch(self, request: pb.GetBranchRequest, context: Any) -> Any:  # noqa: N802
        match request.at_revision:
            case 2:
                raise KeyError("an input nobody thought of")
            case 3:
                return b"\xa0\x06\x01"
            case 4:
                await context.abort(grpc.StatusCode.UNKNOWN, "by hand")
        return pb.GetBranchResponse()


@pytest.mark.parametrize(
    ("revision", "complaint"),
    [
        (2, "INTERNAL_ERROR"),
        (3, "a reply with unknown fields"),
        (4, "UNKNOWN without a reason (by hand)"),
    ],
)
async def test_harness_sees_a_seeded_fault(revision: int, complaint: str, tmp_path: Path) -> None:
    servicer = Faulty()  # type: ignore[abstract]  # the runtime base answers UNIMPLEMENTED
    server = ServiceServer(
        EdgeSettings(listen=f"unix:{tmp_path}/a.sock"),
        service=HISTORY,
        domain=HISTORY_DOMAIN,
        register=lambda target: pb_grpc.add_HistoryServiceServicer_to_server(servicer, target),
    )
    address = await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            series = (case for case in cases(HISTORY, some_world(), 1) if case.method.name == "GetBranch")
            report = await run(channel, series, 300)
    finally:
        await server.stop(0)
    assert any(failure.startswith(complaint) for failure in report.failures)
    with pytest.raises(AssertionError, match="failure"):
        report.check()


def test_series_are_added_up() -> None:
    total = Report()
    for number in (1, 2):
        further = Report(cases=number, past_parsing=number, fields={("M", f"f{number}")})
        further.answers["OK"] = further.kinds["random"] = number
        further.failures.append(f"failure {number}")
        total.add(further)
    assert (total.cases, total.past_parsing, total.answers["OK"], total.kinds["random"]) == (3, 3, 3, 3)
    assert (total.fields, total.failures) == ({("M", "f1"), ("M", "f2")}, ["failure 1", "failure 2"])


def test_a_series_that_stays_in_the_parser_fails() -> None:
    report = Report(cases=100, past_parsing=29)
    with pytest.raises(AssertionError, match="past parsing: 29/100"):
        report.check()
