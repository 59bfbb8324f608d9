"""Short races over the wire, and their proof that they see a fault."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.kills import BrokenPromiseError
from tests.crash.racing import Races, race

pytestmark = pytest.mark.anyio

APPENDS = int(os.environ.get("ANTIPHON_TEST_RACES", "25"))


async def test_races_lose_nothing_and_have_one_winner(tmp_path: Path) -> None:
    await race(tmp_path, Races(appends=APPENDS, rounds=5, systems=100))


@pytest.mark.parametrize(
    ("mutant", "found"),
    [
        ("careless", "32 writers won"),
        ("lossy_appends", "appends were told"),
        ("lossy_systems", "systems were told"),
    ],
)
async def test_races_catch(mutant: str, found: str, tmp_path: Path) -> None:
    with pytest.raises(BrokenPromiseError, match=found):
        await race(tmp_path, Races(appends=5, rounds=1, systems=40), mutant)
