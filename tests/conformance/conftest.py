"""The conformance suite runs on every store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support import exchange as exchanges
from tests.support import postgres
from tests.support.history import STORES, History, on_postgres, running


@pytest.fixture(params=STORES)
def store_kind(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each store in turn; PostgreSQL where there is a server to be had."""
    kind: str = request.param
    if on_postgres(kind):
        postgres.require_server()
    yield kind
    if on_postgres(kind):
        postgres.recycle()


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
