"""Pages of whole branches kept in memory: the same answers as without, and fewer reads."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import AntiphonError, BranchDeletedError
from antiphon_client.limits import Limits
from history_service.domain import lists
from history_service.storage.port import HistoryStore, ReadTransaction
from tests.conformance.test_snapshot_cache import Program
from tests.support.history import History, assistant, instruction, uuid_of

pytestmark = pytest.mark.anyio
T = TypeVar("T")


class Reads:
    """A transaction that counts the pages read of it, and their messages."""

    def __init__(self, tx: ReadTransaction, store: WatchedStore) -> None:
        self._tx = tx
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def read_messages(self, *args: Any, **kwargs: Any) -> Any:
        """Count and read."""
        found = self._tx.read_messages(*args, **kwargs)
        self._store.pages += 1
        self._store.messages += len(found.bodies)
        return found


class WatchedStore:
    """A store that counts the pages of messages that are read from it, and the messages."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self.pages = 0
        self.messages = 0

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


def remove(branch: str) -> pb.RemoveMessagesRequest:
    """Remove a branch's second message."""
    return pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(1)])


def move(branch: str) -> pb.MoveMessageRequest:
    """Move a branch's third message to its front."""
    return pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(2), index=0)


async def test_of_a_branch_that_grew_what_is_new_is_read(history: History) -> None:
    service, store = watched(history)
    plain = History(history.store, Limits(), snapshot_cache_bytes=0)
    branch = await filled(service)
    await page(service, branch)
    for number in range(9, 15):
        read = store.messages
        if number % 2:
            await service.add(branch, assistant(number), instruction(number + 100))
        else:
            await service.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json=f'{{"a":{number}}}'))
        assert await page(service, branch) == await page(plain, branch)
        assert store.messages == read + 2 * (number % 2)
        assert await page(service, branch) == await page(plain, branch)
        assert store.messages == read + 2 * (number % 2)


@pytest.mark.parametrize("change", [remove, move, None])
async def test_of_a_branch_that_did_more_than_grow_all_is_read(history: History, change: Any) -> None:
    service, store = watched(history)
    plain = History(history.store, Limits(), snapshot_cache_bytes=0)
    branch = await filled(service)
    await page(service, branch)
    await service.add(branch, assistant(9))
    if change is None:
        await service.add(branch, instruction(1, "another version"))
    else:
        await service.call(change(branch))
    await service.add(branch, instruction(10))
    read = store.messages
    found = await page(service, branch)
    assert found == await page(plain, branch)
    assert store.messages >= read + len(found.messages)


async def test_a_page_is_brought_forward_by_so_many_revisions(history: History) -> None:
    service, store = watched(history)
    branch = await filled(service)
    for number, more in ((20, lists.GROWTH), (100, lists.GROWTH + 1)):
        first = len((await page(service, branch)).messages)
        for each in range(more):
            await service.add(branch, instruction(number + each))
        read = store.messages
        assert len((await page(service, branch)).messages) == first + more
        assert store.messages == read + more + (first if more > lists.GROWTH else 0)


async def test_a_page_that_grew_beyond_what_one_holds_is_cut(history: History) -> None:
    plain = History(history.store, Limits(), snapshot_cache_bytes=0)
    service, _ = watched(history)
    branch = await filled(service)
    for number in range(9, 12):
        await page(service, branch, page_size=5)
        await service.add(branch, assistant(number, "x" * 100))
        for size in (5, 6, 1000):
            assert await page(service, branch, page_size=size) == await page(plain, branch, page_size=size)
    known = len((await page(service, branch)).messages)
    await service.add(branch, assistant(50), instruction(51))
    for size in (known + 1, known + 2):
        assert await page(service, branch, page_size=size) == await page(plain, branch, page_size=size)
    small = Limits(page_bytes=2000)
    service, plain = watched(history, small)[0], History(history.store, small, snapshot_cache_bytes=0)
    for number in range(20, 30):
        assert await page(service, branch) == await page(plain, branch)
        await service.add(branch, instruction(number, "y" * (number * 20)))
        assert await page(service, branch) == await page(plain, branch)


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


async def test_kept_pages_take_the_memory_that_is_counted(history: History) -> None:
    service, _ = watched(history)
    branches = [await history.create(n, metadata_json='{"a":"' + "x" * 2**18 + '"}') for n in range(1, 9)]
    for number, branch in enumerate(branches, 100):
        await history.add(branch, instruction(number))
    await page(history, branches[0])
    gc.collect()
    tracemalloc.start()
    try:
        for branch in branches:
            await page(service, branch)
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(branches) * 2**18 < service.kept_bytes
    assert held < 1.5 * service.kept_bytes
