"""What every test shares: the event loop's back end, hypothesis profiles, the shared data's folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextvars import Context
from pathlib import Path
from typing import Any, TypeVarTuple

import pytest
from hypothesis import settings

from tests.support.programs import NOTHING_READY

Ts = TypeVarTuple("Ts")
# Of servers that tests run in their own process, as of programs.
for name, value in NOTHING_READY.items():
    os.environ.setdefault(name, value)

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

# A run proves the same thing everywhere; HYPOTHESIS_PROFILE=explore looks for news.
settings.register_profile("default", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", derandomize=False, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


class LoopOfOneTest(asyncio.SelectorEventLoop):
    """An event loop that hears nothing any more once it is closed.

    gRPC has one poller for the whole process: what comes too late for the loop
    of one test is handled on the loop of the next, which would fail for it.
    """

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Call back soon; never, if the loop is closed."""
        if self.is_closed():
            return asyncio.Handle(callback, args, self, context)
        return super().call_soon_threadsafe(callback, *args, context=context)


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """Every asynchronous test runs on asyncio, on a loop of its own."""
    return "asyncio", {"loop_factory": LoopOfOneTest}


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of data too large for the repository, beside it; skips where it is absent."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("no shared/data beside the repository")
    return folder
