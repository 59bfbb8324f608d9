"""Pages of whole branches kept in memory: the same answers as without, and fewer reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import AntiphonError, BranchDeletedError
from antiphon_client.limits import Limits
from history_service.storage.port import HistoryStore, ReadTransaction
from tests.conformance.test_snapshot_cache import Program
from tests.support.history import History, assistant, instruction, uuid_of

pytestmark = pytest.mark.anyio
T = TypeVar("T")


class Reads:
    """A transaction that counts the pages read of it."""

    def __init__(self, tx: ReadTransaction, store: WatchedStore) -> None:
        self._tx = tx
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def read_messages(self, *args: Any, **kwargs: Any) -> Any:
        """Count and read."""
        self._store.pages += 1
        return self._tx.read_messages(*args, **kwargs)


class WatchedStore:
    """A store that counts the pages of messages that are read from it."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self.pages = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(self, work: Callable[[ReadTransaction], T]) -> T:
        """Read through a transaction that counts."""
        return await self._store.read(lambda tx: work(Reads(tx, self)))


def watched(history: History, limits: Limits | None = None, **fields: Any) -> tuple[History, WatchedStore]:
    """A service with a cache of its own over the same store."""
    store = WatchedStore(history.store)
    return History(store, limits or Limits(), **fields), store


async def page(history: History, branch: str, **fields: Any) -> pb.ListMessagesResponse:
    """Read a page that says what the branch is."""
    fields = {"with_branch": True, "page_size": 1000, **fields}
    response: pb.ListMessagesResponse = await history.call(pb.ListMessagesRequest(branch_id=branch, **fields))
    return response


async def filled(history: History, number: int = 1) -> str:
    """A branch with four messages."""
    branch = await history.create(number)
    await history.add(branch, *(instruction(n) for n in range(4)))
    return branch


async def test_a_whole_branch_is_read_once_while_it_does_not_change(history: History) -> None:
    service, store = watched(history)
    branch = await filled(service)
    first = await page(service, branch)
    assert store.pages == 1
    assert await page(service, branch) == first
    without = await page(service, branch, with_branch=False, page_size=4)
    assert (list(without.messages), without.HasField("branch")) == (list(first.messages), False)
    assert store.pages == 1
    await service.add(branch, assistant(9))
    assert (await page(service, branch)).messages[4].id == uuid_of(9)
    assert store.pages == 2


async def test_other_pages_of_the_branch_are_not_taken_for_it(history: History) -> None:
    service, store = watched(history)
    branch = await filled(service)
    await service.add(branch, assistant(9))
    await page(service, branch)
    others: list[dict[str, Any]] = [
        {"order": pb.ORDER_DESCENDING},
        {"kinds": [pb.MESSAGE_KIND_INSTRUCTION]},
        {"at_revision": 2},
        {"page_size": 2},
    ]
    for fields in others:
        read = store.pages
        found = await page(service, branch, **fields)
        assert found == await page(history, branch, **fields)
        assert store.pages > read, fields
        read = store.pages
        # None of them takes its place either.
        assert await page(service, branch) == await page(history, branch)
        assert store.pages == read, fields
    token = (await page(service, branch, page_size=2)).next_page_token
    assert await page(service, branch, page_token=token) == await page(history, branch, page_token=token)


async def test_a_page_that_has_no_room_for_the_branch_any_more_is_cut(history: History) -> None:
    limits = Limits(page_bytes=2000)
    service, plain = watched(history, limits)[0], History(history.store, limits, snapshot_cache_bytes=0)
    branch = await service.create()
    await service.add(branch, *(instruction(n, "x" * 300) for n in range(3)))
    assert len((await page(service, branch)).messages) == 3
    for length in (10, 700, 1400):
        metadata = '{"a":"' + "x" * length + '"}'
        await service.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json=metadata))
        assert await page(service, branch) == await page(plain, branch)
        assert await page(service, branch, with_branch=False) == await page(plain, branch, with_branch=False)
        assert await page(service, branch) == await page(plain, branch)


@pytest.mark.parametrize("seed", range(3))
async def test_random_writes_are_seen_at_once(history: History, seed: int) -> None:
    service, plain = watched(history)[0], History(history.store, Limits(), snapshot_cache_bytes=0)
    branch = await filled(service)
    program = Program(service, seed)
    for _ in range(40):
        await program.step(branch)
        for _ in range(2):
            assert await page(service, branch) == await page(plain, branch)


async def test_of_a_branch_that_is_gone_nothing_is_given(history: History) -> None:
    service, _ = watched(history)
    branch = await filled(service)
    await page(service, branch)
    await history.call(pb.DeleteBranchRequest(branch_id=branch))  # by another service of the store
    with pytest.raises(BranchDeletedError):
        await page(service, branch)


async def test_nobody_else_gets_a_page(history: History) -> None:
    service, _ = watched(history)
    branch = await filled(service)
    await page(service, branch)
    service.tenant_id = "another"
    with pytest.raises(AntiphonError) as refused:
        await page(service, branch)
    assert refused.value.reason == "BRANCH_NOT_FOUND"


async def test_pages_are_let_go_of_when_a_branch_is_trimmed_or_there_is_no_room(history: History) -> None:
    service, store = watched(history)
    branch = await filled(service)
    await page(service, branch)
    await service.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=2))
    await page(service, branch)
    assert store.pages == 2
    size = (await page(service, branch)).ByteSize()
    for kept_bytes, again in ((0, 1), (size - 1, 1), (size + 1, 0)):
        service, store = watched(history, snapshot_cache_bytes=kept_bytes)
        await page(service, branch)
        await page(service, branch)
        assert store.pages == 1 + again, kept_bytes
    # One page has room: the later one takes it.
    other = await filled(service, 2)
    await page(service, other)
    await page(service, branch)
    assert store.pages == 3


async def test_what_is_read_while_a_branch_is_let_go_of_is_not_kept(history: History) -> None:
    service, store = watched(history)
    branch = await filled(service)
    read = store.read

    async def trimmed_meanwhile(work: Callable[[ReadTransaction], T]) -> T:
        found = await read(work)
        store.read = read  # type: ignore[method-assign]
        await service.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=2))
        return found

    store.read = trimmed_meanwhile  # type: ignore[method-assign]
    await page(service, branch)
    await page(service, branch)
    assert store.pages == 2
