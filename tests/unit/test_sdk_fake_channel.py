"""What the blocking client puts on a channel, seen from the other side of a fake one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import grpc
import grpc_testing
import pytest

from antiphon.history.v1 import branch_pb2, history_service_pb2
from antiphon.message.v1.content_block_pb2 import ContentBlock, Image, Text
from antiphon.message.v1.message_pb2 import ACTION_RESPONSE_STATE_INTERIM, InstructionContent, Message
from antiphon_client import Branch, HistoryClient
from antiphon_client.errors import SnapshotTruncatedError
from antiphon_client.ids import is_canonical_uuid
from antiphon_client.messages import ImageBlock, TextBlock
from antiphon_client.records import Written
from antiphon_client.transport_errors import DeadlineExceededError, ServiceUnreachableError, TransportError

SERVICE = history_service_pb2.DESCRIPTOR.services_by_name["HistoryService"]
BRANCH_ID = "00000000-0000-4000-8000-000000000001"
MESSAGE_ID = "00000000-0000-4000-8000-000000000002"
ACTION_ID = "00000000-0000-4000-8000-000000000003"
REQUEST_ID = "00000000-0000-4000-8000-000000000004"
T = TypeVar("T")


class Fake:
    """A client on a fake channel, and the channel's other side."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor) -> None:
        self._channel = grpc_testing.channel([SERVICE], grpc_testing.strict_real_time())
        monkeypatch.setattr("antiphon_client.client_base.open_channel", lambda *_: self._channel)
        self.client = HistoryClient("unix:nowhere", timeout=7, metadata=[("authorization", "Bearer t")])
        self._threads = threads

    def begin(self, call: Callable[[], T]) -> Future[T]:
        """Run a blocking call beside the test."""
        return self._threads.submit(call)

    def unary(self, method: str) -> tuple[Any, Any, Any]:
        """Wait for the next unary call: its metadata, its request, and the call."""
        taken: tuple[Any, Any, Any] = self._channel.take_unary_unary(SERVICE.methods_by_name[method])
        return taken

    def stream(self, method: str) -> tuple[Any, Any, Any]:
        """Wait for the next call of a server stream."""
        taken: tuple[Any, Any, Any] = self._channel.take_unary_stream(SERVICE.methods_by_name[method])
        return taken


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    with ThreadPoolExecutor(1) as threads:
        yield Fake(monkeypatch, threads)


def message() -> Message:
    return Message(id=MESSAGE_ID, instruction=InstructionContent(instruction="hi"))


def test_a_write_carries_a_fresh_request_id_and_the_clients_metadata(fake: Fake) -> None:
    seen = []
    for revision in (2, 3):
        added = fake.begin(lambda: fake.client.add_messages(BRANCH_ID, [message()], expected_revision=1))
        metadata, request, call = fake.unary("AddMessages")
        placement = branch_pb2.Placement(message_id=MESSAGE_ID, index=0)
        call.terminate(
            history_service_pb2.AddMessagesResponse(revision=revision, placements=[placement]),
            (),
            grpc.StatusCode.OK,
            "",
        )
        assert added.result(10).revision == revision
        assert ("authorization", "Bearer t") in [tuple(pair) for pair in metadata]
        assert (request.branch_id, request.expected_revision) == (BRANCH_ID, 1)
        assert [m.instruction.instruction for m in request.messages] == ["hi"]
        assert is_canonical_uuid(request.request_id)
        seen.append(request.request_id)
    assert seen[0] != seen[1]


@pytest.mark.parametrize("outcome", [{"output": {"n": 1.5}}, {"error": "it broke"}])
@pytest.mark.parametrize("of_branch", [False, True])
def test_an_action_can_be_answered_with_every_field_of_the_request(
    fake: Fake, outcome: dict[str, Any], of_branch: bool
) -> None:
    fields: dict[str, Any] = {
        **outcome,
        "interim": True,
        "blocks": [TextBlock("rich"), ImageBlock(mime_type="image/png", data=b"\x89")],
        "message_id": MESSAGE_ID,
        "metadata": {"n": 1},
        "expected_revision": 1,
        "request_id": REQUEST_ID,
    }
    branch = Branch(fake.client, BRANCH_ID)
    respond: Callable[..., Written] = (
        branch.respond if of_branch else partial(fake.client.respond_to_action, BRANCH_ID)
    )
    answered = fake.begin(lambda: respond(ACTION_ID, **fields))
    _, request, call = fake.unary("RespondToAction")
    placement = branch_pb2.Placement(message_id=MESSAGE_ID, index=1)
    response = history_service_pb2.RespondToActionResponse(revision=2, placement=placement)
    call.terminate(response, (), grpc.StatusCode.OK, "")
    assert answered.result(10).revision == 2
    sent = {field.name for field, _ in request.ListFields()}
    known = {field.name for field in request.DESCRIPTOR.fields}
    assert known - sent == {"error" if "output" in outcome else "output_json"}
    expected = history_service_pb2.RespondToActionRequest(
        branch_id=BRANCH_ID,
        action_request_id=ACTION_ID,
        message_id=MESSAGE_ID,
        state=ACTION_RESPONSE_STATE_INTERIM,
        blocks=[
            ContentBlock(text=Text(text="rich")),
            ContentBlock(image=Image(mime_type="image/png", data=b"\x89")),
        ],
        metadata_json='{"n":1}',
        expected_revision=1,
        request_id=REQUEST_ID,
    )
    if "error" in outcome:
        expected.error = outcome["error"]
    else:
        expected.output_json = '{"n":1.5}'
    assert request == expected


@pytest.mark.parametrize(
    ("code", "expected", "base"),
    [
        (grpc.StatusCode.UNAVAILABLE, ServiceUnreachableError, ConnectionError),
        (grpc.StatusCode.DEADLINE_EXCEEDED, DeadlineExceededError, TimeoutError),
        (grpc.StatusCode.UNIMPLEMENTED, TransportError, TransportError),
    ],
)
def test_a_status_without_a_reason_is_a_transport_error(
    fake: Fake, code: grpc.StatusCode, expected: type[TransportError], base: type[Exception]
) -> None:
    read = fake.begin(lambda: fake.client.get_branch(BRANCH_ID))
    _, _, call = fake.unary("GetBranch")
    call.terminate(None, (), code, "told")
    with pytest.raises(expected) as caught:
        read.result(10)
    assert isinstance(caught.value, base)
    assert caught.value.metadata["code"] == code.name
    assert "told" in caught.value.message


def test_a_snapshot_cut_short_is_an_error(fake: Fake) -> None:
    read = fake.begin(lambda: fake.client.read_snapshot(BRANCH_ID))
    _, request, call = fake.stream("ReadSnapshot")
    header = history_service_pb2.SnapshotHeader(revision=1, message_count=1)
    call.send_response(history_service_pb2.ReadSnapshotResponse(header=header))
    call.terminate((), grpc.StatusCode.OK, "")
    assert request.branch_id == BRANCH_ID
    with pytest.raises(SnapshotTruncatedError):
        read.result(10)
