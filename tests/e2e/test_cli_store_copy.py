"""``antiphon store copy`` as a person types it: beside a service, killed, and the move itself."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import psycopg
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from history_service.maintenance import main
from tests.support import postgres
from tests.support.backups import make_store
from tests.support.cli import command
from tests.support.encryption import write_key_file
from tests.support.history import Snapshot, assemble, instruction, uuid_of
from tests.support.programs import ROOT, program

pytestmark = pytest.mark.anyio

BRANCHES = [uuid_of(number) for number in (1, 2, 3)]
BEFORE = 60
"""Writes that are acknowledged before the first pass begins."""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    postgres.require_server()
    yield postgres.schema_url(tmp_path)
    postgres.recycle()


def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """Run a command; return its exit code and what it printed, its errors in one line."""
    with command(*arguments, **environment) as process:
        out, err = process.communicate()
    assert "Traceback" not in err
    return process.returncode, out, " ".join(err.split())


@contextlib.asynccontextmanager
async def service(
    folder: Path, store: str, *options: str
) -> AsyncIterator[tuple[Any, pb_grpc.HistoryServiceAsyncStub]]:
    """Run a history service as a program."""
    given = ["--listen", f"unix:{folder}/h.sock", "--store", store, *options]
    with program("history_service", *given) as running:
        async with grpc.aio.insecure_channel(running.address) as channel:
            yield running, pb_grpc.HistoryServiceStub(channel)


class Writers:
    """Clients that append until they are told to stop, each write under a request id.

    Attributes:
        answered: Requests with their answers, in the order of the answers.
    """

    def __init__(self, stub: pb_grpc.HistoryServiceAsyncStub) -> None:
        self._stub = stub
        self._numbers = itertools.count(1000)
        self._progress = asyncio.Condition()
        self._stopping = False
        self.answered: list[tuple[pb.AddMessagesRequest, pb.AddMessagesResponse]] = []

    async def run(self) -> None:
        """Make the branches and write to all of them at once."""
        for branch in BRANCHES:
            await self._stub.CreateBranch(pb.CreateBranchRequest(branch_id=branch))
        async with asyncio.TaskGroup() as group:
            for branch in BRANCHES:
                group.create_task(self._write(branch))

    async def _write(self, branch: str) -> None:
        while not self._stopping:
            number = next(self._numbers)
            request = pb.AddMessagesRequest(
                branch_id=branch,
                messages=[instruction(number, "x" * 500)],
                request_id=uuid_of(2**40 + number),
            )
            self.answered.append((request, await self._stub.AddMessages(request)))
            async with self._progress:
                self._progress.notify_all()

    async def until(self, count: int) -> None:
        """Wait for so many answers."""
        async with asyncio.timeout(60), self._progress:
            await self._progress.wait_for(lambda: len(self.answered) >= count)

    def stop(self) -> None:
        """Let each client end after what it has begun."""
        self._stopping = True


async def snapshot(stub: pb_grpc.HistoryServiceAsyncStub, branch: str, at: int) -> Snapshot:
    """Read a whole snapshot and check it."""
    request = pb.ReadSnapshotRequest(branch_id=branch, at_revision=at)
    return assemble([frame.SerializeToString() async for frame in stub.ReadSnapshot(request)])


async def changes(
    stub: pb_grpc.HistoryServiceAsyncStub, branch: str, after: int, incarnation: str
) -> list[pb.BranchChange]:
    """Watch a branch from where a watch stood before, until it has caught up."""
    request = pb.WatchBranchRequest(branch_id=branch, after_revision=after, incarnation=incarnation)
    found: list[pb.BranchChange] = []
    async for frame in stub.WatchBranch(request, timeout=60):
        if frame.HasField("caught_up"):
            return found
        if frame.HasField("change"):
            found.append(frame.change)
    raise AssertionError("the watch ended")


@pytest.mark.parametrize("encrypted", [False, True], ids=["clear", "encrypted"])
async def test_clients_go_on_after_the_move_without_noticing(
    tmp_path: Path, url: str, encrypted: bool
) -> None:
    file = tmp_path / "history.sqlite3"
    keys = ["--encryption-keys", str(write_key_file(tmp_path / "keys"))] if encrypted else []
    branch = BRANCHES[0]
    async with service(tmp_path, f"sqlite:{file}", *keys) as (running, stub):
        writers = Writers(stub)
        writing = asyncio.create_task(writers.run())
        await writers.until(BEFORE)
        code, out, _ = await asyncio.to_thread(run, "store", "copy", str(file), url)
        assert code == 0
        assert out.count(" same\n") == 20
        assert "no service can open it yet" in out
        written = len(writers.answered)
        assert written > BEFORE, "nobody wrote meanwhile"
        await writers.until(written + BEFORE)
        code, _, err = await asyncio.to_thread(run, "store", "copy", "--final", f"sqlite:{file}", url)
        assert code == 1
        assert "service stopped" in err
        writers.stop()
        await writing
        # What clients hold: a place in a watch, a page's token, answers, what they have read.
        head = (await stub.GetBranch(pb.GetBranchRequest(branch_id=branch))).branch
        told = await changes(stub, branch, 0, head.incarnation)
        first = await stub.ListMessages(pb.ListMessagesRequest(branch_id=branch, page_size=5))
        following = pb.ListMessagesRequest(branch_id=branch, page_size=5, page_token=first.next_page_token)
        second = await stub.ListMessages(following)
        read = [(await snapshot(stub, branch, at)).frames for at in (1, 5, head.revision)]
        assert running.end(signal.SIGTERM)[0] == 0
    code, out, _ = run("store", "copy", "--final", str(file), url)
    assert (code, "services may open it" in out) == (0, True)
    async with service(tmp_path, url, *keys) as (_, stub):
        for after in (0, 3, head.revision - 1, head.revision):
            assert await changes(stub, branch, after, head.incarnation) == told[after:]
        assert await stub.ListMessages(following) == second
        assert [(await snapshot(stub, branch, at)).frames for at in (1, 5, head.revision)] == read
        for request, answer in writers.answered[:: len(writers.answered) // 40]:
            answer.replayed = True
            assert await stub.AddMessages(request) == answer
        assert (await stub.GetBranch(pb.GetBranchRequest(branch_id=branch))).branch == head
        added = await stub.AddMessages(pb.AddMessagesRequest(branch_id=branch, messages=[instruction(7)]))
        assert added.revision == head.revision + 1
        (change,) = await changes(stub, branch, head.revision, head.incarnation)
        assert change.position.writer_id not in {each.position.writer_id for each in told}


@pytest.mark.parametrize("seed", range(2))
async def test_a_copy_that_is_killed_is_taken_up(tmp_path: Path, url: str, seed: int) -> None:
    store = await make_store(tmp_path / "store")
    chance = random.Random(seed)
    number, when = chance.randrange(1, 40), ("before", "after")[seed % 2]
    killed = subprocess.run(
        [sys.executable, "-m", "tests.support.killed_copy", str(number), when, str(store), url],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'clients/python'}", "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT finished_at FROM store_copy").fetchall() == [(None,)]
        assert connection.execute("SELECT count(*) > 0 FROM writer").fetchall() == [
            (number > 1 or when == "after",)
        ]
    code, out, _ = run("store", "copy", "--final", str(store), url)
    assert (code, "services may open it" in out) == (0, True)


async def test_progress_is_shown_and_a_difference_is_an_exit_code(tmp_path: Path, url: str) -> None:
    store = await make_store(tmp_path / "store")
    code, _, bars = run(
        "store", "copy", "--final", str(store), url, FORCE_COLOR="1", COLUMNS="100", TERM="xterm"
    )
    assert code == 0
    for title in ("copying", "comparing"):
        assert f"{title} " in bars
        assert re.search(rf"{title} .*143/143", bars)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE message_body SET bytes = bytes || '\\x00' WHERE number < 3")
    code, out, err = run("store", "copy", str(store), url)
    assert code == 1
    assert [line.split()[0] for line in out.splitlines() if line.endswith("DIFFERS")] == ["message_body"]
    assert "antiphon: message_body: 2 keys differ; the destination has 33 rows, SHA-256" in err
    assert "nothing was changed" in err


def test_what_cannot_be_copied_is_said_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = "postgresql://somebody:hidden@127.0.0.1:1/none"
    for source, destination, text in (
        (str(tmp_path / "none"), there, "cannot read"),
        (str(tmp_path / "none"), str(tmp_path / "other"), "antiphon backup and restore"),
        (there, str(tmp_path / "other"), "there is no way"),
        (there, there, "pg_dump"),
        ("memory:", there, "sqlite:PATH"),
    ):
        assert main(["copy", "--", source, destination]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("antiphon: ")
        assert text in err
        assert "hidden" not in err
    assert run("store", "copy", str(tmp_path / "none"))[0] == 2
    assert not list(tmp_path.iterdir())
