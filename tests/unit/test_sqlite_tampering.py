"""Encrypted bytes that were changed, exchanged or moved are corruption, and are never read as something."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import StoreCorruptError
from history_service.storage.sealed import MARK
from tests.support.encryption import ring
from tests.support.exchange import Exchange
from tests.support.history import History, instruction, running, uuid_of

pytestmark = pytest.mark.anyio

Read = Callable[[History], Awaitable[Any]]


async def whole(history: History) -> None:
    await history.snapshot(uuid_of(1), ids=await history.ids(uuid_of(1)))


async def viewed(history: History) -> None:
    await history.snapshot(uuid_of(1))


async def past(history: History) -> None:
    await history.messages(uuid_of(1), at_revision=2)


async def past_view(history: History) -> None:
    await history.snapshot(uuid_of(1), at=4)


async def one(history: History) -> None:
    await history.get(uuid_of(1), uuid_of(11))


async def fork(history: History) -> None:
    await history.call(pb.ForkBranchRequest(source_branch_id=uuid_of(1), branch_id=uuid_of(9)))


async def metadata(history: History) -> None:
    await history.branch(uuid_of(1))


async def replay(history: History) -> None:
    await history.create(1, request_id=uuid_of(0xABC), metadata_json='{"a": 1}')


async def inbox(history: History) -> None:
    await Exchange(history.store).inbox(2)


async def lease(history: History) -> None:
    await Exchange(history.store).lease(2)


READS_OF_MESSAGES: tuple[Read, ...] = (whole, viewed, past, past_view, one)


async def furnish(folder: Path) -> None:
    async with running("encrypted", folder) as history:
        branch = await history.create(1, request_id=uuid_of(0xABC), metadata_json='{"a": 1}')
        await history.add(branch, instruction(11, "as long"), instruction(12, "as wide"))
        chosen = [uuid_of(11), uuid_of(12)]
        await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=chosen))
        await history.add(branch, instruction(13, "as high"))
        await history.create(2)
        mail = Exchange(history.store)
        await mail.register(1, 2)
        await mail.deliver(1, 2, 21, 22)


def change(folder: Path, *statements: str) -> None:
    """Change the closed file."""
    connection = apsw.Connection(str(folder / "history.sqlite3"))
    # Flips a bit of a byte; of a text, of a character that stays one of the alphabet's.
    connection.create_scalar_function("flipped", flipped, 2)
    for statement in statements:
        connection.execute(statement)
        assert connection.total_changes()
    connection.close()


def flipped(*values: Any) -> Any:
    stored, place = values
    if isinstance(stored, str):
        other = "A" if stored[place] != "A" else "B"
        characters = list(stored)
        characters[place] = other
        return "".join(characters)
    changed = bytearray(stored)
    changed[place] ^= 1
    return bytes(changed)


BODY = "(SELECT body FROM member WHERE message_id = x'0000000000004000800000000000000b')"
EXCHANGED = (
    "UPDATE {table} SET {column} = (SELECT o.{column} FROM {table} o WHERE o.rowid = 3 - {table}.rowid)"
    " WHERE rowid IN (1, 2)"
)


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        *(
            (f"UPDATE message_body SET bytes = flipped(bytes, {place}) WHERE number = {BODY}",
             READS_OF_MESSAGES)
            for place in (0, 1, 20, -1)
        ),
        *(
            (f"UPDATE member SET wrapped_key = flipped(wrapped_key, {place}) WHERE body = {BODY}",
             (*READS_OF_MESSAGES, fork))
            for place in (0, 11, 12, -1)
        ),
        ("UPDATE member SET wrapped_key = NULL", READS_OF_MESSAGES),
        ("UPDATE member SET wrapped_key = x'00'", (*READS_OF_MESSAGES, fork)),
        ("UPDATE message_body SET bytes = x'00'", READS_OF_MESSAGES),
        ("UPDATE message_body SET bytes = substr(bytes, 2)", READS_OF_MESSAGES),
        (EXCHANGED.format(table="message_body", column="bytes"), READS_OF_MESSAGES),
        (EXCHANGED.format(table="member", column="wrapped_key"), (*READS_OF_MESSAGES, fork)),
        ("UPDATE branch SET key_number = NULL WHERE key_number = 1", (*READS_OF_MESSAGES, fork, metadata)),
        ("UPDATE branch SET key_number = 3 - key_number", (*READS_OF_MESSAGES, fork, metadata)),
        *(
            (f"UPDATE encryption_key SET wrapped = flipped(wrapped, {place}) WHERE number = 1",
             (*READS_OF_MESSAGES, fork, metadata))
            for place in (0, 8, 20, -1)
        ),
        ("UPDATE encryption_key SET wrapped = x'00' WHERE number = 1", (whole, metadata)),
        *(
            (f"UPDATE branch_metadata SET metadata_json = flipped(metadata_json, {place})", (metadata,))
            for place in (7, 20, 40, 60)
        ),
        ("UPDATE branch_metadata SET metadata_json = 'sealed:!'", (metadata,)),
        ("UPDATE branch_metadata SET metadata_json = 'sealed:'", (metadata,)),
        ("UPDATE branch_metadata SET revision = 0 WHERE revision = 1", (metadata,)),
        *(
            (f"UPDATE recorded_response SET response = flipped(response, {place})", (replay,))
            for place in (1, 24, 25, -1)
        ),
        ("UPDATE recorded_response SET response = x'00'", (replay,)),
        *(
            (f"UPDATE exchange_body SET bytes = flipped(bytes, {place})", (inbox, lease))
            for place in (1, 25, -1)
        ),
    ],
)  # fmt: skip
async def test_what_was_changed_is_corruption(
    anyio_backend: object, tmp_path: Path, statement: str, reads: tuple[Read, ...]
) -> None:
    await furnish(tmp_path)
    async with running("encrypted", tmp_path) as history:
        for sound in READS_OF_MESSAGES:
            await sound(history)
    change(tmp_path, statement)
    async with running("encrypted", tmp_path) as history:
        for read in reads:
            with pytest.raises(StoreCorruptError):
                await read(history)
        # What is sound goes on.
        await history.add(await history.create(5), instruction(5))
        assert len((await history.snapshot(uuid_of(5))).bodies) == 1


async def test_a_store_key_that_was_changed_keeps_the_store_from_opening(
    anyio_backend: object, tmp_path: Path
) -> None:
    await furnish(tmp_path)
    change(tmp_path, "UPDATE encryption_key SET wrapped = flipped(wrapped, 30) WHERE number = 0")
    with pytest.raises(StoreCorruptError, match=r"does not open with the master key 'first'"):
        async with running("encrypted", tmp_path):
            raise AssertionError("it opened")


def test_a_ciphertext_opens_only_where_it_belongs() -> None:
    keys = ring()
    lineage, branch, other, message = (bytes([number]) * 16 for number in range(4))
    wrapped = keys.new_branch_key("t", lineage, branch)
    cipher = keys.branch_cipher(wrapped, "t", lineage, branch)
    key, sealed = cipher.seal_body(message, 7, b"body")
    assert cipher.open_body(message, 7, key, sealed) == b"body"
    assert sealed.startswith(MARK)
    assert (key, sealed) != cipher.seal_body(message, 7, b"body")
    for place in (("u", lineage, branch), ("t", other, branch), ("t", lineage, other)):
        with pytest.raises(StoreCorruptError):
            keys.branch_cipher(wrapped, *place)
    for where in ((other, 7), (message, 8)):
        with pytest.raises(StoreCorruptError):
            cipher.open_body(*where, key, sealed)
    fork = keys.branch_cipher(keys.new_branch_key("t", lineage, other), "t", lineage, other)
    with pytest.raises(StoreCorruptError):
        fork.open_body(message, 7, key, sealed)
    adopted = fork.adopt(cipher, message, key)
    assert fork.open_body(message, 7, adopted, sealed) == b"body"
    with pytest.raises(StoreCorruptError):
        cipher.open_body(message, 7, adopted, sealed)
    store = keys.store_cipher(keys.new_store_key())
    mail = store.seal_mail("t", b"x", b"letter")
    for of in (("u", b"x"), ("t", b"y"), ("tx", b"")):
        with pytest.raises(StoreCorruptError):
            store.open_mail(*of, mail)
    empty, response = store.seal_response("t", message, b"hash", b"response")
    assert empty == b""
    assert store.open_response("t", message, b"", response) == (b"hash", b"response")
    for owner in (("u", message), ("t", other)):
        with pytest.raises(StoreCorruptError):
            store.open_response(*owner, b"", response)
