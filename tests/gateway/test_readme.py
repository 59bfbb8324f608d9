"""The commands of the gateway's README work as they stand there."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.gateway.support import ROOT

README = ROOT / "clients" / "gateway" / "README.md"
EXAMPLE = [
    'the model calls weather: {"city": "Aarhus"}',
    "the model says: The tool says: sunny, 21 degrees",
    "sent again, answered from what is kept: true",
]
PORTS = (8400, 8401)
SECONDS = 240


def blocks(kind: str) -> list[str]:
    """The README's shell blocks of a kind: "" for commands, " serve" for what keeps running."""
    return re.findall(rf"^```sh{kind}\n(.*?)\n```$", README.read_text("utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("readme")
    (folder / "run").mkdir(mode=0o700)
    foreign = ("ANTIPHON_", "OPENAI_", "MAKE", "MFLAGS", "ARGS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return kept | {
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "XDG_DATA_HOME": str(folder / "data"),
        "ANTIPHON_HISTORY_LISTEN": f"unix:{folder}/run/antiphon/history.sock",
    }


def here(command: str) -> str:
    """A command of the README's in the environment that runs this test."""
    binaries = Path(sys.executable).parent
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "clients" / "python", ROOT / "clients" / "gateway")))
    cli = f"{sys.executable} -m antiphon_client"
    command = command.replace("make serve", f"{cli} serve").replace(
        "make gateway", f"{sys.executable} clients/gateway/demo.py"
    )
    for name, program in ((".venv/bin/antiphon", cli), (".venv/bin/python", sys.executable)):
        # At the beginning of a word: the programs put in may stand in such a folder themselves.
        command = re.sub(rf"(?<![\w/]){re.escape(name)}\b", program, command)
    return f"export PYTHONPATH={paths} PATH={binaries}:$PATH\n{command}"


@pytest.fixture(scope="module")
def served(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the README keeps running."""
    log = tmp_path_factory.mktemp("served") / "log"
    for port in PORTS:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                pytest.skip(f"another program has port {port}, which the README's commands use")
    with contextlib.ExitStack() as stack:
        for command in blocks(" serve"):
            stack.enter_context(_running(command, environment, log))
        yield


@contextlib.contextmanager
def _running(command: str, environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("ab") as errors:
        process = subprocess.Popen(
            ["bash", "-c", here(command)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    assert process.stdout is not None
    try:
        # Each says a line once it serves.
        assert process.stdout.readline(), log.read_text()
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        process.wait(SECONDS)
        process.stdout.close()


def run(command: str, environment: dict[str, str]) -> str:
    """Run a block as one script that stops at its first failure; return what it prints."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", here(command)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tour(served: None, environment: dict[str, str]) -> None:
    if httpx.get("http://127.0.0.1:8400/healthz").status_code != 200:
        pytest.fail("the gateway of the tour does not see its pair")
    _, first, second, kept, example = blocks("")
    assert "x-antiphon-conversation: tour" in run(first, environment)
    streamed = run(second, environment)
    assert streamed.endswith("data: [DONE]\n\n")
    words = [
        json.loads(line.removeprefix("data: "))["choices"][0]["delta"].get("content") or ""
        for line in streamed.splitlines()
        if line.startswith("data: {")
    ]
    assert "".join(words) == "I was shown 3 messages, the last is: How are you?"
    exported = run(kept, environment)
    for said in ("Good morning.", "I was shown 1 messages", "How are you?", '"status":"ok"', '"id":"fake"'):
        assert said in exported
    assert run(example, environment).splitlines()[:3] == EXAMPLE


def test_the_first_command(environment: dict[str, str]) -> None:
    (command, *_) = blocks("")
    assert command == "make gateway"
    printed = run(command, environment).splitlines()
    assert printed[:3] == EXAMPLE
    assert [json.loads(line)["role"] for line in printed if line.startswith("  {")] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_the_modules_are_all_listed() -> None:
    listed = set(re.findall(r"`(\w+)`", README.read_text("utf-8").partition("## The modules")[2]))
    package = ROOT / "clients" / "gateway" / "antiphon_gateway"
    assert {path.stem for path in package.glob("[a-z]*.py")} == listed
