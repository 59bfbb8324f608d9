"""Assembling a streamed snapshot: whole streams only."""

from __future__ import annotations

import hashlib
import resource
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.history.v1.history_service_pb2 import (
    KeptRun,
    ReadSnapshotResponse,
    SnapshotBatch,
    SnapshotDelta,
    SnapshotFooter,
    SnapshotFrames,
    SnapshotOrder,
    SnapshotRun,
)
from antiphon.message.v1.message_pb2 import Message
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


def resident_bytes() -> int:
    """Memory of this process; what protobuf has of it is known to nobody else."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


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


def joined(frames: Sequence[ReadSnapshotResponse]) -> ReadSnapshotResponse:
    """Frames as one: its fields have the frames' own numbers."""
    encoded = b"".join(frame.SerializeToString() for frame in frames)
    return ReadSnapshotResponse(joined=SnapshotFrames.FromString(encoded))


@pytest.mark.parametrize("frames", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_stream_is_refused(frames: Frames) -> None:
    with pytest.raises(SnapshotTruncatedError):
        assemble(frames)


cuts_of_a_stream = st.sets(st.integers(1, len(WHOLE) - 1))


def joined_between(frames: Frames, cuts: set[int]) -> Frames:
    """A stream with what stands between cuts joined."""
    return [joined(frames[start:end]) for start, end in pairwise([0, *sorted(cuts), len(frames)])]


@given(cuts_of_a_stream)
def test_joined_frames_are_the_same_as_each_by_itself(cuts: set[int]) -> None:
    assert assemble(joined_between(WHOLE, cuts)) == assemble(WHOLE)


@given(cuts_of_a_stream, st.data())
def test_joined_frames_that_are_lost_or_exchanged_are_missed(cuts: set[int], data: st.DataObject) -> None:
    frames = joined_between(WHOLE, cuts)
    index = data.draw(st.integers(0, len(frames) - 1))
    with pytest.raises(SnapshotTruncatedError):
        assemble([*frames[:index], *frames[index + 1 :]]).decode()
    if index:
        with pytest.raises(SnapshotTruncatedError):
            assemble([*frames[: index - 1], frames[index], frames[index - 1], *frames[index + 1 :]]).decode()


def test_a_byte_changed_in_joined_frames_is_found() -> None:
    with pytest.raises(SnapshotTruncatedError, match="hash"):
        assemble([joined([HEADER, *ORDER, changed(BATCH[0], other_byte), *BATCH[1:], FOOTER])])


@pytest.mark.parametrize("is_joined", [False, True])
@pytest.mark.parametrize("batch", [2, 100])
def test_the_size_is_that_of_the_frames(is_joined: bool, batch: int) -> None:
    messages = 20 * MESSAGES
    apart = snapshot_frames(messages, system=SYSTEM, batch=batch)
    assembler = SnapshotAssembler()
    assert assembler.size == 0
    for frame in [joined(apart)] if is_joined else apart:
        assembler.feed(frame)
    bytes_apart = sum(frame.ByteSize() for frame in apart)
    assert bytes_apart <= assembler.size <= bytes_apart + 12 * len(messages) + 6 * len(apart)


def test_batches_of_nothing_have_a_size() -> None:
    assembler = SnapshotAssembler()
    assembler.feed(HEADER)
    before = assembler.size
    assembler.feed(joined([ReadSnapshotResponse(batch=SnapshotBatch())] * 1000))
    assert assembler.size >= before + 2000


def test_joined_frames_have_a_size_of_their_own() -> None:
    long = message("assistant_response", {"assistant_response": "x" * 2**21}, 1)
    header, *others = snapshot_frames([long])
    frame = joined([others[-2]])
    assembler = SnapshotAssembler()
    assembler.feed(header)
    before = assembler.size
    assembler.feed(frame)
    assert assembler.size >= before + frame.ByteSize()
    before = assembler.size
    assembler.feed(joined([]))
    assert assembler.size > before


def test_a_branch_that_is_kept_keeps_no_frame_in_memory() -> None:
    long = message("assistant_response", {"assistant_response": "x" * 2**20}, 1)
    encoded = joined(snapshot_frames([long], system=SYSTEM)).SerializeToString()
    before, kept = resident_bytes(), []
    for _ in range(32):
        snapshot = assemble([ReadSnapshotResponse.FromString(encoded)])
        kept.append((snapshot.branch, snapshot.system))
        del snapshot
    assert resident_bytes() - before < len(kept) * 2**20 // 2


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


# Deltas

HELD = assemble(WHOLE)
Runs = list[SnapshotRun]


def kept(start: int, count: int) -> SnapshotRun:
    return SnapshotRun(kept=KeptRun(start=start, count=count))


def delta_frames(runs: Runs, sent: Sequence[Message], count: int, revision: int = 8) -> Frames:
    """Return the frames of a delta, its runs in two parts."""
    header, *_, footer = snapshot_frames([], system=SYSTEM, revision=revision)
    encoded = [each.SerializeToString(deterministic=True) for each in sent]
    batch = ReadSnapshotResponse(batch=SnapshotBatch(messages=encoded))
    footer.footer.message_count = len(sent)
    footer.footer.sha256 = hashlib.sha256(b"".join(encoded)).digest()
    header.header.is_delta = True
    header.header.message_count = count
    parts = [ReadSnapshotResponse(delta=SnapshotDelta(runs=part)) for part in (runs[:1], runs[1:])]
    return [header, *parts, batch, footer]


NEW = message("instruction", {"instruction": "new"}, 9)
DELTA = delta_frames([kept(0, 2), SnapshotRun(sent=1), kept(3, 2)], [NEW], 5)


def apply(frames: Sequence[ReadSnapshotResponse], held: AssembledSnapshot | None = HELD) -> AssembledSnapshot:
    assembler = SnapshotAssembler(held)
    for frame in frames:
        assembler.feed(frame)
    return assembler.result()


def test_a_delta_gives_the_snapshot() -> None:
    snapshot = apply(DELTA)
    assert snapshot.revision == 8
    assert snapshot.decode() == [*MESSAGES[:2], NEW, *MESSAGES[3:]]
    assert snapshot.decode(1, 3) == [MESSAGES[1], NEW]
    assert snapshot.message_ids == (mid(1), mid(2), NEW.id, mid(4), mid(5))
    assert snapshot.kept == ((0, 0, 2), (3, 3, 2))
    assert snapshot.alone() == replace(snapshot, kept=())
    assert apply(WHOLE).kept == ()


@given(st.data())
def test_the_bytes_of_the_messages_are_known(data: st.DataObject) -> None:
    assert HELD.message_bytes == sum(map(len, HELD.messages))
    bounds = sorted(data.draw(st.sets(st.integers(0, len(MESSAGES)), max_size=6)))
    runs = [kept(start, end - start) for start, end in pairwise(bounds) if data.draw(st.booleans())]
    if data.draw(st.booleans()):
        runs.reverse()
    at = data.draw(st.integers(0, len(runs)))
    runs.insert(at, SnapshotRun(sent=1))
    count = sum(run.kept.count for run in runs) + 1
    snapshot = apply(delta_frames(runs, [NEW], count))
    assert snapshot.message_bytes == sum(map(len, snapshot.messages))
    assert snapshot.message_ids == tuple(Message.FromString(encoded).id for encoded in snapshot.messages)


def without_mark(frame: ReadSnapshotResponse) -> None:
    frame.header.is_delta = False


def other_incarnation(frame: ReadSnapshotResponse) -> None:
    frame.header.incarnation = "other"


def other_branch(frame: ReadSnapshotResponse) -> None:
    frame.header.branch.branch_id = mid(1)


BROKEN_DELTAS: dict[str, Frames] = {
    "no mark": [changed(DELTA[0], without_mark), *DELTA[1:]],
    "another incarnation": [changed(DELTA[0], other_incarnation), *DELTA[1:]],
    "another branch": [changed(DELTA[0], other_branch), *DELTA[1:]],
    "back in time": delta_frames([kept(0, 2), SnapshotRun(sent=1), kept(3, 2)], [NEW], 5, revision=6),
    "an order too": [DELTA[0], *ORDER, *DELTA[1:]],
    "a run is missing": [*DELTA[:2], *DELTA[3:]],
    "a run comes late": [*DELTA[:2], DELTA[3], DELTA[2], DELTA[4]],
    "a run beyond the copy": delta_frames([kept(1, 5)], [], 5),
    "a run before the copy": delta_frames([kept(-1, 5)], [], 5),
    "a run kept twice": delta_frames([kept(0, 5), kept(0, 5)], [], 10),
    "runs that keep more than the copy": delta_frames([kept(0, 4), kept(2, 2)], [], 6),
    "a run of nothing": delta_frames([kept(0, 5), kept(3, 0)], [], 5),
    "a run without a source": delta_frames([kept(0, 5), SnapshotRun()], [], 5),
    "more sent than came": delta_frames([kept(0, 3), SnapshotRun(sent=2)], [NEW], 5),
    "fewer sent than came": delta_frames([kept(0, 5)], [NEW], 5),
    "none of many sent": delta_frames([kept(0, 5), SnapshotRun(sent=0)], [], 5),
    "another count": delta_frames([kept(0, 2), SnapshotRun(sent=1), kept(3, 2)], [NEW], 6),
}


@pytest.mark.parametrize("frames", BROKEN_DELTAS.values(), ids=BROKEN_DELTAS.keys())
def test_a_broken_delta_is_refused(frames: Frames) -> None:
    with pytest.raises(SnapshotTruncatedError):
        apply(frames)


def test_a_delta_of_what_is_not_held_is_refused() -> None:
    with pytest.raises(SnapshotTruncatedError, match="not held"):
        apply(DELTA, None)
