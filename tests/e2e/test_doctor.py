"""``antiphon doctor`` beside a pair that is well, that is down, and that is half there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from antiphon_client.cli.reaching import access_finding, service_findings, way_finding
from antiphon_client.edge.tokens import NewToken
from antiphon_client.findings import EXIT_CODES
from tests.support.certificates import Authority
from tests.support.cli import command
from tests.support.pair import Pair, served_pair
from tests.support.programs import program
from tests.support.tokens import TokensFile

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
        assert {
            "history.health", "compiler.health", "compiler.history", "history.socket", "history.access",
        } <= set(levels(report))  # fmt: skip
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


class Guarded(NamedTuple):
    """A pair on loopback that speaks TLS and wants tokens, each service by a file of its own.

    Attributes:
        pair: Where it is.
        history_tokens: The history service's file of tokens.
        compiler_tokens: The compiler's.
        roots: The roots of the certificates.
    """

    pair: Pair
    history_tokens: TokensFile
    compiler_tokens: TokensFile
    roots: Path


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """The pair, and its files."""
    folder = tmp_path_factory.mktemp("guarded")
    authority = Authority(folder)
    server = authority.sign("server")
    files = []
    for name in ("h", "c"):
        (folder / name).mkdir()
        files.append(TokensFile(folder / name))
    shown = ("--listen", "127.0.0.1:0", "--tls-cert", str(server.certificate), "--tls-key", str(server.key))
    with (
        program(
            "history_service", *shown, "--store", "memory:", "--tokens", str(files[0].path)
        ) as history,
        program(
            "compiler_service", *shown, "--history", history.address,
            "--history-tls-ca", str(authority.root), "--tokens", str(files[1].path),
        ) as compiler,
    ):  # fmt: skip
        yield Guarded(Pair(history.address, compiler.address), files[0], files[1], authority.root)


def reached(guarded: Guarded, tmp_path: Path, *options: str) -> tuple[dict[str, dict[str, str]], str]:
    """Run the command with options before it; return its findings on the services, and all it printed."""
    given = ("--history", guarded.pair.history, "--compiler", guarded.pair.compiler)
    unset = {f"ANTIPHON_{name}": "" for name in ("TOKEN", "TOKEN_FILE", "TLS_CA", "TLS_CERT", "TLS_KEY")}
    with command(
        *options, "doctor", *given, "--store", f"{tmp_path}/none.sqlite3", "--json", **unset
    ) as process:
        out, err = process.communicate()
    assert "Traceback" not in err
    found = {finding["check"]: finding for finding in json.loads(out)["findings"]}
    services = {check: each for check, each in found.items() if check.startswith(("history.", "compiler."))}
    return services, out + err


def token_file(folder: Path, token: NewToken) -> str:
    """Write a token into a file of its own."""
    file = folder / "token"
    file.write_text(token.text)
    return str(file)


def test_a_pair_that_wants_tokens_and_speaks_tls(guarded: Guarded, tmp_path: Path) -> None:
    token = guarded.history_tokens.add("acme")
    guarded.compiler_tokens.copy(guarded.history_tokens)
    tls = ("--tls-ca", str(guarded.roots))
    found, printed = reached(guarded, tmp_path, *tls, "--token-file", token_file(tmp_path, token))
    assert {check: each["level"] for check, each in found.items()} == {
        "history.health": "ok", "compiler.health": "ok", "history.access": "ok", "compiler.history": "ok",
    }  # fmt: skip
    assert found["history.access"]["text"] == "calls with the token given are let in"
    assert token.text not in printed
    assert token.text.split("_", 2)[2] not in printed


def test_what_a_doctor_without_credentials_can_say(guarded: Guarded, tmp_path: Path) -> None:
    found, _ = reached(guarded, tmp_path)
    assert {check: each["level"] for check, each in found.items()} == {
        "history.health": "failure", "compiler.health": "failure",
    }  # fmt: skip
    assert "--tls-ca" in found["history.health"]["advice"]
    found, _ = reached(guarded, tmp_path, "--tls-ca", str(guarded.roots))
    assert {check: each["level"] for check, each in found.items()} == {
        "history.health": "ok", "compiler.health": "ok",
        "history.access": "warning", "compiler.history": "warning",
    }  # fmt: skip
    assert "--token-file" in found["history.access"]["advice"]
    assert "the compiler wants a token" in found["compiler.history"]["text"]


def test_a_token_that_is_not_known_and_files_that_cannot_be_used(
    guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TOKEN", "TOKEN_FILE", "TLS_CERT", "TLS_KEY"):
        monkeypatch.delenv(f"ANTIPHON_{name}", raising=False)
    history, compiler = guarded.pair.history, guarded.pair.compiler
    monkeypatch.setenv("ANTIPHON_TLS_CA", str(guarded.roots))
    guest = guarded.history_tokens.add("acme", "guest", rpcs=["ListBranches"])
    guarded.compiler_tokens.copy(guarded.history_tokens)
    monkeypatch.setenv("ANTIPHON_TOKEN", guest.text)
    assert (access_finding(history).level, way_finding(compiler).level) == ("ok", "warning")
    # Known to the compiler alone, then to nobody.
    guarded.history_tokens.remove(guest)
    owner = guarded.compiler_tokens.add("acme")
    monkeypatch.setenv("ANTIPHON_TOKEN", owner.text)
    assert "the same file" in way_finding(compiler).advice
    guarded.compiler_tokens.remove(owner)
    for finding in (access_finding(history), way_finding(compiler)):
        assert finding.level == "failure"
        assert "expired" in finding.advice
        assert not any(owner.text in part for part in finding)
    # Health needs no token, known or not; what cannot be read is a finding.
    assert [each.level for each in service_findings("history", history)] == ["ok"]
    (tmp_path / "roots").write_text("hush hush")
    for name, file in (("TLS_CA", tmp_path / "roots"), ("TOKEN_FILE", tmp_path / "none")):
        monkeypatch.setenv("ANTIPHON_TOKEN", "")
        monkeypatch.setenv(f"ANTIPHON_{name}", str(file))
        (finding,) = service_findings("history", history)
        assert (finding.check, finding.level) == ("history.credentials", "failure")
        assert str(file) in finding.text
        assert "hush" not in finding.text
        monkeypatch.setenv("ANTIPHON_TLS_CA", str(guarded.roots))
    monkeypatch.setenv("ANTIPHON_TOKEN_FILE", "")
    monkeypatch.setenv("ANTIPHON_TOKEN", "secret")
    monkeypatch.setenv("ANTIPHON_TLS_CA", "")
    (finding,) = service_findings("history", "db.example:7411")
    assert (finding.check, finding.level) == ("history.credentials", "failure")
    assert "secret" not in finding.text
