"""Backups, restores and the doctor of an encrypted store: what they do without its keys, and with others."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.findings import Finding
from history_service.backup import BackupError
from history_service.backup.checking import verify_backup
from history_service.backup.making import make_backup
from history_service.backup.restoring import restore_backup
from history_service.diagnosis import diagnose
from tests.support.backups import BRANCHES, damage, make_store
from tests.support.encryption import FIRST, SECOND, ring, write_key_file
from tests.support.history import running, uuid_of

KIND = "encrypted"


@pytest.fixture(scope="module")
def full_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encrypted store with something of everything, and with a branch whose key is erased."""

    async def make(folder: Path) -> Path:
        path = await make_store(folder, KIND)
        async with running(KIND, folder) as history:
            await history.call(pb.DeleteBranchRequest(branch_id=await history.create(9), purge=True))
        return path

    return asyncio.run(make(tmp_path_factory.mktemp("full") / "store"))


@pytest.fixture
def store(full_store: Path, tmp_path: Path) -> Path:
    """A copy of it, a test's own."""
    return Path(shutil.copytree(full_store.parent, tmp_path / "store")) / full_store.name


@pytest.fixture
def backup(store: Path, tmp_path: Path) -> Path:
    """A backup of it."""
    make_backup(str(store), tmp_path / "backup")
    return tmp_path / "backup"


def names_no_secret(text: str) -> bool:
    return not any(key.secret.hex() in text.lower() for key in (FIRST, SECOND))


# Backups


def test_a_backup_tells_what_it_takes_to_read_it(backup: Path) -> None:
    told = verify_backup(backup).facts.encrypted_with
    assert told.startswith("'first' (")
    assert verify_backup(backup, ring(SECOND, FIRST)).facts.encrypted_with == told
    assert names_no_secret(told)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE message_body SET bytes = substr(bytes, 1, length(bytes) - 1) WHERE number = 9",
        "UPDATE member SET wrapped_key = zeroblob(60) WHERE body = 9",
        "UPDATE branch_metadata SET metadata_json = 'sealed:AAAA' WHERE rowid = 2",
        "UPDATE recorded_response SET response = substr(response, 1, length(response) - 1)",
        "UPDATE exchange_body SET bytes = substr(bytes, 1, length(bytes) - 1)",
        "UPDATE encryption_key SET wrapped = zeroblob(length(wrapped)) WHERE number = 2",
    ],
)
def test_what_does_not_open_is_found_with_the_keys(backup: Path, tmp_path: Path, sql: str) -> None:
    verify_backup(backup, ring())
    damage(backup, sql)
    verify_backup(backup)
    for checked in (
        partial(verify_backup, backup, ring()),
        partial(restore_backup, backup, tmp_path / "restored.sqlite3", ring()),
    ):
        with pytest.raises(BackupError, match=r"open|damaged|erased"):
            checked()
    assert not (tmp_path / "restored.sqlite3").exists()


def test_a_restore_takes_the_keys(backup: Path, tmp_path: Path) -> None:
    restored = tmp_path / "restored.sqlite3"
    for keys, said in (
        (None, r"is encrypted with the master key 'first' \([0-9a-f]{16}\): give the file that has it"),
        (ring(SECOND), r"'first' \([0-9a-f]{16}\), which is not in the key file; it has 'second' \("),
    ):
        with pytest.raises(BackupError, match=said) as caught:
            restore_backup(backup, restored, keys)
        assert names_no_secret(str(caught.value))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "store"]
    with pytest.raises(BackupError, match="which is not in the key file"):
        verify_backup(backup, ring(SECOND))


