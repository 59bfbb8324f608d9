"""What is folded while a snapshot is on its way changes nothing but the time that a call takes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_FOLDED, PROFILE_NATIVE, CompileRequest
from antiphon.message.v1.message_pb2 import ACTION_RESPONSE_STATE_INTERIM, Message
from antiphon_client.limits import Limits
from antiphon_client.snapshot import SnapshotAssembler
from compiler_service.cache import ahead
from compiler_service.cache.ahead import FoldingAhead
from compiler_service.folded.ahead import FrontFolder, PartsFolder, history_of
from compiler_service.folded.history import FoldedHistory
from compiler_service.state import FoldedRecord
from tests.support.compile_cache import Compiler, counting_reads, question
from tests.support.compiler import history_messages
from tests.support.compiler_servers import snapshot_frames
from tests.support.compiler_strategies import requests
from tests.support.folding import compiled
from tests.support.history import action_result, assistant, call_action, instruction, running

pytestmark = pytest.mark.anyio

BATCH = 40
ROUND = [
    {"type": "instruction", "content": {"instruction": "ask"}},
    {"type": "assistant_response", "content": {"assistant_response": "answer"}},
]


def folded(messages: Sequence[Message], cuts: Sequence[int]) -> FoldedHistory | None:
    """Fold messages from their front, in parts."""
    folder = FrontFolder()
    for start, end in pairwise([0, *cuts]):
        folder.take(list(messages[start:end]))
    return history_of(folder.held())


@settings(max_examples=150)
@given(requests(), st.sets(st.integers(1, 30), max_size=4))
def test_any_part_folded_ahead_gives_the_same_bytes(request: CompileRequest, cuts: set[int]) -> None:
    within = sorted(cut for cut in cuts if cut <= len(request.snapshot.messages))
    assert compiled(request, folded(request.snapshot.messages, within)) == compiled(request, None)


@pytest.mark.parametrize(
    ("wrong", "settled"), [([], 999), (ROUND[:1], 1000)], ids=["right", "instructions that follow each other"]
)
def test_stretches_go_on_where_the_former_part_ended(wrong: list[dict[str, Any]], settled: int) -> None:
    messages = history_messages([*ROUND * 300, *wrong, *ROUND * 300])
    request = question("")
    request.snapshot.messages.extend(messages)
    history = folded(messages, [1, 2, 590, 591, 1000])
    assert history is not None
    # The opening's one message, and no gap after it, up to the last question taken.
    assert [held.start for held in history.held] == [
        1 + sum(held.stretch.length for held in history.held[:number]) for number in range(len(history.held))
    ]
    assert 1 + sum(held.stretch.length for held in history.held) == settled
    assert compiled(request, history) == compiled(request, None)


def test_an_interim_result_folded_before_the_final_one_came() -> None:
    news = action_result(3, 2)
    news.action_response.state = ACTION_RESPONSE_STATE_INTERIM
    request = question("")
    request.snapshot.messages.extend(
        [
            instruction(1),
            call_action(2),
            news,
            assistant(4),
            instruction(5),
            assistant(6),
            action_result(7, 2),
        ]
    )
    history = folded(request.snapshot.messages, [6])
    assert history is not None
    reply = compiled(request, history)
    assert reply == compiled(request, None)
    assert b"the final response to the same action request" in reply


def test_what_no_instruction_settles_waits() -> None:
    answers = history_messages([*ROUND, *ROUND[1:] * 50])
    assert folded(answers, [1, 2, 30, 51]) is None


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is too small to be handed over."""
    monkeypatch.setattr(ahead, "INLINE_BYTES", 0)


def assembling(messages: Sequence[Message], batches: int) -> SnapshotAssembler:
    """Return an assembler that has been fed with so many batches."""
    assembler = SnapshotAssembler()
    for frame in snapshot_frames(messages, batch=BATCH):
        if frame.HasField("batch"):
            batches -= 1
        if frame.HasField("footer") or batches < 0:
            break
        assembler.feed(frame)
    return assembler


@pytest.mark.usefixtures("small_pieces")
async def test_it_folds_what_has_come_but_for_the_last_messages() -> None:
    messages = history_messages(ROUND * BATCH)
    folding = FoldingAhead()
    folding.look(assembling(messages, 0))
    assert await folding.history() is None
    folding.look(assembling(messages, 1))
    first = await folding.history()
    assert first is not None
    assert 1 + sum(held.stretch.length for held in first.held) == BATCH - 1
    folding.look(assembling(messages, 2))
    assert await folding.history() == first


@pytest.mark.usefixtures("small_pieces")
async def test_it_waits_for_what_a_thread_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    take, may_fold = PartsFolder.take, threading.Event()

    def waiting(folder: PartsFolder, start: int, messages: Any) -> None:
        assert may_fold.wait(60)
        take(folder, start, messages)

    monkeypatch.setattr(PartsFolder, "take", waiting)
    folding = FoldingAhead()
    folding.look(assembling(history_messages(ROUND * BATCH), 1))
    # It is done where somebody waits.
    asyncio.get_running_loop().call_soon(may_fold.set)
    try:
        assert await folding.history() is not None
    finally:
        may_fold.set()


async def test_it_leaves_alone_what_is_small() -> None:
    folding = FoldingAhead()
    folding.look(assembling(history_messages(ROUND * BATCH), 1))
    assert await folding.history() is None


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("profile", [PROFILE_FOLDED, PROFILE_NATIVE])
async def test_a_first_compilation_begins_before_the_snapshot_has_come(
    monkeypatch: pytest.MonkeyPatch, profile: Any
) -> None:
    looked_at = counting_reads(monkeypatch)
    taken: list[int] = []
    take = FrontFolder.take

    def spy_on_take(folder: FrontFolder, records: Sequence[FoldedRecord]) -> None:
        taken.append(len(records))
        take(folder, records)

    monkeypatch.setattr(FrontFolder, "take", spy_on_take)
    async with running("memory", Path(), limits=Limits(snapshot_batch_messages=BATCH)) as history:
        branch = await history.create(0xB1)
        for first in range(1, 2 * BATCH, 2):
            await history.add(branch, instruction(first), assistant(first + 1))
        request = question(branch, profile=profile)
        began = await Compiler(history, 0).compile(request)
        read, ahead_of_it = sum(looked_at), sum(taken)
        monkeypatch.setattr(ahead, "INLINE_BYTES", 2**30)
        assert began == await Compiler(history, 0).compile(request)
    if profile == PROFILE_NATIVE:
        assert (read, ahead_of_it) == (2 * BATCH, 0)
    else:
        # Looked at again: the opening's one message, and those after the first batch's last question.
        assert (read, ahead_of_it) == (1 + 1 + BATCH, BATCH)
