"""What every test shares: the event loop's back end, hypothesis profiles, the shared data's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

# A run proves the same thing everywhere; HYPOTHESIS_PROFILE=explore looks for news.
settings.register_profile("default", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", derandomize=False, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Every asynchronous test runs on asyncio."""
    return "asyncio"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of data too large for the repository, beside it; skips where it is absent."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("no shared/data beside the repository")
    return folder
