"""Backups of a store: whole or not there, checked, and restored as another life of every branch."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from history_service.backup import BackupError, making
from history_service.backup.checking import RULES, verify_backup
from history_service.backup.making import make_backup
from history_service.backup.manifest import DATABASE_NAME, MANIFEST_NAME
from history_service.backup.restoring import restore_backup
from history_service.storage.sqlite.migrations import check_schema, known_migrations, migrate
from tests.support.backups import BRANCHES, damage, make_store, rewrite_manifest
from tests.support.cli import PYTHONPATH, ROOT
from tests.support.history import running, uuid_of


@pytest.fixture(scope="module")
def full_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something of everything, for all tests together."""
    return asyncio.run(make_store(tmp_path_factory.mktemp("full") / "store"))


@pytest.fixture
def store(full_store: Path, tmp_path: Path) -> Path:
    """A copy of it, a test's own."""
    return Path(shutil.copytree(full_store.parent, tmp_path / "store")) / full_store.name


@pytest.fixture
def backup(store: Path, tmp_path: Path) -> Path:
    """A backup of it."""
    make_backup(str(store), tmp_path / "backup")
    return tmp_path / "backup"


@pytest.mark.anyio
async def test_a_restored_store_has_everything_under_new_incarnations(
    store: Path, backup: Path, tmp_path: Path
) -> None:
    restored = tmp_path / "restored" / "history.sqlite3"
    restored.parent.mkdir()
    manifest = verify_backup(backup)
    assert restore_backup(backup, restored) == manifest
    assert [entry.name for entry in restored.parent.iterdir()] == [restored.name]
    seen: list[tuple[Any, ...]] = []
    for folder in (store.parent, restored.parent):
        async with running("sqlite", folder) as history:
            snapshots = [await history.snapshot(uuid_of(number)) for number in BRANCHES]
        incarnations = [snapshot.header.incarnation for snapshot in snapshots]
        revisions = [snapshot.header.revision for snapshot in snapshots]
        seen.append((incarnations, revisions, [snapshot.bodies for snapshot in snapshots]))
    (old, *contents), (new, *same) = seen
    assert contents == same
    assert len({*old, *new}) == 2 * len(BRANCHES)
    assert (manifest.facts.branches, manifest.facts.revisions) == (len(BRANCHES), sum(contents[0]))
    assert manifest.facts.messages == len(BRANCHES) * 11


@pytest.mark.anyio
async def test_a_request_sent_again_after_a_restore_is_answered_with_the_new_incarnation(
    backup: Path, tmp_path: Path
) -> None:
    restore_backup(backup, tmp_path / "history.sqlite3")
    request = pb.CreateBranchRequest(branch_id=uuid_of(1), request_id=uuid_of(501), metadata_json='{"a": 1}')
    async with running("sqlite", tmp_path) as history:
        answer = await history.call(request)
        assert answer.replayed
        assert answer.branch.incarnation == (await history.branch(uuid_of(1))).incarnation


@pytest.mark.anyio
async def test_two_restores_of_a_backup_are_two_lives(backup: Path, tmp_path: Path) -> None:
    lives = set()
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        restore_backup(backup, tmp_path / name / "history.sqlite3")
        async with running("sqlite", tmp_path / name) as history:
            lives.add((await history.branch(uuid_of(1))).incarnation)
    assert len(lives) == 2


def test_a_store_of_an_earlier_schema_is_brought_up(tmp_path: Path) -> None:
    migrations = known_migrations()
    with contextlib.closing(apsw.Connection(str(tmp_path / "old"))) as connection:
        migrate(connection, migrations[:3])
    assert make_backup(str(tmp_path / "old"), tmp_path / "backup").schema_version == 3
    assert verify_backup(tmp_path / "backup").schema_version == 3
    restore_backup(tmp_path / "backup", tmp_path / "new")
    with contextlib.closing(apsw.Connection(str(tmp_path / "new"))) as connection:
        assert check_schema(connection, migrations) == migrations[-1].version


