"""What the compiler keeps between calls changes nothing but the time that a call takes."""

from __future__ import annotations

import asyncio
import gc
import tempfile
import threading
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from prometheus_client import generate_latest

from antiphon.compiler.v1.compiled_message_pb2 import COMPILE_NOTE_KIND_INTERIM_DROPPED
from antiphon.compiler.v1.compiler_service_pb2 import (
    PROFILE_FOLDED,
    PROFILE_NATIVE,
    CompileResponse,
    PlanWindowRequest,
)
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1.branch_pb2 import Branch
from antiphon.message.v1.message_pb2 import (
    ACTION_RESPONSE_STATE_INTERIM,
    MESSAGE_STATUS_EXCLUDED,
    Message,
)
from antiphon_client.edge.metrics import RequestMetrics
from antiphon_client.limits import Limits
from antiphon_client.snapshot import AssembledSnapshot
from compiler_service.cache import ahead
from compiler_service.cache.branches import BranchAddress, BranchCache, KeptBranch, kept_branch
from compiler_service.compilation import compile_turn
from compiler_service.folded import division
from compiler_service.folded.stretch import Stretch
from compiler_service.state import CompiledTurn
from tests.support.compile_cache import PROGRAMS, Compiler, Program, Scene, counting_reads, question
from tests.support.history import (
    History,
    action_result,
    assistant,
    call_action,
    instruction,
    running,
    uuid_of,
)

pytestmark = pytest.mark.anyio

BRANCH_ROOM = 12_000
"""Room for one small branch, not for two."""


async def _run(kind: str, folder: Path, steps: Program) -> list[bool]:
    async with running(kind, folder) as history:
        branches = [await history.create(number) for number in (0xB1, 0xB2)]
        compilers = [Compiler(history, size) for size in (2**28, 2**28, BRANCH_ROOM, 0)]
        scene = Scene(history, Compiler(history, 0), compilers, branches)
        await scene.run(steps)
        for branch in branches:
            await scene.compare(question(branch))
        await history.store.close()
        return scene.compiled


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(PROGRAMS)
def test_replies_are_the_same_bytes_with_and_without_a_cache(steps: Program) -> None:
    asyncio.run(_run("memory", Path(), steps))


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(PROGRAMS)
def test_a_durable_history_gives_the_same_too(steps: Program) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_run("sqlite", Path(folder), steps))


async def _conversation(history: History, rounds: int, number: int = 0xB1) -> str:
    """Make a branch of whole rounds: a question, a call, its result, an answer."""
    branch = await history.create(number)
    for n in range(rounds):
        first = 1 + 4 * n
        await history.add(
            branch, instruction(first), call_action(first + 1), action_result(first + 2, first + 1)
        )
        await history.add(branch, assistant(first + 3))
    return branch


