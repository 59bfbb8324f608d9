"""Running a work under the samplers, ours and the floor in turns."""

from __future__ import annotations

import gc
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import grpc

from tests.bench import append
from tests.bench.profile.measuring import Probe
from tests.bench.profile.results import Profile, Use
from tests.bench.profile.sampler import FOLDER, start
from tests.bench.profile.works import Run, Work
from tests.bench.servers import ROOT, running
from tests.figures.conditions import conditions, today

ATTEMPTS = 3
"""How often a work is begun: a sampler may end its server, see there."""
HOOK = Path(__file__).with_name("hook")


async def profile(
    work: Work,
    *,
    seconds: float,
    rounds: int,
    command: str,
    say: Callable[[str], None],
    with_peers: bool = True,
) -> Profile:
    """Profiles a work.

    Args:
        work: Which.
        seconds: How long a turn takes.
        rounds: Turns of each side; one more of each comes before and is not measured.
        command: What is written down as the command.
        say: Told of the progress.
        with_peers: Whether what the bench's row is measured beside is measured, too.
    """
    attempt = 1
    while True:
        try:
            ours, floor, beside = await _run(work, seconds, rounds, say, with_peers)
            return Profile(ours, floor, command, today(), conditions(), beside)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE or attempt == ATTEMPTS:
                raise
        attempt += 1
        say(f"a server has ended, perhaps by its sampler; from the beginning, attempt {attempt}")


async def _run(
    work: Work, seconds: float, rounds: int, say: Callable[[str], None], with_peers: bool
) -> tuple[Use, Use, dict[str, float]]:
    """Start the servers and run both sides in turns; returns ours, the floor's and what was beside."""
    with tempfile.TemporaryDirectory(prefix="antiphon-profile-") as stacks:
        metrics = f"127.0.0.1:{_free_port()}"
        async with running(append.reply_bytes(), environment=_environment(stacks, metrics)) as servers:
            load = await work.load(servers)
            gc.freeze()
            start(Path(stacks))
            ours = Probe({name: servers.pids[name] for name in work.services}, Path(stacks), metrics)
            floor = Probe({"floor": servers.pids["floor"]}, Path(stacks))
            for number in range(rounds + 1):
                say("warming up" if number == 0 else f"round {number} of {rounds}")
                if load.prepare is not None:
                    await load.prepare(seconds)
                for probe, run in ((floor, load.floor), (ours, load.ours)):
                    if number == 0:
                        await run(seconds)
                    else:
                        await _measured(probe, run, seconds)
                if number == 0 and not any(file.stat().st_size for file in Path(stacks).glob("*.stacks")):
                    raise RuntimeError("no stacks came: the servers cannot sample themselves here")
            beside = await load.beside() if with_peers and load.beside is not None else {}
    return ours.use, floor.use, beside


async def _measured(probe: Probe, run: Run, seconds: float) -> None:
    with probe.window():
        units = await run(seconds)
    probe.use.units += units


def _environment(stacks: str, metrics: str) -> dict[str, str]:
    """What makes every server sample itself, and the history service publish its figures."""
    path = [str(HOOK), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {
        FOLDER: stacks,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "ANTIPHON_HISTORY_METRICS_LISTEN": metrics,
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
