"""Encryption at rest in PostgreSQL: what the database tells, which keys open it, many replicas of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import BranchDeletedError, StoreCorruptError
from antiphon_client.key_file import NamedKey
from history_service.storage.envelope import KeyRing
from history_service.storage.port import (
    BranchKey,
    BranchRow,
    NewMember,
    RecordedResponse,
    WriteTransaction,
)
from history_service.storage.postgres import PostgresStore, forking, keys
from history_service.sweeping import Keeping, Sweeper
from tests.support import postgres
from tests.support.encryption import FIRST, POSTGRES_SEALED_BODIES, SECOND, opened_bodies, ring
from tests.support.encryption_scenes import furnished, read_whole, request_id, say_everything
from tests.support.exchange import Exchange
from tests.support.history import History, instruction, running, uuid_of
from tests.support.postgres_contents import dump, files_with, holds, rows, rows_as_text

pytestmark = pytest.mark.anyio

KIND = "postgres-encrypted"
PATIENCE_SECONDS = 30.0


@pytest.fixture(autouse=True)
def _server() -> Iterator[None]:
    postgres.require_server()
    yield
    postgres.recycle()


@asynccontextmanager
async def opened(folder: Path, given: KeyRing | None) -> AsyncIterator[History]:
    """Serve a history from the database that stands for a folder; each time another replica."""
    store = PostgresStore(postgres.schema_url(folder), ring=given)
    await store.start()
    try:
        yield History(store)
    finally:
        await store.close()


def look(folder: Path, query: str, **values: Any) -> list[Any]:
    """Ask the database, past the store."""
    return rows(postgres.schema_url(folder), query, **values)


def change(folder: Path, statement: str, **values: Any) -> None:
    with psycopg.connect(postgres.schema_url(folder), autocommit=True) as connection:
        assert connection.execute(statement.encode(), values or None).rowcount


def blob(number: int) -> bytes:
    return bytes.fromhex(uuid_of(number).replace("-", ""))


# What the database holds


async def test_the_database_never_holds_a_word(anyio_backend: object, tmp_path: Path) -> None:
    server = postgres.shared_server()
    told: dict[str, list[bool]] = {}
    seen: list[Any] = []
    for name, given in (("clear", None), ("sealed", ring())):
        words, folder = f"words of the {name} one", tmp_path / name
        url = postgres.schema_url(folder)
        async with opened(folder, given) as history:
            async for place in say_everything(history, words):
                told.setdefault(place, []).append(holds(rows_as_text(url), words))
            for number in range(1, 6):
                kept = await history.store.read(
                    partial(lambda tx, number: tx.recorded_response("", request_id(number)), number=number)
                )
                assert kept is not None
                assert holds(rows_as_text(url), kept.request_hash.hex()) == (given is None)
        assert holds(dump(server, url), words) == (given is None)
        found = files_with(server, words)
        assert bool(found) == (given is None), found
        # Another replica reads everything.
        async with opened(folder, given) as history:
            whole = [await history.snapshot(uuid_of(number)) for number in (1, 3)]
            mail = Exchange(history.store)
            dead = [letter.message.id for letter in await mail.dead_letters()]
            replayed = await history.create(1, metadata_json=f'{{"a": "{words}"}}', request_id=request_id(1))
            assert words in (await history.branch(uuid_of(1))).metadata_json
            assert all(any(words.encode() in body for body in shown.bodies) for shown in whole)
            popped = await mail.pop(2, 1, request_id=request_id(4))
            seen.append((replayed, [len(shown.bodies) for shown in whole], dead, popped))
    assert len(told) == 13
    assert set(map(tuple, told.values())) == {(True, False)}
    assert seen[0] == seen[1]


# Keys


async def some_branches(history: History, *numbers: int) -> None:
    for number in numbers:
        await history.create(number, metadata_json=f'{{"n": {number}}}')
        await history.add(uuid_of(number), instruction(number))


async def test_a_database_opens_with_its_keys_alone(anyio_backend: object, tmp_path: Path) -> None:
    async with opened(tmp_path, ring()) as history:
        await some_branches(history, 1, 2)
        was = await read_whole(history, 1, 2)
    for given, said in (
        (None, r"the database is encrypted with the master key 'first' \([0-9a-f]{16}\): give the file"),
        (ring(SECOND), r"'first' \([0-9a-f]{16}\), which is not in the key file; it has 'second' \("),
        (ring(NamedKey("first", b"\x07" * 32)), "'first' .* which is not in the key file"),
    ):
        with pytest.raises(StoreCorruptError, match=said) as caught:
            async with opened(tmp_path, given):
                raise AssertionError("it opened")
        assert FIRST.secret.hex() not in str(caught.value)
    async with opened(tmp_path, ring()) as history:
        assert await read_whole(history, 1, 2) == was


async def test_replicas_that_start_together_make_one_key(anyio_backend: object, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        starting = [stack.enter_async_context(opened(tmp_path, ring())) for _ in range(6)]
        replicas = await asyncio.gather(*starting)
        assert len(look(tmp_path, "SELECT wrapped FROM store_key")) == 1
        await asyncio.gather(
            *(some_branches(replica, number) for number, replica in enumerate(replicas, start=1))
        )
        for replica in replicas:
            assert len(await read_whole(replica, *range(1, 7))) == 6


async def test_a_new_first_key_takes_the_place_of_the_former(
    anyio_backend: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "_REWRAPPED_AT_ONCE", 2)
    async with opened(tmp_path, ring()) as history:
        await some_branches(history, 1, 2)
        await history.call(pb.DeleteBranchRequest(branch_id=await history.create(4), purge=True))
        was = await read_whole(history, 1, 2)
    former = wrapped_keys(tmp_path)
    assert len(former) == 4
    async with opened(tmp_path, ring(SECOND, FIRST)) as history:
        assert await read_whole(history, 1, 2) == was
    now = wrapped_keys(tmp_path)
    assert sum(map(any, now)) == 3
    assert not {wrapped for wrapped in now if any(wrapped)} & set(former)
    async with opened(tmp_path, ring(SECOND)) as history:
        assert await read_whole(history, 1, 2) == was


def wrapped_keys(folder: Path) -> list[bytes]:
    stored = look(folder, "SELECT wrapped FROM store_key UNION ALL SELECT wrapped FROM branch_key")
    return [wrapped for (wrapped,) in stored]


async def test_no_replica_of_before_loses_a_branch_over_a_rotation(
    anyio_backend: object, tmp_path: Path
) -> None:
    """One that was started with the former key goes on with it, and the database says that it takes both."""
    async with opened(tmp_path, ring(FIRST, SECOND)) as old:
        await some_branches(old, 1)
        async with opened(tmp_path, ring(SECOND, FIRST)) as new:
            await some_branches(old, 2)
            await some_branches(new, 3)
            was = await read_whole(new, 1, 2, 3)
            assert await read_whole(old, 1, 2, 3) == was
    with pytest.raises(StoreCorruptError, match="'first'"):
        async with opened(tmp_path, ring(SECOND)):
            raise AssertionError("it opened")
    async with opened(tmp_path, ring(SECOND, FIRST)) as history:
        assert await read_whole(history, 1, 2, 3) == was
    async with opened(tmp_path, ring(SECOND)) as history:
        assert await read_whole(history, 1, 2, 3) == was


async def test_a_replica_without_keys_tells_that_it_lacks_them(anyio_backend: object, tmp_path: Path) -> None:
    async with opened(tmp_path, None) as clear:
        await some_branches(clear, 1)
        mail = Exchange(clear.store)
        await mail.register(1, 2)
        async with opened(tmp_path, ring()) as sealed:
            await sealed.add(uuid_of(1), instruction(2))
            await sealed.create(3, metadata_json='{"a": 1}', request_id=request_id(1))
            await Exchange(sealed.store).deliver(1, 2, 21)
            refusals: list[Callable[[], Awaitable[Any]]] = [
                lambda: clear.messages(uuid_of(1)),
                lambda: clear.snapshot(uuid_of(1), ids=[uuid_of(2)]),
                lambda: clear.branch(uuid_of(3)),
                lambda: clear.create(3, metadata_json='{"a": 1}', request_id=request_id(1)),
                lambda: mail.inbox(2),
                lambda: mail.lease(2),
            ]
            for refused in refusals:
                with pytest.raises(StoreCorruptError, match="start this service anew with the store's keys"):
                    await refused()
            # What is in clear is read by both.
            await some_branches(clear, 4)
            assert await read_whole(sealed, 4) == await read_whole(clear, 4)


async def test_replicas_give_a_branch_in_clear_one_key(anyio_backend: object, tmp_path: Path) -> None:
    async with opened(tmp_path, None) as history:
        await some_branches(history, 1)
    async with opened(tmp_path, ring()) as one, opened(tmp_path, ring()) as other:
        await asyncio.gather(
            *(replica.add(uuid_of(1), instruction(n)) for n, replica in ((11, one), (12, other), (13, one)))
        )
        assert len(look(tmp_path, "SELECT wrapped FROM branch_key")) == 1
        await one.call(pb.MoveMessageRequest(branch_id=uuid_of(1), message_id=uuid_of(1), index=2))
        await other.call(pb.MoveMessageRequest(branch_id=uuid_of(1), message_id=uuid_of(12), index=0))
        fork = pb.ForkBranchRequest(source_branch_id=uuid_of(1), branch_id=uuid_of(2))
        await other.call(fork)
        assert (await read_whole(one, 2))[0][0] == (await read_whole(other, 1))[0][0]
        assert len((await read_whole(one, 2))[0][0]) == 4
    assert [wrapped is None for (wrapped,) in look(tmp_path, "SELECT wrapped_key FROM member ORDER BY body")
            ].count(True) == 3  # fmt: skip


async def test_a_key_made_by_a_work_that_failed_is_not_used(anyio_backend: object, tmp_path: Path) -> None:
    """It fails when its group is run again, carefully, and another work of the group makes the branch."""
    key = BranchKey("", uuid_of(1), uuid_of(1))
    recorded = RecordedResponse(b"hash", b"\nresponse")
    all_queued = threading.Event()
    failed: list[str] = []

    def wait(tx: WriteTransaction) -> None:
        assert all_queued.wait(PATIENCE_SECONDS)

    def make(tx: WriteTransaction) -> None:
        tx.insert_branch(BranchRow(key, uuid_of(2), 1), '{"a": 1}')
        tx.insert_members(key, 1, [NewMember(uuid_of(3), 7, 2, None, False, b"\n\x00body")])

    def make_unless_recorded(tx: WriteTransaction) -> None:
        make(tx)
        if tx.recorded_response("", request_id(1)) is not None:
            failed.append("carefully")
            raise ValueError("taken back")
        tx.record_response("", request_id(1), recorded, 1)

    async with opened(tmp_path, ring()) as history:
        write = history.store.write
        await write(lambda tx: tx.record_response("", request_id(1), recorded, 1))
        works = [asyncio.ensure_future(write(work)) for work in (wait, make_unless_recorded, make)]
        await asyncio.sleep(0)
        all_queued.set()
        results = await asyncio.gather(*works, return_exceptions=True)
        assert [type(result) for result in results] == [type(None), ValueError, type(None)]
        assert failed
    async with opened(tmp_path, ring()) as history:
        page = await history.store.read(
            lambda tx: tx.read_messages(key, 1, view=None, after=None, limit=9, max_bytes=99)
        )
        assert page.bodies == [b"\n\x00body"]
        assert await history.store.read(lambda tx: tx.metadata(key, 1)) == '{"a": 1}'


# Forks and erasing


async def test_a_fork_wraps_keys_and_copies_no_bodies(
    anyio_backend: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "_PAGE_ROWS", 7)
    of_branch = "SELECT body, wrapped_key FROM member WHERE branch_id = %(branch)s"
    async with furnished(KIND, tmp_path) as history:
        bodies = look(tmp_path, "SELECT number, bytes FROM message_body ORDER BY number")
        former = dict(look(tmp_path, of_branch, branch=blob(1)))
        await history.call(pb.ForkBranchRequest(source_branch_id=uuid_of(1), branch_id=uuid_of(7)))
        assert look(tmp_path, "SELECT number, bytes FROM message_body ORDER BY number") == bodies
        own = dict(look(tmp_path, of_branch, branch=blob(7)))
        assert len(own) == 44
        assert own.keys() <= former.keys()
        assert not set(own.values()) & set(former.values())
        assert (await read_whole(history, 7))[0][:2] == (await read_whole(history, 1))[0][:2]


async def test_a_purge_erases_the_key_and_leaves_the_rest_readable(
    anyio_backend: object, tmp_path: Path
) -> None:
    key = "SELECT wrapped FROM branch_key WHERE branch_id = %(branch)s"
    async with furnished(KIND, tmp_path) as history, opened(tmp_path, ring()) as other:
        was = await read_whole(other, 1, 2, 3, 4, 5, 6)
        ((wrapped,),) = look(tmp_path, key, branch=blob(1))
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(1), purge=True))
        for replica in (history, other):
            assert await read_whole(replica, 2, 3, 4, 5, 6) == was[1:]
            with pytest.raises(BranchDeletedError):
                await replica.snapshot(uuid_of(1))
        assert look(tmp_path, key, branch=blob(1)) == [(bytes(len(wrapped)),)]
        assert not holds(dump(postgres.shared_server(), postgres.schema_url(tmp_path)), wrapped.hex())
        for number in (5, 3, 2):
            await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(number), purge=True))
        assert await read_whole(other, 4) == was[3:4]


async def test_nothing_of_a_branch_opens_once_its_key_is_erased_however_much_is_left(
    anyio_backend: object, tmp_path: Path
) -> None:
    key = BranchKey("", uuid_of(1), uuid_of(1))
    async with furnished(KIND, tmp_path) as history:
        assert len(opened_bodies(look(tmp_path, POSTGRES_SEALED_BODIES), ring())) > 44
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(1)))
        # Its retention has not passed: the database and the master key still open it.
        assert await history.store.read(lambda tx: tx.metadata(key, 1)) == '{"a": 1}'
        deleted = await history.store.read(lambda tx: tx.branch("", uuid_of(1)))
        assert isinstance(deleted, BranchRow)
        assert not await history.store.write(lambda tx: tx.sweep(deleted, 1))
        assert len(look(tmp_path, "SELECT 1 FROM member WHERE branch_id = %(branch)s", branch=blob(1))) >= 44
        with pytest.raises(StoreCorruptError, match="erased"):
            await history.store.read(lambda tx: tx.metadata(key, 1))
        for at in (2, 3, 5):
            with pytest.raises(StoreCorruptError, match="erased"):
                await history.store.read(
                    lambda tx, at=at: tx.read_messages(  # type: ignore[misc]
                        key, at, view=None, after=None, limit=99, max_bytes=10**6
                    )
                )
        with pytest.raises(StoreCorruptError, match="erased"):
            opened_bodies(look(tmp_path, POSTGRES_SEALED_BODIES), ring())
        assert len(await read_whole(history, 2, 3, 4, 5, 6)) == 5


async def test_the_retention_erases_the_key_when_it_has_passed(anyio_backend: object, tmp_path: Path) -> None:
    erased = "SELECT wrapped FROM branch_key WHERE wrapped = decode(repeat('00', 68), 'hex')"
    async with running(KIND, tmp_path, keeping=Keeping(deleted_seconds=100)) as history:
        await some_branches(history, 1, 2)
        was = await read_whole(history, 2)
        await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(1)))
        sweeper = Sweeper(history.store, clock=history.clock)
        await sweeper.sweep_due()
        assert not look(tmp_path, erased)
        history.clock.now += 101 * 10**9
        await sweeper.sweep_due()
        assert len(look(tmp_path, erased)) == 1
        assert await read_whole(history, 2) == was


# Tampering

BODY = f"(SELECT body FROM member WHERE message_id = '\\x{blob(11).hex()}')"
FLIPPED = "set_byte({0}, {1}, get_byte({0}, {1}) # 1)"


@pytest.mark.parametrize(
    "statement",
    [
        *(
            f"UPDATE message_body SET bytes = {FLIPPED.format('bytes', place)} WHERE number = {BODY}"
            for place in (1, 20)
        ),
        *(
            f"UPDATE member SET wrapped_key = {FLIPPED.format('wrapped_key', place)} WHERE body = {BODY}"
            for place in (0, 59)
        ),
        f"UPDATE message_body SET bytes = (SELECT bytes FROM message_body WHERE number <> {BODY} LIMIT 1)"
        f" WHERE number = {BODY}",
        f"UPDATE member SET wrapped_key = (SELECT wrapped_key FROM member WHERE body <> {BODY} LIMIT 1)"
        f" WHERE body = {BODY}",
        f"UPDATE member SET wrapped_key = NULL WHERE body = {BODY}",
        f"DELETE FROM branch_key WHERE branch_id = '\\x{blob(1).hex()}'",
        f"UPDATE branch_key SET wrapped = {FLIPPED.format('wrapped', 30)}",
    ],
)
async def test_what_was_changed_is_corruption(anyio_backend: object, tmp_path: Path, statement: str) -> None:
    async with running(KIND, tmp_path) as history:
        await history.add(await history.create(1), instruction(11, "as long"), instruction(12, "as wide"))
        chosen = [uuid_of(11), uuid_of(12)]
        await history.call(pb.SelectViewRequest(branch_id=uuid_of(1), message_ids=chosen))
        await read_whole(history, 1)
    change(tmp_path, statement)
    async with running(KIND, tmp_path) as history:
        for read in (
            partial(history.messages, uuid_of(1)),
            partial(history.snapshot, uuid_of(1)),
            partial(history.snapshot, uuid_of(1), at=2),
            partial(history.get, uuid_of(1), uuid_of(11)),
        ):
            with pytest.raises(StoreCorruptError):
                await read()
        # What is sound goes on.
        await some_branches(history, 5)
        assert len(await read_whole(history, 5)) == 1
