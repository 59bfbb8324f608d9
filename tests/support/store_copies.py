"""Copying stores in tests: a pass, and all that can be read of a store."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import AntiphonError
from history_service.copying.passes import Moved, Report, copy_store
from history_service.storage import open_store
from history_service.storage.envelope import KeyRing
from tests.support.branch_files import export_chunks
from tests.support.exchange import Exchange
from tests.support.history import History, uuid_of
from tests.support.watching import watching

OTHER_TENANT = "öther"
"""A tenant whose name is not ASCII."""


@contextlib.contextmanager
def unseen(title: str, total: int) -> Iterator[Moved]:
    """Show no progress."""
    yield lambda more: None


def copied(source: Path, url: str, *, last: bool = False) -> Report:
    """Run a pass."""
    return copy_store(str(source), url, unseen, last=last)


def differing(report: Report) -> list[str]:
    """Return the names of the tables that differ."""
    return [table.table for table in report.tables if not table.same]


@contextlib.asynccontextmanager
async def serving(url: str, tenant_id: str = "", ring: KeyRing | None = None) -> AsyncIterator[History]:
    """Run a history service over a store that is there, with the master keys given."""
    store = open_store(url, ring=ring)
    await store.start()
    try:
        yield History(store, tenant_id=tenant_id)
    finally:
        await store.close()


async def all_reads(history: History) -> list[Any]:
    """Every read of every branch of a tenant at every revision, and of the exchange; errors by their text."""
    found: list[Any] = await _pages(history)
    branches = [uuid_of(number) for number in (*range(1, 4), *range(0xB000, 0xB004))]
    for branch in branches:
        described = await _answer(history.branch(branch))
        found.append(described)
        found.append(await _answer(_changes(history, branch, 0)))
        found.append(await _answer(history.messages(branch, order=pb.ORDER_DESCENDING)))
        for kind in pb.MessageKind.values()[1:]:
            found.append(await _answer(history.messages(branch, kinds=[kind])))
        revision = 1 if isinstance(described, str) else described.revision
        for at in range(1, revision + 2):
            found.append(await _answer(history.branch(branch, at)))
            found.append(await _answer(history.messages(branch, at_revision=at, page_size=3)))
            found.append(await _answer(_frames(history, branch, at)))
            found.append(await _answer(export_chunks(history, branch, at)))
            found.append(await _answer(_changes(history, branch, at)))
    return [*found, *await _mail(history)]


async def _answer(reading: Any) -> Any:
    try:
        return await reading
    except AntiphonError as error:
        return f"{error.reason} {error.message} {error.metadata}"


async def _pages(history: History) -> list[Any]:
    found, token = [], ""
    while True:
        page = await history.call(pb.ListBranchesRequest(page_size=2, page_token=token))
        found.append(page)
        token = page.next_page_token
        if not token:
            return found


async def _frames(history: History, branch: str, at: int) -> list[bytes]:
    return [frame async for frame in history.frames(branch, at=at)]


async def _changes(history: History, branch: str, after: int) -> list[pb.BranchChange]:
    async with watching(history, branch, after) as watcher:
        return await watcher.changes()


async def _mail(history: History) -> list[Any]:
    exchange = Exchange(history.store)
    found: list[Any] = [await exchange.owners(page_size=2), await exchange.dead_letters()]
    for number in range(1, 8):
        request = exchange_pb.ReceiveRequest(owner_id=uuid_of(number))
        found.append(await exchange.call(request, tenant_id=history.tenant_id))
    return found
