"""Random programs: every store gives the model's answers, now and at every revision."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.history import STORES
from tests.support.history_programs import STEPS, WRITES, AnyStep
from tests.support.history_runs import empty_folder, run, run_beside_memory


@settings(max_examples=200)
@given(st.lists(WRITES, max_size=25))
def test_the_memory_store_gives_the_models_answers(steps: Sequence[AnyStep]) -> None:
    asyncio.run(run("memory", Path(), steps))


@settings(max_examples=200)
@given(st.lists(STEPS, max_size=25))
def test_the_memory_store_forks_trims_and_purges_as_the_model(steps: Sequence[AnyStep]) -> None:
    asyncio.run(run("memory", Path(), steps))


@pytest.mark.parametrize("kind", STORES[1:])
@settings(max_examples=40)
@given(steps=st.lists(STEPS, max_size=25))
def test_every_store_is_the_memory_store(kind: str, steps: Sequence[AnyStep]) -> None:
    """Also ``python -m tests.conformance.programs``, which runs thousands."""
    with empty_folder(kind) as folder:
        run_beside_memory(kind, folder, steps)
