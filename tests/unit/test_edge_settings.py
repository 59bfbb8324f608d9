"""Settings and command lines of both services."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pydantic import ValidationError

import compiler_service.__main__
import history_service.__main__
from antiphon_client.edge.options import OptionParser
from antiphon_client.edge.settings import EdgeSettings
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from compiler_service.settings import CompilerSettings
from history_service.settings import HistorySettings
from tests.support.encryption import write_key_file


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the tester's own environment reaches a test."""
    for name in [name for name in os.environ if name.startswith("ANTIPHON_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    monkeypatch.setenv("XDG_DATA_HOME", "/home/user/data")


def parse(*arguments: str, make: type[EdgeSettings] = HistorySettings) -> EdgeSettings:
    """Parse a command line as the programs do."""
    parser = OptionParser(prog="program", description="A program.", epilog="examples:\n  none\n")
    parser.add_argument("--store")
    parser.add_argument("--deleted-retention-seconds")
    parser.add_argument("--encryption-keys")
    parser.add_argument("--history")
    return parser.settings(make, arguments)


def test_defaults_are_private_durable_and_bounded() -> None:
    history, compiler = HistorySettings(), CompilerSettings()
    assert history.listen == "unix:/run/user/7/antiphon/history.sock"
    assert compiler.history == history.listen
    assert compiler.listen != history.listen
    assert history.store == "sqlite:/home/user/data/antiphon/history.sqlite3"
    assert history.limits == DEFAULT_LIMITS
    assert history.metrics_listen is None
    assert history.transport_bytes >= 4 * history.limits.request_bytes


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        HistorySettings().log_level = "debug"


def test_flags_win_over_the_environment_which_wins_over_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_HISTORY_LISTEN", "127.0.0.1:1")
    monkeypatch.setenv("ANTIPHON_HISTORY_STORE", "memory:")
    monkeypatch.setenv("ANTIPHON_HISTORY_LIMITS__BATCH_MESSAGES", "7")
    monkeypatch.setenv("ANTIPHON_HISTORY_LIMITS__PAGE_MESSAGES", "8")
    settings = parse("--listen", "127.0.0.1:2", "--limit", "page_messages=9")
    assert isinstance(settings, HistorySettings)
    assert (settings.listen, settings.store) == ("127.0.0.1:2", "memory:")
    assert (settings.limits.batch_messages, settings.limits.page_messages) == (7, 9)
    assert settings.limits.message_bytes == DEFAULT_LIMITS.message_bytes


def test_each_service_reads_its_own_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_COMPILER_LOG_LEVEL", "debug")
    assert CompilerSettings().log_level == "debug"
    assert HistorySettings().log_level == "info"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--listen", "nowhere"], "--listen: 'nowhere' is neither unix:PATH nor HOST:PORT"),
        (["--listen", "0.0.0.0:1"], "--listen 0.0.0.0:1 is reachable from other machines"),
        (["--store", "redis:"], "--store: not a store: 'redis:'"),
        (["--store", "sqlite:"], "--store: not a store: 'sqlite:'"),
        (
            ["--encryption-keys", "/nowhere/keys"],
            "--encryption-keys: cannot read /nowhere/keys: No such file",
        ),
        (["--encryption-keys", "/dev/null"], "--encryption-keys: /dev/null is no regular file\n"),
        (["--log-level", "loud"], "--log-level: must be one of: debug, info, warning, error\n"),
        (["--grace-seconds", "-1"], "--grace-seconds: must be 0 or more\n"),
        (["--grace-seconds", "nan"], "--grace-seconds: must be a finite number\n"),
        (["--grace-seconds", "x"], "--grace-seconds: must be a number\n"),
        (["--slow-call-seconds", "0"], "--slow-call-seconds: must be more than 0\n"),
        (["--inflight-calls", "0"], "--inflight-calls: must be 1 or more\n"),
        (["--inflight-calls", "1.5"], "--inflight-calls: must be a whole number\n"),
        (
            ["--deleted-retention-seconds", "1e10"],
            "--deleted-retention-seconds: must be 1,000,000,000 at most\n",
        ),
        (["--limit", "message_bytes=x"], "--limit message_bytes: must be a whole number\n"),
        (["--limit", "message_bytes=0"], "--limit: message_bytes must be 1 or more"),
        (["--limit", "message_bytes=9000000"], "--limit: message_bytes must not be over request_bytes"),
        (["--limit", "page_bytes=9000000"], "--limit: page_bytes must not be over reply_bytes"),
        (["--limit", "nonsense=1"], "argument --limit: 'nonsense=1' is not NAME=N"),
        (["--metrics-listen", "unix:/a"], "--metrics-listen: must be HOST:PORT"),
        (["--metrics-listen", "0.0.0.0:1"], "--metrics-listen 0.0.0.0:1 is reachable"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["--list", "unix:/a"], "unrecognized arguments: --list unix:/a"),
    ],
)
def test_wrong_settings_are_one_line_and_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(*arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"program: {said}")
    assert err.count("\n") == 1


