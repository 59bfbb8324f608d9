"""``antiphon backup`` and ``antiphon restore`` as a person types them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.backups import make_store
from tests.support.cli import command


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
