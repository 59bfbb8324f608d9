"""Snapshots kept in memory: the same bytes and errors as without, and fewer reads."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import AntiphonError, BranchDeletedError, RevisionExpiredError
from antiphon_client.limits import Limits
from history_service import snapshot_cache, snapshot_stream
from history_service.domain.reads import Snapshot
from history_service.snapshot_cache import SnapshotCache
from history_service.snapshot_stream import Batch
from history_service.storage.port import BranchKey, HistoryStore, ReadTransaction
from history_service.sweeping import Keeping, Sweeper
from tests.support.history import (
    History,
    action_result,
    assemble,
    assistant,
    call_action,
    instruction,
    numbers,
    system,
    uuid_of,
)

pytestmark = pytest.mark.anyio
T = TypeVar("T")
SMALL = Limits(frame_bytes=400, snapshot_batch_messages=4)


class CountingStore:
    """A store that counts what is read from it."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(self, work: Callable[[ReadTransaction], T]) -> T:
        """Count and read."""
        self.reads += 1
        return await self._store.read(work)


class InterruptedStore(CountingStore):
    """A store that something may happen to after a read."""

    after_read: Callable[[], Coroutine[Any, Any, Any]] | None = None

    async def read(self, work: Callable[[ReadTransaction], T]) -> T:
        """Read, and let it happen, once."""
        found = await super().read(work)
        then, self.after_read = self.after_read, None
        if then is not None:
            await then()
        return found


async def frames(history: History, branch: str, at: int | None = None) -> list[bytes]:
    """All frames of a snapshot, as they come."""
    return [frame async for frame in history.frames(branch, at=at)]


def caching(history: History, **fields: Any) -> tuple[History, CountingStore]:
    """A service with small frames and a cache of its own, over the same store."""
    store = CountingStore(history.store)
    return History(store, SMALL, **fields), store


class Program:
    """Random writes to one branch."""

    def __init__(self, history: History, seed: int) -> None:
        self.history = history
        self.random = random.Random(seed)
        self.number = 100

    async def step(self, branch: str) -> None:
        """Write something; what the service refuses is no write."""
        choices = [self.append] * 8
        if await self.history.ids(branch):
            choices += [self.replace, self.respond] * 3
            choices += [self.remove, self.move, self.view, self.metadata, self.system, self.clear]
            choices += [self.compact] * 2
        try:
            await self.random.choice(choices)(branch)
        except AntiphonError:
            return

    def text(self) -> str:
        """A text of a random length, short ones more often."""
        return "x" * int(self.random.expovariate(1 / 60))

    async def append(self, branch: str) -> None:
        """Append a few messages."""
        made = []
        for _ in range(self.random.randint(1, 6)):
            self.number += 1
            make = self.random.choice([instruction, assistant, call_action])
            made.append(make(self.number) if make is call_action else make(self.number, self.text()))
        await self.history.add(branch, *made)

    async def any_of(self, branch: str) -> Any:
        """A message of the branch, a late one more often."""
        messages = await self.history.messages(branch)
        return messages[-1 - min(len(messages) - 1, int(self.random.expovariate(1 / 6)))]

    async def replace(self, branch: str) -> None:
        """Give a message another text."""
        message = await self.any_of(branch)
        message.instruction.instruction = self.text()
        await self.history.add(branch, message)

    async def respond(self, branch: str) -> None:
        """Answer an action request, which links it."""
        message = await self.any_of(branch)
        self.number += 1
        await self.history.add(branch, action_result(self.number, int(message.id[-12:], 16)))

    async def remove(self, branch: str) -> None:
        """Remove a message."""
        message = await self.any_of(branch)
        await self.history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[message.id]))

    async def move(self, branch: str) -> None:
        """Move a message."""
        message = await self.any_of(branch)
        index = self.random.randint(0, 9)
        request = pb.MoveMessageRequest(branch_id=branch, message_id=message.id, index=index)
        await self.history.call(request)

    async def view(self, branch: str) -> None:
        """Select a view, or let go of it."""
        ids = await self.history.ids(branch)
        if self.random.random() < 0.5:
            chosen = self.random.sample(ids, self.random.randint(0, len(ids)))
            await self.history.call(pb.SelectViewRequest(branch_id=branch, message_ids=chosen))
        else:
            await self.history.call(pb.ClearViewRequest(branch_id=branch))

    async def compact(self, branch: str) -> None:
        """Commit a summary of some of the branch, with the last few messages in the view."""
        ids = await self.history.ids(branch)
        first, last = sorted(self.random.choices(range(len(ids)), k=2))
        kept = numbers(ids)[len(ids) - self.random.randint(0, min(5, len(ids))) :]
        planned = (await self.history.branch(branch)).revision if self.random.random() < 0.5 else None
        stretch = int(ids[first][-12:], 16), int(ids[last][-12:], 16)
        await self.history.compact(branch, stretch, kept, self.text(), planned_revision=planned)

    async def metadata(self, branch: str) -> None:
        """Write the branch's metadata, which is in the header alone."""
        metadata = f'{{"n": {self.number}}}'
        await self.history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json=metadata))

    async def system(self, branch: str) -> None:
        """Set the system record."""
        self.number += 1
        await self.history.add(branch, system(self.number))

    async def clear(self, branch: str) -> None:
        """Remove everything, rarely."""
        if self.random.random() < 0.3:
            await self.history.call(pb.ClearMessagesRequest(branch_id=branch))


