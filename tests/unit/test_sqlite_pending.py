"""Rows that wait for the end of their group: seen by later works, undone and refused with their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from history_service.storage.codec import id_blob, id_text, id_texts
from history_service.storage.port import BranchKey, BranchRow, RecordedResponse, WriteTransaction
from history_service.storage.sqlite import recent_requests, writing_sql
from history_service.storage.sqlite.migrations import known_migrations, migrate
from history_service.storage.sqlite.pending import ROWS_AT_ONCE, PendingRows
from history_service.storage.sqlite.recent_requests import RecentRequests
from history_service.storage.sqlite.transaction import SqliteTransaction
from tests.support.history import uuid_of
from tests.unit.test_sqlite_writer import KEY, append, bodies_of, failing, in_one_commit, opened, revision_of

pytestmark = pytest.mark.anyio

Work = Callable[[WriteTransaction], Any]
VIEW = 2

request_ids = st.integers(0, 99).map(lambda number: number.to_bytes(16, "big"))


def select_view(tx: WriteTransaction) -> None:
    """Select a view of message 1, whose epoch is ``VIEW``."""
    tx.begin_view(KEY, VIEW)
    tx.insert_view_rows(KEY, VIEW, VIEW, [(0, uuid_of(1))])


def recorded(number: int, text: bytes) -> Work:
    """A work that records what a request id was used for."""
    return lambda tx: tx.record_response("", uuid_of(number), RecordedResponse(b"hash", text), 1)


def replied(number: int) -> Work:
    """A work that finds what a request id was used for."""

    def work(tx: WriteTransaction) -> bytes | None:
        found = tx.recorded_response("", uuid_of(number))
        return None if found is None else found.response

    return work


def ids_of(tx: WriteTransaction) -> list[str]:
    """The ids of the branch, in order."""
    return tx.read_ids(KEY, revision_of(tx), view=None, after=None, limit=10)


def after(write: Callable[[WriteTransaction], None], read: Work) -> Work:
    """A work that writes and then reads."""

    def work(tx: WriteTransaction) -> Any:
        write(tx)
        return read(tx)

    return work


READS: dict[str, tuple[Work, object]] = {
    "branch": (revision_of, 3),
    "list_branches": (
        lambda tx: [
            row.revision
            for row in tx.list_branches(
                "", external_key_prefix=None, parent_branch_id=None, after=None, limit=9
            )
        ],
        [3],
    ),
    "recorded_response": (replied(90), b"first"),
    "members": (lambda tx: sorted(tx.members(KEY, [uuid_of(1), uuid_of(3)])), [uuid_of(1)]),
    "linked_members": (lambda tx: tx.linked_members(KEY, [uuid_of(1)]), []),
    "body": (lambda tx: tx.body(KEY, uuid_of(2), tx.members(KEY, [uuid_of(2)])[uuid_of(2)].body), b"body 2"),
    "index_of": (lambda tx: tx.index_of(KEY, 20), 1),
    "order_keys_at": (lambda tx: tx.order_keys_at(KEY, 0, 9), [10, 20]),
    "order_keys_between": (lambda tx: tx.order_keys_between(KEY, 0, 100), [10, 20]),
    "view_members": (lambda tx: tx.view_members(KEY, VIEW, [uuid_of(1), uuid_of(2)]), {uuid_of(1)}),
    "count": (lambda tx: (tx.count(KEY, 3, None), tx.count(KEY, 3, VIEW)), (2, 1)),
    "message_sizes": (lambda tx: tx.message_sizes(KEY, 3, [uuid_of(1)]), {uuid_of(1): 6}),
    "read_selected": (lambda tx: tx.read_selected(KEY, 3, [uuid_of(2)], 100), [b"body 2"]),
    "read_ids": (ids_of, [uuid_of(1), uuid_of(2)]),
    "read_messages": (bodies_of, [b"body 1", b"body 2"]),
    "changes": (lambda tx: [change.revision for change in tx.changes(KEY, 0, 9)], [2, 3]),
    "remove_members": (after(lambda tx: tx.remove_members(KEY, 4, [uuid_of(1)]), ids_of), [uuid_of(2)]),
    "remove_all_members": (
        after(lambda tx: tx.remove_all_members(KEY, 4, uuid_of(1)), ids_of), [uuid_of(1)],
    ),
    "remove_view_rows": (lambda tx: tx.remove_view_rows(KEY, VIEW, 4, [uuid_of(1), uuid_of(2)]), 1),
    "remove_all_view_rows": (
        after(lambda tx: tx.remove_all_view_rows(KEY, VIEW, 4, None), lambda tx: tx.count(KEY, 4, VIEW)), 0,
    ),
    "relabel": (
        after(lambda tx: tx.relabel(KEY, {10: 20, 20: 10}), ids_of), [uuid_of(2), uuid_of(1)],
    ),
    "expire_responses": (lambda tx: (tx.expire_responses(5, 9), replied(90)(tx)), (1, None)),
}  # fmt: skip
"""Primitives that look at rows: each with what it gives after the works before it, of the same commit."""


@pytest.mark.parametrize("name", READS)
async def test_a_work_sees_what_earlier_works_of_its_commit_wrote(tmp_path: Path, name: str) -> None:
    work, expected = READS[name]
    async with opened(tmp_path) as store:
        before: list[Work] = [append(1), append(2), select_view, recorded(90, b"first")]
        results = await in_one_commit(store, [*before, work])
        assert results == [2, 3, None, None, expected]


async def test_a_commit_of_many_works_is_whole(tmp_path: Path) -> None:
    many = range(100, 100 + 2 * sum(ROWS_AT_ONCE))
    async with opened(tmp_path) as store:
        results = await in_one_commit(store, [append(number) for number in many])
        assert results == [2 + place for place in range(len(many))]
        assert await store.read(bodies_of) == [b"body %d" % number for number in many]
        assert await store.read(revision_of) == 1 + len(many)


async def test_heads_of_many_branches_are_saved(tmp_path: Path) -> None:
    keys = [BranchKey("", uuid_of(n), uuid_of(n)) for n in range(500, 500 + sum(ROWS_AT_ONCE))]

    def create(key: BranchKey) -> Work:
        return lambda tx: tx.insert_branch(BranchRow(key, uuid_of(2), 1), "")

    def advance(place: int, key: BranchKey) -> Work:
        def work(tx: WriteTransaction) -> None:
            branch = tx.branch("", key.branch_id)
            assert branch is not None
            branch.revision, branch.message_count, branch.last_key = 2 + place, 3 + place, 4 + place
            branch.system_id, branch.view_epoch = uuid_of(place), 5 + place
            branch.view_count, branch.view_last_key = 6 + place, 7 + place
            tx.save_head(branch)

        return work

    async with opened(tmp_path) as store:
        works = [advance(place, key) for place, key in enumerate(keys)]
        assert not any(await in_one_commit(store, [create(key) for key in keys]))
        assert not any(await in_one_commit(store, works))
        for place, key in enumerate(keys):
            row = await store.read(lambda tx, key=key: tx.branch("", key.branch_id))  # type: ignore[misc]
            assert row == BranchRow(
                key, uuid_of(2), 1, None, None, 2 + place, 3 + place, 4 + place, uuid_of(place),
                5 + place, 6 + place, 7 + place,
            )  # fmt: skip


def member_twice(tx: WriteTransaction) -> int:
    """A work whose message id has a living row already, which the index of living rows refuses."""
    revision = append(1)(tx)
    assert tx.branch("", KEY.branch_id) is not None
    return revision


def looks(tx: WriteTransaction) -> int:
    """A work that only looks at the branch, and has what is pending written by that."""
    return len(tx.members(KEY, [uuid_of(1)]))


@pytest.mark.parametrize("culprit", [member_twice, recorded(90, b"again")])
@pytest.mark.parametrize("found_by", ["the flush of the group", "a later work's look"])
async def test_a_row_refused_fails_its_work_alone(tmp_path: Path, culprit: Work, found_by: str) -> None:
    look: list[Work] = [] if found_by == "the flush of the group" else [looks]
    async with opened(tmp_path) as store:
        works: list[Work] = [append(1), recorded(90, b"first"), append(2), culprit, *look, append(3)]
        results = await in_one_commit(store, works)
        assert [type(result) for result in results if isinstance(result, BaseException)] == [
            apsw.ConstraintError
        ]
        assert isinstance(results[3], apsw.ConstraintError)
        assert [*results[:3], *results[4:]] == [2, None, 3, *([1] if look else []), 4]
        assert await store.read(bodies_of) == [b"body 1", b"body 2", b"body 3"]
        assert await store.write(replied(90)) == b"first"
        assert await store.write(append(4)) == 5
        counters = await store.read(lambda tx: [change.counter for change in tx.changes(KEY, 0, 100)])
        assert counters == [0, 1, 2, 3]


async def test_a_refusal_that_a_work_hides_still_fails_the_work_that_caused_it(tmp_path: Path) -> None:
    def hides(tx: WriteTransaction) -> str:
        try:
            return f"found {looks(tx)}"
        except apsw.ConstraintError:
            return "hidden"

    async with opened(tmp_path) as store:
        results = await in_one_commit(store, [append(1), member_twice, hides, append(2)])
        assert isinstance(results[1], apsw.ConstraintError)
        assert [results[0], *results[2:]] == [2, "found 1", 3]
        assert await store.read(bodies_of) == [b"body 1", b"body 2"]


async def test_what_a_failed_work_recorded_is_forgotten(tmp_path: Path) -> None:
    def records_and_fails(tx: WriteTransaction) -> None:
        recorded(90, b"lost")(tx)
        raise LookupError

    async with opened(tmp_path) as store:
        works: list[Work] = [append(1), records_and_fails, replied(90), failing(2), replied(90), append(3)]
        results = await in_one_commit(store, works)
        assert [results[place] for place in (0, 2, 4, 5)] == [2, None, None, 3]
        assert [type(results[place]) for place in (1, 3)] == [LookupError, LookupError]
        await store.write(recorded(90, b"kept"))
        assert await store.write(replied(90)) == b"kept"


async def test_request_ids_are_known_after_a_start(tmp_path: Path) -> None:
    for number in (90, 20, 95, 21):
        async with opened(tmp_path, new=number == 90) as store:
            assert await store.write(replied(number)) is None
            await store.write(recorded(number, b"%d" % number))
    async with opened(tmp_path, new=False) as store:
        for number in (90, 20, 95, 21):
            assert await store.write(replied(number)) == b"%d" % number
            assert await store.write(lambda tx: tx.recorded_response("other", uuid_of(90))) is None


@given(st.none() | request_ids, st.lists(request_ids, min_size=12, max_size=40, unique=True))
def test_no_recorded_id_is_called_new(greatest: bytes | None, ids: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recent_requests, "KEPT", 4)
        known = RecentRequests(greatest)
        for place, request_id in enumerate(ids):
            known.add(request_id)
            assert not any(known.surely_new(earlier) for earlier in ids[: place + 1])
            assert greatest is None or not known.surely_new(greatest)
        assert known.surely_new(max([*ids, greatest or b""]) + b"\x01")


def test_a_flush_that_failed_fails_again_until_its_group_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_memory(_pending: PendingRows, _connection: apsw.Connection) -> None:
        raise apsw.NoMemError

    connection = apsw.Connection(str(tmp_path / "history.sqlite3"))
    migrate(connection, known_migrations())
    tx = SqliteTransaction(connection)
    tx.begin_group(careful=False)
    recorded(90, b"reply")(tx)
    with monkeypatch.context() as patch:
        patch.setattr(PendingRows, "write", out_of_memory)
        with pytest.raises(apsw.NoMemError):
            tx.flush()
    with pytest.raises(apsw.NoMemError):
        tx.flush()
    tx.forget()
    tx.flush()
    assert replied(90)(tx) is None
    connection.close()


@given(st.lists(st.uuids(), max_size=70))
def test_ids_are_decoded_in_bulk_as_one_by_one(ids: list[Any]) -> None:
    blobs = [id_blob(str(each)) for each in ids]
    assert id_texts(blobs) == [id_text(blob) for blob in blobs] == [str(each) for each in ids]


@pytest.mark.parametrize("count", ROWS_AT_ONCE)
def test_heads_are_found_by_number(count: int) -> None:
    connection = apsw.Connection(":memory:")
    migrate(connection, known_migrations())
    sql = f"EXPLAIN QUERY PLAN {writing_sql.SAVE_HEADS.of(count)}"
    steps = [str(row[3]) for row in connection.execute(sql, (1,) * (9 * count))]
    assert any(step.startswith("SEARCH branch USING INTEGER PRIMARY KEY") for step in steps)
    assert not [step for step in steps if step.startswith("SCAN branch")]


def test_the_greatest_request_id_is_found_without_a_walk() -> None:
    connection = apsw.Connection(":memory:")
    migrate(connection, known_migrations())
    steps = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {writing_sql.GREATEST_REQUEST}")]
    assert not [step for step in steps if step.startswith("SCAN recorded_response")]
    assert sum(step.startswith("SEARCH recorded_response") for step in steps) == 3
    for tenant, number in (("", 7), ("a", 9), ("b", 8)):
        connection.execute(
            writing_sql.INSERT_RESPONSES.of(1), (tenant, id_blob(uuid_of(number)), b"", b"", 1)
        )
    assert connection.execute(writing_sql.GREATEST_REQUEST).fetchall() == [(id_blob(uuid_of(9)),)]
