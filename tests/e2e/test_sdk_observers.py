"""Callbacks on added messages (ADR-0006 D4), blocking and asyncio, against the real service."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

from antiphon.message.v1 import message_pb2
from antiphon_client import (
    ActionRequest,
    AsyncBranch,
    AsyncHistoryClient,
    Branch,
    HistoryClient,
    Instruction,
    Message,
    System,
)
from antiphon_client.errors import ContentKindFixedError
from antiphon_client.ids import new_ordered_id
from tests.support.pair import Pair, running_pair, served_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def history(pair: Pair) -> Iterator[HistoryClient]:
    with HistoryClient(pair.history, timeout=20) as client:
        yield client


@pytest.fixture
def branch(history: HistoryClient) -> Branch:
    return Branch.create(history)


@pytest.fixture
async def async_branch(anyio_backend: object, tmp_path: Path) -> AsyncIterator[AsyncBranch]:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history, timeout=20) as history:
        yield await AsyncBranch.create(history)


class AsyncCallable:
    async def __call__(self, message: Message) -> None:
        raise AssertionError("never called")

    async def method(self, message: Message) -> None:
        raise AssertionError("never called")


async def coroutine_function(message: Message, extra: int = 0) -> None:
    raise AssertionError("never called")


ASYNCHRONOUS = {
    "coroutine function": coroutine_function,
    "coroutine method": AsyncCallable().method,
    "object with an async call": AsyncCallable(),
    "partial of a coroutine function": functools.partial(coroutine_function, extra=1),
    "partial of a partial": functools.partial(functools.partial(coroutine_function, extra=1)),
    "partial of an object with an async call": functools.partial(AsyncCallable()),
    "mock": AsyncMock(),
}


@pytest.mark.parametrize("callback", ASYNCHRONOUS.values(), ids=ASYNCHRONOUS.keys())
def test_the_blocking_branch_refuses_an_asynchronous_callback_before_anything_is_sent(
    branch: Branch, callback: Any
) -> None:
    heard: list[Message] = []
    branch.on_message_added += [heard.append, callback]
    request = ActionRequest.create("f", {})
    for add in (
        lambda: branch.add_message(instruction="x"),
        lambda: branch.add_message(nonsense=1),  # type: ignore[call-arg]
        lambda: branch.add(request),
        lambda: branch.respond(request, output=1),
        lambda: branch.set_system("s"),
    ):
        with pytest.raises(RuntimeError, match="AsyncBranch"):
            add()
    assert branch.record().revision == 1
    assert heard == []


def test_reads_and_other_writes_concern_no_callback(branch: Branch) -> None:
    stored = branch.add_message(instruction="x")
    branch.on_message_added.append(coroutine_function)
    branch.select_view([stored.id])
    branch.remove(stored.id)
    branch.clear()
    assert branch.to_chat_msgs() == []


def test_every_way_of_adding_tells_each_message_as_it_is_stored(branch: Branch) -> None:
    heard: list[Message] = []
    branch.on_message_added.append(heard.append)
    added = branch.add_message(instruction="one")
    assert heard == [added]
    batch = [ActionRequest.create("f", {"n": 1.0}), Instruction.create("two")]
    unnamed = message_pb2.Message(generic=message_pb2.GenericContent(value_json="[1.0]"))
    written = branch.add([*batch, unnamed])
    assert [m.id for m in heard[1:]] == list(written.message_ids)
    assert [m.kind for m in heard[1:]] == ["action_request", "instruction", "generic"]
    answered = branch.respond(batch[0].id, output=0)
    assert heard[-1].id == answered.message_ids[0]
    assert heard[-1].content.action_request_id == str(batch[0].id)
    branch.set_system("policy")
    assert isinstance(heard[-1], System)
    assert len(heard) == 6
    assert heard[:4] == list(branch.messages(at_revision=written.revision))


def test_a_batch_beyond_one_reply_is_told_whole(branch: Branch) -> None:
    heard: list[Message] = []
    branch.on_message_added.append(heard.append)
    batch = [Instruction.create("x" * 3400) for _ in range(1000)]
    branch.add(batch)
    assert [m.id for m in heard] == [m.id for m in batch]


def test_a_replacement_is_told_as_an_addition_is(branch: Branch) -> None:
    message = branch.add_message(instruction="before")
    heard: list[Message] = []
    branch.on_message_added.append(heard.append)
    branch.add_message(instruction=message, guidance="after")
    assert [(m.id, m.content.guidance) for m in heard] == [(message.id, "after")]
    assert branch.record().message_count == 1


def test_a_refused_write_tells_nobody(branch: Branch) -> None:
    heard: list[Message] = []
    branch.on_message_added.append(heard.append)
    stored = branch.add_message(instruction="x")
    with pytest.raises(ContentKindFixedError):
        branch.add([Instruction.create("y"), System.create("s", id=stored.id)])
    assert heard == [stored]


def test_a_callback_sees_the_message_committed(branch: Branch, history: HistoryClient) -> None:
    seen: list[bool] = []
    other = Branch.open(history, branch.branch_id)
    branch.on_message_added.append(lambda m: seen.append(m.id in other.progression()))
    branch.add_message(instruction="x")
    assert seen == [True]


def test_changes_of_the_callbacks_hold_from_the_next_write_on(branch: Branch) -> None:
    heard: list[str] = []

    def first(message: Message) -> None:
        heard.append("first")
        branch.on_message_added.remove(second)
        branch.on_message_added.append(third)

    def second(message: Message) -> None:
        heard.append("second")

    def third(message: Message) -> None:
        heard.append("third")
        branch.on_message_added.clear()

    branch.on_message_added += [first, second]
    branch.add_message(instruction="1")
    assert heard == ["first", "second"]
    branch.on_message_added.remove(first)
    branch.add_message(instruction="2")
    assert heard == ["first", "second", "third"]
    branch.add_message(instruction="3")
    assert heard == ["first", "second", "third"]


def test_one_failure_is_raised_as_itself_after_the_others_were_told(branch: Branch) -> None:
    failure = ValueError("mine")
    heard: list[Message] = []

    def fail(message: Message) -> None:
        raise failure

    branch.on_message_added += [fail, heard.append]
    with pytest.raises(ValueError, match=r"^mine$") as caught:
        branch.add_message(instruction="x")
    assert caught.value is failure
    assert [m.id for m in branch.messages()] == [m.id for m in heard]
    assert len(heard) == 1


def test_several_failures_are_raised_as_one_group(branch: Branch) -> None:
    failures = [ValueError("a"), KeyboardInterrupt(), TypeError("c")]
    heard: list[Message] = []

    def failing(error: BaseException) -> Any:
        def fail(message: Message) -> None:
            raise error

        return fail

    branch.on_message_added += [*map(failing, failures), heard.append]
    with pytest.raises(BaseExceptionGroup) as caught:
        branch.add_message(instruction="x")
    assert caught.value.message == "on_message_added hooks failed"
    assert list(caught.value.exceptions) == failures
    assert len(heard) == branch.record().message_count == 1


def test_a_callback_that_turns_out_asynchronous_has_failed(branch: Branch) -> None:
    heard: list[Message] = []
    branch.on_message_added += [lambda message: coroutine_function(message), heard.append]
    with pytest.raises(RuntimeError, match="AsyncBranch"):
        branch.add_message(instruction="x")
    assert len(heard) == branch.record().message_count == 1


def test_a_blocking_callback_may_add_again(branch: Branch) -> None:
    heard: list[str] = []

    def again(message: Message) -> None:
        heard.append(message.content.instruction)
        if len(heard) < 3:
            branch.add_message(instruction=f"{len(heard)}")

    branch.on_message_added.append(again)
    branch.add_message(instruction="0")
    assert heard == ["0", "1", "2"] == [m.content.instruction for m in branch.instructions()]


def test_a_repeated_request_is_told_again(branch: Branch) -> None:
    """A lost answer and its repetition cannot be told apart: each message is told at least once."""
    heard: list[Message] = []
    branch.on_message_added.append(heard.append)
    message, request_id = Instruction.create("once"), new_ordered_id()
    branch.add(message, request_id=request_id)
    assert branch.add(message, request_id=request_id).replayed
    assert [m.id for m in heard] == [message.id, message.id]
    assert branch.record().message_count == 1


def test_callbacks_are_given_at_construction_and_hear_of_later_messages_only(history: HistoryClient) -> None:
    heard: list[Message] = []
    made = Branch.create(history, messages=[Instruction.create("x")], on_message_added=[heard.append])
    assert heard == []
    made.add_message(instruction="y")
    opened = Branch.open(history, made.branch_id, on_message_added=[heard.append])
    opened.add_message(instruction="z")
    assert [m.content.instruction for m in heard] == ["y", "z"]


@pytest.mark.anyio
async def test_the_asyncio_branch_calls_and_awaits_in_turn(async_branch: AsyncBranch) -> None:
    heard: list[str] = []

    async def slow(message: Message) -> None:
        await asyncio.sleep(0)
        heard.append("awaited")

    def plain(message: Message) -> None:
        heard.append("called")

    class Slow:
        async def __call__(self, message: Message) -> None:
            await slow(message)

    async_branch.on_message_added += [slow, plain, functools.partial(slow), Slow(), lambda m: slow(m)]
    await async_branch.add([Instruction.create("1"), Instruction.create("2")])
    assert heard == ["awaited", "called", "awaited", "awaited", "awaited"] * 2


@pytest.mark.anyio
async def test_the_asyncio_branch_takes_its_snapshot_after_the_write(async_branch: AsyncBranch) -> None:
    heard: list[Message] = []
    adding = asyncio.ensure_future(async_branch.add_message(instruction="x"))
    await asyncio.sleep(0)  # the write is under way
    async_branch.on_message_added.append(heard.append)
    assert heard == []
    stored = await adding
    assert heard == [stored]


@pytest.mark.anyio
async def test_an_asyncio_callback_may_add_again_and_has_its_own_snapshot(async_branch: AsyncBranch) -> None:
    heard: list[tuple[str, str]] = []

    async def outer(message: Message) -> None:
        heard.append(("outer", message.content.instruction))
        if message.content.instruction == "first":
            async_branch.on_message_added.append(late)
            await async_branch.add_message(instruction="nested")

    async def late(message: Message) -> None:
        heard.append(("late", message.content.instruction))

    async_branch.on_message_added.append(outer)
    async with asyncio.timeout(20):
        await async_branch.add_message(instruction="first")
    assert heard == [("outer", "first"), ("outer", "nested"), ("late", "nested")]
    assert [m.content.instruction for m in await async_branch.instructions()] == ["first", "nested"]


@pytest.mark.anyio
async def test_asyncio_failures_are_collected_and_the_message_stays(async_branch: AsyncBranch) -> None:
    heard: list[Message] = []
    failures: list[BaseException] = [ValueError("a"), asyncio.CancelledError()]

    async def fail(message: Message) -> None:
        raise failures[0]

    def fail_too(message: Message) -> None:
        raise failures[1]

    async_branch.on_message_added += [fail, heard.append]
    with pytest.raises(ValueError, match=r"^a$") as single:
        await async_branch.add_message(instruction="1")
    assert single.value is failures[0]
    async_branch.on_message_added.insert(1, fail_too)
    with pytest.raises(BaseExceptionGroup) as several:
        await async_branch.set_system("s")
    assert several.value.message == "on_message_added hooks failed"
    assert list(several.value.exceptions) == failures
    assert [m.kind for m in heard] == ["instruction", "system"]
    assert (await async_branch.record()).message_count == 2


@pytest.mark.anyio
async def test_a_cancellation_is_raised_once_every_callback_was_told(async_branch: AsyncBranch) -> None:
    waiting = asyncio.Event()
    heard: list[Message] = []

    async def wait(message: Message) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async_branch.on_message_added += [wait, heard.append]
    adding = asyncio.ensure_future(async_branch.add_message(instruction="x"))
    await waiting.wait()
    adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    assert len(heard) == 1
    assert (await async_branch.record()).message_count == 1
