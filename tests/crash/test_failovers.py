"""A short run of the failovers, and its proof that it sees what goes wrong with them.

``ANTIPHON_TEST_FAILOVERS`` and ``ANTIPHON_TEST_SEED`` make it longer or another one.
"""

from __future__ import annotations

import os

import pytest

from tests.crash.failovers import fail_over
from tests.crash.kills import BrokenPromiseError
from tests.support import postgres

FAILOVERS = int(os.environ.get("ANTIPHON_TEST_FAILOVERS", "1"))
SEED = int(os.environ.get("ANTIPHON_TEST_SEED", "1"))

pytestmark = pytest.mark.anyio


async def test_a_failover_loses_nothing(anyio_backend: object) -> None:
    postgres.require_server()
    run = await fail_over([(1 + number) % 3 for number in range(FAILOVERS)], seed=SEED)
    assert len(run.recoveries) == FAILOVERS


# A former primary does harm only where a service finds it first.
@pytest.mark.parametrize(
    ("variant", "cuts"), [("asynchronous", [2]), ("laggard", [1]), ("unfenced", [1, 1, 1, 1, 1])]
)
async def test_the_harness_catches(anyio_backend: object, variant: str, cuts: list[int]) -> None:
    postgres.require_server()
    with pytest.raises(BrokenPromiseError):
        await fail_over(cuts, seed=SEED, variant=variant)
