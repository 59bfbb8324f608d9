"""A short run of the kill -9 harness, and its proof that it sees a fault.

``ANTIPHON_TEST_KILLS``, of both forms together, and ``ANTIPHON_TEST_SEED`` make it longer or another one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.kills import BrokenPromiseError, Run

KILLS = int(os.environ.get("ANTIPHON_TEST_KILLS", "30")) // 2
"""Of a store in clear, and of an encrypted one."""
SEED = int(os.environ.get("ANTIPHON_TEST_SEED", "1"))


@pytest.mark.anyio
@pytest.mark.parametrize("encrypted", [False, True], ids=["clear", "encrypted"])
async def test_kills_lose_nothing(tmp_path: Path, encrypted: bool) -> None:
    run = Run(tmp_path, SEED, "none", encrypted=encrypted)
    await run.kill_times(KILLS)
    assert run.known.acknowledged >= KILLS
    assert (tmp_path / "history.keys").exists() == encrypted


@pytest.mark.anyio
async def test_the_harness_catches_an_answer_before_its_commit(tmp_path: Path) -> None:
    run = Run(tmp_path, SEED, "hasty")
    with pytest.raises(BrokenPromiseError):
        await run.kill_times(20)
