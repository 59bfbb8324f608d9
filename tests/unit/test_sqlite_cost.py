"""What writes cost in SQLite, counted and not timed: the VM's steps, pages and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.limits import DEFAULT_LIMITS
from history_service.domain import branches, forks, membership, retention
from history_service.domain.prepared import Stamper
from history_service.domain.writes import WriteCall, write_branch
from history_service.storage.port import WriteTransaction
from tests.support.history import Clock, instruction, uuid_of
from tests.support.sqlite_files import CountedStore

LENGTH = 10_000
TEXT = "A sentence of the length that people write to each other, more or less. " * 3
BRANCH = uuid_of(1)


class Writer:
    """Writes on one file by the service's own rules."""

    def __init__(self, folder: Path) -> None:
        ids = iter(range(0xFFFF_0000_0000, 0xFFFF_FFFF_FFFF))
        self.store = CountedStore(folder)

        def make_id() -> str:
            return uuid_of(next(ids))

        self.stamper = Stamper(Clock(), make_id, make_id, DEFAULT_LIMITS.message_bytes)
        self.call = WriteCall("", "", b"", b"", 0)

    def create(self, branch: str = BRANCH) -> None:
        """Make a branch."""
        request = pb.CreateBranchRequest(branch_id=branch)
        self.store.run(lambda tx: branches.create_branch(tx, "", request, self.stamper))

    def append(self, branch: str = BRANCH, count: int = 1) -> tuple[int, int]:
        """Append messages in one commit; return steps and pages."""
        batch = self.stamper.prepare_all([self._message() for _ in range(count)])
        rule = partial(membership.add_messages, batch=batch, allow_unresolved=False)
        _, steps, pages = self.store.run(lambda tx: write_branch(tx, self.call, branch, None, rule))
        return steps, pages

    @staticmethod
    def _message() -> message_pb.Message:
        message = instruction(0, TEXT)
        message.ClearField("id")
        return message

    def fork(self, target: str, source: str = BRANCH) -> tuple[int, int]:
        """Fork a branch; return steps and pages."""
        request = pb.ForkBranchRequest(source_branch_id=source, branch_id=target)

        def work(tx: WriteTransaction) -> pb.ForkBranchResponse:
            return forks.fork_branch(tx, "", request, self.stamper, None)

        _, steps, pages = self.store.run(work)
        return steps, pages

    def purge(self, branch: str) -> int:
        """Delete a branch and erase its bytes; return the steps of the erasing."""
        request = pb.DeleteBranchRequest(branch_id=branch, purge=True)
        self.store.run(lambda tx: retention.delete_branch(tx, self.call, request, 0))
        total, done = 0, False
        while not done:
            done, steps, _ = self.store.run(lambda tx: retention.sweep(tx, "", branch, 1))
            total += steps
        return total


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    writer = Writer(tmp_path)
    writer.create()
    yield writer
    writer.store.close()


def fill(writer: Writer, length: int, branch: str = BRANCH) -> None:
    """Append until a branch has a length."""
    for start in range(0, length, 500):
        writer.append(branch, min(500, length - start))


def test_the_ten_thousandth_append_costs_what_the_tenth_costs(writer: Writer) -> None:
    """Steps and pages on average, page splits included. Times: ``python -m tests.bench.layout``.

    Both branches are in one file and between others, since a branch that is the
    last of its indexes, or in a file of one page a table, costs a little less.
    """
    long, young, last = uuid_of(5), uuid_of(3), uuid_of(9)
    for branch in (long, young, last):
        writer.create(branch)
    fill(writer, 300, last)
    fill(writer, LENGTH - 100, long)
    early = [writer.append(young) for _ in range(200)]
    late = [writer.append(long) for _ in range(200)]
    for kind in (0, 1):
        assert mean(cost[kind] for cost in late) <= 1.1 * mean(cost[kind] for cost in early)


def test_the_database_grows_by_the_same_with_every_append(writer: Writer) -> None:
    used = []
    for _ in range(LENGTH // 500 + 1):
        used.append(sum(writer.store.bytes_used().values()))
        writer.append(count=500)
    growth = [after - before for before, after in pairwise(used)]
    # Greater numbers take a byte or two more.
    assert max(growth) <= 1.05 * min(growth)


def test_an_append_writes_nothing_that_only_forks_and_trims_need(writer: Writer) -> None:
    writer.append(count=100)
    used = writer.store.bytes_used()
    for name in ("body_share", "ended_member_by_age", "ended_view_row_by_age", "ended_view_by_age"):
        assert used.get(name, 0) == 0
    assert used["member"] > 0


def test_a_fork_copies_the_order_and_no_message_bytes(writer: Writer) -> None:
    fill(writer, LENGTH)
    before = writer.store.bytes_used()
    steps, pages = writer.fork(uuid_of(2))
    after = writer.store.bytes_used()
    grown = {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}
    assert grown.get("message_body", 0) == 0
    assert before["message_body"] > LENGTH * len(TEXT)
    assert sum(grown.values()) <= 330 * LENGTH
    assert steps <= 250 * LENGTH
    assert pages * 4096 <= 2 * sum(grown.values())


def test_a_fork_costs_what_its_length_is(writer: Writer) -> None:
    fill(writer, 1000)
    short = writer.fork(uuid_of(2))
    fill(writer, 3000)
    long = writer.fork(uuid_of(3))
    assert long[0] <= 4.4 * short[0]


def test_appends_to_a_source_cost_the_same_however_many_forks_it_has(writer: Writer) -> None:
    fill(writer, 100)
    alone = median(writer.append()[0] for _ in range(9))
    for number in range(2, 52):
        writer.fork(uuid_of(number))
    assert median(writer.append()[0] for _ in range(9)) <= 1.1 * alone


def test_erasing_costs_what_is_erased_however_many_branches_share(writer: Writer) -> None:
    fill(writer, 500)
    costs = []
    for forks_made in (2, 40):
        for number in range(forks_made):
            writer.fork(uuid_of(1000 * forks_made + number))
        costs.append(writer.purge(uuid_of(1000 * forks_made)))
    assert costs[1] <= 1.1 * costs[0]
