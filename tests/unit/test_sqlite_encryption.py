"""Encryption at rest: what the files tell, which keys open them, what was in clear before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import StoreCorruptError
from antiphon_client.key_file import NamedKey
from history_service.storage import load_ring, open_store
from history_service.storage.envelope import KeyRing
from history_service.storage.port import (
    BranchKey,
    BranchRow,
    NewMember,
    ReadTransaction,
    RecordedResponse,
    WriteTransaction,
)
from history_service.storage.sqlite import SqliteStore
from tests.support.encryption import FIRST, SECOND, on_disk, ring, write_key_file
from tests.support.encryption_scenes import WORDS, request_id, say_everything
from tests.support.exchange import Exchange
from tests.support.history import History, instruction, system, uuid_of

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def opened(folder: Path, keys: KeyRing | None) -> AsyncIterator[History]:
    """Serve a history from the file of a folder."""
    store = open_store(f"sqlite:{folder / 'history.sqlite3'}", ring=keys)
    await store.start()
    try:
        yield History(store)
    finally:
        await store.close()


def recorded(tx: ReadTransaction, number: int) -> RecordedResponse | None:
    return tx.recorded_response("", request_id(number))


async def test_the_files_never_hold_a_word(anyio_backend: object, tmp_path: Path) -> None:
    clear, sealed = tmp_path / "clear", tmp_path / "sealed"
    told: dict[str, bool] = {}
    for folder, keys in ((clear, None), (sealed, ring())):
        folder.mkdir()
        async with opened(folder, keys) as history:
            async for place in say_everything(history):
                told[place] = WORDS.encode() in on_disk(folder)
                assert told[place] == (keys is None), place
            for number in range(1, 6):
                kept = await history.store.read(partial(recorded, number=number))
                assert kept is not None
                assert (kept.request_hash in on_disk(folder)) == (keys is None)
            assert (await history.get(uuid_of(3), (await history.ids(uuid_of(3)))[0])).system.system_message
        # Closed, the log is in the file.
        assert (WORDS.encode() in on_disk(folder)) == (keys is None)
    assert len(told) == 13


async def test_everything_reads_the_same_encrypted_or_not(anyio_backend: object, tmp_path: Path) -> None:
    seen: list[Any] = []
    for name, keys in (("clear", None), ("sealed", ring())):
        (tmp_path / name).mkdir()
        async with opened(tmp_path / name, keys) as history:
            async for _ in say_everything(history):
                pass
        async with opened(tmp_path / name, keys) as history:
            replayed = await history.create(1, metadata_json=f'{{"a": "{WORDS}"}}', request_id=request_id(1))
            mail = Exchange(history.store)
            whole = [await history.snapshot(uuid_of(number)) for number in (1, 3)]
            dead = [one.message.SerializeToString(deterministic=True) for one in await mail.dead_letters()]
            metadata = (await history.branch(uuid_of(1))).metadata_json
            texts = [len(each.bodies) for each in whole], whole[0].bodies
            seen.append((replayed, texts, dead, metadata, await mail.pop(2, 1, request_id=request_id(4))))
    assert seen[0] == seen[1]


# Keys


async def some_branches(history: History) -> None:
    for number in (1, 2, 3):
        await history.create(number, metadata_json=f'{{"n": {number}}}')
        await history.add(uuid_of(number), instruction(number, WORDS))


async def read_branches(history: History) -> list[Any]:
    return [
        (
            (await history.branch(uuid_of(number))).metadata_json,
            (await history.snapshot(uuid_of(number))).bodies,
        )
        for number in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (None, r"is encrypted with the master key 'first' \([0-9a-f]{16}\): give the file"),
        (ring(SECOND), r"'first' \([0-9a-f]{16}\), which is not in the key file; it has 'second' \("),
        (ring(NamedKey("first", b"\x07" * 32)), "'first' .* which is not in the key file"),
    ],
    ids=["none", "another", "another of the same name"],
)
async def test_a_store_opens_with_its_keys_alone(
    anyio_backend: object, tmp_path: Path, keys: KeyRing | None, said: str
) -> None:
    async with opened(tmp_path, ring()) as history:
        await some_branches(history)
        was = await read_branches(history)
    with pytest.raises(StoreCorruptError, match=said) as caught:
        async with opened(tmp_path, keys):
            raise AssertionError("it opened")
    assert FIRST.secret.hex() not in str(caught.value)
    async with opened(tmp_path, ring()) as history:
        assert await read_branches(history) == was


async def test_a_new_first_key_takes_the_place_of_the_former(anyio_backend: object, tmp_path: Path) -> None:
    async with opened(tmp_path, ring()) as history:
        await some_branches(history)
        await history.call(pb.DeleteBranchRequest(branch_id=await history.create(4), purge=True))
        was = await read_branches(history)
    former = wrapped_keys(tmp_path)
    assert len(former) == 5
    async with opened(tmp_path, ring(SECOND, FIRST)) as history:
        assert await read_branches(history) == was
        files = on_disk(tmp_path)
        assert not any(wrapped in files for wrapped in former if any(wrapped))
        await history.add(uuid_of(1), instruction(9, WORDS))
    # An erased key stays erased.
    assert [any(wrapped) for wrapped in wrapped_keys(tmp_path)] == [True] * 4 + [False]
    async with opened(tmp_path, ring(SECOND)) as history:
        assert (await read_branches(history))[1:] == was[1:]
    with pytest.raises(StoreCorruptError, match="'second'"):
        async with opened(tmp_path, ring()):
            raise AssertionError("it opened")


def wrapped_keys(folder: Path) -> list[bytes]:
    """Return the wrapped keys of a closed file: the store's, then the branches'."""
    import apsw

    connection = apsw.Connection(str(folder / "history.sqlite3"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows: Any = connection.execute("SELECT wrapped FROM encryption_key ORDER BY number")
        return [wrapped for (wrapped,) in rows]
    finally:
        connection.close()


async def test_a_key_file_makes_the_ring(anyio_backend: object, tmp_path: Path) -> None:
    async with opened(tmp_path, load_ring(str(write_key_file(tmp_path / "a")))) as history:
        await some_branches(history)
    async with opened(tmp_path, ring()) as history:
        assert len(await read_branches(history)) == 3


def test_a_ring_does_not_show_its_keys() -> None:
    shown = repr(ring(FIRST, SECOND))
    assert "'first'" in shown
    assert FIRST.secret.hex() not in shown
    assert str(FIRST.secret) not in shown


# What was in clear


async def test_what_was_in_clear_stays_readable_and_what_follows_is_not(
    anyio_backend: object, tmp_path: Path
) -> None:
    async with opened(tmp_path, None) as history:
        branch = await history.create(1, metadata_json='{"old": 1}', request_id=request_id(1))
        await history.add(branch, system(10), *(instruction(number, "old words") for number in (11, 12, 13)))
        mail = Exchange(history.store)
        await mail.register(1, 2)
        await mail.deliver(1, 2, 21)
    async with opened(tmp_path, ring()) as history:
        mail = Exchange(history.store)
        assert await mail.inbox(2) == [21]
        assert (await history.branch(branch)).metadata_json == '{"old": 1}'
        assert await history.create(1, metadata_json='{"old": 1}', request_id=request_id(1)) == branch
        old = (await history.snapshot(branch)).bodies
        fork = pb.ForkBranchRequest(source_branch_id=branch, branch_id=uuid_of(2))
        await history.call(fork)
        assert (await history.snapshot(uuid_of(2))).bodies == old
        await history.add(branch, instruction(14, WORDS), instruction(12, WORDS))
        await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(11), index=3))
        await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(12), index=2))
        await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(14), uuid_of(11)]))
        await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json=f'{{"a": "{WORDS}"}}'))
        await history.call(
            pb.ForkBranchRequest(source_branch_id=branch, branch_id=uuid_of(3), request_id=request_id(2))
        )
        for number in (1, 3):
            found = [
                message.instruction.instruction
                for message in await history.messages(uuid_of(number))
                if message.HasField("instruction")
            ]
            assert sorted(found) == [WORDS, WORDS, "old words", "old words"]
            shown = await history.snapshot(uuid_of(number))
            assert [body.instruction.instruction for body in shown.messages] == [WORDS, "old words"]
        at_first = await history.snapshot(branch, at=2)
        assert at_first.bodies == old
    assert WORDS.encode() not in on_disk(tmp_path)
    assert b"old words" in on_disk(tmp_path)


# Works taken back


KEY = BranchKey("", uuid_of(1), uuid_of(1))


def make_branch(tx: WriteTransaction) -> None:
    tx.insert_branch(BranchRow(KEY, uuid_of(2), 1), '{"a": 1}')
    tx.insert_members(KEY, 1, [NewMember(uuid_of(3), 7, 2, None, False, b"\n\x00body")])


async def test_a_key_made_by_a_work_that_failed_is_not_used(anyio_backend: object, tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "history.sqlite3"), ring=ring())
    await store.start()

    def fail(tx: WriteTransaction) -> None:
        make_branch(tx)
        raise ValueError("taken back")

    def make_another(tx: WriteTransaction) -> None:
        other = KEY._replace(branch_id=uuid_of(9))
        tx.insert_branch(BranchRow(other, uuid_of(2), 1), "{}")

    results = await asyncio.gather(
        store.write(make_another),
        store.write(fail),
        store.write(make_branch),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), ValueError, type(None)]
    await store.close()
    store = SqliteStore(str(tmp_path / "history.sqlite3"), ring=ring())
    await store.start()
    page = await store.read(lambda tx: tx.read_messages(KEY, 1, view=None, after=None, limit=9, max_bytes=99))
    assert page.bodies == [b"\n\x00body"]
    assert await store.read(lambda tx: tx.metadata(KEY, 1)) == '{"a": 1}'
    await store.close()
