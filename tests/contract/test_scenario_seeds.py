"""A service whose meaning was changed does not pass the shared scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.polyglot.calls import Pair
from tests.polyglot.running import run
from tests.polyglot.scenario import FOLDER, load, load_volatile
from tests.polyglot.seeds import SEEDS
from tests.support.pair import served_pair


@pytest.mark.parametrize("name", SEEDS)
def test_a_seeded_fault_fails_the_scenarios_that_are_about_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = SEEDS[name]
    seed.apply(monkeypatch.setattr)

    with served_pair(tmp_path) as addresses, Pair(addresses.history, addresses.compiler) as pair:
        faults = {
            name: run(load(FOLDER / f"{name}.json"), pair, load_volatile(FOLDER)).fault
            for name in seed.caught_by
        }

    assert None not in faults.values(), faults
    # It is the meaning that is another: the service did not break down.
    assert "INTERNAL" not in str(faults)
