"""Clients that race over the wire: 32 connections to one service on a database file."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import grpc
import grpc.aio
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon.message.v1.message_pb2 import InstructionContent, Message, SystemContent
from antiphon_client.errors import RevisionConflictError
from antiphon_client.ids import new_ordered_id
from antiphon_client.status import error_from_rpc
from history_service.server import build_server
from history_service.settings import HistorySettings
from history_service.storage import open_store
from tests.support.history import uuid_of

pytestmark = pytest.mark.anyio

CLIENTS = 32
BRANCH = uuid_of(1)


@contextlib.asynccontextmanager
async def clients(folder: Path) -> AsyncIterator[list[pb_grpc.HistoryServiceAsyncStub]]:
    """Run a service with branch 1 and connect every client by a connection of its own."""
    settings = HistorySettings(listen=f"unix:{folder}/h.sock")
    server = build_server(settings, open_store(f"sqlite:{folder}/h.sqlite3"))
    address = await server.start()
    try:
        async with contextlib.AsyncExitStack() as stack:
            own = [("grpc.use_local_subchannel_pool", 1)]
            channels = [
                await stack.enter_async_context(grpc.aio.insecure_channel(address, options=own))
                for _ in range(CLIENTS)
            ]
            stubs = [pb_grpc.HistoryServiceStub(channel) for channel in channels]
            await stubs[0].CreateBranch(pb.CreateBranchRequest(branch_id=BRANCH))
            yield stubs
    finally:
        await server.stop(0)


async def order(stub: pb_grpc.HistoryServiceAsyncStub, at_revision: int | None = None) -> list[Message]:
    """Read the branch's messages in order."""
    messages: list[Message] = []
    token = ""
    while True:
        request = pb.ListMessagesRequest(branch_id=BRANCH, page_size=1000, page_token=token)
        if at_revision is not None:
            request.at_revision = at_revision
        page = await stub.ListMessages(request)
        messages += page.messages
        token = page.next_page_token
        if not token:
            return messages


async def append(
    stub: pb_grpc.HistoryServiceAsyncStub, text: str, expected_revision: int | None = None
) -> pb.AddMessagesResponse:
    """Append one message under a fresh request id."""
    return await stub.AddMessages(
        pb.AddMessagesRequest(
            branch_id=BRANCH,
            messages=[Message(instruction=InstructionContent(instruction=text))],
            expected_revision=expected_revision,
            request_id=new_ordered_id(),
        )
    )


async def test_32_clients_lose_nothing_and_make_dense_revisions(tmp_path: Path) -> None:
    appends = 25

    async def write(number: int, stub: pb_grpc.HistoryServiceAsyncStub) -> list[int]:
        return [(await append(stub, f"{number} {step}")).revision for step in range(appends)]

    async with clients(tmp_path) as stubs:
        revisions = await asyncio.gather(*itertools.starmap(write, enumerate(stubs)))
        texts = [message.instruction.instruction for message in await order(stubs[0])]
    total = CLIENTS * appends
    assert sorted(itertools.chain.from_iterable(revisions)) == list(range(2, total + 2))
    # Each write's text stands where its revision says.
    expected = {
        revision: f"{number} {step}"
        for number, own in enumerate(revisions)
        for step, revision in enumerate(own)
    }
    assert texts == [expected[revision] for revision in range(2, total + 2)]


async def test_100_racing_systems_leave_one_after_each(tmp_path: Path) -> None:
    async with clients(tmp_path) as stubs:
        await append(stubs[0], "first")
        requests = [
            pb.SetSystemRequest(branch_id=BRANCH, system=SystemContent(system_message=f"policy {number}"))
            for number in range(100)
        ]
        calls = [
            stub.SetSystem(request) for stub, request in zip(itertools.cycle(stubs), requests, strict=False)
        ]
        responses: Sequence[pb.SetSystemResponse] = await asyncio.gather(*calls)
        made = {response.revision: response.placement.message_id for response in responses}
        assert sorted(made) == list(range(3, 103))
        for revision, system_id in made.items():
            kinds = [(m.id, m.WhichOneof("content")) for m in await order(stubs[0], revision)]
            assert kinds[0] == (system_id, "system")
            assert [kind for _, kind in kinds[1:]] == ["instruction"]


async def test_one_of_32_writers_at_one_revision_wins(tmp_path: Path) -> None:
    async with clients(tmp_path) as stubs:
        for revision in range(1, 6):
            calls = [append(stub, str(number), revision) for number, stub in enumerate(stubs)]
            results = await asyncio.gather(*calls, return_exceptions=True)
            won = [result for result in results if not isinstance(result, BaseException)]
            assert [response.revision for response in won] == [revision + 1]
            lost = [result for result in results if isinstance(result, grpc.RpcError)]
            assert len(lost) == CLIENTS - 1
            for failure in lost:
                error = error_from_rpc(failure)
                assert isinstance(error, RevisionConflictError)
                assert (error.code, error.actual_revision) == ("ABORTED", revision + 1)