@pytest.fixture
async def history(anyio_backend: object) -> AsyncIterator[History]:
    async with running("memory", Path()) as service:
        yield service


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many messages were read, one number for each time; none is read ahead, which is not counted."""
    monkeypatch.setattr(ahead, "INLINE_BYTES", 2**30)
    return counting_reads(monkeypatch)


async def test_a_new_message_costs_what_is_new(history: History, looked_at: list[int]) -> None:
    branch = await _conversation(history, 150)
    compiler = Compiler(history, 2**28)
    cold = await compiler.compile(question(branch))
    assert isinstance(cold, bytes)
    assert sum(looked_at) == 600
    for number in range(1000, 1005):
        looked_at.clear()
        await history.add(branch, instruction(number), assistant(number + 500))
        warm = await compiler.compile(question(branch))
        assert isinstance(warm, bytes)
        assert warm == await Compiler(history, 0).compile(question(branch))
        # The opening, what came after the last settled question, and what is new.
        assert sum(looked_at[:-1]) <= 8
    assert compiler.stub.messages_sent == [600, 2, 2, 2, 2, 2]


async def test_a_reply_is_put_together_without_making_its_turns(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch = await _conversation(history, 150)
    compiler = Compiler(history, 2**28)
    expected = await Compiler(history, 0).compile(question(branch))
    made: list[int] = []

    def making(stretch: Stretch) -> tuple[CompiledTurn, ...]:
        made.append(len(stretch.rows))
        return tuple(map(CompiledTurn._make, stretch.rows))

    monkeypatch.setattr(Stretch, "turns", property(making))
    assert [await compiler.compile(question(branch)) for _ in range(2)] == [expected, expected]
    assert made == []


@pytest.mark.parametrize(
    ("fields", "on_the_loop"),
    [
        ({}, True),
        ({"target": "openai.chat"}, False),
        ({"token_counter": "estimate"}, False),
        ({"profile": PROFILE_NATIVE}, False),
    ],
)
async def test_what_more_is_made_of_what_is_folded_does_not_hold_up_others(
    history: History, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], on_the_loop: bool
) -> None:
    branch = await history.create(1)
    await history.add(branch, *[each for n in range(1, 200, 2) for each in _exchange(n)])
    compiler = Compiler(history, 2**28)
    await compiler.compile(question(branch))
    threads: list[int] = []

    def noted(*args: Any, **kwargs: Any) -> Any:
        threads.append(threading.get_ident())
        return compile_turn(*args, **kwargs)

    monkeypatch.setattr("compiler_service.servicer.compile_turn", noted)
    assert isinstance(await compiler.compile(question(branch, **fields)), bytes)
    assert [thread == threading.get_ident() for thread in threads] == [on_the_loop]


def _exchange(first: int) -> list[Message]:
    return [instruction(first, "x" * 1000), assistant(first + 1)]


async def test_an_edit_costs_its_stretch(history: History, looked_at: list[int]) -> None:
    branch = await _conversation(history, 400)
    compiler = Compiler(history, 2**28)
    await compiler.compile(question(branch))
    looked_at.clear()
    await history.add(branch, instruction(801, "edited"))
    edited = await compiler.compile(question(branch))
    assert max(looked_at) <= division.STRETCH_MESSAGES + 4
    assert edited == await Compiler(history, 0).compile(question(branch))


async def test_another_system_record_costs_the_opening(history: History, looked_at: list[int]) -> None:
    branch = await _conversation(history, 100)
    compiler = Compiler(history, 2**28)
    await compiler.compile(question(branch))
    for text in ("policy", "another policy"):
        await history.system(branch, text)
        looked_at.clear()
        reply = await compiler.compile(question(branch))
        assert sum(looked_at) <= 8
        assert reply == await Compiler(history, 0).compile(question(branch))
        assert text in CompileResponse.FromString(reply).messages[0].text  # type: ignore[arg-type]


async def test_a_past_revision_leaves_the_newest_in_place(history: History) -> None:
    branch = await _conversation(history, 20)
    compiler = Compiler(history, 2**28)
    await compiler.compile(question(branch))
    past = question(branch)
    past.branch.at_revision = 5
    assert await compiler.compile(past) == await Compiler(history, 0).compile(past)
    assert not compiler.stub.requests[-1].HasField("since_revision")
    await compiler.compile(question(branch))
    assert compiler.stub.messages_sent == [80, 8, 0]


async def test_a_past_revision_helps_a_later_one(history: History) -> None:
    branch = await _conversation(history, 20)
    compiler = Compiler(history, 2**28)
    past = question(branch)
    for revision in (21, 31):
        past.branch.at_revision = revision
        assert await compiler.compile(past) == await Compiler(history, 0).compile(past)
    await compiler.compile(question(branch))
    assert compiler.stub.messages_sent == [40, 20, 20]


async def test_a_progression_goes_past_the_cache(history: History) -> None:
    branch = await _conversation(history, 5)
    compiler = Compiler(history, 2**28)
    await compiler.compile(question(branch))
    chosen = question(branch)
    chosen.progression.message_ids.append(uuid_of(1))
    await compiler.compile(chosen)
    assert not compiler.stub.requests[-1].HasField("since_revision")
    await compiler.compile(question(branch))
    assert compiler.stub.messages_sent == [20, 1, 0]


@pytest.mark.parametrize("purge", [False, True], ids=["deleted", "erased"])
async def test_a_branch_that_is_gone_is_let_go_of(history: History, purge: bool) -> None:
    gone, other = await _conversation(history, 5), await history.create(2)
    compiler = Compiler(history, 2**28)
    await compiler.compile(question(other))
    left = compiler.servicer.kept_bytes
    await compiler.compile(question(gone))
    assert compiler.servicer.kept_bytes > left
    await history.call(pb.DeleteBranchRequest(branch_id=gone, purge=purge))
    reasons = [await compiler.compile(question(gone)) for _ in range(2)]
    assert compiler.servicer.kept_bytes == left
    assert reasons == [await Compiler(history, 0).compile(question(gone))] * 2


async def test_an_interim_result_goes_when_the_final_one_comes_much_later(history: History) -> None:
    branch = await history.create()
    news = action_result(3, 2)
    news.action_response.state = ACTION_RESPONSE_STATE_INTERIM
    # The call stands in the opening, as it changes too when its result comes.
    await history.add(branch, call_action(2), assistant(9), instruction(1), assistant(8), news)
    await history.add(branch, instruction(4), assistant(5))
    await history.add(
        branch, *[make(n) for k in range(150) for n, make in ((100 + k, instruction), (300 + k, assistant))]
    )
    compiler, plain = Compiler(history, 2**28), Compiler(history, 0)
    assert await compiler.compile(question(branch)) == await plain.compile(question(branch))
    await history.add(branch, action_result(6, 2))
    with_final = await compiler.compile(question(branch))
    assert with_final == await plain.compile(question(branch))
    notes = {note.kind for note in CompileResponse.FromString(with_final).report}  # type: ignore[arg-type]
    assert COMPILE_NOTE_KIND_INTERIM_DROPPED in notes
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(6)]))
    assert await compiler.compile(question(branch)) == await plain.compile(question(branch))


async def test_instructions_that_follow_each_other_are_found_where_stretches_meet(history: History) -> None:
    branch = await history.create()
    await history.add(branch, instruction(1), assistant(2), instruction(3))
    compiler, plain = Compiler(history, 2**28), Compiler(history, 0)
    await compiler.compile(question(branch))
    await history.add(branch, instruction(4))
    reply = await compiler.compile(question(branch))
    assert reply == await plain.compile(question(branch))
    assert reply[0] == "CONSECUTIVE_INSTRUCTIONS"


async def test_a_stretch_that_follows_no_instruction_any_more_is_made_again(history: History) -> None:
    branch = await _conversation(history, 230)
    compiler, plain = Compiler(history, 2**28), Compiler(history, 0)
    await compiler.compile(question(branch))
    # The one that ends the second settled stretch: the first begins after the opening's one message.
    left_out = instruction(1 + 2 * division.STRETCH_MESSAGES)
    left_out.status = MESSAGE_STATUS_EXCLUDED
    await history.add(branch, left_out)
    assert await compiler.compile(question(branch)) == await plain.compile(question(branch))


async def test_a_summary_is_kept_apart_from_what_it_was_read_with(history: History) -> None:
    branch = await _conversation(history, 90)
    await history.compact(branch, (1, 40), range(41, 361), "so far")
    compiler, plain = Compiler(history, 2**28), Compiler(history, 0)
    for number in (1000, 1001):
        await history.add(branch, instruction(number), assistant(number + 50))
        reply = await compiler.compile(question(branch))
        assert reply == await plain.compile(question(branch))
        assert "so far" in CompileResponse.FromString(reply).messages[0].text  # type: ignore[arg-type]


async def test_the_history_service_says_whether_a_branch_is_there(history: History) -> None:
    branch = await _conversation(history, 3)
    compiler = Compiler(history, 2**28)
    await compiler.compile(question(branch))
    await history.call(pb.DeleteBranchRequest(branch_id=branch))
    reply = await compiler.compile(question(branch))
    assert reply[0] == "BRANCH_DELETED"
    assert len(compiler.stub.requests) == 2


async def test_tenants_do_not_share(history: History) -> None:
    branch = await _conversation(history, 3)
    compiler = Compiler(history, 2**28)
    await compiler.compile(question(branch), "one")
    await compiler.compile(question(branch), "other")
    await compiler.compile(question(branch), "one")
    assert [request.HasField("since_revision") for request in compiler.stub.requests] == [False, False, True]


async def test_without_a_cache_nothing_is_kept(history: History) -> None:
    branch = await _conversation(history, 3)
    compiler = Compiler(history, 0)
    for _ in range(2):
        await compiler.compile(question(branch))
    assert compiler.stub.messages_sent == [12, 12]


async def test_what_is_published_tells_how_much_it_spares(history: History) -> None:
    branch = await _conversation(history, 3)
    compiler = Compiler(history, 2**28)
    metrics = RequestMetrics()
    metrics.publish(*compiler.servicer.figures())

    def published() -> list[float]:
        lines = generate_latest(metrics.registry).decode().splitlines()
        found = dict(line.split(" ") for line in lines if line.startswith("antiphon_compile_cache"))
        return [
            float(found[f"antiphon_compile_cache_{name}"])
            for name in ("hits_total", "misses_total", "branches")
        ]

    assert published() == [0, 0, 0]
    await compiler.compile(question(branch))
    assert published() == [0, 1, 1]
    await compiler.compile(question(branch))
    await history.add(branch, instruction(1000))
    await compiler.compile(question(branch))
    assert published() == [2, 1, 1]
    past, chosen = question(branch), question(branch)
    past.branch.at_revision = 2
    await compiler.compile(past)
    assert published() == [2, 2, 1], "what is kept is of no use to the past"
    chosen.progression.message_ids.append(uuid_of(1))
    await compiler.compile(chosen)
    assert published() == [2, 2, 1], "a progression goes past the cache"
    text = generate_latest(metrics.registry).decode()
    assert f"antiphon_compile_cache_bytes {float(compiler.servicer.kept_bytes)}" in text


async def test_the_limit_counts_what_is_held(history: History) -> None:
    branch = await _conversation(history, 10)
    limits = Limits(snapshot_bytes=12_000)
    compiler, plain = Compiler(history, 2**28, limits), Compiler(history, 0, limits)
    outcomes = []
    for number in range(1000, 1100, 2):
        await history.add(branch, instruction(number), assistant(number + 1))
        outcomes.append(await compiler.compile(question(branch)))
        assert outcomes[-1] == await plain.compile(question(branch))
    assert isinstance(outcomes[0], bytes)
    assert outcomes[-1][0] == "SIZE_LIMIT_EXCEEDED"


async def test_many_at_once_each_get_their_own(history: History) -> None:
    branch = await _conversation(history, 60)
    compiler, plain = Compiler(history, 2**28), Compiler(history, 0)
    requests = []
    for n in range(12):
        request = question(branch)
        request.branch.at_revision = 100 + n % 4
        request.context_blocks.add(provider_name="p", content=f"context {n % 3}")
        requests.append(request)
    expected = [await plain.compile(request) for request in requests]
    for _ in range(3):
        assert await asyncio.gather(*map(compiler.compile, requests)) == expected


async def test_native_uses_what_folded_keeps_and_the_other_way_round(history: History) -> None:
    branch = await _conversation(history, 90)
    compiler, plain = Compiler(history, 2**28), Compiler(history, 0)
    sent = [360]
    for number in range(1000, 1006):
        profile = PROFILE_NATIVE if number % 2 else PROFILE_FOLDED
        request = question(branch, profile=profile)
        assert await compiler.compile(request) == await plain.compile(request)
        await history.add(branch, instruction(number), assistant(number + 50))
        sent.append(2)
    assert compiler.stub.messages_sent == sent[:-1]


async def test_plans_use_what_is_kept_and_keep_what_they_read(history: History) -> None:
    branch = await _conversation(history, 30)
    compiler, plain = Compiler(history, 2**28), Compiler(history, 0)
    request = PlanWindowRequest(budget_tokens=2_000)
    request.branch.branch_id = branch
    for number in (1000, 1001):
        assert await compiler.plan(request) == await plain.plan(request)
        assert await compiler.compile(question(branch)) == await plain.compile(question(branch))
        await history.add(branch, instruction(number), assistant(number + 50))
    assert compiler.stub.messages_sent == [120, 0, 2, 0]


def _held(branch_id: str, revision: int, messages: int = 1, incarnation: str = "i") -> KeptBranch:
    ids = tuple(uuid_of(n) for n in range(messages))
    bodies = tuple(bytes(100) for _ in ids)
    branch = Branch(branch_id=branch_id, incarnation=incarnation)
    snapshot = AssembledSnapshot(branch, incarnation, revision, None, ids, bodies, 100 * messages)
    return kept_branch(snapshot, None)


A, B, C = (BranchAddress("", name) for name in "abc")


def test_the_branch_longest_out_of_use_goes_first() -> None:
    one = _held("a", 1)
    cache = BranchCache(2 * one.memory_bytes)
    for address in (A, B):
        cache.keep(address, _held(address.branch_id, 1))
    assert cache.find(A) is not None
    cache.keep(C, _held("c", 1))
    assert [cache.find(address) is None for address in (A, B, C)] == [False, True, False]
    assert (len(cache), cache.memory_bytes) == (2, 2 * one.memory_bytes)


def test_what_does_not_fit_goes_and_frees_its_room() -> None:
    small, large = _held("a", 1), _held("a", 2, messages=100)
    cache = BranchCache(small.memory_bytes)
    cache.keep(A, small)
    cache.keep(A, large)
    assert (cache.find(A), len(cache), cache.memory_bytes) == (None, 0, 0)


def test_an_earlier_revision_does_not_take_a_later_ones_place() -> None:
    cache = BranchCache(2**20)
    later = _held("a", 7)
    cache.keep(A, later)
    cache.keep(A, _held("a", 6))
    assert cache.find(A) is later
    other = _held("a", 1, incarnation="another")
    cache.keep(A, other)
    assert cache.find(A) is other
    assert cache.memory_bytes == other.memory_bytes


async def test_the_memory_is_no_more_than_what_is_counted(history: History) -> None:
    branch = await _conversation(history, 300)
    compiler = Compiler(history, 2**28)
    await Compiler(history, 0).compile(question(branch))
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        await compiler.compile(question(branch))
        compiler.stub.requests.clear()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    counted = compiler.servicer.kept_bytes
    assert 0.6 * counted <= after - before <= counted
