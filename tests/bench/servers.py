"""Server processes of a benchmark: started, waited for, stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc

from antiphon_client.channel import open_aio_channel

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 30.0
STOP_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Servers:
    """Channels to the running servers, their process ids, and a folder for what a benchmark keeps."""

    floor: grpc.aio.Channel
    history: grpc.aio.Channel
    compiler: grpc.aio.Channel
    folder: Path
    pids: Mapping[str, int]


@contextlib.asynccontextmanager
async def running(
    reply_bytes: int, profiles: Path | None = None, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Servers]:
    """Runs the floor, the history service on a database file, and the compiler service.

    The database lies below the project, on a disk; the sockets lie in the temporary
    folder, since their paths must be short.

    Args:
        reply_bytes: Size of the floor's replies.
        profiles: Folder for a flame graph of each server, threads included; None draws none.
        environment: Variables that the servers have beside this process's own.
    """
    cache = ROOT / ".cache"
    cache.mkdir(exist_ok=True)
    samplers: list[subprocess.Popen[bytes]] = []
    pids: dict[str, int] = {}
    variables = {**os.environ, **(environment or {})}
    async with contextlib.AsyncExitStack() as stack:
        # Entered first, so that it comes last: a sampler ends when its server has.
        stack.callback(lambda: [sampler.wait(STOP_SECONDS) for sampler in samplers])
        sockets = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="antiphon-bench-")))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-", dir=cache)))
        address = {name: f"unix:{sockets / name}.sock" for name in ("floor", "history", "compiler")}

        async def start(name: str, module: str, *arguments: str) -> grpc.aio.Channel:
            command = [sys.executable, "-m", module, "--listen", address[name], *arguments]
            log = stack.enter_context((folder / f"{name}.log").open("w+"))
            process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=variables)
            pids[name] = process.pid
            stack.callback(_stop, process)
            channel = await stack.enter_async_context(open_aio_channel(address[name]))
            await _until_ready(channel, process, Path(log.name))
            if profiles:
                samplers.append(_profile(process.pid, profiles / f"{name}.svg"))
            return channel

        floor = await start("floor", "tests.bench.echo", "--reply-bytes", str(reply_bytes))
        history = await start("history", "history_service", "--store", f"sqlite:{folder / 'bench.db'}")
        compiler = await start("compiler", "compiler_service", "--history", address["history"])
        yield Servers(floor, history, compiler, folder, pids)


async def _until_ready(channel: grpc.aio.Channel, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = START_SECONDS
    step = 0.5
    while deadline > 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(step):
                await channel.channel_ready()
            return
        deadline -= step
        if process.poll() is not None:
            break
    raise RuntimeError(f"server did not start: {process.args!r}\n{log.read_text()[-2000:]}")


def _profile(pid: int, target: Path) -> subprocess.Popen[bytes]:
    """Samples a server until it ends."""
    py_spy = str(Path(sys.executable).with_name("py-spy"))
    command = [
        str(py_spy),
        "record",
        "--pid",
        str(pid),
        "--rate",
        "200",
        "--threads",
        "--output",
        str(target),
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