@pytest.mark.parametrize("seed", range(8))
async def test_kept_frames_are_those_made_anew(history: History, seed: int) -> None:
    warm, _ = caching(history)
    cold, _ = caching(history, snapshot_cache_bytes=0)
    branch = await history.create()
    program = Program(history, seed)
    for _ in range(70):
        await program.step(branch)
        if program.random.random() < 0.7:
            assert await frames(warm, branch) == await frames(cold, branch)
        if program.random.random() < 0.1:
            at = program.random.randint(1, (await history.branch(branch)).revision)
            assert await frames(warm, branch, at) == await frames(cold, branch, at)


async def filled(history: History, number: int = 1, messages: int = 60) -> str:
    """A branch with messages."""
    branch = await history.create(number)
    await history.add(branch, *(instruction(1000 * number + n) for n in range(messages)))
    return branch


async def test_what_was_read_is_not_read_again(history: History) -> None:
    service, store = caching(history)
    branch = await filled(history)
    first = await frames(service, branch)
    assert store.reads > 15
    store.reads = 0
    assert await frames(service, branch) == first
    assert store.reads == 1
    await history.add(branch, instruction(1))
    await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json="{}"))
    store.reads = 0
    grown = await frames(service, branch)
    # That it is there, what has changed, the last batch and one more.
    assert store.reads == 4
    assert len(grown) >= len(first)


async def test_a_delta_costs_the_same_warm_and_cold_and_keeps_nothing(history: History) -> None:
    service, store = caching(history)
    branch = await filled(history)
    held = await history.branch(branch)
    since: dict[str, Any] = {"since": held.revision, "incarnation": held.incarnation}
    await history.add(branch, instruction(1), instruction(2))
    cold = [frame async for frame in service.frames(branch, **since)]
    # That it is there, with what has changed and the batch of the two messages.
    assert store.reads == 1
    store.reads = 0
    whole = await frames(service, branch)
    assert store.reads > 15
    store.reads = 0
    assert [frame async for frame in service.frames(branch, **since)] == cold
    assert store.reads == 1
    store.reads = 0
    assert await frames(service, branch) == whole
    assert store.reads == 1


async def test_what_cannot_be_told_as_a_delta_comes_from_what_is_kept(history: History) -> None:
    service, store = caching(history)
    branch = await filled(history)
    whole = await frames(service, branch)
    store.reads = 0
    assert [frame async for frame in service.frames(branch, since=1, incarnation=uuid_of(9))] == whole
    assert store.reads == 1


@pytest.mark.parametrize("planned", [False, True])
async def test_a_compaction_ends_what_was_kept_and_its_view_grows(history: History, planned: bool) -> None:
    service, store = caching(history)
    cold, _ = caching(history, snapshot_cache_bytes=0)
    branch = await filled(history)
    await frames(service, branch)
    revision = (await history.branch(branch)).revision if planned else None
    kept = range(1010, 1060)
    await history.compact(branch, (1000, 1009), kept, planned_revision=revision)
    assert await frames(service, branch) == await frames(cold, branch)
    await history.add(branch, instruction(1))
    store.reads = 0
    assert await frames(service, branch) == await frames(cold, branch)
    assert store.reads <= 4


async def test_a_cache_of_no_bytes_keeps_nothing(history: History) -> None:
    service, store = caching(history, snapshot_cache_bytes=0)
    branch = await filled(history)
    await frames(service, branch)
    reads = store.reads
    await frames(service, branch)
    assert store.reads == 2 * reads


