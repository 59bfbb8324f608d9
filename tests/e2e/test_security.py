"""The programs and the command line over TLS and with tokens, as an operator runs them."""

from __future__ import annotations

import json
import signal
import stat
import tomllib
from pathlib import Path

import pytest

from antiphon_client import HistoryClient
from antiphon_client.edge.tokens import read_grants
from antiphon_client.errors import CredentialsMissingError, RoleNotAllowedError
from tests.support.certificates import Authority
from tests.support.cli import Cli, command
from tests.support.programs import program, run_program


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """A command line without services."""
    for name in ("TOKEN", "TOKEN_FILE", "TLS_CA", "TLS_CERT", "TLS_KEY"):
        monkeypatch.setenv(f"ANTIPHON_{name}", "")
    return Cli(monkeypatch, capsys, "unix:/nowhere/h.sock", "unix:/nowhere/c.sock")


def test_token_new_prints_the_token_and_its_entry(cli: Cli, tmp_path: Path) -> None:
    outcome = cli(
        "token", "new", "--tenant", "acme", "--role", "guest", "--external-key", "a/", "--days", "2"
    )
    token, _, entry = outcome.out.partition("\n\nFor the file of tokens:\n\n")
    (tmp_path / "tokens.toml").write_text(entry)
    grant = read_grants(tmp_path / "tokens.toml").of(token)
    assert grant is not None
    assert (grant.tenant_id, grant.role.value, grant.scope.external_keys) == ("acme", "guest", ("a/",))
    assert grant.expires is not None
    assert token.split("_", 2)[2] not in entry


def test_token_new_appends_to_a_private_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    file.touch(0o600)
    file.write_text('[anonymous]\ntenant = "public"')  # without a last line feed
    made = [cli("token", "new", "--tenant", f"t{n}", "--file", str(file)).out.strip() for n in range(3)]
    grants = read_grants(file)
    assert [grant and grant.tenant_id for grant in map(grants.of, made)] == ["t0", "t1", "t2"]
    assert grants.anonymous is not None
    fresh = tmp_path / "fresh.toml"
    cli("token", "new", "--tenant", "t", "--admin", "--file", str(fresh))
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o600
    (entry,) = tomllib.loads(fresh.read_text())["token"].values()
    assert entry["admin"] is True


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tenant", "a b"], "tenant: String should match pattern"),
        (["--tenant", "a", "--rpc", "GetBranch"], "branches, external_keys and rpcs are a guest's"),
        (["--tenant", "a", "--role", "guest", "--admin"], "a guest is no admin"),
        (["--tenant", "a", "--role", "guest", "--rpc", "AddMessages"], "the name of an RPC that reads"),
    ],
)
def test_token_new_refuses_what_the_services_would(cli: Cli, arguments: list[str], said: str) -> None:
    outcome = cli("token", "new", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert said in outcome.err


def test_token_new_leaves_a_file_alone_that_is_none(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "notes.toml"
    file.write_text("hush hush")
    outcome = cli("token", "new", "--tenant", "a", "--file", str(file))
    assert (outcome.code, outcome.out) == (1, "")
    assert "not TOML" in outcome.err
    assert file.read_text() == "hush hush"


def test_the_command_line_reaches_programs_over_mutual_tls_with_a_token(cli: Cli, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    server, client = authority.sign("server"), authority.sign("client")
    tokens, token = tmp_path / "tokens.toml", tmp_path / "token"
    token.write_text(cli("token", "new", "--tenant", "acme", "--file", str(tokens)).out)
    secret = token.read_text().strip().split("_", 2)[2]
    encrypted = (
        "--tls-cert", str(server.certificate), "--tls-key", str(server.key), "--tokens", str(tokens),
        "--log-level", "debug",
    )  # fmt: skip
    roots = ("--tls-client-ca", str(authority.root))
    with program(
        "history_service", "--listen", "127.0.0.1:0", "--store", "memory:", *encrypted, *roots
    ) as history:
        own = (
            "--tls-ca",
            str(authority.root),
            "--tls-cert",
            str(client.certificate),
            "--tls-key",
            str(client.key),
        )
        known = (*own, "--token-file", str(token))
        there = ("--history", history.address)
        conversation = tmp_path / "c.json"
        conversation.write_text(json.dumps([{"role": "user", "content": "hello"}]))
        imported = cli(*known, "import", str(conversation), *there)
        assert imported.code == 0, imported.err
        listed = cli(*known, "branches", *there)
        assert listed.code == 0, listed.err
        with program(
            "compiler_service", "--listen", "127.0.0.1:0", "--history", history.address,
            "--history-tls-ca", str(authority.root), "--history-tls-cert", str(client.certificate),
            "--history-tls-key", str(client.key), *encrypted,
        ) as compiler:  # fmt: skip
            branch = json.loads(cli(*known, "branches", *there, "--json").out)["branch_id"]
            compiled = cli(
                *known, "compile", branch, "--instruction", "go on", "--compiler", compiler.address, *there
            )
            assert compiled.code == 0, compiled.err
            assert "hello" in compiled.out
            code, compiler_log = compiler.end(signal.SIGTERM)
            assert code == 0
        code, history_log = history.end(signal.SIGTERM)
        assert code == 0
    for log in (history_log, compiler_log):
        assert '"event": "call"' in log
        assert secret not in log
        assert "uthorization" not in log


def test_serve_takes_a_file_of_tokens_for_both(cli: Cli, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.toml"
    owner = cli("token", "new", "--tenant", "acme", "--file", str(tokens)).out.strip()
    guest = cli("token", "new", "--tenant", "acme", "--role", "guest", "--file", str(tokens)).out.strip()
    listen = ("--history-listen", f"unix:{tmp_path}/h.sock", "--compiler-listen", f"unix:{tmp_path}/c.sock")
    with command("serve", *listen, "--store", "memory:", "--tokens", str(tokens)) as process:
        assert process.stdout is not None
        for _ in range(4):
            process.stdout.readline()
        for address in (f"unix:{tmp_path}/h.sock",):
            with HistoryClient(address, token=owner) as history:
                history.create_branch()
            with HistoryClient(address, token=guest) as history:
                assert len(history.list_branches().items) == 1
                with pytest.raises(RoleNotAllowedError) as refused:
                    history.create_branch()
                assert refused.value.metadata == {"role": "guest", "needed": "write"}
            with HistoryClient(address) as history, pytest.raises(CredentialsMissingError):
                history.list_branches()
        process.terminate()
        process.communicate(timeout=60)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--tls-cert", "/nowhere/c.pem", "--tls-key", "/nowhere/k.pem"), "/nowhere/c.pem: No such file"),
        (("--tokens", "/nowhere/t.toml"), "--tokens: /nowhere/t.toml: No such file"),
    ],
)
def test_a_program_with_files_that_are_not_there_ends_with_one_line(
    arguments: tuple[str, ...], said: str
) -> None:
    for module in ("history_service", "compiler_service"):
        done = run_program(module, "--listen", "127.0.0.1:0", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"{module}: {said}")
        assert done.stderr.count("\n") == 1
