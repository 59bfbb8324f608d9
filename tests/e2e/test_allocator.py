"""The memory of a service that many threads work in."""

from __future__ import annotations

import ctypes
import json
import platform
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest

from antiphon.compiler.v1.compiler_service_pb2 import BranchRef, CompileRequest
from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceStub
from antiphon.compiler.v1.target_pb2 import ListTargetsRequest
from antiphon.history.v1.history_service_pb2 import AddMessagesRequest, CreateBranchRequest
from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceStub
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client.edge.allocator import spare_pages
from compiler_service.workers.child import Child
from compiler_service.workers.frames import FINISH, READY, TAKE, framed
from tests.support.history import assistant, instruction
from tests.support.programs import program, run_script

HEAP_BYTES = 64 * 2**20
"""What glibc reserves for a part of an arena that is not the first one, at a multiple of itself."""


def reserved_heaps(process_id: int) -> Iterator[int]:
    """Yield where the arenas of a process are, but for the first one."""
    ends: dict[int, int] = {}
    for line in Path(f"/proc/{process_id}/maps").read_text().splitlines():
        span, access, *_, inode = line.split()[:5]
        start, end = (int(number, 16) for number in span.split("-"))
        if inode != "0":
            continue
        if access == "rw-p" and start % HEAP_BYTES == 0:
            ends[end] = start
        elif access == "---p" and end - ends.get(start, end) == HEAP_BYTES:
            yield ends[start]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
@pytest.mark.parametrize("service", ["history_service", "compiler_service"])
def test_the_threads_of_a_service_share_one_arena(service: str, tmp_path: Path) -> None:
    listen = ["--listen", f"unix:{tmp_path / 's.sock'}"]
    store = ["--store", f"sqlite:{tmp_path / 'h.db'}"] if service == "history_service" else []
    with program(service, *listen, *store) as served:
        with grpc.insecure_channel(served.address) as channel:
            grpc.channel_ready_future(channel).result(30)
            if service == "compiler_service":
                CompilerServiceStub(channel).ListTargets(ListTargetsRequest(), timeout=30)
        assert list(reserved_heaps(served.process.pid)) == []


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_freed_memory_serves_again() -> None:
    # Eight blocks of 2.5 MiB at a time, as of a large reply and what it is made of.
    script = """
import resource
from antiphon_client.edge.allocator import spare_pages

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [bytes([1]) * 2621440 for _ in range(8)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

spare_pages()
print([faults() for _ in range(5)])
"""
    first, *others = json.loads(run_script(script))
    assert first > 5000
    assert max(others) < 500


def _faults(process_id: int) -> int:
    """Return how many pages a process has been given so far."""
    return int(Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[7])


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the options are glibc's")
def test_a_folding_worker_uses_its_memory_again() -> None:
    # Some 200 KiB to it and 400 KiB back: more than glibc keeps by itself.
    messages = [instruction(number, "x" * 4096) for number in range(0, 96, 2)]
    answers = [assistant(number, "y" * 64) for number in range(1, 97, 2)]
    both = [message for pair in zip(messages, answers, strict=True) for message in pair]
    taken = (0, [message.id for message in both], [message.SerializeToString() for message in both])
    worker = Child()
    try:
        assert worker.hear(30) == READY
        faults = []
        for call in range(1, 9):
            before = _faults(worker.process_id or 0)
            worker.tell(framed((TAKE, call, *taken)), 30)
            worker.tell(framed((FINISH, call)), 30)
            assert worker.hear(30)[1]
            faults.append(_faults(worker.process_id or 0) - before)
    finally:
        worker.close()
    assert max(faults[4:]) < 50, faults


def _faults_of_cold_compilations(folder: Path, *options: str) -> tuple[int, int]:
    """Compile branches that were never compiled; return the pages that both services are given for it.

    Every branch leaves some 0.4 MiB in the history service's cache and some 1.2 in the compiler's.
    """
    text = "x" * 1000
    turns = [(instruction(n, text), assistant(n + 1, text)) for n in range(0, 400, 2)]
    messages = [message for turn in turns for message in turn]
    question = Message(instruction=InstructionContent(instruction="What is open?"))
    socket = f"unix:{folder / 'h.sock'}"
    with ExitStack() as stack:
        store = f"sqlite:{folder / 'h.db'}"
        history = stack.enter_context(
            program("history_service", "--listen", socket, "--store", store, *options)
        )
        listen = ("--listen", f"unix:{folder / 'c.sock'}", "--history", socket, "--folding-workers", "0")
        compiler = stack.enter_context(program("compiler_service", *listen, *options))
        write = HistoryServiceStub(stack.enter_context(grpc.insecure_channel(socket)))
        compile_turn = CompilerServiceStub(stack.enter_context(grpc.insecure_channel(compiler.address)))
        branches = []
        for _ in range(14):
            branch = write.CreateBranch(CreateBranchRequest(), timeout=30).branch
            write.AddMessages(AddMessagesRequest(branch_id=branch.branch_id, messages=messages), timeout=30)
            branches.append(BranchRef(branch_id=branch.branch_id))
        pids = [history.process.pid, compiler.process.pid]
        before: list[int] = []
        for number, branch_ref in enumerate(branches):
            if number == 4:
                # What every process gets with its first calls is another matter.
                before = list(map(_faults, pids))
            reply = compile_turn.Compile(CompileRequest(branch=branch_ref, instruction=question), timeout=30)
            assert len(reply.messages) == 401
        first, second = (_faults(pid) - former for pid, former in zip(pids, before, strict=True))
    return first, second


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the options are glibc's")
def test_what_calls_leave_in_a_cache_goes_where_memory_waits(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("none", "some")]
    for folder in folders:
        folder.mkdir()
    history, compiler = _faults_of_cold_compilations(folders[0], "--ready-bytes", "0")
    ready_history, ready_compiler = _faults_of_cold_compilations(folders[1], "--ready-bytes", "67108864")
    # Ten branches: some 1,000 and 3,000 pages. The other pages of the history service are the database's.
    assert history - ready_history > 600, (history, ready_history)
    assert compiler > 2000
    assert ready_compiler < 500


@pytest.mark.parametrize("failure", [AttributeError, OSError, TypeError])
def test_where_the_c_library_is_another_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch, failure: type[Exception]
) -> None:
    def library(name: None) -> object:
        if failure is AttributeError:
            return object()
        raise failure

    monkeypatch.setattr(ctypes, "CDLL", library)
    spare_pages()
