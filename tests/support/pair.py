"""The real pair for tests: both services on unix sockets in a test's own folder, or on loopback."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from compiler_service.server import build_server as build_compiler
from compiler_service.server import open_history_channel
from compiler_service.settings import CompilerSettings
from history_service.server import build_server as build_history
from history_service.settings import HistorySettings
from history_service.storage import open_store

START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Where the two services listen."""

    history: str
    compiler: str


@asynccontextmanager
async def running_pair(
    folder: Path, store: str = "memory:", *, loopback: bool = False
) -> AsyncIterator[Pair]:
    """Run both services in this event loop."""
    history_listen, compiler_listen = (
        ("127.0.0.1:0", "127.0.0.1:0") if loopback else (f"unix:{folder}/h.sock", f"unix:{folder}/c.sock")
    )
    history_settings = HistorySettings(listen=history_listen, store=store)
    history = build_history(history_settings, open_store(store))
    history_address = await history.start()
    try:
        settings = CompilerSettings(listen=compiler_listen, history=history_address)
        compiler = build_compiler(settings, open_history_channel(settings))
        compiler_address = await compiler.start()
        try:
            yield Pair(history_address, compiler_address)
        finally:
            await compiler.stop(0)
    finally:
        await history.stop(0)


@contextmanager
def served_pair(folder: Path, store: str = "memory:", *, loopback: bool = False) -> Iterator[Pair]:
    """Run both services in a thread of their own, for blocking clients."""
    started: concurrent.futures.Future[tuple[Pair, asyncio.AbstractEventLoop, asyncio.Event]] = (
        concurrent.futures.Future()
    )

    async def serve() -> None:
        stop = asyncio.Event()
        async with running_pair(folder, store, loopback=loopback) as pair:
            started.set_result((pair, asyncio.get_running_loop(), stop))
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        pair, loop, stop = started.result(START_SECONDS)
        try:
            yield pair
        finally:
            loop.call_soon_threadsafe(stop.set)
    finally:
        thread.join()
