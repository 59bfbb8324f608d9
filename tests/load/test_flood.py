"""A short flood, and its proof that it sees a service without admission."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.load.flood import Plan, flood

SHORT = Plan(calls=16, seconds=3.0)


@pytest.mark.anyio
async def test_a_flood_is_refused_and_loses_nothing(tmp_path: Path) -> None:
    outcome = await flood(tmp_path, SHORT)
    assert outcome.faults() == []
    assert outcome.flood.refused.total() > 0
    assert sum(map(len, outcome.flood.acknowledged.values())) > 0
    assert "refused OVERLOADED" in outcome.table()


@pytest.mark.anyio
async def test_the_flood_catches_a_service_that_admits_everything(tmp_path: Path) -> None:
    outcome = await flood(tmp_path, Plan(calls=16, seconds=2.0, mutant="boundless"))
    assert "refusals are none, not OVERLOADED" in outcome.faults()
