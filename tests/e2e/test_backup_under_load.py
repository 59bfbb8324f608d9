"""A backup taken while a real service is written to is the store at one moment."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon.message.v1 import message_pb2 as message_pb
from tests.support.cli import PYTHONPATH
from tests.support.history import Snapshot, assemble, uuid_of
from tests.support.programs import program

pytestmark = pytest.mark.anyio

BRANCHES = [uuid_of(number) for number in range(1, 7)]
CHAIN = [uuid_of(number) for number in (11, 12, 13)]
"""Branches that one client writes in turn: a message stands in one before the next one gets it."""
BEFORE = 150
"""Writes that are acknowledged before the backup begins, so that it has some pages to copy."""
AFTER = 60
BODY = "x" * 3000


@dataclass
class Writers:
    """Clients that write until they are told to stop.

    Attributes:
        acknowledged: Of each branch, the message of each acknowledged revision.
    """

    stub: pb_grpc.HistoryServiceAsyncStub
    acknowledged: dict[str, dict[int, str]] = field(
        default_factory=lambda: {branch: {} for branch in (*BRANCHES, *CHAIN)}
    )
    _ids: Any = field(default_factory=lambda: itertools.count(1000))
    _progress: asyncio.Condition = field(default_factory=asyncio.Condition)
    _stopping: bool = False

    @property
    def count(self) -> int:
        """Acknowledged writes."""
        return sum(map(len, self.acknowledged.values()))

    async def until(self, count: int) -> None:
        """Wait for so many acknowledged writes."""
        async with asyncio.timeout(60), self._progress:
            await self._progress.wait_for(lambda: self.count >= count)

    async def run(self) -> None:
        """Write."""
        for branch in self.acknowledged:
            await self.stub.CreateBranch(pb.CreateBranchRequest(branch_id=branch))
        async with asyncio.TaskGroup() as group:
            for branch in BRANCHES:
                group.create_task(self._write([branch]))
            group.create_task(self._write(CHAIN))

    def stop(self) -> None:
        """Let each client end after what it has begun."""
        self._stopping = True

    async def _write(self, branches: list[str]) -> None:
        while not self._stopping:
            message_id = uuid_of(next(self._ids))
            for branch in branches:
                content = message_pb.InstructionContent(instruction=BODY)
                message = message_pb.Message(id=message_id, instruction=content)
                answer = await self.stub.AddMessages(
                    pb.AddMessagesRequest(branch_id=branch, messages=[message])
                )
                self.acknowledged[branch][answer.revision] = message_id
                async with self._progress:
                    self._progress.notify_all()


async def antiphon(*arguments: str) -> str:
    """Run the command line to a good end; return what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "antiphon_client", *arguments,
        env=os.environ | {"PYTHONPATH": PYTHONPATH},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def snapshot(
    stub: pb_grpc.HistoryServiceAsyncStub, branch: str, at_revision: int | None = None
) -> Snapshot:
    """Read a whole snapshot and check it."""
    request = pb.ReadSnapshotRequest(branch_id=branch, at_revision=at_revision)
    return assemble([frame.SerializeToString() async for frame in stub.ReadSnapshot(request)])


async def test_a_backup_under_load_restores_to_one_moment(tmp_path: Path) -> None:
    live, restored = tmp_path / "live.sqlite3", tmp_path / "restored.sqlite3"
    backup = tmp_path / "backup"
    arguments = ("--listen", f"unix:{tmp_path}/h.sock", "--store", f"sqlite:{live}")
    with program("history_service", *arguments) as service:
        async with grpc.aio.insecure_channel(service.address) as channel:
            stub = pb_grpc.HistoryServiceStub(channel)
            writers = Writers(stub)
            writing = asyncio.create_task(writers.run())
            await writers.until(BEFORE)
            before = {branch: max(known, default=1) for branch, known in writers.acknowledged.items()}
            await antiphon("backup", str(backup), "--store", f"sqlite:{live}")
            done_at = writers.count
            assert done_at > BEFORE, "nobody wrote meanwhile"
            await writers.until(done_at + AFTER)
            writers.stop()
            await writing
            assert "is whole" in await antiphon("backup", "verify", str(backup))
            await antiphon("restore", str(backup), "--store", str(restored))
            await _compare(tmp_path, restored, stub, writers, before)


async def _compare(
    folder: Path,
    restored: Path,
    live: pb_grpc.HistoryServiceAsyncStub,
    writers: Writers,
    before: dict[str, int],
) -> None:
    """Hold a restored store to what was acknowledged and to what the live one had at its revisions."""
    arguments = ("--listen", f"unix:{folder}/r.sock", "--store", f"sqlite:{restored}")
    with program("history_service", *arguments) as service:
        async with grpc.aio.insecure_channel(service.address) as channel:
            stub = pb_grpc.HistoryServiceStub(channel)
            counts = {}
            for branch, acknowledged in writers.acknowledged.items():
                there = await snapshot(stub, branch)
                revision = there.header.revision
                assert before[branch] <= revision <= max(acknowledged)
                known = [acknowledged[number] for number in sorted(acknowledged) if number <= revision]
                assert there.order == known
                assert there.bodies == (await snapshot(live, branch, revision)).bodies
                assert there.header.incarnation != (await snapshot(live, branch)).header.incarnation
                counts[branch] = len(known)
            first, second, third = (counts[branch] for branch in CHAIN)
            assert first >= second >= third >= first - 1
            # And it goes on from there.
            answer = await stub.AddMessages(
                pb.AddMessagesRequest(
                    branch_id=BRANCHES[0],
                    messages=[
                        message_pb.Message(instruction=message_pb.InstructionContent(instruction="on"))
                    ],
                )
            )
            assert answer.revision == counts[BRANCHES[0]] + 2
