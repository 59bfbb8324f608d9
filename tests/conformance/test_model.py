"""Random programs: every store gives the model's answers, now and at every revision."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.history_programs import STEPS, WRITES, AnyStep
from tests.support.history_runs import run, run_both


@settings(max_examples=200)
@given(st.lists(WRITES, max_size=25))
def test_the_memory_store_gives_the_models_answers(steps: Sequence[AnyStep]) -> None:
    asyncio.run(run("memory", Path(), steps))


@settings(max_examples=200)
@given(st.lists(STEPS, max_size=25))
def test_the_memory_store_forks_trims_and_purges_as_the_model(steps: Sequence[AnyStep]) -> None:
    asyncio.run(run("memory", Path(), steps))


@settings(max_examples=40)
@given(st.lists(STEPS, max_size=25))
def test_the_sqlite_store_is_the_memory_store(steps: Sequence[AnyStep]) -> None:
    """Also ``python -m tests.conformance.programs``, which runs thousands."""
    with tempfile.TemporaryDirectory() as folder:
        run_both(Path(folder), steps)
