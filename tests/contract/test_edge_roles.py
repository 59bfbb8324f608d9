"""Tokens at the wire: roles and scopes on every RPC, by descriptor, and what is open to everybody."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from antiphon.compiler.v1 import compiler_service_pb2 as compiler
from antiphon.history.v1 import history_service_pb2 as history
from antiphon_client.edge.access import READING
from antiphon_client.edge.call import Call
from tests.support.compiler_servers import (
    BRANCH_ID,
    INCARNATION,
    answering,
    scripted_pair,
    snapshot_frames,
)
from tests.support.history import instruction
from tests.support.secured import BY_NAME, Secured, empty, refusal, secured
from tests.support.tenants import names_of_nothing, requests, settle
from tests.support.tokens import TokensFile, bearer

pytestmark = pytest.mark.anyio

ALL = sorted(BY_NAME)


async def reasons(services: Secured, token: Any) -> dict[str, str]:
    """Call every RPC with an empty request and return the reasons of the refusals."""
    return {
        name: (await services.outcome(token, name, [empty(BY_NAME[name][1])], most=1)).reason for name in ALL
    }


async def test_without_a_token_no_rpc_answers(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        services.tokens.add("acme")
        assert await reasons(services, None) == dict.fromkeys(ALL, "CREDENTIALS_MISSING")
        outcome = await services.outcome(None, "GetBranch", [history.GetBranchRequest()])
        assert outcome.code == "UNAUTHENTICATED"


async def test_with_no_token_configured_at_all_nobody_is_let_in(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        assert await reasons(services, None) == dict.fromkeys(ALL, "CREDENTIALS_MISSING")


async def test_a_guest_reads_and_never_writes(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        owner, guest = services.tokens.add("acme"), services.tokens.add("acme", "guest")
        names = await settle(services, owner)
        asked = requests(names)
        asked["ImportBranch"] = [history.ImportBranchRequest()]
        before = (await services.outcome(owner, "GetBranch", asked["GetBranch"])).text
        for name in ALL:
            outcome = await services.outcome(guest, name, asked[name], most=1)
            expected = (
                outcome.reason != "ROLE_NOT_ALLOWED"
                if name in READING
                else (outcome.code, outcome.reason) == ("PERMISSION_DENIED", "ROLE_NOT_ALLOWED")
            )
            assert expected, (name, outcome)
            if name in READING and name != "AssembleResponse":
                assert outcome.code == "OK", (name, outcome)
        assert (await services.outcome(owner, "GetBranch", asked["GetBranch"])).text == before


async def test_an_owner_is_stopped_by_no_role(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        found = await reasons(services, services.tokens.add("acme"))
        assert not {"ROLE_NOT_ALLOWED", "CREDENTIALS_MISSING"} & set(found.values())


async def test_callers_without_a_token_are_the_guests_that_the_file_says(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        owner = services.tokens.add("public")
        names = await settle(services, owner)
        services.tokens.anonymous("public", rpcs=["GetBranch"])
        get = requests(names)["GetBranch"]
        assert (await services.outcome(None, "GetBranch", get)).code == "OK"
        found = await reasons(services, None)
        assert {name for name in ALL if found[name] != "ROLE_NOT_ALLOWED"} == {"GetBranch"}


async def test_a_scope_of_branches_hides_the_others_as_if_they_were_not_there(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        owner = services.tokens.add("acme")
        inside = await settle(services, owner)  # its external key is support/1
        made = await services.call(owner, history.CreateBranchRequest(external_key="sales/1"))
        outside = made.branch.branch_id
        (bare, gone) = [
            (await services.call(owner, history.CreateBranchRequest(external_key=key))).branch.branch_id
            for key in (None, "support/gone")
        ]
        await services.call(owner, history.DeleteBranchRequest(branch_id=gone))
        missing = names_of_nothing().branch
        by_key = services.tokens.add("acme", "guest", external_keys=["support/"])
        by_id = services.tokens.add("acme", "guest", branches=[inside.branch])
        both = services.tokens.add("acme", "guest", branches=[outside], external_keys=["support/"])
        reads = [
            name
            for name in sorted(READING)
            if name in ("Compile", "StreamCompile", "PlanWindow", "PlanCompaction")
            or "branch_id" in BY_NAME[name][1].input_type.fields_by_name
        ]
        assert len(reads) == 10
        for guest in (by_key, by_id):
            for name in reads:
                (request,) = requests(inside)[name]
                assert (await services.outcome(guest, name, [request], most=1)).code == "OK", name
                answers = []
                for branch_id in (missing, outside, bare, gone):
                    (request,) = requests(inside)[name]
                    _put(request, branch_id)
                    outcome = await services.outcome(guest, name, [request], most=1)
                    assert outcome.reason == "BRANCH_NOT_FOUND", (name, outcome)
                    answers.append(outcome.of_no_name())
                assert answers[1:] == answers[:1] * 3, name
        for branch_id in (inside.branch, outside):
            assert (await services.call(both, history.GetBranchRequest(branch_id=branch_id))).branch


async def test_a_scope_of_external_keys_bounds_lists(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        owner = services.tokens.add("acme")
        names = await settle(services, owner)
        await services.call(owner, history.CreateBranchRequest(external_key="sales/1"))
        by_key = services.tokens.add("acme", "guest", external_keys=["support/", "help/"])
        by_id = services.tokens.add("acme", "guest", branches=[names.branch])
        for prefix in ("support/", "support/1", "help/"):
            listed = await services.call(by_key, history.ListBranchesRequest(external_key_prefix=prefix))
            assert [branch.external_key for branch in listed.branches] == ["support/1"][: prefix[0] == "s"]
        unlisted = ((by_key, None), (by_key, "s"), (by_key, "sales/"), (by_id, "support/"))
        for guest, refused in unlisted:
            request = history.ListBranchesRequest(external_key_prefix=refused)
            outcome = await services.outcome(guest, "ListBranches", [request])
            assert outcome.reason == "ROLE_NOT_ALLOWED"
            assert 'value: "scope"' in outcome.text
        asked = requests(names)
        for name in ("ListOwners", "Receive", "ListDeadLetters", "WatchInbox"):
            assert (await services.outcome(by_key, name, asked[name], most=1)).reason == "ROLE_NOT_ALLOWED"
        for name in ("ListTargets", "ParseResponse"):
            assert (await services.outcome(by_key, name, asked[name])).code == "OK"


async def test_what_is_no_id_is_said_to_be_none_to_guests_too(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        guest = services.tokens.add("acme", "guest", external_keys=["support/"])
        for name in READING:
            if "branch_id" in BY_NAME[name][1].input_type.fields_by_name:
                request: Any = empty(BY_NAME[name][1])
                request.branch_id = "no id"
                outcome = await services.outcome(guest, name, [request], most=1)
                assert outcome.reason == "FIELD_INVALID", name


async def test_the_compiler_hands_the_callers_token_on(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        owner = services.tokens.add("acme")
        names = await settle(services, owner)
        # May compile, but not read: it is the history service that says so.
        guest = services.tokens.add("acme", "guest", rpcs=["Compile"])
        compiled = requests(names)["Compile"]
        outcome = await services.outcome(guest, "Compile", compiled)
        assert outcome.reason == "ROLE_NOT_ALLOWED"
        assert "antiphon.history" in outcome.text
        both = services.tokens.add("acme", "guest", rpcs=["Compile", "ReadSnapshot"])
        assert (await services.outcome(both, "Compile", compiled)).code == "OK"


async def test_what_the_compiler_keeps_of_one_tenant_is_not_told_under_another_ones_token(
    tmp_path: Path,
) -> None:
    file = TokensFile(tmp_path)
    tokens = [file.add(name) for name in ("acme", "acme", "globex")]
    frames = answering(snapshot_frames([instruction(1)]))
    request = compiler.CompileRequest(
        branch=compiler.BranchRef(branch_id=BRANCH_ID), profile=compiler.PROFILE_FOLDED
    )
    request.instruction.instruction.instruction = "go on"
    async with scripted_pair(tmp_path, frames, file.path) as (scripted, stub):
        for token in tokens:
            await stub.Compile(request, metadata=bearer(token))
        assert [asked.since_incarnation for asked in scripted.requests] == ["", INCARNATION, ""]
        given = [dict(metadata)["authorization"] for metadata in scripted.metadata]
        assert given == [f"Bearer {token.text}" for token in tokens]


async def test_a_watch_ends_when_its_token_is_taken_away(tmp_path: Path) -> None:
    async with secured(tmp_path, watch_heartbeat_seconds=0.05) as services:
        owner, watcher = services.tokens.add("acme"), services.tokens.add("acme")
        names = await settle(services, owner)
        channel: Any = services.channel_of(BY_NAME["WatchBranch"][0])
        call = channel.unary_stream("/antiphon.history.v1.HistoryService/WatchBranch")(
            history.WatchBranchRequest(branch_id=names.branch).SerializeToString(), metadata=bearer(watcher)
        )
        async with asyncio.timeout(30):
            await call.read()
            services.tokens.remove(watcher)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await _read_on(call)
        assert refusal(caught.value).reason == "CREDENTIALS_MISSING"


async def test_health_is_open_and_the_rest_of_grpcs_own_is_not(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        owner, guest = services.tokens.add("acme"), services.tokens.add("acme", "guest")
        admin = services.tokens.add("operators", admin=True)
        channel = services.channel_of(BY_NAME["GetBranch"][0])
        health: Any = health_pb2_grpc.HealthStub(channel)
        checked = await health.Check(health_pb2.HealthCheckRequest())
        assert checked.status == health_pb2.HealthCheckResponse.SERVING
        async for watched in health.Watch(health_pb2.HealthCheckRequest()):
            assert watched.status == health_pb2.HealthCheckResponse.SERVING
            break
        channelz: Any = channelz_pb2_grpc.ChannelzStub(channel)
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub(channel)

        async def reflect(token: Any) -> str:
            asked = reflection_pb2.ServerReflectionRequest(list_services="")
            try:
                async for _ in reflection.ServerReflectionInfo(iter([asked]), metadata=bearer(token)):
                    pass
            except grpc.aio.AioRpcError as failure:
                return refusal(failure).reason
            return ""

        async def look(token: Any) -> str:
            try:
                await channelz.GetServers(channelz_pb2.GetServersRequest(), metadata=bearer(token))
            except grpc.aio.AioRpcError as failure:
                return refusal(failure).reason
            return ""

        assert [await reflect(token) for token in (None, guest, owner)] == ["CREDENTIALS_MISSING", "", ""]
        assert [await look(token) for token in (None, guest, owner, admin)] == [
            "CREDENTIALS_MISSING",
            "ROLE_NOT_ALLOWED",
            "ROLE_NOT_ALLOWED",
            "",
        ]


async def test_unknown_methods_are_unimplemented_with_and_without_a_token(tmp_path: Path) -> None:
    async with secured(tmp_path) as services:
        owner = services.tokens.add("acme")
        channel: Any = services.channel_of(BY_NAME["GetBranch"][0])
        for token in (None, owner):
            for path in ("/antiphon.history.v1.HistoryService/PeekBranch", "/a.B/C"):
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await channel.unary_unary(path)(b"", metadata=bearer(token))
                assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_no_token_is_ever_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with secured(tmp_path, slow_call_seconds=1e-9) as services:
        owner, guest = services.tokens.add("acme"), services.tokens.add("acme", "guest")
        gone = services.tokens.add("acme")
        services.tokens.remove(gone)
        names = await settle(services, owner)
        for token in (owner, guest, gone, None):
            for name, asked in requests(names).items():
                await services.outcome(token, name, asked, most=1)
        added = history.AddMessagesRequest(branch_id=names.branch, messages=[instruction(3)])
        await services.outcome(owner, "AddMessages", [added])
    records = [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    assert sum("call_failed" in record for record in records) > len(BY_NAME)
    assert any("slow_call" in record for record in records)
    for token in (owner, guest, gone):
        secret = token.text.split("_", 2)[2]
        for part in (token.text, secret, token.digest, str(bytes.fromhex(token.digest))):
            assert not any(part in record for record in records)
    assert not any("authorization" in record.lower() or "bearer" in record.lower() for record in records)


def test_a_call_is_shown_without_its_metadata() -> None:
    call = Call("/a.B/C", "acme", b"contents", (("authorization", "Bearer hush"),))
    assert repr(call) == "Call('/a.B/C', tenant_id='acme')"


async def _read_on(call: Any) -> None:
    """Read a stream for as long as it lasts."""
    while True:
        await call.read()


def _put(request: Any, branch_id: str) -> None:
    """Name another branch in a request."""
    if isinstance(request, compiler.StreamCompileRequest):
        request = request.request
    if hasattr(request, "branch_id"):
        request.branch_id = branch_id
    else:
        request.branch.branch_id = branch_id
