"""Short runs of the exchange's crash harnesses, and their proof that they see faults.

``ANTIPHON_TEST_MESSAGES`` says how long the lease runs are;
``ANTIPHON_TEST_SEED`` makes other ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash import exchange_collect
from tests.crash.exchange_leases import Run
from tests.crash.kills import BrokenPromiseError
from tests.support.exchange_knowledge import is_poison
from tests.support.exchange_mutants import EXCHANGE_MUTANTS

MESSAGES = int(os.environ.get("ANTIPHON_TEST_MESSAGES", "1500"))
SEED = int(os.environ.get("ANTIPHON_TEST_SEED", "1"))


@pytest.mark.anyio
async def test_killed_consumers_lose_and_double_nothing(tmp_path: Path) -> None:
    run = Run(tmp_path, MESSAGES, SEED)
    await run.go(consumer_life=0.2, service_kills=1)
    assert run.known.consumers_killed > 5
    # Others die too where their consumers are killed that often, as on a slow machine.
    assert run.dead >= len([number for number in run.known.sent if is_poison(number)]) > 0
    assert len(run.known.acknowledged) > len(run.known.sent) / 2


@pytest.mark.anyio
@pytest.mark.parametrize("mutant", sorted(EXCHANGE_MUTANTS))
async def test_the_harness_catches_a_fault(tmp_path: Path, mutant: str) -> None:
    run = Run(tmp_path, 500, SEED, mutant)
    with pytest.raises(BrokenPromiseError):
        await run.go(consumer_life=0.2, service_kills=0)


@pytest.mark.anyio
@pytest.mark.parametrize(("operation", "every"), [("collect", 16), ("collect_all", 24), ("unregister", 16)])
async def test_a_killed_long_write_loses_and_doubles_nothing(
    tmp_path: Path, operation: str, every: int
) -> None:
    assert await exchange_collect.kill_everywhere(tmp_path, operation, every) > 8