async def test_branches_make_room_for_each_other(history: History) -> None:
    branches = [await filled(history, number) for number in (1, 2, 3)]
    whole = [await frames(history, branch) for branch in branches]
    size = sum(map(len, (await frames(History(history.store, SMALL), branches[0]))[1:-1]))
    service, store = caching(history, snapshot_cache_bytes=2 * size + size // 2)
    for branch in (*branches, branches[1], branches[2]):
        await frames(service, branch)
    store.reads = 0
    for branch in branches[1:]:
        await frames(service, branch)
    assert store.reads == 2
    await frames(service, branches[0])
    assert store.reads > 10
    assert [await frames(history, branch) for branch in branches] == whole


async def test_a_stream_goes_on_when_its_frames_had_to_make_room(history: History) -> None:
    branch, other = await filled(history, 1), await filled(history, 2)
    size = sum(map(len, (await frames(History(history.store, SMALL), branch))[1:-1]))
    service, store = caching(history, snapshot_cache_bytes=size + size // 2)
    first = await frames(service, branch)
    again = []
    async for frame in service.frames(branch):
        again.append(frame)
        if len(again) == len(first) // 2:
            await frames(service, other)
            store.reads = 0
    assert again == first
    assert store.reads > 3


@pytest.mark.parametrize("purge", [False, True])
async def test_kept_frames_end_when_their_branch_is_deleted(history: History, purge: bool) -> None:
    service, _ = caching(history)
    branch = await filled(history)
    whole = await frames(service, branch)
    seen = []

    async def read() -> None:
        async for frame in service.frames(branch):
            seen.append(frame)
            if len(seen) == 12:
                await service.call(pb.DeleteBranchRequest(branch_id=branch, purge=purge))

    with pytest.raises(BranchDeletedError):
        await read()
    assert seen == whole[: len(seen)]
    assert len(seen) < 15
    with pytest.raises(BranchDeletedError):
        await frames(service, branch)


@pytest.mark.parametrize("by_itself", [False, True])
async def test_kept_frames_end_when_their_revision_is_dropped(history: History, by_itself: bool) -> None:
    service, _ = caching(history, keeping=Keeping(revisions=2 if by_itself else 0))
    branch = await filled(service)
    await frames(service, branch)
    seen = []

    async def read() -> None:
        async for frame in service.frames(branch):
            seen.append(frame)
            if len(seen) == 12:
                for number in range(6):
                    await service.add(branch, instruction(number))
                if not by_itself:
                    await service.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=8))

    with pytest.raises(RevisionExpiredError):
        await read()
    assert len(seen) < 15


async def test_kept_frames_are_not_brought_over_erased_change_records(history: History) -> None:
    service, _ = caching(history, keeping=Keeping(revisions=2))
    cold, _ = caching(history, snapshot_cache_bytes=0)
    branch = await filled(service)
    await frames(service, branch)
    await service.add(branch, instruction(1000, "what the record erased tells of"))
    for number in range(6):
        await service.add(branch, instruction(number))
    await Sweeper(history.store, service.clock).sweep_due()
    assert await frames(service, branch) == await frames(cold, branch)


async def test_a_tenant_is_never_served_from_what_another_read(history: History) -> None:
    service, _ = caching(history)
    branch = await filled(history)
    await frames(service, branch)
    service.tenant_id = "another"
    with pytest.raises(AntiphonError) as refused:
        await frames(service, branch)
    assert refused.value.reason == "BRANCH_NOT_FOUND"


async def test_what_is_gathered_while_a_branch_is_dropped_is_not_kept(history: History) -> None:
    branch = await filled(history)
    description = await history.branch(branch)
    snapshot = Snapshot(description, BranchKey("", branch, branch), 2, None, None, 1, None)
    for dropped in (False, True):
        cache = SnapshotCache(1000)
        with cache.gather(snapshot, cache.drops) as gathering:
            gathering.add_batch(Batch(b"frame", 5, 1, uuid_of(1), None))  # type: ignore[arg-type]
            if dropped:
                cache.drop("", branch)
            gathering.keep()
        assert (cache.find(snapshot) is None) == dropped


@pytest.mark.parametrize("purge", [None, False, True])
async def test_what_a_slow_reader_holds_is_not_kept_once_it_is_dropped(
    history: History, purge: bool | None
) -> None:
    service = History(history.store)
    branch = await filled(service)
    whole = await frames(History(history.store), branch)
    async with aclosing(service.frames(branch)) as slow:
        seen = [await anext(slow)]
        if purge is None:
            await service.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=2))
        else:
            await service.call(pb.DeleteBranchRequest(branch_id=branch, purge=purge))
        seen += [frame async for frame in slow]
    assert seen == whole
    assert service.kept_bytes == 0


