"""``antiphon backup`` and ``antiphon restore`` as a person types them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.backups import make_store
from tests.support.cli import command
from tests.support.encryption import FIRST, SECOND, write_key_file


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something of everything."""
    return asyncio.run(make_store(tmp_path_factory.mktemp("full") / "store"))


def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """Run a command; return its exit code and what it printed, its errors in one line."""
    with command(*arguments, **environment) as process:
        out, err = process.communicate()
    assert "Traceback" not in err
    return process.returncode, out, " ".join(err.split())


def test_from_a_store_to_a_store(store: Path, tmp_path: Path) -> None:
    backup, restored = tmp_path / "-monday", tmp_path / "restored.sqlite3"
    code, out, _ = run("backup", str(backup), ANTIPHON_HISTORY_STORE=f"sqlite:{store}")
    assert code == 0
    assert "branches 3, messages 33, revisions" in out
    for _ in range(2):
        code, out, _ = run("backup", "verify", str(backup))
        assert (code, out.split(":")[0]) == (0, f"{backup} is whole")
    # A path alone is a SQLite store too.
    code, out, _ = run("restore", str(backup), "--store", str(restored))
    assert code == 0
    assert out.startswith(f"restored {backup} as {restored}: ")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["-monday", "restored.sqlite3"]


def test_what_cannot_be_done_is_said_in_a_line(store: Path, tmp_path: Path) -> None:
    refused = [
        (("backup", str(tmp_path), "--store", str(store)), "never overwrites"),
        (("backup", str(tmp_path / "a"), "--store", "memory:"), "memory is no file"),
        (("backup", str(tmp_path / "a"), "--store", "postgresql://h/d"), "postgresql is no file"),
        (("backup", str(tmp_path / "a"), "--store", str(tmp_path / "none")), "cannot copy"),
        (("backup", str(tmp_path / "no" / "a"), "--store", str(store)), "cannot write into"),
        (("backup", "verify", str(tmp_path)), "no whole backup"),
        (("restore", str(tmp_path / "none"), "--store", str(tmp_path / "b")), "no whole backup"),
        (("restore", str(tmp_path / "none"), "--store", str(store)), "never overwrites"),
    ]
    for arguments, text in refused:
        code, out, err = run(*arguments)
        assert (code, out) == (1, ""), arguments
        assert err.startswith("antiphon: ")
        assert text in err
    assert not list(tmp_path.iterdir())


def test_wrong_usage(tmp_path: Path) -> None:
    for arguments in (
        ("backup",),
        ("backup", "verify"),
        ("backup", str(tmp_path / "a"), str(tmp_path / "b")),
        ("backup", "verify", str(tmp_path), "--store", "x"),
        ("restore",),
    ):
        assert run(*arguments)[0] == 2, arguments
    assert not list(tmp_path.iterdir())


def test_an_encrypted_store_takes_its_keys(tmp_path: Path) -> None:
    store = asyncio.run(make_store(tmp_path / "store", "encrypted"))
    keys, others = write_key_file(tmp_path / "keys"), write_key_file(tmp_path / "others", SECOND)
    backup, restored = str(tmp_path / "backup"), str(tmp_path / "restored.sqlite3")
    code, out, _ = run("backup", backup, "--store", str(store))
    assert (code, "encrypted with the master key 'first' (" in out) == (0, True)
    assert run("backup", backup, "--encryption-keys", str(keys))[0] == 2
    # Without the keys it is said that nothing was opened.
    code, out, _ = run("backup", "verify", backup)
    assert (code, "was not opened" in out) == (0, True)
    code, out, _ = run("backup", "verify", backup, "--encryption-keys", str(keys))
    assert (code, "was not opened" in out) == (0, False)
    restoring = ("restore", backup, "--store", restored)
    for arguments, said in (
        (("backup", "verify", backup, "--encryption-keys", str(others)), "not in the key file"),
        (("backup", "verify", backup, "--encryption-keys", str(tmp_path / "no")), "cannot read"),
        ((*restoring, "--encryption-keys", str(others)), "not in the key file"),
        (restoring, "give the file that has it (--encryption-keys)"),
    ):
        code, out, err = run(*arguments)
        assert (code, out, said in err) == (1, "", True), (arguments, err)
        assert FIRST.secret.hex() not in err
    assert run(*restoring, ANTIPHON_HISTORY_ENCRYPTION_KEYS=str(keys))[0] == 0


def test_the_doctor_looks_at_the_keys(tmp_path: Path) -> None:
    store = asyncio.run(make_store(tmp_path / "store", "encrypted"))
    write_key_file(tmp_path / "keys")
    for given, level in (((), "warning"), (("--encryption-keys", str(tmp_path / "keys")), "ok")):
        _, out, _ = run("doctor", "--json", "--store", str(store), *given)
        found = {finding["check"]: finding["level"] for finding in json.loads(out)["findings"]}
        assert found["store.keys"] == level
