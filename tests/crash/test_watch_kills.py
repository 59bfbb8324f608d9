"""A short run of the watcher's kill -9 harness, and its proof that it sees a fault."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.watch_kills import Observed, run

KILLS = int(os.environ.get("ANTIPHON_TEST_WATCH_KILLS", "4"))
WRITES = int(os.environ.get("ANTIPHON_TEST_WATCH_WRITES", "300"))


@pytest.mark.anyio
async def test_killed_watchers_see_each_change_once_in_order(tmp_path: Path) -> None:
    observed, last = await run(tmp_path, kills=KILLS, writes=WRITES, seed=1)
    assert observed.kills == KILLS
    assert last == WRITES + 1
    assert observed.gap(last) == ""


def test_the_harness_sees_faults() -> None:
    assert Observed([1, 2, 3]).gap(3) == ""
    assert Observed([1, 3]).gap(3) == "revision 3 where 2 was due"
    assert Observed([1, 2, 2, 3]).gap(3) == "revision 2 where 3 was due"
    assert Observed([1, 2]).gap(3) == "2 of 3 changes seen"