def test_wrong_environment_is_named_by_its_flag(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTIPHON_COMPILER_HISTORY", "nowhere")
    with pytest.raises(SystemExit) as caught:
        parse(make=CompilerSettings)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("program: --history: 'nowhere' is neither")


def test_a_switch_in_the_environment_is_true_or_false(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTIPHON_HISTORY_INSECURE", "maybe")
    with pytest.raises(SystemExit):
        parse()
    assert capsys.readouterr().err == "program: --insecure: must be true or false\n"


def test_a_limit_in_the_environment_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTIPHON_HISTORY_LIMITS__MESSAGE_BITES", "5")
    with pytest.raises(SystemExit):
        parse()
    assert capsys.readouterr().err == "program: --limit message_bites: is no limit\n"


def test_variables_that_are_no_settings_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {
        "ANTIPHON_HISTORY_STOER": "sqlite:/x",
        "ANTIPHON_HISTORY_LIMITS__ASSEMBLY_BYTES": "5",
        "ANTIPHON_HISTORY_LIMITS__MESSAGE_BYTES": "5",
        "antiphon_history_kept_revisions": "7",
        "ANTIPHON_HISTORY_ADDRESS": "unix:/x",
        "ANTIPHON_COMPILER_CACHE_BITES": "5",
    }.items():
        monkeypatch.setenv(name, value)
    warning = "{}: warning: {} is no setting of this program; it is ignored\n"
    with pytest.raises(SystemExit) as caught:
        history_service.__main__.main(["--print-config"])
    assert caught.value.code == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)["kept_revisions"], json.loads(out)["limits"]["message_bytes"]) == (7, 5)
    names = ("ANTIPHON_HISTORY_LIMITS__ASSEMBLY_BYTES", "ANTIPHON_HISTORY_STOER")
    assert err == "".join(warning.format("history_service", name) for name in names)
    with pytest.raises(SystemExit) as caught:
        compiler_service.__main__.main(["--print-config"])
    assert caught.value.code == 0
    assert capsys.readouterr().err == warning.format("compiler_service", "ANTIPHON_COMPILER_CACHE_BITES")


@pytest.mark.parametrize(
    ("program", "own", "other"),
    [
        (history_service.__main__.main, "batch_messages", "assembly_bytes"),
        (compiler_service.__main__.main, "assembly_bytes", "batch_messages"),
    ],
)
def test_each_service_offers_its_own_limits(
    program: Callable[[Sequence[str]], int], own: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        program(["--help"])
    assert caught.value.code == 0
    offered = capsys.readouterr().out
    assert own in offered
    assert other not in offered
    with pytest.raises(SystemExit) as caught:
        program(["--limit", f"{own}=1000", "--print-config"])
    assert caught.value.code == 0
    with pytest.raises(SystemExit) as caught:
        program(["--limit", f"{other}=1000", "--print-config"])
    assert caught.value.code == 2


def test_replies_of_the_compiler_may_be_smaller_than_pages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        compiler_service.__main__.main(["--limit", "reply_bytes=2000000", "--print-config"])
    assert caught.value.code == 0


def test_far_history_needs_insecure() -> None:
    with pytest.raises(ValidationError, match=r"--history history\.example:7411 is reachable"):
        CompilerSettings(history="history.example:7411")
    assert CompilerSettings(history="history.example:7411", insecure=True).insecure


def test_print_config_prints_what_would_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse("--store", "memory:", "--limit", "batch_messages=5", "--print-config")
    assert caught.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    expected = HistorySettings(store="memory:", limits=Limits(batch_messages=5))
    assert printed == json.loads(expected.model_dump_json())
    assert printed["limits"]["batch_messages"] == 5
    assert printed["store"] == "memory:"


def test_help_has_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse("--help")
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert "examples:" in text
    for flag in ("--listen", "--insecure", "--log-level", "--limit", "--print-config"):
        assert flag in text


def test_keys_for_a_store_that_keeps_nothing_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = str(write_key_file(tmp_path / "keys"))
    assert parse("--encryption-keys", keys).model_dump()["encryption_keys"] == keys
    with pytest.raises(SystemExit):
        parse("--encryption-keys", keys, "--store", "memory:")
    assert capsys.readouterr().err == "program: --encryption-keys: memory: keeps nothing at rest\n"


def test_without_the_package_that_encrypts_the_service_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "history_service.storage.envelope", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(SystemExit):
        parse("--encryption-keys", str(write_key_file(tmp_path / "keys")))
    assert "install antiphon[encryption]" in capsys.readouterr().err
