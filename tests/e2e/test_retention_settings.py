"""The retention settings of a served history service."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import apsw
import pytest

from antiphon_client import AsyncBranch, AsyncHistoryClient, Instruction
from antiphon_client.errors import RevisionExpiredError
from history_service.server import build_server
from history_service.settings import HistorySettings
from history_service.storage import open_store

pytestmark = pytest.mark.anyio


async def serve(stack: AsyncExitStack, folder: Path, **settings: float) -> AsyncHistoryClient:
    """Run the service over the folder's store until the stack is left."""
    store = f"sqlite:{folder}/history.sqlite3"
    fields = {"listen": f"unix:{folder}/h.sock", "store": store, **settings}
    server = build_server(HistorySettings.model_validate(fields), open_store(store))
    address = await server.start()
    stack.push_async_callback(server.stop, 0)
    return await stack.enter_async_context(AsyncHistoryClient(address))


def bodies(folder: Path) -> int:
    """Count the messages that the file holds."""
    connection = apsw.Connection(f"{folder}/history.sqlite3", flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(connection.execute("SELECT count(*) FROM message_body").get)
    finally:
        connection.close()


async def test_kept_revisions_are_bounded_when_asked_for(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        branch = await AsyncBranch.create(await serve(stack, tmp_path, kept_revisions=2))
        for number in range(6):
            await branch.add(Instruction.create(f"text {number}"))
        assert (await branch.record()).oldest_revision == 5
        with pytest.raises(RevisionExpiredError):
            await branch.record(at_revision=4)


async def test_what_is_overdue_is_erased_after_a_start(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        branch = await AsyncBranch.create(await serve(stack, tmp_path, deleted_retention_seconds=0))
        await branch.add(Instruction.create("gone soon"))
        await branch.delete()
    async with AsyncExitStack() as stack, asyncio.timeout(20):
        await serve(stack, tmp_path)
        while bodies(tmp_path):
            await asyncio.sleep(0.01)
