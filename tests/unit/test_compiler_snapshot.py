"""Assembling a streamed snapshot: whole streams only."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.history.v1.history_service_pb2 import (
    ReadSnapshotResponse,
    SnapshotBatch,
    SnapshotFooter,
    SnapshotOrder,
)
from antiphon_client.errors import SnapshotTruncatedError
from antiphon_client.snapshot import AssembledSnapshot, SnapshotAssembler
from tests.support.compiler import history_messages, message, mid
from tests.support.compiler_servers import INCARNATION, snapshot_frames

MESSAGES = history_messages(
    {"type": "assistant_response", "content": {"assistant_response": f"text {number}"}} for number in range(5)
)
SYSTEM = message("system", {"system_message": "s"}, 0)
WHOLE = snapshot_frames(MESSAGES, system=SYSTEM)
HEADER, ORDER, BATCH, FOOTER = WHOLE[0], WHOLE[1:4], WHOLE[4:7], WHOLE[7]
Frames = list[ReadSnapshotResponse]


def assemble(frames: Sequence[ReadSnapshotResponse]) -> AssembledSnapshot:
    assembler = SnapshotAssembler()
    for frame in frames:
        assert assembler.feed(frame) is False
    return assembler.result()


def test_a_whole_stream_gives_the_snapshot() -> None:
    snapshot = assemble(WHOLE)
    assert snapshot.branch == HEADER.header.branch
    assert (snapshot.incarnation, snapshot.revision) == (INCARNATION, 7)
    assert snapshot.system == SYSTEM
    assert snapshot.message_ids == tuple(mid(number) for number in range(1, 6))
    assert snapshot.messages == tuple(m.SerializeToString(deterministic=True) for m in MESSAGES)
    assert snapshot.decode() == MESSAGES


def test_an_empty_selection_is_whole() -> None:
    snapshot = assemble(snapshot_frames([]))
    assert (snapshot.system, snapshot.message_ids, snapshot.messages, snapshot.decode()) == (None, (), (), [])


def changed(
    frame: ReadSnapshotResponse, change: Callable[[ReadSnapshotResponse], object]
) -> ReadSnapshotResponse:
    copy = ReadSnapshotResponse()
    copy.CopyFrom(frame)
    change(copy)
    return copy


def other_byte(frame: ReadSnapshotResponse) -> None:
    first = frame.batch.messages[0]
    frame.batch.messages[0] = first[:-1] + bytes((first[-1] ^ 1,))


def set_header_count(frame: ReadSnapshotResponse) -> None:
    frame.header.message_count = 4


def set_footer_count(frame: ReadSnapshotResponse) -> None:
    frame.footer.message_count = 6


BROKEN: dict[str, Frames] = {
    "nothing": [],
    "no header": WHOLE[1:],
    "two headers": [HEADER, *WHOLE],
    "footer first": [FOOTER, *WHOLE],
    "no footer": WHOLE[:-1],
    "after the footer": [*WHOLE, BATCH[0]],
    "two footers": [*WHOLE, FOOTER],
    "a batch is missing": [HEADER, *ORDER, *BATCH[:-1], FOOTER],
    "a batch comes twice": [HEADER, *ORDER, *BATCH, BATCH[0], FOOTER],
    "batches are exchanged": [HEADER, *ORDER, BATCH[1], BATCH[0], BATCH[2], FOOTER],
    "an order part is missing": [HEADER, *ORDER[:-1], *BATCH, FOOTER],
    "the order goes on late": [HEADER, *ORDER[:-1], BATCH[0], ORDER[-1], *BATCH[1:], FOOTER],
    "a byte is changed": [HEADER, *ORDER, changed(BATCH[0], other_byte), *BATCH[1:], FOOTER],
    "the header's count differs": [changed(HEADER, set_header_count), *WHOLE[1:]],
    "the footer's count differs": [*WHOLE[:-1], changed(FOOTER, set_footer_count)],
    "an unknown frame": [HEADER, ReadSnapshotResponse(), *WHOLE[1:]],
}


@pytest.mark.parametrize("frames", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_stream_is_refused(frames: Frames) -> None:
    with pytest.raises(SnapshotTruncatedError):
        assemble(frames)


@given(st.sets(st.integers(0, len(WHOLE) - 1), min_size=1))
def test_any_lost_frames_are_missed(lost: set[int]) -> None:
    with pytest.raises(SnapshotTruncatedError):
        assemble([frame for index, frame in enumerate(WHOLE) if index not in lost])


def test_an_order_that_names_other_messages_is_refused() -> None:
    exchanged = SnapshotOrder(message_ids=[mid(2), mid(1)])
    frames = [HEADER, ReadSnapshotResponse(order=exchanged), *ORDER[1:], *BATCH, FOOTER]
    with pytest.raises(SnapshotTruncatedError, match="message 0"):
        assemble(frames).decode()


def test_bytes_that_are_no_message_are_refused() -> None:
    noise = b"\xff\xff"
    header = changed(snapshot_frames(MESSAGES[:1])[0], lambda frame: None)
    frames = [
        header,
        ReadSnapshotResponse(order=SnapshotOrder(message_ids=[mid(1)])),
        ReadSnapshotResponse(batch=SnapshotBatch(messages=[noise])),
        ReadSnapshotResponse(footer=SnapshotFooter(message_count=1, sha256=hashlib.sha256(noise).digest())),
    ]
    with pytest.raises(SnapshotTruncatedError, match="not an encoded Message"):
        assemble(frames).decode()


def test_the_bytes_that_are_no_message_are_named() -> None:
    snapshot = assemble(WHOLE)
    broken = (*snapshot.messages[:2], b"\x0a\xff", *snapshot.messages[3:])
    with pytest.raises(SnapshotTruncatedError, match="message 2 is not an encoded Message"):
        replace(snapshot, messages=broken).decode()
