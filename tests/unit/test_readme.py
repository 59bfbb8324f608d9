"""The README's commands work as they stand there, and its lists are complete.

Its ``sh`` blocks run in order as one script, its ``python`` blocks each as a program,
beside a pair that the README's own serve command keeps up. So do the programs of the
pages in ``WITH_PROGRAMS``.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from antiphon_client.cli.app import app
from compiler_service.settings import CompilerSettings
from history_service.settings import HistorySettings

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
WITH_PROGRAMS = (README, *(ROOT / "docs" / name for name in ("compaction.md", "compiling.md", "exchange.md")))
SECONDS = 240
FLAG = re.compile("--[a-z-]+")

SERVE = "make serve"
NOT_RUN = {
    "make test": "it is what runs this test",
    "make bench": "minutes of measuring; its parts have tests of their own",
    "make crash && make fuzz": "minutes; the suite runs the same tests with smaller counts",
}
"""Blocks that no test runs, and why."""


def _blocks(language: str, document: Path = README) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", document.read_text("utf-8"), re.M | re.S)
    return [block.strip() for block in found]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which sockets and databases go to a temporary folder."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "run").mkdir(mode=0o700)
    # A make that runs these tests hands its own variables down; the README's reader has none.
    foreign = ("ANTIPHON_", "MAKE", "MFLAGS", "ARGS", "FILE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    sockets = f"unix:{folder}/run/antiphon"
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "XDG_DATA_HOME": str(folder / "data"),
        "ANTIPHON_HISTORY_ADDRESS": f"{sockets}/history.sock",
        "ANTIPHON_COMPILER_ADDRESS": f"{sockets}/compiler.sock",
    }


@pytest.fixture(scope="module")
def pair(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The pair, as the README's serve command starts and SIGINT stops it."""
    log_path = tmp_path_factory.mktemp("serve") / "log"
    with log_path.open("w") as log:
        process = subprocess.Popen(
            ["bash", "-c", SERVE], cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            for service in ("HISTORY", "COMPILER"):
                with grpc.insecure_channel(environment[f"ANTIPHON_{service}_ADDRESS"]) as channel:
                    try:
                        grpc.channel_ready_future(channel).result(timeout=60)
                    except grpc.FutureTimeoutError:
                        pytest.fail(f"`{SERVE}` did not come up: {log_path.read_text()[-2000:]}")
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
            process.wait(60)


def test_every_block_is_run_or_excused() -> None:
    blocks = _blocks("sh")
    assert SERVE in blocks
    assert "make run" in blocks
    assert set(NOT_RUN) <= set(blocks)


def test_every_flag_of_the_services_is_in_the_table() -> None:
    table = [line.split("|") for line in README.read_text("utf-8").splitlines() if line.startswith("| `--")]
    listed = {
        (flag.group(), row[1].partition("(")[2].rstrip(") "))
        for row in table
        if (flag := FLAG.search(row[1]))
    }
    variables = {row[2].strip(" `") for row in table}
    for service, settings in (("history", HistorySettings), ("compiler", CompilerSettings)):
        for name in settings.model_fields:
            if name == "limits":
                continue
            asked = f"--{name.replace('_', '-')}"
            assert {(asked, ""), (asked, service)} & listed, asked
            variable = name.upper()
            assert {f"ANTIPHON_*_{variable}", f"ANTIPHON_{service.upper()}_{variable}"} & variables, variable


def test_every_command_is_named() -> None:
    text = README.read_text("utf-8")
    own = {"serve", "demo"}
    names = {str(command.name) for command in app.registered_commands}
    names |= {str(group.name) for group in app.registered_groups}
    assert {name for name in names - own if not re.search(rf"`(antiphon )?{name}`", text)} == set()


def _check_runs(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.usefixtures("pair")
def test_commands_of_the_readme_run(environment: dict[str, str]) -> None:
    commands = [block for block in _blocks("sh") if block not in {SERVE, *NOT_RUN}]
    _check_runs(["bash", "-euo", "pipefail", "-c", "\n".join(commands)], environment)


@pytest.mark.usefixtures("pair")
@pytest.mark.parametrize("program", [block for page in WITH_PROGRAMS for block in _blocks("python", page)])
def test_programs_of_the_readme_run(environment: dict[str, str], program: str) -> None:
    _check_runs([sys.executable, "-c", program], environment)
