"""A snapshot that is folded while it comes, and turns out to be none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.errors import StoreBusyError
from antiphon_client.status import HISTORY_DOMAIN, to_status, trailers
from compiler_service.cache import ahead
from tests.support.compiler import history_messages, message, mid
from tests.support.compiler_servers import BRANCH_ID, answering, reason_of, scripted_pair, snapshot_frames

pytestmark = pytest.mark.anyio

MESSAGES = history_messages(
    [
        {"type": "instruction", "content": {"instruction": "ask"}},
        {"type": "assistant_response", "content": {"assistant_response": "answer"}},
    ]
    * 6
)
UNREADABLE = message("instruction", {"instruction": "ask"}, 3)
UNREADABLE.instruction.prompt_context_json.append("{")
BATCH = 4
ORDER, FIRST_BATCH, FOOTER = 1, 4, -1
"""Where these frames stand."""

Snapshot = list[history_pb.ReadSnapshotResponse]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "INLINE_BYTES", 0)


def branch_request() -> CompileRequest:
    request = CompileRequest()
    request.branch.branch_id = BRANCH_ID
    request.instruction.instruction.instruction = "next"
    return request


def other_text(frames: Snapshot) -> None:
    """A message that says something else than the hash was made of."""
    messages = frames[FIRST_BATCH].batch.messages
    messages[1] = messages[1].replace(b"answer", b"censor")


def other_id(frames: Snapshot) -> None:
    """A message that is not the one that the order names; the hash is of what came."""
    frames[ORDER].order.message_ids[1] = mid(77)


def no_message(frames: Snapshot) -> None:
    """Bytes that are no message."""
    frames[FIRST_BATCH].batch.messages[1] = b"\xff\xff"


def one_id_less(frames: Snapshot) -> None:
    """An order that ends before the messages do."""
    for frame in frames[ORDER + 1 : FIRST_BATCH]:
        frame.order.ClearField("message_ids")
    del frames[ORDER].order.message_ids[3:]


def without_footer(frames: Snapshot) -> None:
    """A stream that ends early."""
    del frames[FOOTER]


@pytest.mark.parametrize("spoil", [other_text, other_id, no_message, one_id_less, without_footer])
async def test_what_is_no_whole_snapshot_is_refused_and_not_kept(
    tmp_path: Path, spoil: Callable[[Snapshot], None]
) -> None:
    frames = snapshot_frames(MESSAGES, batch=BATCH)
    spoil(frames)
    answers = [frames, snapshot_frames(MESSAGES, batch=BATCH)]

    async def script(
        request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        for frame in answers.pop(0):
            yield frame

    async with scripted_pair(tmp_path, script) as (_, compiler):
        error = await reason_of(compiler.Compile(branch_request()))
        assert (error.reason, error.code) == ("SNAPSHOT_TRUNCATED", "DATA_LOSS")
        whole = await compiler.Compile(branch_request())
    assert [turn.text for turn in whole.messages] == [
        *["Instruction: ask", "answer"] * 6,
        "Instruction: next",
    ]


async def test_a_history_that_gives_up_midway_is_passed_on(tmp_path: Path) -> None:
    status = to_status(StoreBusyError("busy", retry_after=2.5), HISTORY_DOMAIN)

    async def script(
        request: history_pb.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[history_pb.ReadSnapshotResponse]:
        for frame in snapshot_frames(MESSAGES, batch=BATCH)[: FIRST_BATCH + 1]:
            yield frame
        await context.abort(grpc.StatusCode.UNAVAILABLE, status.message, trailers(status))

    async with scripted_pair(tmp_path, script) as (_, compiler):
        error = await reason_of(compiler.Compile(branch_request()))
    assert error.reason == "STORE_BUSY"


async def test_a_message_that_cannot_be_compiled_is_reported_as_ever(tmp_path: Path) -> None:
    frames = snapshot_frames([*MESSAGES[:2], UNREADABLE, *MESSAGES[3:]], batch=BATCH)
    async with scripted_pair(tmp_path, answering(frames)) as (_, compiler):
        error = await reason_of(compiler.Compile(branch_request()))
    assert error.reason == "INTERNAL_ERROR"
