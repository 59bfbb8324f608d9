"""What a backup's check asks of a store's rows holds in every store: after random programs, and for mail."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from history_service.backup.checking import check_pages, check_rows
from tests.support.exchange import Exchange
from tests.support.exchange import running as running_exchange
from tests.support.exchange_scenes import set_up, set_up_at_send, set_up_expired, set_up_mail
from tests.support.history_programs import STEPS, AnyStep
from tests.support.history_runs import run


def check(folder: Path) -> None:
    """Check the store in a folder."""
    with contextlib.closing(apsw.Connection(str(folder / "history.sqlite3"))) as connection:
        check_pages(connection)
        check_rows(connection)


@settings(max_examples=30)
@given(st.lists(STEPS, min_size=5, max_size=30))
def test_the_rules_hold_after_any_program(steps: Sequence[AnyStep]) -> None:
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(run("sqlite", Path(name), steps))
        check(Path(name))


@pytest.mark.anyio
@pytest.mark.parametrize("scene", [set_up, set_up_at_send, set_up_expired, set_up_mail])
async def test_the_rules_hold_for_mail(scene: Callable[[Exchange], Awaitable[None]], tmp_path: Path) -> None:
    async with running_exchange("sqlite", tmp_path) as exchange:
        await scene(exchange)
    check(tmp_path)
