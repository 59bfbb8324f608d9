"""What a diagnosis finds in a store, on its disk, in its clock, in versions; and what it advises."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import apsw
import pytest

from antiphon_client.findings import Finding, exit_code
from history_service.diagnosis import clock, diagnose, disk, store, versions
from tests.support.backups import make_store

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def full_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something of everything."""
    return asyncio.run(make_store(tmp_path_factory.mktemp("full") / "store"))


@pytest.fixture
def path(full_store: Path, tmp_path: Path) -> Path:
    """A copy of it, a test's own."""
    return Path(shutil.copytree(full_store.parent, tmp_path / "store")) / full_store.name


def by_check(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Findings by what was looked at; whatever is not well comes with advice."""
    found = {finding.check: finding for finding in findings}
    assert all(finding.text for finding in found.values())
    assert all(finding.advice for finding in found.values() if finding.level != "ok")
    return found


def levels(findings: Iterable[Finding]) -> dict[str, str]:
    """Levels by what was looked at."""
    return {check: finding.level for check, finding in by_check(findings).items()}


def change(path: Path, sql: str) -> None:
    """Change a database from outside."""
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        connection.execute(sql)


def test_a_store_that_is_well(path: Path) -> None:
    before = path.read_bytes()
    found = levels(diagnose(f"sqlite:{path}"))
    of_store = {check: level for check, level in found.items() if check.startswith("store.")}
    assert of_store == dict.fromkeys(
        ("store.schema", "store.pages", "store.keys", "store.log", "store.permissions"), "ok"
    )
    assert found["disk.sync"] in ("ok", "warning")
    assert found["clock.store"] == "ok"
    assert path.read_bytes() == before


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    found = levels(diagnose(f"sqlite:{tmp_path}/new.sqlite3"))
    assert found["store.file"] == "warning"
    assert "clock.store" not in found
    assert not list(tmp_path.iterdir())
    assert levels(diagnose(f"sqlite:{tmp_path}/none/new.sqlite3"))["disk.folder"] == "failure"


def test_a_store_that_is_no_file() -> None:
    assert levels(diagnose("memory:"))["store.file"] == "ok"


def test_a_schema_of_another_release(path: Path) -> None:
    change(path, "INSERT INTO schema_version VALUES (99, 'newer', 0)")
    assert levels(store.store_findings(path))["store.schema"] == "failure"
    change(path, "DELETE FROM schema_version WHERE version > 3")
    finding = by_check(store.store_findings(path))["store.schema"]
    assert finding.level == "ok"
    assert "backup" in finding.advice


def test_damage_is_found(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 4))
    found = levels(store.store_findings(path))
    assert "failure" in {found.get("store.pages"), found.get("store.file")}
    path.write_bytes(b"this is no database" * 1000)
    assert levels(store.store_findings(path))["store.file"] == "failure"


def test_files_open_to_others(path: Path) -> None:
    path.chmod(0o640)
    finding = by_check(store.store_findings(path))["store.permissions"]
    assert finding.level == "warning"
    assert path.name in finding.text
    path.chmod(0o600)
    path.parent.chmod(0o777)
    assert levels(store.store_findings(path))["store.permissions"] == "warning"


def test_a_long_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(f"{path}-wal").write_bytes(b"")
    os.truncate(f"{path}-wal", 5000)
    Path(f"{path}-wal").chmod(0o600)
    monkeypatch.setattr(store, "LONG_LOG_BYTES", 5000)
    assert store._log(path).level == "warning"
    monkeypatch.setattr(store, "LONG_LOG_BYTES", 5001)
    assert store._log(path).level == "ok"


@pytest.mark.parametrize(
    ("free", "level"),
    [(2**30, "ok"), (2**30 - 1, "warning"), (64 * 2**20, "warning"), (64 * 2**20 - 1, "failure")],
)
def test_room_on_the_disk(free: int, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert levels(disk.disk_findings(tmp_path))["disk.room"] == level


def test_a_disk_that_cannot_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "fsync", fail)
    finding = by_check(disk.disk_findings(tmp_path))["disk.sync"]
    assert finding.level == "failure"
    assert "Read-only" in finding.text
    assert not list(tmp_path.iterdir())


def test_a_slow_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "SLOW_SYNC_SECONDS", 0.0)
    assert levels(disk.disk_findings(tmp_path))["disk.sync"] == "warning"


def test_a_clock_that_was_set_back(path: Path) -> None:
    ahead = time.time_ns() + 3600 * 10**9
    change(path, f"UPDATE writer SET started_at = {ahead} WHERE number = 1")
    finding = by_check(clock.clock_findings(path))["clock.store"]
    assert finding.level == "failure"
    assert "set back" in finding.text


@pytest.mark.parametrize(("answer", "level"), [(True, "ok"), (False, "warning"), (None, None)])
def test_a_clock_that_nobody_keeps(
    answer: bool | None, level: str | None, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "is_synchronized", lambda: answer)
    assert levels(clock.clock_findings(path)).get("clock.synchronized") == level


def test_the_kernel_can_be_asked() -> None:
    assert clock.is_synchronized() in (True, False, None)


def test_versions_below_their_floors() -> None:
    required = ["apsw>=3.51.3", "grpcio>=99.1", 'protobuf<99,>=6.31.1; extra == "x"', "rich>=13.8"]
    found = levels(versions.version_findings(required))
    assert found == {
        "version.apsw": "ok",
        "version.grpcio": "failure",
        "version.protobuf": "ok",
        "version.sqlite": "ok",
    }
    assert levels(versions.version_findings(["apsw>=99"]))["version.sqlite"] == "failure"
    assert set(levels(versions.version_findings([])).values()) == {"ok"}


def test_the_worst_finding_makes_the_exit_code() -> None:
    well, odd, bad = (
        Finding("a", "ok", "x"),
        Finding("b", "warning", "x", "y"),
        Finding("c", "failure", "x", "y"),
    )
    assert [exit_code(found) for found in ([], [well], [well, odd], [odd, bad, well])] == [0, 0, 1, 2]
