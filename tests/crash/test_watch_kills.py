"""A short run of the watcher's kill -9 harness, and its proof that it sees a fault."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from antiphon_client import AsyncBranch
from antiphon_client.errors import OverloadedError
from tests.crash import watch_kills
from tests.crash.watch_kills import Observed, run
from tests.support.cli import command

KILLS = int(os.environ.get("ANTIPHON_TEST_WATCH_KILLS", "4"))
WRITES = int(os.environ.get("ANTIPHON_TEST_WATCH_WRITES", "300"))


@pytest.mark.anyio
async def test_killed_watchers_see_each_change_once_in_order(tmp_path: Path) -> None:
    observed, last = await run(tmp_path, kills=KILLS, writes=WRITES, seed=1)
    assert observed.kills == KILLS
    assert last == WRITES + 1
    assert observed.gap(last) == ""


@pytest.mark.anyio
async def test_a_write_that_fails_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watchers: list[subprocess.Popen[str]] = []

    @contextmanager
    def noted(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        with command(*arguments, **environment) as process:
            watchers.append(process)
            yield process

    async def refused(branch: AsyncBranch, count: int) -> None:
        raise OverloadedError("not today")

    monkeypatch.setattr(watch_kills, "command", noted)
    monkeypatch.setattr(watch_kills, "write", refused)
    with pytest.raises(OverloadedError):
        await run(tmp_path, kills=2, writes=10, seed=1)
    assert [process.returncode for process in watchers] == [-signal.SIGKILL]


def test_the_harness_sees_faults() -> None:
    assert Observed([1, 2, 3]).gap(3) == ""
    assert Observed([1, 3]).gap(3) == "revision 3 where 2 was due"
    assert Observed([1, 2, 2, 3]).gap(3) == "revision 2 where 3 was due"
    assert Observed([1, 2]).gap(3) == "2 of 3 changes seen"
