"""The history service behind its real edge, over a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon_client.errors import AntiphonError
from antiphon_client.limits import Limits
from antiphon_client.status import error_from_rpc
from history_service.server import build_server
from history_service.settings import HistorySettings
from tests.support.history import (
    STORES,
    assemble,
    call_action,
    instruction,
    make_store,
    summary,
    system,
    uuid_of,
)

pytestmark = pytest.mark.anyio

BRANCH = uuid_of(1)


@pytest.fixture(params=STORES)
async def stub(
    anyio_backend: object, request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[pb_grpc.HistoryServiceAsyncStub]:
    """A stub of a running service over each store; branch 1 has three messages."""
    settings = HistorySettings(listen=f"unix:{tmp_path / 'history.sock'}", limits=Limits(frame_bytes=2000))
    server = build_server(settings, make_store(request.param, tmp_path))
    address = await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            stub = pb_grpc.HistoryServiceStub(channel)
            await stub.CreateBranch(pb.CreateBranchRequest(branch_id=BRANCH))
            messages = [system(9), instruction(1), call_action(2)]
            await stub.AddMessages(pb.AddMessagesRequest(branch_id=BRANCH, messages=messages))
            yield stub
    finally:
        await server.stop(0)


def reason(failure: grpc.RpcError) -> AntiphonError:
    """Return the error behind a failed call."""
    error = error_from_rpc(failure)
    assert error is not None
    return error


async def test_every_method_answers(stub: pb_grpc.HistoryServiceAsyncStub) -> None:
    at: dict[str, Any] = {"branch_id": BRANCH}
    assert (await stub.GetBranch(pb.GetBranchRequest(**at))).branch.message_count == 3
    assert len((await stub.ListBranches(pb.ListBranchesRequest())).branches) == 1
    updated = await stub.UpdateBranch(pb.UpdateBranchRequest(metadata_json='{"a":1}', **at))
    assert updated.revision == 3
    answered = await stub.RespondToAction(
        pb.RespondToActionRequest(action_request_id=uuid_of(2), output_json="1", **at)
    )
    assert (answered.revision, answered.placement.index) == (4, 3)
    await stub.SetSystem(pb.SetSystemRequest(system=system(3).system, **at))
    await stub.MoveMessage(pb.MoveMessageRequest(message_id=uuid_of(1), index=2, **at))
    got = await stub.GetMessages(pb.GetMessagesRequest(message_ids=[uuid_of(2), uuid_of(1)], **at))
    assert [message.id for message in got.messages] == [uuid_of(2), uuid_of(1)]
    page = await stub.ListMessages(pb.ListMessagesRequest(page_size=2, **at))
    assert [message.id for message in page.messages][1] == uuid_of(2)
    rest = await stub.ListMessages(pb.ListMessagesRequest(page_token=page.next_page_token, **at))
    assert (rest.revision, len(rest.messages), rest.next_page_token) == (6, 2, "")
    await stub.SelectView(pb.SelectViewRequest(message_ids=[uuid_of(1)], **at))
    await stub.ClearView(pb.ClearViewRequest(**at))
    compacted = await stub.CommitCompaction(
        pb.CommitCompactionRequest(summary=summary(0, 1, 2).summary, view_message_ids=[uuid_of(2)], **at)
    )
    assert (compacted.revision, compacted.placement.index, compacted.view_count) == (9, 4, 2)
    await stub.RemoveMessages(pb.RemoveMessagesRequest(message_ids=[uuid_of(1)], **at))
    assert (await stub.ClearMessages(pb.ClearMessagesRequest(**at))).revision == 11
    assert (await stub.DeleteBranch(pb.DeleteBranchRequest(**at))).revision == 12


async def test_a_snapshot_arrives_whole(stub: pb_grpc.HistoryServiceAsyncStub) -> None:
    more = [instruction(100 + n, "x" * 100) for n in range(60)]
    await stub.AddMessages(pb.AddMessagesRequest(branch_id=BRANCH, messages=more))
    stream = stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id=BRANCH))
    frames = [frame.SerializeToString() async for frame in stream]
    snapshot = assemble(frames)
    assert len(snapshot.order) == 63
    assert len(frames) > 5


async def test_the_same_bytes_again_are_replayed(stub: pb_grpc.HistoryServiceAsyncStub) -> None:
    request = pb.AddMessagesRequest(branch_id=BRANCH, messages=[instruction(5)], request_id=uuid_of(50))
    first, again = await stub.AddMessages(request), await stub.AddMessages(request)
    assert (first.replayed, again.replayed) == (False, True)
    assert first.placements == again.placements
    request.allow_unresolved = True
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.AddMessages(request)
    assert caught.value.code() is grpc.StatusCode.ALREADY_EXISTS
    assert reason(caught.value).reason == "REQUEST_ID_REUSED"


async def test_errors_cross_the_wire_with_their_facts(stub: pb_grpc.HistoryServiceAsyncStub) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.ClearView(pb.ClearViewRequest(branch_id=BRANCH, expected_revision=1))
    error = reason(caught.value)
    assert (error.reason, error.domain) == ("REVISION_CONFLICT", "antiphon.history")
    assert (error.metadata["expected"], error.metadata["actual"]) == ("1", "2")
    message = call_action(3)
    message.action_request.arguments_json = "[]"
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.AddMessages(pb.AddMessagesRequest(branch_id=BRANCH, messages=[instruction(4), message]))
    error = reason(caught.value)
    assert error.reason == "FIELD_INVALID"
    assert [v.field for v in error.violations] == ["messages[1].action_request.arguments_json"]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id=BRANCH, at_revision=99)).read()
    assert reason(caught.value).reason == "REVISION_IN_FUTURE"
