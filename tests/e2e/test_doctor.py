"""``antiphon doctor`` beside a pair that is well, that is down, and that is half there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from antiphon_client.cli.reaching import service_findings, way_finding
from antiphon_client.findings import EXIT_CODES
from tests.support.cli import command
from tests.support.pair import Pair, served_pair
from tests.support.programs import program

MACHINES_OWN = {"clock.synchronized", "disk.room", "disk.sync"}
"""What depends on the machine that runs the test."""


def doctor(pair: Pair, store: str, *arguments: str) -> tuple[int, str]:
    """Run the command; return its exit code and what it printed."""
    given = ("--history", pair.history, "--compiler", pair.compiler, "--store", store)
    with command("doctor", *given, *arguments) as process:
        out, err = process.communicate()
        assert "Traceback" not in err
        return process.returncode, out


def levels(report: dict[str, Any]) -> dict[str, str]:
    """Levels by what was looked at, but for what is the machine's own."""
    return {
        finding["check"]: finding["level"]
        for finding in report["findings"]
        if finding["check"] not in MACHINES_OWN
    }


def test_a_pair_that_is_well(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path}/history.sqlite3"
    with served_pair(tmp_path, store) as pair:
        code, out = doctor(pair, store, "--json")
        report = json.loads(out)
        assert set(levels(report).values()) == {"ok"}
        assert {check.partition(".")[0] for check in levels(report)} == {
            "version", "store", "clock", "history", "compiler",
        }  # fmt: skip
        assert {"history.health", "compiler.health", "compiler.history", "history.socket"} <= set(
            levels(report)
        )
        worst = max(EXIT_CODES[finding["level"]] for finding in report["findings"])
        assert code == report["exit_code"] == worst


def test_a_pair_that_is_down(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path}/history.sqlite3"
    with served_pair(tmp_path, store):
        pass
    down = Pair(f"unix:{tmp_path}/h.sock", f"unix:{tmp_path}/c.sock")
    code, out = doctor(down, f"{tmp_path}/history.sqlite3", "--json")
    found = levels(json.loads(out))
    assert code == 2
    assert {check for check, level in found.items() if level == "failure"} == {
        "history.socket",
        "compiler.socket",
    }
    assert found["store.pages"] == "ok"
    code, out = doctor(down, store)
    assert code == 2
    lines = out.splitlines()
    assert any(line.split()[:2] == ["failure", "history.socket"] for line in lines)
    assert any(line.startswith("history.socket: start it") for line in lines)


def test_sockets_and_services(tmp_path: Path) -> None:
    with served_pair(tmp_path) as pair:
        assert [finding.level for finding in service_findings("history", pair.history)] == ["ok", "ok"]
        os.chmod(pair.history.removeprefix("unix:"), 0o666)
        assert [finding.level for finding in service_findings("history", pair.history)] == ["warning", "ok"]
        _, other = service_findings("history", pair.compiler)
        assert other.level == "failure"
        assert "another service" in other.text
    (tmp_path / "file").touch()
    (finding,) = service_findings("history", f"unix:{tmp_path}/file")
    assert "no socket" in finding.text
    (finding,) = service_findings("history", "nonsense")
    assert finding.check == "history.address"
    (finding,) = service_findings("compiler", "127.0.0.1:1")
    assert finding.level == "failure"


def test_a_compiler_that_does_not_reach_the_history_service(tmp_path: Path) -> None:
    arguments = ("--listen", f"unix:{tmp_path}/c.sock", "--history", f"unix:{tmp_path}/none.sock")
    with program("compiler_service", *arguments) as compiler:
        finding = way_finding(compiler.address)
        assert finding.level == "failure"
        assert "--history" in finding.advice
