"""Closed clients: what a call on them, and one that the closing meets under way, raises."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from antiphon_client import (
    AntiphonError,
    AsyncBranch,
    AsyncCompilerClient,
    AsyncExchange,
    AsyncHistoryClient,
    Branch,
    CompilerClient,
    Exchange,
    HistoryClient,
    Instruction,
    TransportError,
    TurnRequest,
)
from antiphon_client.transport_errors import CallCancelledError, ClientClosedError
from tests.support.pair import Pair, running_pair, served_pair

TURN = TurnRequest(instruction=Instruction.create("x"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


def check(error: ClientClosedError, address: str) -> None:
    assert isinstance(error, ValueError)  # as a closed file has it
    assert isinstance(error, TransportError)
    assert isinstance(error, AntiphonError)
    assert (error.reason, str(error)) == ("CLIENT_CLOSED", f"the client of {address} is closed")
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_every_kind_of_call_on_a_closed_blocking_client(pair: Pair, tmp_path: Path) -> None:
    file = tmp_path / "file"
    history, compiler = HistoryClient(pair.history), CompilerClient(pair.compiler)
    branch, exchange, sibling = Branch.create(history), Exchange(history, "x"), history.with_options()
    branch.export(file)
    history.close()
    compiler.close()
    calls: list[tuple[Callable[[], Any], str]] = [
        (branch.record, pair.history),
        (branch.snapshot, pair.history),
        (lambda: branch.add(Instruction.create("x")), pair.history),
        (lambda: list(branch.messages()), pair.history),
        (lambda: next(branch.watch()), pair.history),
        (lambda: history.import_branch(file), pair.history),
        (lambda: branch.export(tmp_path / "other"), pair.history),
        (sibling.create_branch, pair.history),
        (exchange.sync, pair.history),
        (exchange.run, pair.history),
        (lambda: next(exchange.watch(branch.branch_id)), pair.history),
        (lambda: Branch.create(history), pair.history),
        (lambda: compiler.compile(branch, TURN), pair.compiler),
        (lambda: compiler.stream_compile(branch, TURN), pair.compiler),
    ]
    for call, address in calls:
        with pytest.raises(ClientClosedError) as caught:
            call()
        check(caught.value, address)
    assert not (tmp_path / "other").exists()
    history.close()


@pytest.mark.anyio
async def test_every_kind_of_call_on_a_closed_asyncio_client(tmp_path: Path) -> None:
    file = tmp_path / "file"
    async with running_pair(tmp_path) as pair:
        history, compiler = AsyncHistoryClient(pair.history), AsyncCompilerClient(pair.compiler)
        branch = await AsyncBranch.create(history)
        exchange, sibling = AsyncExchange(history, "x"), history.with_options()
        await branch.export(file)
        await history.close()
        await compiler.close()
        calls: list[tuple[Callable[[], Awaitable[Any]], str]] = [
            (branch.record, pair.history),
            (branch.snapshot, pair.history),
            (lambda: branch.add(Instruction.create("x")), pair.history),
            (lambda: anext(branch.messages()), pair.history),
            (lambda: anext(branch.watch()), pair.history),
            (lambda: history.import_branch(file), pair.history),
            (sibling.create_branch, pair.history),
            (exchange.sync, pair.history),
            (exchange.run, pair.history),
            (lambda: anext(exchange.watch(branch.branch_id)), pair.history),
            (lambda: AsyncBranch.create(history), pair.history),
            (lambda: compiler.compile(branch, TURN), pair.compiler),
            (lambda: compiler.stream_compile(branch, TURN), pair.compiler),
        ]
        for call, address in calls:
            with pytest.raises(ClientClosedError) as caught:
                await call()
            check(caught.value, address)
        await history.close()


def test_a_blocking_call_under_way_is_cancelled(pair: Pair) -> None:
    history = HistoryClient(pair.history)
    branch = Branch.create(history)
    seen = threading.Event()

    def follow() -> None:
        with closing(branch.watch()) as changes:
            for _ in changes:
                seen.set()

    with ThreadPoolExecutor(1) as threads:
        following = threads.submit(follow)
        assert seen.wait(30)
        history.close()
        with pytest.raises(CallCancelledError):
            following.result(30)


@pytest.mark.anyio
async def test_an_asyncio_call_under_way_is_cancelled_and_its_task_is_not(tmp_path: Path) -> None:
    async with running_pair(tmp_path) as pair:
        history = AsyncHistoryClient(pair.history)
        branch = await AsyncBranch.create(history)
        changes = branch.watch()
        await anext(changes)
        waiting = asyncio.ensure_future(anext(changes))
        reading = asyncio.ensure_future(branch.record())
        await asyncio.sleep(0)  # both are under way
        await history.close()
        for call in (waiting, reading):
            with pytest.raises(CallCancelledError, match="the client was closed"):
                await asyncio.wait_for(call, 30)


@pytest.mark.anyio
async def test_a_cancelled_task_stays_one_though_the_client_is_closed(tmp_path: Path) -> None:
    async with running_pair(tmp_path) as pair:
        history = AsyncHistoryClient(pair.history)
        branch = await AsyncBranch.create(history)
        changes = branch.watch()
        await anext(changes)
        waiting = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        waiting.cancel()
        await history.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting
