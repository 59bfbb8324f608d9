"""``antiphon watch`` while the service it watches goes away and comes back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from antiphon_client import AsyncBranch, AsyncHistoryClient
from history_service.server import build_server
from history_service.settings import HistorySettings
from history_service.storage import open_store
from tests.support.cli import command

PATIENCE_SECONDS = 60.0


@pytest.mark.anyio
async def test_a_lost_service_is_told_once_and_waited_for(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path}/history.sqlite3"
    settings = HistorySettings(listen=f"unix:{tmp_path}/h.sock", store=store)
    server = build_server(settings, open_store(store))
    address = await server.start()
    async with AsyncHistoryClient(address) as client:
        branch = await AsyncBranch.create(client)
        with command("watch", str(branch.branch_id), "--history", address) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            first = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), PATIENCE_SECONDS)
            assert first == "     1  created\n"
            await server.stop(0)
            lost = await asyncio.wait_for(asyncio.to_thread(process.stderr.readline), PATIENCE_SECONDS)
            assert lost.startswith("antiphon: the history service is gone; waiting for it (")
            server = build_server(settings, open_store(store))
            await server.start()
            await branch.delete()
            out, err = await asyncio.wait_for(
                asyncio.to_thread(process.communicate, None, PATIENCE_SECONDS), PATIENCE_SECONDS
            )
        assert (out.split(), err, process.returncode) == (["2", "deleted"], "", 0)
    await server.stop(0)
