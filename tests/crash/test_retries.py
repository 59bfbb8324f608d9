"""A short run of the retries, and its proof that it sees a fault of each kind.

``ANTIPHON_TEST_RETRIES`` and ``ANTIPHON_TEST_SEED`` make it longer or another one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.kills import BrokenPromiseError
from tests.crash.retries import Retries

pytestmark = pytest.mark.anyio

RETRIES = int(os.environ.get("ANTIPHON_TEST_RETRIES", "1000"))
SEED = int(os.environ.get("ANTIPHON_TEST_SEED", "1"))


async def test_retries_have_one_effect_and_one_answer(tmp_path: Path) -> None:
    run = Retries(tmp_path, SEED, "none")
    await run.run(RETRIES, 3)
    assert run.retries.total() >= RETRIES
    assert set(run.retries) == {"one after the other", "at once", "across a restart"}
    assert len(run.effects) == 6


@pytest.mark.parametrize(
    ("mutant", "found"),
    [
        ("amnesiac", "copies had an effect|ALREADY_EXISTS"),
        ("short_lived", "after a restart|ALREADY_EXISTS: action request"),
    ],
)
async def test_the_harness_catches(mutant: str, found: str, tmp_path: Path) -> None:
    with pytest.raises(BrokenPromiseError, match=found):
        await Retries(tmp_path, SEED, mutant).run(400, 1)
