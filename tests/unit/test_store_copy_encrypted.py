"""Copies of a store that is encrypted at rest: what opens them, what they tell, and which stay erased."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import BranchDeletedError, StoreBusyError, StoreCorruptError
from antiphon_client.key_file import NamedKey
from history_service.copying import CopyError, destination
from history_service.copying.source import open_source
from history_service.storage.port import BranchKey, BranchRow
from history_service.storage.postgres.connection import Session
from tests.support import postgres
from tests.support.backups import BRANCHES, make_store
from tests.support.encryption import FIRST, POSTGRES_SEALED_BODIES, SECOND, on_disk, opened_bodies, ring
from tests.support.encryption_scenes import furnished, read_whole, request_id, say_everything
from tests.support.exchange import Exchange
from tests.support.history import instruction, running, uuid_of
from tests.support.postgres_contents import dump, files_with, holds, rows, rows_as_text
from tests.support.programs import ROOT
from tests.support.store_copies import all_reads, copied, differing, serving

pytestmark = pytest.mark.anyio

KIND = "encrypted"


@pytest.fixture
async def store(anyio_backend: object, tmp_path: Path) -> Path:
    """An encrypted SQLite store with something of everything, closed."""
    return await make_store(tmp_path / "source", KIND)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    postgres.require_server()
    yield postgres.schema_url(tmp_path)
    postgres.recycle()


def blob(number: int) -> bytes:
    return bytes.fromhex(uuid_of(number).replace("-", ""))


def change(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute(statement.encode()).rowcount


def keys_in(url: str) -> dict[bytes, bytes]:
    """The wrapped keys of branches."""
    return dict(rows(url, "SELECT branch_id, wrapped FROM branch_key"))


# What opens a copy


async def test_a_copy_opens_with_the_keys_of_its_source_and_with_no_others(store: Path, url: str) -> None:
    report = copied(store, url, last=True)
    assert (differing(report), report.finished) == ([], True)
    for given, said in (
        (None, r"the database is encrypted with the master key 'first' \([0-9a-f]{16}\): give the file"),
        (ring(SECOND), r"'first' \([0-9a-f]{16}\), which is not in the key file; it has 'second' \("),
        (ring(NamedKey("first", b"\x07" * 32)), "'first' .* which is not in the key file"),
    ):
        with pytest.raises(StoreCorruptError, match=said):
            async with serving(url, ring=given):
                raise AssertionError("it opened")
    async with serving(f"sqlite:{store}", ring=ring()) as ours, serving(url, ring=ring()) as theirs:
        assert await all_reads(ours) == await all_reads(theirs)
        assert len(await theirs.ids(uuid_of(2))) == 11
        assert (await theirs.branch(uuid_of(2))).metadata_json == '{"a": 1}'


async def test_a_copy_takes_no_keys_and_not_the_package_that_encrypts(store: Path, url: str) -> None:
    program = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from history_service.maintenance import main\n"
        "sys.exit(main(['copy', '--final', *sys.argv[1:]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(store), url],
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'clients/python'}", "PATH": "/usr/bin:/bin"},
        check=False,
        capture_output=True,
    )
    assert (done.returncode, b"services may open it" in done.stdout) == (0, True), done.stderr
    async with serving(url, ring=ring()) as history:
        assert len(await read_whole(history, *BRANCHES)) == 3


async def test_a_copy_gets_new_master_keys_as_any_store_does(tmp_path: Path, url: str) -> None:
    async with furnished(KIND, tmp_path) as history:
        was = await read_whole(history, 1, 2, 3, 4, 5, 6)
    copied(tmp_path / "history.sqlite3", url, last=True)
    former = keys_in(url)
    assert len(former) == 6
    # No branch's key stands anywhere else, where nothing would wrap it anew or erase it.
    assert rows(url, "SELECT number FROM store_key") == [(0,)]
    async with serving(url, ring=ring(SECOND, FIRST)) as history:
        assert await read_whole(history, 1, 2, 3, 4, 5, 6) == was
    assert not set(former.values()) & set(keys_in(url).values())
    async with serving(url, ring=ring(SECOND)) as history:
        assert await read_whole(history, 1, 2, 3, 4, 5, 6) == was


async def test_a_rotation_between_two_passes_is_copied(store: Path, url: str) -> None:
    copied(store, url)
    async with serving(f"sqlite:{store}", ring=ring(SECOND, FIRST)) as history:
        was = await read_whole(history, *BRANCHES)
    assert differing(copied(store, url, last=True)) == []
    assert rows(url, "SELECT convert_from(name, 'UTF8') FROM master_key") == [("second",)]
    async with serving(url, ring=ring(SECOND)) as history:
        assert await read_whole(history, *BRANCHES) == was


async def test_a_store_that_was_in_clear_before_is_copied_as_it_is(tmp_path: Path, url: str) -> None:
    file = await make_store(tmp_path / "source")
    async with serving(f"sqlite:{file}", ring=ring()) as history:
        await history.add(uuid_of(1), instruction(700))
        await history.create(700)
        was = await read_whole(history, *BRANCHES, 700)
    assert differing(copied(file, url, last=True)) == []
    assert keys_in(url).keys() == {blob(1), blob(700)}
    assert rows(url, "SELECT message_id FROM member WHERE wrapped_key IS NOT NULL") == [(blob(700),)]
    async with serving(url, ring=ring()) as history:
        assert await read_whole(history, *BRANCHES, 700) == was
        await history.add(uuid_of(2), instruction(701))
    assert keys_in(url).keys() == {blob(1), blob(2), blob(700)}


# What a copy tells


async def test_the_database_never_holds_a_word(tmp_path: Path) -> None:
    postgres.require_server()
    server = postgres.shared_server()
    for kind, given in (("sqlite", None), (KIND, ring())):
        words, folder = f"words copied of {kind}", tmp_path / kind
        folder.mkdir()
        async with running(kind, folder) as history:
            async for _ in say_everything(history, words):
                pass
        url = postgres.schema_url(folder)
        assert differing(copied(folder / "history.sqlite3", url, last=True)) == []
        found = (
            holds(rows_as_text(url), words),
            holds(dump(server, url), words),
            bool(files_with(server, words)),
        )
        assert found == (given is None,) * 3
        async with serving(url, ring=given) as history:
            replayed = await history.create(1, metadata_json=f'{{"a": "{words}"}}', request_id=request_id(1))
            assert replayed == uuid_of(1)
            assert words in (await history.branch(uuid_of(1))).metadata_json
            assert any(words.encode() in body for body in (await history.snapshot(uuid_of(3))).bodies)
            mail = Exchange(history.store)
            letters = [one.message for one in await mail.dead_letters()]
            assert [words in str(each) for each in letters] == [True, True]
            assert await mail.pop(2, 1, request_id=request_id(4)) == 21
    postgres.recycle()


# Forks and erasing


async def test_a_copy_is_forked_and_purged_like_its_source(tmp_path: Path, url: str) -> None:
    async with furnished(KIND, tmp_path) as history:
        was = await read_whole(history, 1, 2, 3, 4, 5, 6)
    copied(tmp_path / "history.sqlite3", url, last=True)
    former = keys_in(url)
    async with serving(url, ring=ring()) as history:
        await history.call(pb.ForkBranchRequest(source_branch_id=uuid_of(2), branch_id=uuid_of(7)))
        await history.add(uuid_of(7), instruction(70))
        for number in (1, 2):
            await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(number), purge=True))
        assert await read_whole(history, 3, 4, 5, 6) == was[2:]
        assert (await history.snapshot(uuid_of(7))).bodies[:-1] == was[1][1]
        with pytest.raises(BranchDeletedError):
            await history.snapshot(uuid_of(1))
    assert {branch: any(wrapped) for branch, wrapped in keys_in(url).items()} == {
        blob(number): number > 2 for number in range(1, 8)
    }
    told = rows_as_text(url)
    assert [holds(told, former[blob(number)].hex()) for number in range(1, 7)] == [False] * 2 + [True] * 4


async def test_an_erased_branch_stays_erased(tmp_path: Path, url: str) -> None:
    """One is erased before the first pass, one between two; rows are left of both."""
    file = tmp_path / "history.sqlite3"

    async def erase(number: int) -> None:
        async with running(KIND, tmp_path) as history:
            await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(number)))
            deleted = await history.store.read(lambda tx: tx.branch("", uuid_of(number)))
            assert isinstance(deleted, BranchRow)
            assert not await history.store.write(lambda tx: tx.sweep(deleted, 1))

    async with furnished(KIND, tmp_path) as history:
        was = await read_whole(history, 3, 4, 5, 6)
    await erase(1)
    copied(file, url)
    former = keys_in(url)
    assert [any(former[blob(number)]) for number in (1, 2)] == [False, True]
    await erase(2)
    assert differing(copied(file, url, last=True)) == []
    assert former[blob(2)] not in on_disk(tmp_path)
    assert not holds(rows_as_text(url), former[blob(2)].hex())
    async with serving(url, ring=ring()) as history:
        assert await read_whole(history, 3, 4, 5, 6) == was
        for number in (1, 2):
            left = rows(url, "SELECT 1 FROM member WHERE branch_id = %(branch)s", branch=blob(number))
            assert len(left) >= 40
            key = BranchKey("", uuid_of(1), uuid_of(number))
            with pytest.raises(StoreCorruptError, match="erased"):
                await history.store.read(lambda tx, key=key: tx.metadata(key, 1))  # type: ignore[misc]
            with pytest.raises(StoreCorruptError, match="erased"):
                await history.store.read(
                    lambda tx, key=key: tx.read_messages(  # type: ignore[misc]
                        key, 2, view=None, after=None, limit=99, max_bytes=10**6
                    )
                )
    with pytest.raises(StoreCorruptError, match="erased"):
        opened_bodies(rows(url, POSTGRES_SEALED_BODIES), ring())


# What is noticed and refused

FLIPPED = "set_byte({0}, 30, get_byte({0}, 30) # 1)"
TAMPERED = (
    ("store_key", f"UPDATE store_key SET wrapped = {FLIPPED.format('wrapped')}"),
    ("master_key", "UPDATE master_key SET name = 'other'"),
    ("master_key", "DELETE FROM master_key"),
    ("branch_key", f"UPDATE branch_key SET wrapped = {FLIPPED.format('wrapped')}"),
    ("branch_key", "DELETE FROM branch_key"),
    ("member", f"UPDATE member SET wrapped_key = {FLIPPED.format('wrapped_key')} WHERE body = 5"),
    ("member", "UPDATE member SET wrapped_key = NULL WHERE body = 5"),
)


async def test_a_key_that_was_tampered_with_is_noticed(store: Path, url: str) -> None:
    copied(store, url, last=True)
    with psycopg.connect(url, autocommit=True) as connection:
        for table, statement in TAMPERED:
            connection.execute(f"CREATE TEMPORARY TABLE kept AS SELECT * FROM {table}".encode())
            assert connection.execute(statement.encode()).rowcount
            assert differing(copied(store, url, last=True)) == [table], statement
            connection.execute(
                f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept; DROP TABLE kept".encode()
            )
    assert differing(copied(store, url, last=True)) == []


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM encryption_key WHERE number = 2",
        "UPDATE branch SET key_number = 0 WHERE key_number = 2",
        "UPDATE branch SET key_number = 99 WHERE key_number = 2",
    ],
)
async def test_a_source_that_has_lost_a_key_is_refused(store: Path, url: str, damage: str) -> None:
    with contextlib.closing(apsw.Connection(str(store))) as file:
        file.execute(damage)
        assert file.changes()
    with pytest.raises(CopyError, match="it lacks the keys of 1 branches; nothing was copied"):
        copied(store, url)
    assert rows(url, "SELECT to_regclass('store_copy') IS NULL OR NOT EXISTS (SELECT 1 FROM branch)") == [
        (True,)
    ]


async def test_a_database_that_has_keys_of_its_own_is_refused(store: Path, url: str) -> None:
    async with serving(url, ring=ring()):
        pass
    with pytest.raises(CopyError, match=r"a store of its own \(rows in store_key, master_key\)"):
        copied(store, url)


async def test_a_service_in_whose_way_a_copy_begins_makes_no_keys(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(url):
        pass
    commit = Session.commit
    begun: list[bool] = []

    def commit_beside(self: Session) -> None:
        # The service has seen no mark and has not committed its keys yet.
        monkeypatch.setattr(Session, "commit", commit)
        with (
            open_source(str(store), stopped=False) as source,
            destination.open_destination(url, source.store_id) as beside,
        ):
            begun.append(beside.finished)
        commit(self)

    monkeypatch.setattr(Session, "commit", commit_beside)
    with pytest.raises(StoreBusyError, match="unfinished copy"):
        async with serving(url, ring=ring(SECOND)):
            raise AssertionError("it opened")
    assert begun == [False]
    assert rows(url, "SELECT 1 FROM store_key UNION ALL SELECT 1 FROM master_key") == []
    assert copied(store, url, last=True).finished
    async with serving(url, ring=ring()) as history:
        assert len(await read_whole(history, *BRANCHES)) == 3


async def test_a_copy_in_whose_way_a_service_makes_keys_is_refused(
    store: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(url):
        pass
    loop = asyncio.get_running_loop()
    take = destination.Destination._take

    async def make_keys() -> None:
        async with serving(url, ring=ring(SECOND)):
            pass

    def take_beside(self: Any) -> bool:
        finished = take(self)
        # The copy has seen no key and has not committed its mark yet.
        monkeypatch.setattr(destination.Destination, "_take", take)
        asyncio.run_coroutine_threadsafe(make_keys(), loop).result()
        return finished

    monkeypatch.setattr(destination.Destination, "_take", take_beside)
    with pytest.raises(CopyError, match="a store of its own"):
        await asyncio.to_thread(copied, store, url)
