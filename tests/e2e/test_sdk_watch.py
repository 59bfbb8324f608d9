"""Watching a branch through the SDK: positions, reconnection, ends."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import aclosing, closing
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from antiphon_client import (
    AsyncBranch,
    AsyncHistoryClient,
    Branch,
    Change,
    HistoryClient,
    Instruction,
    WatchToken,
)
from antiphon_client.errors import (
    AntiphonError,
    BranchDeletedError,
    RevisionExpiredError,
    RevisionInFutureError,
)
from antiphon_client.transport_errors import ServiceUnreachableError
from antiphon_client.watching import Operation
from history_service.server import build_server
from history_service.settings import HistorySettings
from history_service.storage import open_store
from tests.support.pair import served_pair

PATIENCE_SECONDS = 30


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HistoryClient]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair, HistoryClient(pair.history) as client:
        yield client


@pytest.fixture
def branch(history: HistoryClient) -> Branch:
    return Branch.create(history)


def test_changes_say_what_happened_and_end_where_the_branch_is(branch: Branch) -> None:
    message = Instruction.create("hi")
    branch.add(message)
    branch.select_view([message.id])
    branch.update_metadata({"a": 1})
    changes = list(branch.watch(follow=False))
    assert [(change.revision, change.kind, change.operations) for change in changes] == [
        (1, "created", ()),
        (2, "membership", (Operation("added", message.id, 0),)),
        (3, "view", (Operation("view_selected", message_count=1),)),
        (4, "metadata", ()),
    ]
    assert {change.incarnation for change in changes} == {branch.record().incarnation}
    assert [change.counter - changes[0].counter for change in changes] == [0, 1, 2, 3]
    assert list(branch.watch(after=changes[1].token, follow=False)) == changes[2:]
    assert list(branch.watch(after=3, follow=False)) == changes[3:]
    assert list(branch.watch(after=4, follow=False)) == []


def test_watch_follows_what_is_written_later(branch: Branch) -> None:
    with closing(branch.watch()) as changes:
        assert next(changes).revision == 1
        for number in range(3):
            branch.add(Instruction.create(str(number)))
            assert next(changes).revision == number + 2


def test_deleted_branch_ends_the_watch(branch: Branch) -> None:
    branch.delete()
    assert [change.kind for change in branch.watch()] == ["created", "deleted"]
    with pytest.raises(BranchDeletedError):
        list(branch.watch(after=2))


def test_positions_that_cannot_be(branch: Branch) -> None:
    with pytest.raises(RevisionInFutureError):
        next(branch.watch(after=2))
    with pytest.raises(RevisionExpiredError):
        next(branch.watch(after=WatchToken(1, uuid4())))


def test_token_has_a_text_form() -> None:
    token = WatchToken(12, UUID(int=7))
    assert WatchToken.parse(str(token)) == token
    for text in ("", "12", "@", "x@" + str(token.incarnation), "12@x", "-1@" + str(token.incarnation)):
        with pytest.raises(ValueError, match=r"token|badly formed"):
            WatchToken.parse(text)


def test_watch_that_was_never_connected_fails(tmp_path: Path) -> None:
    with (
        HistoryClient(f"unix:{tmp_path}/nobody.sock") as client,
        pytest.raises(ServiceUnreachableError),
    ):
        next(client.watch_branch(uuid4()))


@pytest.mark.anyio
async def test_watch_goes_on_by_itself_across_restarts(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path}/history.sqlite3"
    settings = HistorySettings(listen=f"unix:{tmp_path}/h.sock", store=store)
    seen: asyncio.Queue[Change] = asyncio.Queue()
    losses: list[AntiphonError] = []

    async def follow(branch: AsyncBranch) -> None:
        async with aclosing(branch.watch(on_lost=losses.append)) as changes:
            async for change in changes:
                seen.put_nowait(change)

    server = build_server(settings, open_store(store))
    async with AsyncHistoryClient(await server.start()) as client:
        branch = await AsyncBranch.create(client)
        following = asyncio.ensure_future(follow(branch))
        revisions = []
        for number in range(3):
            revisions.append((await asyncio.wait_for(seen.get(), PATIENCE_SECONDS)).revision)
            await server.stop(0)
            server = build_server(settings, open_store(store))
            await server.start()
            await branch.add(Instruction.create(str(number)))
        revisions.append((await asyncio.wait_for(seen.get(), PATIENCE_SECONDS)).revision)
        await branch.delete()
        await asyncio.wait_for(following, PATIENCE_SECONDS)
        assert (await seen.get()).kind == "deleted"
        await server.stop(0)
    assert revisions == [1, 2, 3, 4]
    assert seen.empty()
    assert [loss.code for loss in losses] == ["UNAVAILABLE"] * 3


@pytest.mark.anyio
async def test_many_watchers_of_one_branch_see_the_same(tmp_path: Path) -> None:
    settings = HistorySettings(listen=f"unix:{tmp_path}/h.sock", store="memory:")
    server = build_server(settings, open_store("memory:"))
    async with AsyncHistoryClient(await server.start()) as client:
        branch = await AsyncBranch.create(client)

        async def first(count: int) -> list[int]:
            found = []
            async with aclosing(branch.watch()) as changes:
                async for change in changes:
                    found.append(change.revision)
                    if len(found) == count:
                        return found
            return found

        watchers = [asyncio.ensure_future(first(21)) for _ in range(10)]
        for number in range(20):
            await branch.add(Instruction.create(str(number)))
        for seen in await asyncio.wait_for(asyncio.gather(*watchers), PATIENCE_SECONDS):
            assert seen == list(itertools.islice(itertools.count(1), 21))
        await server.stop(0)
