"""The services as programs: starting, refusing to start, stopping."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from antiphon.compiler.v1 import compiler_service_pb2, compiler_service_pb2_grpc
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client.ids import new_id
from tests.support.edge import bytes_method
from tests.support.programs import program, run_program

SERVICES = {
    "history_service": ("antiphon.history.v1.HistoryService", ("--store", "memory:")),
    "compiler_service": ("antiphon.compiler.v1.CompilerService", ("--history", "unix:/nowhere/history.sock")),
}
FIGURES = {
    "history_service": ["inflight_watches"],
    "compiler_service": [
        *[f"compile_cache_{figure}" for figure in ("hits_total", "misses_total", "branches", "bytes")],
        *[f"folding_{figure}" for figure in ("workers", "leases_total", "refusals_total")],
    ],
}
OPERATIONS = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text("utf-8")
SERVING = health_pb2.HealthCheckResponse.SERVING


def health_of(address: str, service: str) -> int:
    """Ask a server for its health."""
    with grpc.insecure_channel(address) as channel:
        reply = health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service=service), timeout=10
        )
        return int(reply.status)


@pytest.mark.parametrize("module", SERVICES)
def test_program_serves_privately_and_stops_on_sigterm(module: str, tmp_path: Path) -> None:
    name, arguments = SERVICES[module]
    path = tmp_path / "a.sock"
    with program(module, "--listen", f"unix:{path}", *arguments) as running:
        facts = {"store": "memory:"} if "memory:" in arguments else {}
        assert running.ready == facts | {
            "event": "ready",
            "service": name,
            "address": f"unix:{path}",
            "pid": running.process.pid,
        }
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert health_of(running.address, "") == SERVING
        assert health_of(running.address, name) == SERVING
        code, err = running.end(signal.SIGTERM)
    assert code == 0
    assert [json.loads(line)["event"] for line in err.splitlines()] == ["ready", "stopping", "stopped"]
    assert not path.exists()


def metrics_at_rest(port: int) -> str:
    """Read the metrics once no call is served any more: a caller has its answer before the server is done."""
    deadline = time.monotonic() + 30
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
            text: str = reply.read().decode()
        if "antiphon_inflight_calls 0.0" in text:
            return text
        assert time.monotonic() < deadline, "a call is counted as being served for ever"


@pytest.mark.parametrize("module", SERVICES)
def test_program_gets_a_port_serves_metrics_and_stops_on_sigint(module: str) -> None:
    name, arguments = SERVICES[module]
    with socket.create_server(("127.0.0.1", 0)) as probe:
        metrics_port = probe.getsockname()[1]
    listening = ("--listen", "127.0.0.1:0", "--metrics-listen", f"127.0.0.1:{metrics_port}")
    with program(module, *listening, *arguments) as running:
        host, _, port = running.address.rpartition(":")
        assert host == "127.0.0.1"
        assert int(port) > 0
        with grpc.insecure_channel(running.address) as channel:
            method = "GetBranch" if module == "history_service" else "Compile"
            with pytest.raises(grpc.RpcError):
                bytes_method(channel, f"/{name}/{method}")(b"\xff", timeout=10)
        text = metrics_at_rest(metrics_port)
        assert f'antiphon_requests_total{{code="INVALID_ARGUMENT",method="/{name}/{method}"}} 1.0' in text
        published = set(re.findall("^# HELP (antiphon_[a-z_]+)", text, re.MULTILINE))
        assert [each for each in published if f"`{each.removesuffix('_total')}`" not in OPERATIONS] == []
        assert published >= {f"antiphon_{figure}" for figure in FIGURES[module]}
        taken = run_program(module, "--listen", running.address, *arguments)
        assert (taken.returncode, taken.stdout) == (1, "")
        assert f"{module}: cannot listen on {running.address}" in taken.stderr
        code, _ = running.end(signal.SIGINT)
    assert code == 0


def test_dead_servers_socket_is_taken_over_a_live_ones_is_not(tmp_path: Path) -> None:
    arguments = ("--listen", f"unix:{tmp_path}/a.sock", "--history", "unix:/nowhere/history.sock")
    with program("compiler_service", *arguments) as first:
        first.process.kill()
        first.process.wait()
        assert (tmp_path / "a.sock").exists()
        with program("compiler_service", *arguments) as second:
            refused = run_program("compiler_service", *arguments)
            assert refused.returncode == 1
            assert refused.stderr == f"compiler_service: a live server listens on {tmp_path}/a.sock\n"
            assert health_of(second.address, "") == SERVING


@pytest.mark.parametrize(
    ("signals", "grace", "codes"),
    [
        ((signal.SIGTERM,), "0.1", {0}),
        # Of two that wait together, the system delivers either first.
        ((signal.SIGTERM, signal.SIGINT), "60", {128 + signal.SIGINT, 128 + signal.SIGTERM}),
    ],
    ids=["the grace ends", "a second signal"],
)
def test_a_call_that_never_ends_does_not_hold_the_program(
    signals: tuple[int, ...], grace: str, codes: set[int], tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mute_history:
        mute_history.bind(str(tmp_path / "mute.sock"))
        mute_history.listen()
        arguments = ("--history", f"unix:{tmp_path}/mute.sock", "--grace-seconds", grace)
        with (
            program("compiler_service", "--listen", f"unix:{tmp_path}/a.sock", *arguments) as running,
            grpc.insecure_channel(running.address) as channel,
        ):
            call = compiler_service_pb2_grpc.CompilerServiceStub(channel).Compile.future(
                compiler_service_pb2.CompileRequest(
                    branch=compiler_service_pb2.BranchRef(branch_id=new_id()),
                    instruction=Message(instruction=InstructionContent(instruction="x")),
                ),
                timeout=60,
            )
            connection, _ = mute_history.accept()  # the compiler has called: the call is in flight
            with connection:
                ended = threading.Event()
                call.add_done_callback(lambda _: ended.set())
                assert running.end(*signals)[0] in codes
                assert ended.wait(30)
            with pytest.raises(grpc.RpcError):
                call.result()


@pytest.mark.parametrize("module", SERVICES)
def test_far_address_needs_insecure(module: str) -> None:
    _, arguments = SERVICES[module]
    refused = run_program(module, "--listen", "0.0.0.0:0", *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    assert "--insecure" in refused.stderr
    with program(module, "--listen", "0.0.0.0:0", "--insecure", *arguments) as running:
        port = running.address.rpartition(":")[2]
        assert health_of(f"127.0.0.1:{port}", "") == SERVING


@pytest.mark.parametrize("module", SERVICES)
def test_help_and_configuration_are_printed(module: str) -> None:
    shown = run_program(module, "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert f"python -m {module} --listen" in shown.stdout
    printed = run_program(module, "--listen", "127.0.0.1:7", "--print-config")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert json.loads(printed.stdout)["listen"] == "127.0.0.1:7"


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's: pytest's own may be too long by then."""
    with tempfile.TemporaryDirectory(prefix="a") as folder:
        yield Path(folder)


def test_default_places_are_made_private(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_folder / "run"))
    monkeypatch.setenv("XDG_DATA_HOME", str(short_folder / "data"))
    with program("history_service") as history, program("compiler_service") as compiler:
        assert history.address == f"unix:{short_folder}/run/antiphon/history.sock"
        assert compiler.address == f"unix:{short_folder}/run/antiphon/compiler.sock"
        assert stat.S_IMODE((short_folder / "run" / "antiphon").stat().st_mode) == 0o700
        assert (short_folder / "data" / "antiphon" / "history.sqlite3").exists()
        assert history.end(signal.SIGTERM)[0] == compiler.end(signal.SIGTERM)[0] == 0
    os.chmod(short_folder / "run" / "antiphon", 0o755)
    refused = run_program("compiler_service")
    assert refused.returncode == 1
    assert refused.stderr.endswith("is not a folder of this user alone (mode 0700)\n")
