"""Several history services over one PostgreSQL database: in this process, or as processes of their own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from history_service.storage import open_store
from history_service.storage.port import HistoryStore

ROOT = Path(__file__).resolve().parents[2]
_READY_SECONDS = 60


@asynccontextmanager
async def stores(url: str, count: int) -> AsyncIterator[list[HistoryStore]]:
    """Open several stores on one database, one after another."""
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(count):
            store = open_store(url)
            await store.start()
            stack.push_async_callback(store.close)
            opened.append(store)
        yield opened


@asynccontextmanager
async def processes(url: str, folder: Path, count: int) -> AsyncIterator[list[str]]:
    """Run history services over one database, all started at once; yields their addresses."""
    addresses = [f"unix:{folder}/{number}.sock" for number in range(count)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'clients/python'}"}
    started = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "history_service", "--listen", address, "--store", url),
            *("--log-level", "warning"),
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            cwd=ROOT,
        )
        for address in addresses
    ]
    try:
        for process in started:
            assert process.stdout is not None
            line = await asyncio.wait_for(process.stdout.readline(), _READY_SECONDS)
            assert json.loads(line)["event"] == "ready"
        yield addresses
    finally:
        for process in started:
            if process.returncode is None:
                process.terminate()
        for process in started:
            assert await process.wait() == 0
