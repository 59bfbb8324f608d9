"""``antiphon serve`` and ``antiphon demo``: the pair as child processes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import pytest

from antiphon_client import Branch, CompilerClient, HistoryClient, Instruction, TurnRequest
from antiphon_client.cli.pair import PairError, ServicePair
from tests.support.cli import PYTHONPATH, command
from tests.support.pair import served_pair


@pytest.fixture(autouse=True)
def _services_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)


def flags(folder: Path, store: str = "memory:") -> list[str]:
    return [
        "serve",
        "--history-listen",
        f"unix:{folder}/h.sock",
        "--compiler-listen",
        f"unix:{folder}/c.sock",
        "--store",
        store,
    ]


def run_command(*arguments: str, stdin: IO[bytes] | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``antiphon`` as a process to its end."""
    return subprocess.run(
        [sys.executable, "-m", "antiphon_client", *arguments],
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_serve_keeps_the_pair_up_until_a_signal_and_the_store_beyond(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path}/kept.sqlite3"
    for number, revision in ((signal.SIGINT, 2), (signal.SIGTERM, 3)):
        with command(*flags(tmp_path, store)) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(4)]
            assert lines[0].startswith(f"history   unix:{tmp_path}/h.sock")
            assert lines[2] == f"store     {store}\n"
            assert lines[3].startswith("Serving")
            with (
                HistoryClient(f"unix:{tmp_path}/h.sock") as history,
                CompilerClient(f"unix:{tmp_path}/c.sock") as compiler,
            ):
                record = history.find_branch("k") or history.create_branch(external_key="k")
                assert Branch(history, record.branch_id).set_system("s").revision == revision
                compiled = compiler.compile(record.branch_id, TurnRequest(Instruction.create("q")))
                assert compiled.history_revision == revision
            process.send_signal(number)
            process.communicate(timeout=60)
            assert process.returncode == 0
            assert not (tmp_path / "h.sock").exists()
            assert not (tmp_path / "c.sock").exists()


