"""What writes cost in SQLite, counted and not timed: the VM's steps, pages and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import pytest

from tests.support.history import uuid_of
from tests.support.sqlite_writer import TEXT, CountingWriter

LENGTH = 10_000


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[CountingWriter]:
    writer = CountingWriter(tmp_path)
    writer.create()
    yield writer
    writer.store.close()


def test_the_ten_thousandth_append_costs_what_the_tenth_costs(writer: CountingWriter) -> None:
    """Steps and pages. Times: ``python -m tests.bench.layout``."""
    early, late = writer.early_and_late(LENGTH)
    assert late.steps <= 1.1 * early.steps
    assert late.pages <= 1.1 * early.pages


def test_appends_to_many_branches_share_pages(writer: CountingWriter) -> None:
    """Two indexes have a page for each branch, those by order and by kind, and little else is written."""
    many = [uuid_of(number) for number in range(100, 164)]
    for branch in many:
        writer.create(branch)
        writer.fill(100, branch)
    pages = [writer.append_to_each(many) for _ in range(20)]
    assert mean(pages) <= 2.8 * len(many)


def test_the_database_grows_by_the_same_with_every_append(writer: CountingWriter) -> None:
    used = []
    for _ in range(LENGTH // 500 + 1):
        used.append(sum(writer.store.bytes_used().values()))
        writer.append(count=500)
    growth = [after - before for before, after in pairwise(used)]
    # Greater numbers take a byte or two more.
    assert max(growth) <= 1.05 * min(growth)


def test_an_append_writes_nothing_that_only_forks_and_trims_need(writer: CountingWriter) -> None:
    writer.append(count=100)
    used = writer.store.bytes_used()
    for name in ("body_share", "ended_member_by_age", "ended_view_row_by_age", "ended_view_by_age"):
        assert used.get(name, 0) == 0
    assert used["member"] > 0


def test_a_fork_copies_the_order_and_no_message_bytes(writer: CountingWriter) -> None:
    writer.fill(LENGTH)
    before = writer.store.bytes_used()
    steps, pages = writer.fork(uuid_of(2))
    after = writer.store.bytes_used()
    grown = {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}
    assert grown.get("message_body", 0) == 0
    assert before["message_body"] > LENGTH * len(TEXT)
    assert sum(grown.values()) <= 330 * LENGTH
    assert steps <= 250 * LENGTH
    assert pages * 4096 <= 2 * sum(grown.values())


def test_a_fork_costs_what_its_length_is(writer: CountingWriter) -> None:
    writer.fill(1000)
    short = writer.fork(uuid_of(2))
    writer.fill(3000)
    long = writer.fork(uuid_of(3))
    assert long[0] <= 4.4 * short[0]


def test_appends_to_a_source_cost_the_same_however_many_forks_it_has(writer: CountingWriter) -> None:
    writer.fill(100)
    alone = median(writer.append()[0] for _ in range(9))
    for number in range(2, 52):
        writer.fork(uuid_of(number))
    assert median(writer.append()[0] for _ in range(9)) <= 1.1 * alone


def test_erasing_costs_what_is_erased_however_many_branches_share(writer: CountingWriter) -> None:
    writer.fill(500)
    costs = []
    for forks_made in (2, 40):
        for number in range(forks_made):
            writer.fork(uuid_of(1000 * forks_made + number))
        costs.append(writer.purge(uuid_of(1000 * forks_made)))
    assert costs[1] <= 1.1 * costs[0]
