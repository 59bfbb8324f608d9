"""One pair, one provider and one gateway for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.gateway.support import Gateway, Provider, running_gateway, running_provider
from tests.support.pair import Pair, served_pair


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gateway")


@pytest.fixture(scope="module")
def pair(folder: Path) -> Iterator[Pair]:
    with served_pair(folder) as running:
        yield running


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider) -> Provider:
    running.will()
    return running


@pytest.fixture(scope="module")
def gateway(pair: Pair, running: Provider, folder: Path) -> Iterator[Gateway]:
    with running_gateway(pair, running.url, folder / "log") as gateway:
        yield gateway


@pytest.fixture
def key() -> str:
    """A conversation of the test's own."""
    return f"test-{uuid4()}"
