"""A step that fails between any two of its primitives, or at its commit, has done nothing or all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import StoreBusyError
from history_service.domain.exchange_ledger import FURTHER_STEP
from tests.support import exchange_scenes as scenes
from tests.support.exchange import Exchange, counts, leased_numbers
from tests.support.failpoints import CommitWriter, FailpointStore, Steps, commit_store
from tests.support.history import make_store, uuid_of

pytestmark = pytest.mark.anyio

SetUp = Callable[[Exchange], Awaitable[None]]
STEPS = ["register", "unregister", "return", "send", "collect", "pop", "lease", "redrive"]


class FailpointError(Exception):
    """Raised where a test wants it."""


def fail() -> None:
    """Fail."""
    raise FailpointError


@asynccontextmanager
async def scene(
    store_kind: str, folder: Path, set_up: SetUp = scenes.set_up, step_size: int = FURTHER_STEP.full_at
) -> AsyncIterator[tuple[Exchange, FailpointStore]]:
    """A scene over a store with failpoints."""
    folder.mkdir()
    store = FailpointStore(make_store(store_kind, folder))
    await store.start()
    try:
        exchange = Exchange(store, step_size=step_size)
        await set_up(exchange)
        yield exchange, store
    finally:
        await store.close()


async def fail_everywhere(
    exchange: Exchange, store: FailpointStore, request: Any, look: Callable[[], Any]
) -> tuple[Any, list[str]]:
    """Fail a step at one point after another; each time nothing has changed. Then let it succeed."""
    before = await look()
    for number in range(1, 1000):
        steps = store.steps = Steps(number, fail)
        try:
            response = await exchange.call(request)
        except FailpointError:
            store.steps = None
            assert await look() == before, steps.names[-1]
        else:
            store.steps = None
            return response, steps.names
    raise AssertionError("the step never ends")


@pytest.mark.parametrize("step", STEPS)
async def test_a_failed_step_has_done_nothing(store_kind: str, tmp_path: Path, step: str) -> None:
    async with scene(store_kind, tmp_path / "plain") as (exchange, _):
        expected = await exchange.call((await scenes.requests(exchange))[step])
        after = await scenes.everything(exchange)
    async with scene(store_kind, tmp_path / "failing") as (exchange, store):
        request = (await scenes.requests(exchange))[step]
        response, names = await fail_everywhere(exchange, store, request, lambda: scenes.everything(exchange))
        assert len(names) > 5
        assert await scenes.everything(exchange) == after
        assert not response.replayed
        if step not in ("lease", "redrive"):  # these name ids and times made anew
            assert response == expected
        assert (await exchange.call(request)).replayed
        assert await scenes.everything(exchange) == after


@pytest.mark.parametrize("use", ["acknowledge", "reject"])
async def test_failed_acknowledgements_have_done_nothing(store_kind: str, tmp_path: Path, use: str) -> None:
    async with scene(store_kind, tmp_path / "failing") as (exchange, store):
        leases = await exchange.lease(2, 2)
        ids = [lease.lease_id for lease in leases]
        kinds: dict[str, Any] = {"acknowledge": pb.AcknowledgeRequest, "reject": pb.RejectRequest}
        request = kinds[use](owner_id=uuid_of(2), lease_ids=ids)
        await fail_everywhere(exchange, store, request, lambda: scenes.everything(exchange))
        assert leased_numbers(leases) == [11, 12]
        assert await exchange.inbox(2) == [13]
        dead = [number for number, reason, *_ in await exchange.dead() if reason == "TOO_MANY_DELIVERIES"]
        assert dead == ([10] if use == "acknowledge" else [10, 11, 12])


@pytest.mark.parametrize("name", sorted(scenes.LONG_WRITES))
async def test_a_write_of_several_steps_goes_on_where_it_failed(
    store_kind: str, tmp_path: Path, name: str
) -> None:
    set_up, request = scenes.LONG_WRITES[name]
    size = scenes.STEP_SIZE
    async with scene(store_kind, tmp_path / "at_once", set_up) as (exchange, store):
        expected, at_once = await scenes.states_of(exchange, store, request)
    async with scene(store_kind, tmp_path / "plain", set_up, size) as (exchange, store):
        response, states = await scenes.states_of(exchange, store, request)
        assert scenes.comparable(response) == scenes.comparable(expected)
        assert states[-1] == at_once[-1]
        assert len(states) > len(at_once)
    # Making the scene takes a store with a disk long: there, some points must do.
    for number in range(1, 1000, 1 if store_kind == "memory" else 9):
        async with scene(store_kind, tmp_path / str(number), set_up, size) as (exchange, store):
            steps = store.steps = Steps(number, fail)
            failed = False
            try:
                await exchange.call(request)
            except FailpointError:
                failed = True
            store.steps = None
            done = steps.names[: number - 1].count("end") if failed else -1
            assert await scenes.everything(exchange) == states[done]
            response = await exchange.call(request)
            assert response.replayed is not failed
            assert scenes.comparable(response) == scenes.comparable(expected)
            assert await scenes.everything(exchange) == states[-1]
        if not failed:
            break
    assert number > 20


async def test_who_registers_during_a_collection_of_all_is_no_part_of_it(
    store_kind: str, tmp_path: Path
) -> None:
    request = pb.CollectAllRequest(request_id=scenes.REQUEST_ID)
    async with scene(store_kind, tmp_path / "scene", step_size=scenes.STEP_SIZE) as (exchange, store):
        store.steps = Steps(75, fail)  # Owner 1 is done by then, and owner 4 in the step that fails.
        with pytest.raises(FailpointError):
            await exchange.call(request)
        store.steps = None
        await exchange.unregister(4)
        await exchange.register(4, 5)
        await exchange.send(4, 2, 60)
        await exchange.send(5, 2, 61)
        response = await exchange.call(request)
        assert counts(response) == (4, 2, 0)
        assert [number for number in await exchange.inbox(2) if number >= 60] == []
        assert await exchange.collect_all() == (2, 0, 0)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before_commit", "after_commit"])
async def test_a_commit_that_fails_or_is_not_told_of_is_repeated_safely(
    tmp_path: Path, step: str, when: str
) -> None:
    class Writer(CommitWriter):
        pass

    def full() -> None:
        setattr(Writer, when, None)
        raise apsw.FullError("on purpose")

    async with scene("sqlite", tmp_path / "plain") as (exchange, _):
        await exchange.call((await scenes.requests(exchange))[step])
        after = await scenes.everything(exchange)
    store = commit_store(str(tmp_path / "failing"), Writer)
    await store.start()
    exchange = Exchange(store)
    await scenes.set_up(exchange)
    request = (await scenes.requests(exchange))[step]
    before = await scenes.everything(exchange)
    setattr(Writer, when, staticmethod(full))
    with pytest.raises(StoreBusyError):
        await exchange.call(request)
    assert await scenes.everything(exchange) == (after if when == "after_commit" else before)
    response = await exchange.call(request)
    assert response.replayed is (when == "after_commit")
    assert await scenes.everything(exchange) == after
    await store.close()
