"""The conformance suite runs on every store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support import exchange as exchanges
from tests.support.history import STORES, History, running


@pytest.fixture(params=STORES)
def store_kind(request: pytest.FixtureRequest) -> str:
    """Each store in turn."""
    kind: str = request.param
    return kind


@pytest.fixture
async def history(anyio_backend: object, store_kind: str, tmp_path: Path) -> AsyncIterator[History]:
    """A history service over an empty store."""
    async with running(store_kind, tmp_path) as service:
        yield service


@pytest.fixture
async def exchange(
    anyio_backend: object, store_kind: str, tmp_path: Path
) -> AsyncIterator[exchanges.Exchange]:
    """An exchange over an empty store."""
    async with exchanges.running(store_kind, tmp_path) as service:
        yield service
