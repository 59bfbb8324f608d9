"""A tenant's data does not exist for another tenant: every RPC of both services, by descriptor."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc.aio
import pytest

from antiphon.compiler.v1 import compiler_service_pb2 as compiler
from antiphon.history.v1 import exchange_service_pb2 as exchange
from antiphon.history.v1 import history_service_pb2 as history
from antiphon_client.edge.tokens import NewToken
from tests.support.history import CLEAR_STORES, instruction, running
from tests.support.secured import BY_NAME, Outcome, Secured, refusal, secured
from tests.support.tenants import Names, branch_file, names_of_nothing, requests, settle

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", CLEAR_STORES)]

READS = (
    "GetBranch", "ListBranches", "ExportBranch", "GetMessages", "ListMessages", "ReadSnapshot", "ListOwners",
    "Receive", "ListDeadLetters", "Compile",
)  # fmt: skip
"""RPCs that show, between them, all of a tenant's world."""

NOT_FOUND = {
    name
    for name, (service, method) in BY_NAME.items()
    if (service.name == "HistoryService" and name not in ("CreateBranch", "ListBranches", "ImportBranch"))
    or method.input_type.fields_by_name.get("branch") is not None
    or name == "StreamCompile"
}
"""RPCs on a branch."""


async def world(services: Secured, token: NewToken, names: Names) -> list[Outcome]:
    """Read all that there is of a tenant's world."""
    asked = requests(names)
    return [await services.outcome(token, name, asked[name]) for name in READS]


async def asked_of(services: Secured, owner: NewToken, names: Names) -> dict[str, Any]:
    """Return a request of every RPC that names what the owner has, or nobody has."""
    asked = requests(names)
    exported = await services.frames(
        owner, "ExportBranch", [history.ExportBranchRequest(branch_id=(await _branch(services, owner)))]
    )
    asked["ImportBranch"] = branch_file(exported, names.branch, names.external_key)
    return asked


async def _branch(services: Secured, owner: NewToken) -> str:
    listed = await services.call(owner, history.ListBranchesRequest())
    branch_id: str = listed.branches[0].branch_id
    return branch_id


async def test_what_another_tenant_has_answers_as_what_nobody_has(kind: str, tmp_path: Path) -> None:
    async with secured(tmp_path, kind) as services:
        owner = services.tokens.add("acme")
        names, nothing = await settle(services, owner), names_of_nothing()
        before = await world(services, owner, names)
        assert all(outcome.code == "OK" for outcome in before)
        theirs, nobodys = await asked_of(services, owner, names), await asked_of(services, owner, nothing)
        assert set(theirs) == set(BY_NAME), "every RPC needs a request here"
        found = set()
        for number, name in enumerate(BY_NAME):
            # Tenants of their own for each RPC: what it makes is not there for the next one.
            first, second = services.tokens.add(f"first-{number}"), services.tokens.add(f"second-{number}")
            other = await services.outcome(first, name, theirs[name], most=1)
            missing = await services.outcome(second, name, nobodys[name], most=1)
            assert other.of_no_name(names.all()) == missing.of_no_name(nothing.all()), name
            if other.reason == "BRANCH_NOT_FOUND":
                found.add(name)
        assert found == NOT_FOUND
        assert await world(services, owner, names) == before


async def test_tenants_may_use_the_same_names(kind: str, tmp_path: Path) -> None:
    async with secured(tmp_path, kind) as services:
        owner, other = services.tokens.add("acme"), services.tokens.add("globex")
        names = await settle(services, owner)
        before = await world(services, owner, names)
        create = requests(names)["CreateBranch"]
        created = (await services.frames(other, "CreateBranch", create))[0]
        assert not created.replayed  # the request id was the other tenant's
        assert created.branch.incarnation != names.incarnation
        message = instruction(1, "the other tenant's words")
        message.id = names.first
        await services.call(other, history.AddMessagesRequest(branch_id=names.branch, messages=[message]))
        await services.call(
            other, exchange.RegisterOwnerRequest(exchange_id=names.exchange, owner_id=names.owner)
        )
        received = await services.call(
            other, exchange.ReceiveRequest(exchange_id=names.exchange, owner_id=names.owner)
        )
        assert not received.deliveries
        assert await world(services, owner, names) == before
        await services.call(other, history.DeleteBranchRequest(branch_id=names.branch, purge=True))
        assert await world(services, owner, names) == before