def test_a_store_of_a_newer_schema_is_refused(store: Path, tmp_path: Path) -> None:
    with contextlib.closing(apsw.Connection(str(store))) as connection:
        connection.execute("INSERT INTO schema_version VALUES (99, 'newer', 0)")
    with pytest.raises(BackupError, match="schema version 99"):
        make_backup(str(store), tmp_path / "newer")
    assert sorted(os.listdir(tmp_path)) == ["store"]


def test_what_is_written_between_two_steps_is_not_in_the_copy(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_STEP_PAGES", 2)
    moved: list[int] = []
    with contextlib.closing(apsw.Connection(str(store))) as writing:
        heads = "SELECT sum(revision) FROM branch"
        before = writing.execute(heads).get

        def write(done: int) -> None:
            moved.append(done)
            if len(moved) <= 5:
                writing.execute("UPDATE branch SET revision = revision + 1")

        manifest = make_backup(str(store), tmp_path / "backup", write)
        assert writing.execute(heads).get == before + 5 * len(BRANCHES)
    assert manifest.facts.revisions == before
    assert moved == sorted(set(moved))
    assert moved[-1] == manifest.bytes
    verify_backup(tmp_path / "backup")


def test_files_are_the_owners_alone(backup: Path, tmp_path: Path) -> None:
    restore_backup(backup, tmp_path / "restored.sqlite3")
    files = [backup / DATABASE_NAME, backup / MANIFEST_NAME, tmp_path / "restored.sqlite3"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(backup.stat().st_mode) == 0o700
    assert sorted(os.listdir(backup)) == [DATABASE_NAME, MANIFEST_NAME]


def test_nothing_is_overwritten(store: Path, backup: Path, tmp_path: Path) -> None:
    before = (backup / MANIFEST_NAME).read_bytes()
    with pytest.raises(BackupError, match="never overwrites"):
        make_backup(str(store), backup)
    assert (backup / MANIFEST_NAME).read_bytes() == before
    for suffix in ("", "-wal", "-shm", "-journal"):
        target = tmp_path / f"target{suffix.strip('-')}"
        there = Path(f"{target}{suffix}")
        there.write_bytes(b"mine")
        with pytest.raises(BackupError, match="never overwrites"):
            restore_backup(backup, target)
        assert there.read_bytes() == b"mine"
        there.unlink()
        assert not target.exists()


def test_a_source_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, " * 1000)
    (tmp_path / "empty").touch()
    with contextlib.closing(apsw.Connection(str(tmp_path / "other"))) as connection:
        connection.execute("CREATE TABLE t (a)")
    for name in ("missing", "text", "empty", "other"):
        with pytest.raises(BackupError, match="cannot copy"):
            make_backup(str(tmp_path / name), tmp_path / "backup")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["empty", "other", "text"]


def _flip(backup: Path) -> None:
    with (backup / DATABASE_NAME).open("r+b") as file:
        file.seek(5000)
        byte = file.read(1)[0]
        file.seek(5000)
        file.write(bytes((byte ^ 1,)))


def _cut(backup: Path) -> None:
    os.truncate(backup / DATABASE_NAME, 8192)


DAMAGES = {
    "a flipped bit": (_flip, "SHA-256 differs"),
    "a cut file": (_cut, "SHA-256 differs"),
    "no manifest": (lambda backup: (backup / MANIFEST_NAME).unlink(), "no whole backup"),
    "no database": (lambda backup: (backup / DATABASE_NAME).unlink(), "no whole backup"),
    "half a manifest": (lambda backup: os.truncate(backup / MANIFEST_NAME, 100), "damaged"),
    "another format": (lambda backup: rewrite_manifest(backup, format_version=2), "of format 2"),
    "other contents": (lambda backup: rewrite_manifest(backup, schema_version=3), "what the manifest says"),
    "another head": (
        lambda backup: _with_facts_kept(backup, "UPDATE branch SET incarnation = randomblob(16)"),
        "what the manifest says",
    ),
    "a newer schema": (
        lambda backup: damage(backup, "INSERT INTO schema_version VALUES (99, 'newer', 0)"),
        "schema version 99",
    ),
    "a lost index entry": (
        lambda backup: damage(backup, "PRAGMA writable_schema = 1; UPDATE sqlite_schema"
        " SET sql = replace(sql, 'external_key IS NOT NULL AND deleted', 'deleted')"
        " WHERE name = 'branch_by_external_key'"),
        "damaged",
    ),
}  # fmt: skip


def _with_facts_kept(backup: Path, sql: str) -> None:
    manifest = (backup / MANIFEST_NAME).read_text()
    damage(backup, sql)
    changed = (backup / MANIFEST_NAME).read_text()
    old, new = (_facts(text) for text in (manifest, changed))
    assert old != new
    rewrite_manifest(backup, facts=old)


def _facts(manifest: str) -> object:
    return json.loads(manifest)["facts"]


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_backup_is_refused(name: str, backup: Path, tmp_path: Path) -> None:
    harm, text = DAMAGES[name]
    harm(backup)
    with pytest.raises(BackupError, match=text):
        verify_backup(backup)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(BackupError, match=text):
        restore_backup(backup, tmp_path / "restored.sqlite3")
    assert sorted(os.listdir(tmp_path)) == before


CONTRADICTIONS = [
    "UPDATE branch SET revision = revision + 1 WHERE number = 1",
    "UPDATE branch SET message_count = message_count + 1 WHERE number = 1",
    "UPDATE member SET added_revision = 1000 WHERE rowid = 2",
    "DELETE FROM message_body WHERE number = (SELECT body FROM member LIMIT 1)",
    "UPDATE branch SET system_id = randomblob(16) WHERE number = 2",
    "UPDATE branch SET view_count = view_count + 1 WHERE number = 1",
    "UPDATE change SET writer = 1000 WHERE number = 3",
    "UPDATE exchange_owner SET inbox_count = inbox_count + 1 WHERE inbox_count > 0",
    "UPDATE exchange SET message_count = message_count + 1",
    "DELETE FROM exchange_body WHERE number = (SELECT body FROM exchange_inbox LIMIT 1)",
    "DELETE FROM exchange_body WHERE number = (SELECT body FROM exchange_outbox LIMIT 1)",
    "DELETE FROM exchange_body WHERE number = (SELECT body FROM exchange_dead_letter LIMIT 1)",
]
"""For each rule, what breaks it."""


@pytest.mark.parametrize(("rule", "sql"), list(zip(RULES, CONTRADICTIONS, strict=True)))
def test_rows_that_contradict_each_other_are_found(rule: tuple[str, str], sql: str, backup: Path) -> None:
    damage(backup, sql)
    with pytest.raises(BackupError, match="contradicts itself") as told:
        verify_backup(backup)
    assert rule[0] in str(told.value)


KILLED = """
import os, signal, sys
from pathlib import Path
from history_service.backup import making

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

making._STEP_PAGES = 2
stage = sys.argv[3]
if stage == "manifest":
    making.write_manifest = die
if stage == "name":
    making.os.rename = die
making.make_backup(sys.argv[1], Path(sys.argv[2]), die if stage == "pages" else lambda moved: None)
"""


@pytest.mark.parametrize("stage", ["pages", "manifest", "name"])
def test_a_backup_that_was_killed_leaves_nothing_that_looks_whole(
    stage: str, store: Path, tmp_path: Path
) -> None:
    target = tmp_path / "backups" / "monday"
    target.parent.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(store), str(target), stage],
        env=os.environ | {"PYTHONPATH": PYTHONPATH}, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    (left,) = target.parent.iterdir()
    assert left.name.startswith(".monday.")
    assert left.name.endswith(".unfinished")
    if stage != "name":
        with pytest.raises(BackupError, match="no whole backup"):
            verify_backup(left)
    make_backup(str(store), target)
    verify_backup(target)


def test_a_backup_that_fails_leaves_nothing(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(0, 0, 1000))
    with pytest.raises(BackupError, match="1,000 bytes free"):
        make_backup(str(store), tmp_path / "backup")
    assert [entry.name for entry in tmp_path.iterdir()] == ["store"]