@pytest.mark.anyio
async def test_a_restored_store_has_everything_under_new_incarnations(
    anyio_backend: object, store: Path, backup: Path, tmp_path: Path
) -> None:
    restored = tmp_path / "restored" / "history.sqlite3"
    restored.parent.mkdir()
    restore_backup(backup, restored, ring())
    seen: list[list[Any]] = []
    lives: list[str] = []
    for folder in (store.parent, restored.parent):
        async with running(KIND, folder) as history:
            shown = [await history.snapshot(uuid_of(number)) for number in BRANCHES]
            seen.append([each.bodies for each in shown])
            lives += [each.header.incarnation for each in shown]
            # A request that is sent again is answered with the branch as it is now.
            for number in BRANCHES:
                request = pb.CreateBranchRequest(
                    branch_id=uuid_of(number), request_id=uuid_of(500 + number), metadata_json='{"a": 1}'
                )
                answer = await history.call(request)
                assert answer.replayed
                assert answer.branch.incarnation == (await history.branch(uuid_of(number))).incarnation
    assert seen[0] == seen[1]
    assert len(set(lives)) == 2 * len(BRANCHES)
    assert b'{"a": 1}' not in restored.read_bytes()


@pytest.mark.anyio
async def test_what_was_recorded_in_clear_is_renewed_and_stays_in_clear(
    anyio_backend: object, tmp_path: Path
) -> None:
    path = await make_store(tmp_path / "store")
    async with running(KIND, tmp_path / "store") as history:
        await history.create(8, request_id=uuid_of(508))
    make_backup(str(path), tmp_path / "backup")
    (tmp_path / "new").mkdir()
    restore_backup(tmp_path / "backup", tmp_path / "new" / "history.sqlite3", ring())
    async with running(KIND, tmp_path / "new") as history:
        for number, metadata in ((1, '{"a": 1}'), (8, "")):
            request = pb.CreateBranchRequest(
                branch_id=uuid_of(number), request_id=uuid_of(500 + number), metadata_json=metadata
            )
            answer = await history.call(request)
            assert answer.replayed
            assert answer.branch.incarnation == (await history.branch(uuid_of(number))).incarnation


# The doctor


def finding_of(store: Path, key_file: Path | None) -> Finding:
    """What a diagnosis says of the keys."""
    findings = diagnose(f"sqlite:{store}", None if key_file is None else str(key_file))
    (found,) = [finding for finding in findings if finding.check == "store.keys"]
    assert names_no_secret(found.text + found.advice)
    assert found.advice or found.level == "ok"
    return found


def test_the_doctor_tells_whether_the_keys_fit(store: Path, tmp_path: Path) -> None:
    before = store.read_bytes()
    right = write_key_file(tmp_path / "right", SECOND, FIRST)
    wrong = write_key_file(tmp_path / "wrong", SECOND)
    shared = write_key_file(tmp_path / "shared")
    shared.chmod(0o644)
    for key_file, level, said in (
        (None, "warning", "encrypted with the master key 'first' ("),
        (right, "ok", "encrypted with the master key 'first' ("),
        (wrong, "failure", "which is not in the key file"),
        (shared, "failure", "open to others"),
        (tmp_path / "none", "failure", "cannot read"),
    ):
        found = finding_of(store, key_file)
        assert (found.level, said in found.text) == (level, True), found
    assert "3 branches open" in finding_of(store, right).text
    with contextlib.closing(apsw.Connection(str(store))) as connection:
        connection.execute("UPDATE encryption_key SET wrapped = x'00' WHERE number = 2")
    assert finding_of(store, right).level == "failure"
    with contextlib.closing(apsw.Connection(str(store))) as connection:
        connection.execute("DELETE FROM encryption_key WHERE number = 0")
    assert "a key of the store is damaged" in finding_of(store, right).text
    assert before != store.read_bytes()


@pytest.mark.anyio
async def test_the_doctor_knows_a_store_in_clear(anyio_backend: object, tmp_path: Path) -> None:
    store = await make_store(tmp_path / "store")
    assert finding_of(store, None) == Finding("store.keys", "ok", "not encrypted")
    assert finding_of(store, write_key_file(tmp_path / "keys")).text.startswith("not encrypted yet")
