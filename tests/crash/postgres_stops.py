"""Immediate stops of PostgreSQL while clients append.

    PYTHONPATH=.:clients/python python -m tests.crash.postgres_stops --stops 50 [--seed N] [--mutant lazy]

As ``kills``, but it is the database that goes: ``pg_ctl stop -m immediate``
kills its processes as a crash would, and it recovers from its log when it
starts again. The history service stays up, answers STORE_BUSY meanwhile and
finds the database again by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.crash.kills import BrokenPromiseError, Run
from tests.figures.recording import parse_with_record, record_figure
from tests.support import postgres
from tests.support.postgres_mutants import POSTGRES_WRITERS


class StopRun(Run):
    """Stops, restarts and checks."""

    def __init__(self, folder: Path, seed: int, mutant: str, server: postgres.Server) -> None:
        """Set up; the server runs already."""
        super().__init__(folder, seed, mutant, server.url())
        self._server = server

    async def stop_times(self, stops: int) -> None:
        """Stop the database as many times under one service, which then ends cleanly.

        Raises:
            BrokenPromiseError: A promise was broken.
        """
        async with self._service.running() as process, self._service.stub() as stub:
            for _ in range(stops):
                await self._check(stub)
                await self._append_until(stub, self._stop_soon)
                await asyncio.to_thread(self._server.start)
            await self._check(stub)
            await self._end_cleanly(process)

    async def _stop_soon(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await asyncio.to_thread(self._server.stop, "immediate")


def run_stops(stops: int, seed: int, mutant: str) -> StopRun:
    """Run on a server of its own.

    Raises:
        BrokenPromiseError: A promise was broken.
        NoServerError: There is no server to be had.
    """
    server = postgres.Server(postgres.find_binaries(), postgres.DURABLE)
    try:
        server.start()
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            run = StopRun(Path(folder), seed, mutant, server)
            asyncio.run(run.stop_times(stops))
            return run
    finally:
        server.remove()


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="Immediate stops of PostgreSQL during appends.")
    parser.add_argument("--stops", type=int, default=50)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--mutant", choices=sorted(POSTGRES_WRITERS), default="none")
    options = parse_with_record(parser)
    started = time.monotonic()
    print(f"seed {options.seed}", flush=True)
    try:
        known = run_stops(options.stops, options.seed, options.mutant).known
        held, found = True, known.summary("stops", options.stops)
    except BrokenPromiseError as error:
        held, found = False, f"BROKEN: {error}"
    print(found)
    if options.record:
        record_figure("postgres_stops", options.stops, found, seconds=time.monotonic() - started, held=held)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