async def test_what_is_opened_before_it_is_dropped_is_not_kept(history: History) -> None:
    store = InterruptedStore(history.store)
    service = History(store)
    branch = await filled(service)
    store.after_read = lambda: service.call(pb.DeleteBranchRequest(branch_id=branch))
    assert len(await frames(service, branch)) == 4
    assert service.kept_bytes == 0


async def test_what_is_brought_forward_while_it_is_dropped_is_not_kept(history: History) -> None:
    store = InterruptedStore(history.store)
    service = History(store)
    branch = await filled(service)
    await frames(service, branch)
    await service.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json="{}"))
    assert service.kept_bytes > 0

    async def read() -> None:
        async for _ in service.frames(branch):
            # What is read next is how the branch has grown.
            store.after_read = lambda: service.call(pb.DeleteBranchRequest(branch_id=branch))

    with pytest.raises(BranchDeletedError):
        await read()
    assert service.kept_bytes == 0


@pytest.mark.parametrize("chosen", [None, [30, 7, 12]])
async def test_a_short_snapshot_is_one_read(history: History, chosen: list[int] | None) -> None:
    store = CountingStore(history.store)
    short = History(store)
    branch = await short.create(1)
    await short.add(branch, *[instruction(n, "x" * 100) for n in range(1, 41)])
    ids = None if chosen is None else [uuid_of(n) for n in chosen]
    store.reads = 0
    snapshot = await short.snapshot(branch, ids=ids)
    assert store.reads == 1
    assert numbers(snapshot.order) == (chosen or list(range(1, 41)))


@pytest.mark.parametrize(("short_messages", "frame_bytes"), [(39, 2**20), (40, 2000)])
async def test_one_that_is_not_short_is_read_in_parts(
    history: History, monkeypatch: pytest.MonkeyPatch, short_messages: int, frame_bytes: int
) -> None:
    store = CountingStore(history.store)
    parts = History(store, Limits(frame_bytes=frame_bytes, snapshot_batch_messages=10))
    monkeypatch.setattr(snapshot_stream, "SHORT_MESSAGES", short_messages)
    branch = await parts.create(1)
    await parts.add(branch, *[instruction(n, "x" * 100) for n in range(1, 41)])
    store.reads = 0
    snapshot = await parts.snapshot(branch)
    assert store.reads > 1
    assert numbers(snapshot.order) == list(range(1, 41))


async def test_one_of_long_messages_is_read_as_it_is_taken(history: History) -> None:
    store = CountingStore(history.store)
    parts = History(store, Limits(frame_bytes=8192, snapshot_batch_messages=8))
    branch = await parts.create(1)
    await parts.add(branch, *[instruction(n, "x" * 2000) for n in range(1, 13)])
    store.reads = 0
    async with aclosing(parts.frames(branch)) as slow:
        header, order, first = [await anext(slow) for _ in range(3)]
        assert store.reads == 1
        rest = [frame async for frame in slow]
    # Of three messages each, as a batch is more than half a frame.
    assert store.reads == 4
    assert numbers(assemble([header, order, first, *rest]).order) == list(range(1, 13))


async def test_a_slow_reader_of_a_short_snapshot_holds_what_is_to_come(history: History) -> None:
    service = History(history.store, Limits(snapshot_batch_messages=10), snapshot_cache_bytes=0)
    branch = await filled(history, messages=40)
    async with aclosing(service.frames(branch)) as slow:
        seen = [await anext(slow) for _ in range(4)]
        holders = [[each for each in gc.get_referrers(frame) if isinstance(each, Batch)] for frame in seen]
    assert list(map(len, holders)) == [0, 0, 0, 1]


async def test_what_is_kept_is_not_read_where_it_is_opened(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = History(history.store)
    branch = await filled(history)
    first = await frames(service, branch)
    monkeypatch.delattr(snapshot_stream, "read_front")
    assert await frames(service, branch) == first


async def test_branches_without_messages_make_room_too(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_cache, "MOST_KEPT", 3)
    cache, snapshots = SnapshotCache(1000), []
    for branch in [await history.create(number) for number in range(1, 6)]:
        snapshot = Snapshot(
            await history.branch(branch), BranchKey("", branch, branch), 1, None, None, 0, None
        )
        with cache.gather(snapshot, cache.drops) as gathering:
            gathering.keep()
        snapshots.append(snapshot)
    assert [cache.has(snapshot) for snapshot in snapshots] == [False, False, True, True, True]