@pytest.mark.parametrize("service", ["history", "compiler"])
def test_serve_fails_when_a_service_dies(tmp_path: Path, service: str) -> None:
    with command(*flags(tmp_path)) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        (line,) = [text for text in lines if text.startswith(service)]
        found = re.search(r"pid (\d+)", line)
        assert found is not None
        os.kill(int(found[1]), signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 1
        assert f"antiphon: {service}_service ended by itself" in err
        assert "Traceback" not in err


def test_serve_fails_when_a_service_cannot_start(tmp_path: Path) -> None:
    with command(*flags(tmp_path, "sqlite:/nowhere/at/all.sqlite3")) as process:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (1, "")
        assert "antiphon: history_service did not start" in err
        assert "Traceback" not in err


def test_the_pair_listens_on_free_loopback_ports(tmp_path: Path) -> None:
    with (
        ServicePair(history_listen="127.0.0.1:0", compiler_listen="127.0.0.1:0", store="memory:") as pair,
        HistoryClient(pair.history_address) as history,
        CompilerClient(pair.compiler_address) as compiler,
    ):
        branch = Branch.create(history)
        assert compiler.compile(branch, TurnRequest(Instruction.create("q"))).history_revision == 1
    with pytest.raises(ProcessLookupError):
        os.kill(pair.pid("history_service"), 0)


def test_nothing_is_left_when_the_second_service_cannot_start(tmp_path: Path) -> None:
    pair = ServicePair(
        history_listen=f"unix:{tmp_path}/h.sock", compiler_listen="unix:/nowhere/c.sock", store="memory:"
    )
    with pytest.raises(PairError, match="compiler_service did not start"):
        pair.start()
    assert not (tmp_path / "h.sock").exists()


def test_the_demonstration_shows_both_services_and_stops_them(tmp_path: Path) -> None:
    with command("demo", TMPDIR=str(tmp_path)) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    for text in (
        "HISTORY: imported 'garden-helper', 6 messages stored as 8 records, revision 2",
        "action request get_weather",
        "[image data:image/png;base64,",
        "COMPILER: read revision 2",
        "(Profile FOLDED: system text, as Guidance, and action results are folded into the user turns.)",
        "Guidance: |-",
        "sha256 of the compiled messages",
        "HISTORY: recorded the instruction and an answer, revision 3",
        "Both services have stopped.",
    ):
        assert text in out
    assert list(tmp_path.iterdir()) == []


def test_the_demonstration_of_a_file_prints_totals(shared_data: Path) -> None:
    with command("demo", str(shared_data / "tau-airline" / "transcripts.jsonl")) as process:
        out, err = process.communicate(timeout=240)
    assert (process.returncode, err) == (0, "")
    assert "50 conversations, 1,306 messages, 50 compiled, 0 errors" in out.splitlines()


def test_the_demonstration_takes_a_branch_from_standard_input_and_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "branch.jsonl"
    with served_pair(tmp_path) as pair, HistoryClient(pair.history) as history:
        branch = Branch.create(history, messages=[Instruction.create("What is up?")])
        branch.export(file)
    told = "HISTORY: imported a branch of 1 message, revision 1"
    shown = run_command("demo", str(file))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert told in shown.stdout.splitlines()
    assert "      What is up?" in shown.stdout.splitlines()
    with file.open("rb") as stdin:
        piped = run_command("demo", "-", stdin=stdin)
    assert piped.returncode == 0
    assert told in piped.stdout.splitlines()
    file.write_bytes(file.read_bytes()[:-2])
    cut = run_command("demo", str(file))
    assert (cut.returncode, cut.stderr.count("\n")) == (1, 1)
    assert cut.stderr.startswith(f"antiphon: {file}: FIELD_INVALID: line 3: ")
    file.write_bytes(b"")
    empty = run_command("demo", str(file))
    assert (empty.returncode, empty.stdout) == (1, "")
    assert empty.stderr == f"antiphon: {file}: nothing to import: the input is empty\n"


def test_the_demonstration_of_a_bad_file_fails(tmp_path: Path) -> None:
    good = {"id": "a", "messages": [{"role": "user", "content": "x"}]}
    bad = {"id": "b", "messages": [{"role": "nobody"}]}
    file = tmp_path / "f.jsonl"
    file.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n")
    with command("demo", str(file)) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "1 conversation, 1 message, 1 compiled, 1 error" in out
    assert f"{file}, line 2: " in err
    assert "COMPILER (profile FOLDED): compiled each with a new instruction, 2 messages in all" in out


def test_the_demonstration_compiles_nothing_where_nothing_was_imported(tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text("3\n4\n")
    with command("demo", str(file)) as process:
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "COMPILER" not in out
    assert "0 conversations, 0 messages, 0 compiled, 2 errors" in out


@pytest.mark.parametrize(("level", "logs"), [(None, False), ("info", True)])
def test_serve_logs_warnings_only_on_a_terminal(tmp_path: Path, level: str | None, logs: bool) -> None:
    ours, theirs = pty.openpty()
    arguments = [*flags(tmp_path), *(("--log-level", level) if level else ())]
    process = subprocess.Popen(
        [sys.executable, "-m", "antiphon_client", *arguments], stdout=subprocess.PIPE, stderr=theirs
    )
    with process, os.fdopen(ours, "rb", buffering=0) as terminal:
        os.close(theirs)
        assert process.stdout is not None
        for _ in range(4):
            process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        written = b""
        with contextlib.suppress(OSError):  # how Linux says that a terminal's other side is closed
            while part := terminal.read(4096):
                written += part
    assert (b'"ready"' in written) is logs


def test_a_terminated_demonstration_stops_its_services(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    entries = ({"id": str(n), "messages": [{"role": "user", "content": "x"}]} for n in range(20_000))
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    # Short: a test's own folder may be too deep for a socket.
    folder = Path(tempfile.mkdtemp(prefix="demo-"))
    with command("demo", str(file), TMPDIR=str(folder)) as process:
        assert process.stdout is not None
        for _ in range(2):
            assert "service" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in err
    folder.rmdir()  # fails if anything was left behind


def test_the_demonstration_runs_where_the_temporary_folder_is_too_deep_for_sockets(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 25)
    folder.mkdir()
    with command("demo", TMPDIR=str(folder)) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "Both services have stopped." in out


def test_serve_refuses_an_address_beyond_this_machine_and_takes_the_flag_it_names() -> None:
    rest = ["--compiler-listen", "127.0.0.1:0", "--store", "memory:"]
    with command("serve", "--history-listen", "0.0.0.0:0", *rest) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "--insecure" in err
    # The flag reaches both services; what it allows is tested on them, without opening such an address.
    with command("serve", "--history-listen", "127.0.0.1:0", *rest, "--insecure") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("history   127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
