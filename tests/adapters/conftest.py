"""The real history service on a SQLite store, and clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from antiphon_client import AsyncHistoryClient, HistoryClient
from tests.support.pair import Pair, served_pair


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """Both services, on unix sockets."""
    with served_pair(tmp_path, f"sqlite:{tmp_path}/history.db") as pair:
        yield pair


@pytest.fixture
def blocking(pair: Pair) -> Iterator[HistoryClient]:
    """A blocking client."""
    with HistoryClient(pair.history) as client:
        yield client


@pytest.fixture
async def history(pair: Pair) -> AsyncIterator[AsyncHistoryClient]:
    """An asyncio client."""
    async with AsyncHistoryClient(pair.history) as client:
        yield client