async def test_the_compilers_memory_is_each_tenants_own(kind: str, tmp_path: Path) -> None:
    async with secured(tmp_path, kind) as services:
        tokens = {name: services.tokens.add(name) for name in ("acme", "globex")}
        branch_id = names_of_nothing().branch
        for name, token in tokens.items():
            await services.call(token, history.CreateBranchRequest(branch_id=branch_id))
            await services.call(
                token,
                history.AddMessagesRequest(branch_id=branch_id, messages=[instruction(1, f"of {name}")]),
            )
        request = compiler.CompileRequest(
            branch=compiler.BranchRef(branch_id=branch_id), profile=compiler.PROFILE_FOLDED
        )
        request.instruction.instruction.instruction = "go on"
        for name in ("acme", "globex", "acme", "globex"):
            outcome = await services.outcome(tokens[name], "Compile", [request])
            assert f"of {name}" in outcome.text
            (stranger,) = tokens.keys() - {name}
            assert f"of {stranger}" not in outcome.text


async def test_page_tokens_and_watch_positions_are_each_tenants_own(kind: str, tmp_path: Path) -> None:
    async with secured(tmp_path, kind) as services:
        owner, other = services.tokens.add("acme"), services.tokens.add("globex")
        names = await settle(services, owner)
        await services.frames(other, "CreateBranch", requests(names)["CreateBranch"])
        for token in (owner, other):
            await services.call(token, history.CreateBranchRequest())
        mailbox: dict[str, Any] = {"exchange_id": names.exchange}
        await services.call(
            owner,
            exchange.UnregisterOwnerRequest(**mailbox, owner_id=names.sender),
        )
        lists: list[Any] = [
            history.ListBranchesRequest(page_size=1),
            history.ListMessagesRequest(branch_id=names.branch, page_size=1),
            exchange.ReceiveRequest(**mailbox, owner_id=names.owner, page_size=1),
        ]
        for request in lists:
            page = await services.call(owner, request)
            assert page.next_page_token, request
            request.page_token = page.next_page_token
            assert (await services.outcome(owner, _name(request), [request])).code == "OK"
            assert (await services.outcome(other, _name(request), [request])).reason == "PAGE_TOKEN_INVALID"
        watch = history.WatchBranchRequest(
            branch_id=names.branch, after_revision=1, incarnation=names.incarnation
        )
        assert (await services.outcome(owner, "WatchBranch", [watch], most=1)).code == "OK"
        assert (await services.outcome(other, "WatchBranch", [watch], most=1)).reason == "REVISION_EXPIRED"


async def test_a_watch_hears_nothing_of_another_tenants_branch_of_the_same_id(
    kind: str, tmp_path: Path
) -> None:
    async with secured(tmp_path, kind, watch_heartbeat_seconds=0.05) as services:
        tokens = {name: services.tokens.add(name) for name in ("acme", "globex")}
        branch_id = names_of_nothing().branch
        for token in tokens.values():
            await services.call(token, history.CreateBranchRequest(branch_id=branch_id))
        watching = asyncio.create_task(
            services.frames(
                tokens["globex"], "WatchBranch", [history.WatchBranchRequest(branch_id=branch_id)], most=6
            )
        )
        for number in range(3):
            added = history.AddMessagesRequest(branch_id=branch_id, messages=[instruction(number)])
            await services.call(tokens["acme"], added)
        frames = await watching
        assert [frame.change.revision for frame in frames if frame.HasField("change")] == [1]
        assert len(frames) == 6  # the others are heartbeats


async def test_data_from_before_the_tokens_is_the_nameless_tenants(kind: str, tmp_path: Path) -> None:
    if kind == "memory":
        pytest.skip("a memory store is lost with its process")
    async with running(kind, tmp_path) as before:
        branch_id = await before.create(external_key="old")
    async with secured(tmp_path, kind) as services:
        nameless, named = services.tokens.add(""), services.tokens.add("acme")
        get = history.GetBranchRequest(branch_id=branch_id)
        assert (await services.call(nameless, get)).branch.external_key == "old"
        assert (await services.outcome(named, "GetBranch", [get])).reason == "BRANCH_NOT_FOUND"


async def test_the_tenant_is_the_tokens_whatever_else_a_call_says(kind: str, tmp_path: Path) -> None:
    async with secured(tmp_path, kind) as services:
        owner, other = services.tokens.add("acme"), services.tokens.add("globex")
        names = await settle(services, owner)
        service, _ = BY_NAME["GetBranch"]
        channel: Any = services.channel_of(service)
        claims = [(key, "acme") for key in ("tenant", "tenant-id", "tenant_id", "x-tenant", "x-tenant-id")]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary(f"/{service.full_name}/GetBranch")(
                history.GetBranchRequest(branch_id=names.branch).SerializeToString(),
                metadata=[("authorization", f"Bearer {other.text}"), *claims],
            )
        assert refusal(caught.value).reason == "BRANCH_NOT_FOUND"


def _name(request: Any) -> str:
    return type(request).__name__.removesuffix("Request")
