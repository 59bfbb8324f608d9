"""A short run of the chaos, and its proof that it sees faults.

``ANTIPHON_TEST_LIVES`` and ``ANTIPHON_TEST_SEED`` make it longer or another one.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.crash.chaos import FAULTS, Fault, chaos, draw_life
from tests.crash.kills import BrokenPromiseError

LIVES = int(os.environ.get("ANTIPHON_TEST_LIVES", "4"))
SEED = int(os.environ.get("ANTIPHON_TEST_SEED", "4"))


@pytest.mark.anyio
async def test_chaos_loses_nothing(tmp_path: Path) -> None:
    run = await chaos(tmp_path, lives=LIVES, seed=SEED)
    assert len(run.lives) == LIVES
    assert run.struck.total() == sum(map(len, run.lives))
    assert set(run.refused) <= {"disk_full"}
    assert (run.struck["full"] > 0) == (run.refused["disk_full"] > 0)


@pytest.mark.anyio
@pytest.mark.parametrize("mutant", ["hasty", "forgetful"])
async def test_the_chaos_catches(tmp_path: Path, mutant: str) -> None:
    with pytest.raises(BrokenPromiseError):
        await chaos(tmp_path, lives=20, seed=SEED, mutant=mutant)


@pytest.mark.anyio
async def test_a_full_disk_shows_who_does_not_hear_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.crash.chaos.draw_life", lambda _: [Fault("full", 5, 0.05)])
    monkeypatch.setattr("tests.crash.chaos.REFUSAL_SECONDS", 1.0)
    with pytest.raises(BrokenPromiseError):
        await chaos(tmp_path, lives=3, seed=SEED, mutant="deaf")


def test_a_seed_gives_the_same_lives() -> None:
    drawn = [[draw_life(random.Random(f"{seed}:faults")) for _ in range(5)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert {fault.kind for life in drawn[0] + drawn[2] for fault in life} <= set(FAULTS)
