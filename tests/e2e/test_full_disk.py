"""A disk that is full, as the service and its callers meet it: told, survived, and over without a restart."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc as pb_grpc
from antiphon.message.v1.message_pb2 import GenericContent, Message
from antiphon_client.errors import AntiphonError
from antiphon_client.status import error_from_rpc
from tests.support.history import uuid_of
from tests.support.programs import program

BRANCH = uuid_of(1)
BODY = "x" * 4000
CALL_SECONDS = 30
WRITES = 400
"""More than the small disk holds."""

Filling = Callable[[int, Path], AbstractContextManager[None]]
"""Given the service's process id and its folder: the disk is full until the context ends."""


@contextmanager
def size_limit(pid: int, folder: Path) -> Iterator[None]:
    """Forbid the process to make files longer, which anybody may do to a process of their own."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    # Below what the log is by now, so that no write of the store succeeds.
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def filled(pid: int, folder: Path) -> Iterator[None]:
    """Fill the file system with another file."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (65536, 512):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(size))
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a file system of 4 MiB, which takes a system administrator."""
    target = folder / "disk"
    target.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(target)]
    if os.geteuid() != 0 or subprocess.run(mounting, capture_output=True, check=False).returncode != 0:
        pytest.skip("a file system cannot be mounted here")
    try:
        yield target
    finally:
        subprocess.run(["umount", "--lazy", str(target)], check=True)


def append(stub: pb_grpc.HistoryServiceStub, number: int) -> pb.AddMessagesResponse:
    """Append one message, under the request id that goes with its number."""
    message = Message(id=uuid_of(10_000 + number), generic=GenericContent(value_json=f'"{BODY}"'))
    request = pb.AddMessagesRequest(branch_id=BRANCH, request_id=uuid_of(20_000 + number), messages=[message])
    response: pb.AddMessagesResponse = stub.AddMessages(request, timeout=CALL_SECONDS)
    return response


def refusal(stub: pb_grpc.HistoryServiceStub, number: int) -> AntiphonError | None:
    """Return why an append is refused; None where it is not."""
    try:
        append(stub, number)
    except grpc.RpcError as failure:
        return error_from_rpc(failure) or AntiphonError(f"no error of ours: {failure}")
    return None


def messages_of(stub: pb_grpc.HistoryServiceStub) -> list[str]:
    frames = stub.ReadSnapshot(pb.ReadSnapshotRequest(branch_id=BRANCH), timeout=CALL_SECONDS)
    return [message_id for frame in frames for message_id in frame.order.message_ids]


def check_full_disk(folder: Path, socket: Path, full: Filling) -> None:
    """Run a service into a full disk and out again."""
    store = f"sqlite:{folder / 'history.sqlite3'}"
    # No cache: what is read comes from the file.
    arguments = ("--listen", f"unix:{socket}", "--store", store, "--snapshot-cache-bytes", "0")
    with program("history_service", *arguments) as running, grpc.insecure_channel(running.address) as channel:
        stub = pb_grpc.HistoryServiceStub(channel)
        stub.CreateBranch(pb.CreateBranchRequest(branch_id=BRANCH), timeout=CALL_SECONDS)
        for number in range(20):
            append(stub, number)
        with full(running.process.pid, folder):
            # What is free within the files that are there may still take a few.
            number = 20
            while (error := refusal(stub, number)) is None:
                number += 1
                assert number < WRITES
            kept = [uuid_of(10_000 + each) for each in range(number)]
            assert (error.reason, error.metadata) == ("STORE_BUSY", {"condition": "disk_full"})
            assert error.message == "the store cannot be used just now: the disk is full"
            assert error.retry_after == 1.0
            assert messages_of(stub) == kept
            branch = stub.GetBranch(pb.GetBranchRequest(branch_id=BRANCH), timeout=CALL_SECONDS).branch
            assert (branch.revision, branch.message_count) == (number + 1, number)
            health = health_pb2_grpc.HealthStub(channel)
            checked = health.Check(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS)
            assert checked.status == health_pb2.HealthCheckResponse.SERVING
            again = refusal(stub, number)
            assert again is not None
            assert again.metadata == {"condition": "disk_full"}
        response = append(stub, number)
        assert (response.revision, response.replayed) == (number + 2, False)
        assert messages_of(stub) == [*kept, uuid_of(10_000 + number)]
        assert append(stub, number).replayed


def test_a_process_that_may_write_no_more(tmp_path: Path) -> None:
    check_full_disk(tmp_path, tmp_path / "h.sock", size_limit)


def test_a_file_system_without_space(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        check_full_disk(disk, tmp_path / "h.sock", filled)
