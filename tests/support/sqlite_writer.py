"""Writing by the service's own rules on one SQLite file, with costs counted instead of timed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.limits import DEFAULT_LIMITS
from history_service.domain import branches, forks, membership, retention
from history_service.domain.prepared import Stamper
from history_service.domain.writes import WriteCall, write_branch
from history_service.storage.port import WriteTransaction
from tests.support.history import Clock, instruction, uuid_of
from tests.support.sqlite_files import CountedStore

TEXT = "A sentence of the length that people write to each other, more or less. " * 3
BRANCH = uuid_of(1)


class Cost(NamedTuple):
    """What a commit of one append takes, on average."""

    steps: float
    """Of SQLite's virtual machine."""
    pages: float
    """Written to the log, page splits included."""


class CountingWriter:
    """Writes on one file; each write is a commit of its own.

    Attributes:
        store: The file.
        stamper: Gives ids that grow with every message.
        call: What every write is told about its caller.
    """

    def __init__(self, folder: Path) -> None:
        ids = iter(range(0xFFFF_0000_0000, 0xFFFF_FFFF_FFFF))
        self.store = CountedStore(folder)

        def make_id() -> str:
            return uuid_of(next(ids))

        def make_ids(count: int) -> list[str]:
            return [make_id() for _ in range(count)]

        self.stamper = Stamper(Clock(), make_id, make_ids, DEFAULT_LIMITS.message_bytes)
        self.call = WriteCall("", "", b"", b"", 0)

    def create(self, branch: str = BRANCH) -> None:
        """Make a branch."""
        request = pb.CreateBranchRequest(branch_id=branch)
        self.store.run(lambda tx: branches.create_branch(tx, "", request, self.stamper))

    def append(self, branch: str = BRANCH, count: int = 1) -> tuple[int, int]:
        """Append messages in one commit; return steps and pages."""
        rule = self._rule(count)
        _, steps, pages = self.store.run(lambda tx: write_branch(tx, self.call, branch, None, rule))
        return steps, pages

    def _rule(self, count: int) -> partial[pb.AddMessagesResponse]:
        batch = self.stamper.prepare_all([self._message() for _ in range(count)])
        return partial(membership.add_messages, batch=batch, allow_unresolved=False)

    @staticmethod
    def _message() -> message_pb.Message:
        message = instruction(0, TEXT)
        message.ClearField("id")
        return message

    def append_to_each(self, targets: Sequence[str]) -> int:
        """Append a message to each branch, all in one commit; return the pages it wrote."""

        def work(tx: WriteTransaction) -> None:
            for branch in targets:
                write_branch(tx, self.call, branch, None, self._rule(1))

        return self.store.run(work)[2]

    def fill(self, length: int, branch: str = BRANCH) -> None:
        """Append that many messages in large batches."""
        for start in range(0, length, 500):
            self.append(branch, min(500, length - start))

    def cost(self, branch: str, appends: int) -> Cost:
        """Append one by one and return what an append took."""
        costs = [self.append(branch) for _ in range(appends)]
        return Cost(mean(steps for steps, _ in costs), mean(pages for _, pages in costs))

    def early_and_late(self, length: int) -> tuple[Cost, Cost]:
        """The costs of the first appends to a branch, and of those around ``length``, in one file.

        Both branches are between others: a branch that is the last of its
        indexes, or that is alone in a file of one page a table, costs a little
        less, which says nothing about how cost grows.
        """
        long, young, last = uuid_of(5), uuid_of(3), uuid_of(9)
        for branch in (long, young, last):
            self.create(branch)
        self.fill(300, last)
        self.fill(length - 100, long)
        return self.cost(young, 200), self.cost(long, 200)

    def fork(self, target: str, source: str = BRANCH) -> tuple[int, int]:
        """Fork a branch; return steps and pages."""
        request = pb.ForkBranchRequest(source_branch_id=source, branch_id=target)

        def work(tx: WriteTransaction) -> pb.ForkBranchResponse:
            return forks.fork_branch(tx, "", request, self.stamper, None)

        _, steps, pages = self.store.run(work)
        return steps, pages

    def trim(self, branch: str, before: int, limit: int) -> None:
        """Drop the revisions before one and erase what only they show, about ``limit`` rows a commit."""
        self.store.run(lambda tx: retention.trim_history(tx, "", branch, before))

        def sweep(tx: WriteTransaction) -> bool:
            row = tx.branch("", branch)
            assert row is not None
            return tx.sweep(row, limit)

        while not self.store.run(sweep)[0]:
            pass

    def purge(self, branch: str) -> int:
        """Delete a branch and erase its bytes; return the steps of the erasing."""
        request = pb.DeleteBranchRequest(branch_id=branch, purge=True)
        self.store.run(lambda tx: retention.delete_branch(tx, self.call, request, 0))
        total, done = 0, False
        while not done:
            done, steps, _ = self.store.run(lambda tx: retention.sweep(tx, "", branch, 1))
            total += steps
        return total
