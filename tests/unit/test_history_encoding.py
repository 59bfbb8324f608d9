"""Spliced replies are what the generated classes would encode."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from history_service import encoding
from tests.support.history import uuid_of

MESSAGES = st.lists(
    st.builds(
        lambda number, size: message_pb.Message(
            id=uuid_of(number), instruction=message_pb.InstructionContent(instruction="x" * size)
        ),
        st.integers(0, 9),
        st.sampled_from([0, 1, 80, 127, 128, 200, 16_383, 16_384, 70_000]),
    ),
    max_size=5,
)


def bodies_of(messages: list[message_pb.Message]) -> list[bytes]:
    return [message.SerializeToString(deterministic=True) for message in messages]


@given(MESSAGES, st.integers(1, 2**62), st.text(max_size=5))
def test_pages_of_messages(messages: list[message_pb.Message], revision: int, token: str) -> None:
    bodies = bodies_of(messages)
    got = pb.GetMessagesResponse.FromString(encoding.get_messages_response(revision, bodies))
    assert got == pb.GetMessagesResponse(revision=revision, messages=messages)
    for branch in (None, branch_pb.Branch(branch_id=token, revision=revision)):
        page = encoding.list_messages_response(encoding.list_messages_head(revision, token, branch), bodies)
        assert pb.ListMessagesResponse.FromString(page) == pb.ListMessagesResponse(
            revision=revision, messages=messages, next_page_token=token, branch=branch
        )


@given(MESSAGES)
def test_snapshot_frames(messages: list[message_pb.Message]) -> None:
    bodies = bodies_of(messages)
    batch = encoding.snapshot_batch(bodies)
    assert batch == pb.ReadSnapshotResponse(batch=pb.SnapshotBatch(messages=bodies)).SerializeToString()
    assert len(batch) <= sum(len(body) + encoding.FIELD_OVERHEAD for body in bodies) + 16
    ids = [message.id for message in messages] or [uuid_of(1)]
    order = encoding.snapshot_order(ids)
    assert order == pb.ReadSnapshotResponse(order=pb.SnapshotOrder(message_ids=ids)).SerializeToString()
    assert len(order) <= len(ids) * encoding.ORDER_ENTRY_BYTES + 16
    header = pb.SnapshotHeader(branch=branch_pb.Branch(branch_id=uuid_of(1)), revision=3, message_count=7)
    for system in (None, *messages):
        spliced = encoding.snapshot_header(header, None if system is None else bodies_of([system])[0])
        whole = pb.SnapshotHeader(system=system)
        whole.MergeFrom(header)
        assert pb.ReadSnapshotResponse.FromString(spliced) == pb.ReadSnapshotResponse(header=whole)


def test_every_write_response_can_be_marked_as_replayed() -> None:
    for method in pb.DESCRIPTOR.services_by_name["HistoryService"].methods:
        if "replayed" not in method.output_type.fields_by_name:
            continue
        response_type = getattr(pb, method.output_type.name)
        for response in (response_type(), response_type(replayed=False)):
            encoded = response.SerializeToString() + encoding.replay_mark(method.output_type)
            assert response_type.FromString(encoded) == response_type(replayed=True)
