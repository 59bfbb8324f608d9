"""Programs that each measure one side in an environment of their own, asked round by round.

They speak as ``tests.bench.peers.measuring`` says.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.servers import ROOT


class Side:
    """A program that measures one side, round by round."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._seconds: dict[str, list[float]] = {}

    async def begin(self, job: dict[str, object]) -> set[str]:
        """Hands the job over; returns the digests of what the requests say."""
        return set((await asyncio.to_thread(self._ask, json.dumps(job))).values())

    async def round(self) -> None:
        """Lets every work be done once."""
        for form, seconds in (await asyncio.to_thread(self._ask, "")).items():
            self._seconds.setdefault(form, []).append(seconds)

    def median(self, form: str) -> float:
        """The median time of a work, in milliseconds."""
        return statistics.median(self._seconds[form]) * 1e3

    def seconds(self, form: str) -> list[float]:
        """The seconds that a work took, round by round."""
        return self._seconds[form]

    def _ask(self, line: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # A program that is gone is found out by its missing answer.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"a measured program ended with code {self._process.wait()}")
        answered: dict[str, Any] = json.loads(answer)
        return answered


@contextlib.contextmanager
def running_side(python: str | Path, module: str) -> Iterator[Side]:
    """Runs a program of the bench; it ends with its standard input."""
    # Peers warn of their own future; their standard output is the protocol.
    command = [python, "-W", "ignore", "-m", module]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as process:
        try:
            yield Side(process)
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.communicate()
