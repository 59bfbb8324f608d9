"""A compiler's workers begin and end with it, and are as many as is said."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from compiler_service.settings import CompilerSettings
from compiler_service.workers.pool import default_workers
from tests.support.folding_workers import children, is_running, until
from tests.support.programs import program, run_program

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_no_worker_outlives_the_service(tmp_path: Path, number: signal.Signals) -> None:
    arguments = (
        "--listen",
        f"unix:{tmp_path}/c.sock",
        "--history",
        "unix:/nowhere",
        "--folding-workers",
        "2",
    )
    with program("compiler_service", *arguments) as running:
        process_id = running.process.pid
        await until(lambda: len(children(process_id)) == 2)
        workers = children(process_id)
        os.kill(process_id, number)
        running.process.wait(30)
        if number is signal.SIGTERM:
            assert not any(map(is_running, workers))
        await until(lambda: not any(map(is_running, workers)))


def test_their_number_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = len(os.sched_getaffinity(0))
    addresses: dict[str, Any] = {"listen": "unix:/c", "history": "unix:/h"}
    assert default_workers() == min(4, cores - 1)
    assert CompilerSettings(**addresses).folding_workers == default_workers()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert CompilerSettings(**addresses).folding_workers == 0
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(32)))
    assert CompilerSettings(**addresses).folding_workers == 4
    monkeypatch.setenv("ANTIPHON_COMPILER_FOLDING_WORKERS", "3")
    assert CompilerSettings(**addresses).folding_workers == 3
    for wrong in (-1, 65):
        with pytest.raises(ValueError, match="folding_workers"):
            CompilerSettings(**addresses, folding_workers=wrong)


def test_their_number_is_printed_and_explained() -> None:
    printed = run_program("compiler_service", "--folding-workers", "0", "--print-config")
    assert json.loads(printed.stdout)["folding_workers"] == 0
    assert "--folding-workers N" in run_program("compiler_service", "--help").stdout
    refused = run_program("compiler_service", "--folding-workers", "-1")
    assert (refused.returncode, refused.stderr) == (
        2,
        "compiler_service: --folding-workers: must be 0 or more\n",
    )
