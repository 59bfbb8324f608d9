"""A short run of the harness that stops PostgreSQL, and its proof that it sees faults.

``ANTIPHON_TEST_STOPS`` and ``ANTIPHON_TEST_SEED`` make it longer or another one.
"""

from __future__ import annotations

import os

import pytest

from tests.crash.kills import BrokenPromiseError
from tests.crash.postgres_stops import run_stops
from tests.support import postgres

STOPS = int(os.environ.get("ANTIPHON_TEST_STOPS", "3"))
SEED = int(os.environ.get("ANTIPHON_TEST_SEED", "1"))


def test_stops_lose_nothing() -> None:
    postgres.require_server()
    assert run_stops(STOPS, SEED, "none").known.acknowledged >= STOPS


@pytest.mark.parametrize("mutant", ["hasty", "lazy"])
def test_the_harness_catches_an_answer_before_its_commit_is_safe(mutant: str) -> None:
    postgres.require_server()
    with pytest.raises(BrokenPromiseError):
        run_stops(20, SEED, mutant)
